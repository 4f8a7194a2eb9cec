/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* It is in nobody's way: another id than the run's, which may be in use, and a pool of its own, whose limits are then the
 * asked ones and nobody else's. */

#include "rehearsal.h"

#include <string.h>
#include <unistd.h>

#include "dbus/inquiry.h"
#include "launcher/doctor/trial.h"
#include "launcher/kernel/error.h"
#include "units/name.h"
#include "units/text.h"

typedef struct {
        const Options *options;
        const Errand *errand;
        TrialGround *ground;
        unsigned trials; /* each has an id of its own */
        Rehearsal *rehearsal;
} Scene;

static void refusal_free(gpointer data) {
        Refusal *refusal = data;

        g_free(refusal->property);
        g_free(refusal->code);
        g_free(refusal->message);
        g_free(refusal);
}

void rehearsal_clear(Rehearsal *rehearsal) {
        g_free(rehearsal->version);
        g_free(rehearsal->code);
        g_free(rehearsal->message);
        g_clear_pointer(&rehearsal->refusals, g_ptr_array_unref);
}

static void fail(Rehearsal *rehearsal, const char *code, const char *message) {
        rehearsal->code = g_strdup(code);
        rehearsal->message = g_strdup(message);
}

/* Taking away */

/* The first of them that the message names; NULL: none. */
static char *property_in(const PropertyList *extra, const char *message) {
        for (size_t i = 0; i < property_list_length(extra); i++)
                if (strstr(message, property_list_at(extra, i)->name))
                        return g_strdup(property_list_at(extra, i)->name);
        return NULL;
}

static bool take_property(Spec *spec, Refusal *refusal) {
        if (property_list_length(spec->extra) == 0)
                return false;
        refusal->property = property_in(spec->extra, refusal->message);
        if (refusal->property)
                return property_list_remove(spec->extra, refusal->property);
        property_list_free(spec->extra);
        spec->extra = property_list_new();
        return true;
}

static bool take_isolation(Spec *spec, const char *key) {
        for (int i = 0; i < _ISOLATION_MAX; i++)
                if (strcmp(isolation_info((Isolation)i)->key, key) == 0 &&
                    isolation_is_asked(&spec->isolation, (Isolation)i)) {
                        isolation_set_drop(&spec->isolation, (Isolation)i);
                        return true;
                }
        return false;
}

/* False: the run cannot be without it, or it was not there. */
static bool take_away(Spec *spec, Refusal *refusal) {
        Limit limit;

        if (strcmp(refusal->option, "property") == 0)
                return take_property(spec, refusal);
        if (!limit_from_key(refusal->option, &limit))
                return take_isolation(spec, refusal->option);
        if (!limit_set_is_limited(&spec->limits, limit))
                return false;
        spec->limits.is_set[limit] = false;
        return true;
}

/* Trying */

static void take_over(Scene *scene, Trial *trial) {
        Rehearsal *rehearsal = scene->rehearsal;

        rehearsal->is_ready = trial->is_started;
        rehearsal->readback = trial->readback;
        if (!rehearsal->version)
                rehearsal->version = g_strdup(trial->manager_version);
}

static void try_spec(Scene *scene, Spec *spec, bool is_best_effort, Trial *ret_trial) {
        TrialOrder order = { .spec = spec,
                             .caller = &scene->errand->caller,
                             .disk = scene->errand->disk,
                             .is_capture = scene->options->is_capture,
                             .is_best_effort = is_best_effort };
        g_autofree char *user = g_strdup(spec->user), *group = g_strdup(spec->group);
        g_autofree char *id = g_strdup_printf("explain-%d-%u", (int)getpid(), ++scene->trials);

        text_replace(&spec->id, id);
        if (spec->pool)
                text_replace(&spec->pool, id);
        trial_rehearse(scene->ground, &order, ret_trial);
        scene->rehearsal->signal = trial_ground_signal(scene->ground);
        g_free(spec->user); /* chosen anew each time: it depends on what is asked */
        g_free(spec->group);
        spec->user = g_steal_pointer(&user);
        spec->group = g_steal_pointer(&group);
}

/* The option that a refusal is about; a manager knows but properties. NULL: none. */
static const char *option_of(const Spec *spec, const char *message) {
        g_autofree char *property = NULL;

        if (option_of_word(message))
                return option_of_word(message);
        property = property_in(spec->extra, message);
        return property ? option_of_word("-p") : NULL;
}

/* False: there is nothing more to be tried. */
static bool blame(Scene *scene, Spec *spec, const Trial *trial) {
        const char *option;
        Refusal *refusal;

        if (scene->rehearsal->signal || !trial->code)
                return false;
        option = option_of(spec, trial->message);
        if (option) {
                refusal = g_new0(Refusal, 1);
                refusal->option = option;
                refusal->code = g_strdup(trial->code);
                refusal->message = options_say(scene->options, trial->message);
                if (take_away(spec, refusal)) {
                        g_ptr_array_add(scene->rehearsal->refusals, refusal);
                        return true;
                }
                refusal_free(refusal);
        }
        fail(scene->rehearsal, trial->code, trial->message);
        return false;
}

static void try_all(Scene *scene) {
        g_autoptr(Spec) spec = spec_copy(scene->errand->spec);
        bool goes_on = true;

        while (goes_on) {
                g_auto(Trial) trial = { 0 };

                try_spec(scene, spec, false, &trial);
                take_over(scene, &trial);
                goes_on = !trial.is_started && blame(scene, spec, &trial);
        }
}

/* What of it a stand-in keeps is known only then. */
static void try_best_effort(Scene *scene) {
        g_autoptr(Spec) spec = spec_copy(scene->errand->spec);
        g_auto(Trial) trial = { 0 };

        try_spec(scene, spec, true, &trial);
        take_over(scene, &trial);
        g_clear_pointer(&scene->rehearsal->code, g_free);
        g_clear_pointer(&scene->rehearsal->message, g_free);
        if (!trial.is_started && trial.code)
                fail(scene->rehearsal, trial.code, trial.message);
}

/* As the manager would say it. */
static bool is_id_in_use(const Door *door, const Spec *spec) {
        g_autofree char *unit = name_unit(spec->id, spec->is_scope);
        bool is_active = false;

        return inquiry_unit_is_active(door->bus, unit, &is_active) && is_active;
}

static void rehearse_at(Scene *scene, Door *door) {
        Rehearsal *rehearsal = scene->rehearsal;
        g_autoptr(GError) error = NULL;

        rehearsal->manager = door->kind;
        rehearsal->version = inquiry_manager_text(door->bus, "Version");
        door_learn_version(door);
        if (is_id_in_use(door, scene->errand->spec)) {
                g_autofree char *message = name_in_use(scene->errand->spec->id);

                fail(rehearsal, "id-in-use", message);
                return;
        }
        scene->ground = trial_ground_new(door, &scene->errand->caller, &error);
        if (!scene->ground) {
                fail(rehearsal, launcher_error_word(error), error->message);
                return;
        }
        try_all(scene);
        if (scene->options->is_best_effort && !rehearsal->signal &&
            (rehearsal->refusals->len > 0 || rehearsal->code))
                try_best_effort(scene);
        g_clear_pointer(&scene->ground, trial_ground_free);
}

void rehearsal_refuse(const char *code, const char *message, Rehearsal *ret_rehearsal) {
        *ret_rehearsal = (Rehearsal){ .refusals = g_ptr_array_new_with_free_func(refusal_free) };
        fail(ret_rehearsal, code, message);
}

void rehearse(const Options *options, const Errand *errand, Rehearsal *ret_rehearsal) {
        g_autoptr(GError) error = NULL;
        g_autoptr(Door) door = NULL;
        Scene scene = { .options = options, .errand = errand, .rehearsal = ret_rehearsal };

        *ret_rehearsal = (Rehearsal){ .refusals = g_ptr_array_new_with_free_func(refusal_free) };
        door = door_open(options->manager, &error); /* several launches, and questions besides */
        if (door)
                rehearse_at(&scene, door);
        else
                fail(ret_rehearsal, launcher_error_word(error), error->message);
}

const Refusal *rehearsal_find(const Rehearsal *rehearsal, const char *option,
                              const char *property) {
        for (guint i = 0; i < rehearsal->refusals->len; i++) {
                const Refusal *refusal = g_ptr_array_index(rehearsal->refusals, i);

                if (strcmp(refusal->option, option) == 0 &&
                    (!refusal->property || g_strcmp0(refusal->property, property) == 0))
                        return refusal;
        }
        return NULL;
}

const char *rehearsal_verdict(const Rehearsal *rehearsal, const Options *options) {
        if (rehearsal->refusals->len > 0 && !options->is_best_effort)
                return ((const Refusal *)g_ptr_array_index(rehearsal->refusals, 0))->message;
        return rehearsal->message;
}
