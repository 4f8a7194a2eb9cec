/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Everything is tried at once first, in one unit that reports what does not hold. What did not hold there, and all of it
 * where that unit could not be started, is tried alone and for good: so each reason is the one that a run gives. */

#include "examine.h"

#include <unistd.h>

#include "ask.h"
#include "dbus/inquiry.h"
#include "launcher/kernel/cpus.h"
#include "place.h"
#include "remedy.h"
#include "trial.h"

typedef struct {
        Report *report;
        const Caller *caller;
        AskWorld world;
        char *directory; /* of the world; NULL: not made yet */
        int signal;
} Examination;

/* Of one manager. */
typedef struct {
        const Examination *examination;
        TrialGround *ground;
        ManagerReport *manager;
        Trial together;     /* all of it, or all limits, or nothing */
        bool has_isolation; /* … the first of these */
} Visit;

#define WITH_LIMITS    (1U << 0)
#define WITH_ISOLATION (1U << 1)

static GPtrArray *words_new(void) {
        return g_ptr_array_new_with_free_func(g_free);
}

static void try_together(Visit *visit, unsigned with) {
        const AskWorld *world = &visit->examination->world;
        g_autoptr(GPtrArray) words = words_new();

        for (int i = 0; (with & WITH_LIMITS) && i < _LIMIT_MAX; i++)
                ask_limit(world, (Limit)i, words);
        for (unsigned i = 0; (with & WITH_ISOLATION) && i < ask_option_count(); i++)
                if (!ask_is_apart(i))
                        ask_option(world, i, words);
        trial_clear(&visit->together);
        /* Where all of it is there inside; else a small one, which something may have to look through. */
        trial_run(visit->ground, words, with & WITH_ISOLATION ? "/" : world->directory, true,
                  &visit->together);
        visit->has_isolation = with & WITH_ISOLATION;
}

static Answer answer(bool is_so) {
        return is_so ? ANSWER_YES : ANSWER_NO;
}

static Answer try_properties(Visit *visit, const char *const *properties) {
        g_autoptr(GPtrArray) words = words_new();
        g_auto(Trial) trial = { 0 };

        for (; *properties; properties++) {
                g_ptr_array_add(words, g_strdup("-p"));
                g_ptr_array_add(words, g_strdup(*properties));
        }
        trial_run(visit->ground, words, "/", false, &trial);
        return answer(trial.is_started);
}

static void try_namespaces(Visit *visit, bool is_unprivileged) {
        static const char *const pids[] = { "PrivateUsers=yes", "PrivatePIDs=yes", NULL };
        static const char *const users[] = { "PrivateUsers=yes", NULL };

        visit->manager->has_user_namespaces = try_properties(visit, users);
        visit->manager->has_pid_namespaces = try_properties(visit, pids + !is_unprivileged);
}

/* With what it brings along: a memory limit without one for swap is none. */
static bool is_limit_proven(const Visit *visit, Limit limit) {
        const Readback *readback = &visit->together.readback;
        g_autoptr(GPtrArray) words = words_new();
        g_auto(LimitSet) set = { 0 };

        ask_limit(&visit->examination->world, limit, words);
        if (!visit->together.is_started ||
            !limit_set_parse(&set, limit, g_ptr_array_index(words, 1), NULL))
                return false;
        limit_set_apply_defaults(&set);
        for (int i = 0; i < _LIMIT_MAX; i++)
                if (limit_set_is_limited(&set, (Limit)i) && !readback->limits[i].is_enforced)
                        return false;
        return true;
}

static bool is_option_proven(const Visit *visit, unsigned option) {
        return visit->together.is_started && visit->has_isolation && !ask_is_apart(option) &&
               visit->together.readback.isolation[option];
}

/* Alone, and as a run would have it. */
static void try_alone(Visit *visit, Finding *finding, const GPtrArray *words,
                      const char *directory) {
        g_auto(Trial) trial = { 0 };

        trial_run(visit->ground, words, directory, false, &trial);
        finding->is_enforced = trial.is_started;
        finding->residuals = trial.readback.residuals;
        finding->code = g_steal_pointer(&trial.code);
        finding->reason = g_steal_pointer(&trial.message);
}

static char **keep_words(const GPtrArray *words) {
        char **kept = g_new0(char *, words->len + 1);

        for (guint i = 0; i < words->len; i++)
                kept[i] = g_strdup(g_ptr_array_index(words, i));
        return kept;
}

static void find_limit(Visit *visit, Limit limit) {
        const Machine *machine = &visit->examination->report->machine;
        const LimitInfo *info = limit_info(limit);
        Finding *finding = report_add_finding(visit->manager);
        g_autoptr(GPtrArray) words = words_new();

        ask_limit(&visit->examination->world, limit, words);
        finding->key = info->key;
        finding->by = info->property;
        finding->is_limit = true;
        finding->tried = keep_words(words);
        finding->is_enforced = is_limit_proven(visit, limit);
        if (!finding->is_enforced)
                try_alone(visit, finding, words, visit->examination->world.directory);
        if (finding->is_enforced)
                finding->in = remedy_file(machine, limit);
        else
                finding->remedy = remedy_of_limit(machine, visit->manager, limit);
}

static void find_option(Visit *visit, unsigned option) {
        Finding *finding = report_add_finding(visit->manager);
        g_autoptr(GPtrArray) words = words_new();

        ask_option(&visit->examination->world, option, words);
        finding->key = ask_key(option);
        finding->by = ask_by(option);
        finding->is_decisive = ask_is_decisive(option);
        finding->tried = keep_words(words);
        finding->is_enforced = is_option_proven(visit, option);
        if (!finding->is_enforced)
                try_alone(visit, finding, words, "/");
        if (!finding->is_enforced)
                finding->remedy = remedy_of_isolation(&visit->examination->report->machine,
                                                      visit->manager);
}

static void try_all(Visit *visit, bool is_unprivileged) {
        ManagerReport *manager = visit->manager;

        try_together(visit, WITH_LIMITS | WITH_ISOLATION);
        if (!visit->together.is_started)
                try_together(visit, WITH_LIMITS);
        if (!visit->together.is_started)
                try_together(visit, 0);
        manager->is_usable = answer(visit->together.is_started);
        if (!visit->together.is_started) {
                manager->reason = g_strdup(visit->together.message);
                return;
        }
        manager->has_bpf = answer(visit->together.has_accounting);
        if (!manager->version)
                manager->version = g_strdup(visit->together.manager_version);
        try_namespaces(visit, is_unprivileged);
        for (int i = 0; i < _LIMIT_MAX; i++)
                find_limit(visit, (Limit)i);
        for (unsigned i = 0; i < ask_option_count(); i++)
                find_option(visit, i);
}

static void ask_manager(Examination *examination, const Door *door, ManagerReport *manager) {
        g_autofree char *group = inquiry_manager_text(door->bus, "ControlGroup");
        bool is_active;

        manager->version = inquiry_manager_text(door->bus, "Version");
        if (group)
                cgroup_read_controllers(group, &manager->controllers);
        if (door->kind == MANAGER_SYSTEM &&
            inquiry_unit_is_active(door->bus, "systemd-oomd.service", &is_active))
                examination->report->is_oomd_active = answer(is_active);
}

/* Once signals wait for us, so that it is removed again. */
static bool make_place(Examination *examination, GError **error) {
        if (!examination->directory)
                examination->directory = place_make(error);
        examination->world.directory = examination->directory;
        return examination->directory;
}

static void call_on(Examination *examination, Door *door, ManagerReport *manager) {
        g_autoptr(GError) error = NULL;
        Visit visit = { .examination = examination, .manager = manager };

        ask_manager(examination, door, manager);
        door_learn_version(door);
        visit.ground = trial_ground_new(door, examination->caller, &error);
        if (visit.ground && make_place(examination, &error))
                try_all(&visit, door_is_unprivileged(door));
        else
                manager->reason = g_strdup(error->message);
        if (visit.ground)
                examination->signal = trial_ground_signal(visit.ground);
        trial_clear(&visit.together);
        trial_ground_free(visit.ground);
}

static void look_at(Examination *examination, ManagerKind kind) {
        ManagerReport *manager = report_add_manager(examination->report, kind);
        g_autoptr(GError) error = NULL;
        g_autoptr(Door) door = door_open(kind, &error);

        manager->is_reachable = answer(door);
        if (door)
                call_on(examination, door, manager);
        else
                manager->reason = g_strdup(error->message);
}

/* As door_open() chooses, once the others have been looked at. */
static ManagerKind choose(const Report *report) {
        if (geteuid() == 0 && report->machine.is_booted == ANSWER_YES)
                return MANAGER_SYSTEM;
        return report_manager(report, MANAGER_USER)->is_reachable == ANSWER_YES ? MANAGER_USER
                                                                                : MANAGER_PRIVATE;
}

static void look_at_all(Examination *examination, ManagerKind standard) {
        Report *report = examination->report;

        for (int kind = MANAGER_SYSTEM; kind < MANAGER_PRIVATE && !examination->signal; kind++)
                look_at(examination, (ManagerKind)kind);
        if (examination->signal)
                return;
        report->standard = standard == MANAGER_AUTO ? choose(report) : standard;
        if (report->standard == MANAGER_PRIVATE)
                look_at(examination, MANAGER_PRIVATE);
        else
                report_add_manager(report, MANAGER_PRIVATE)->reason = g_strdup(
                        "not looked at: it would have to be started, which --private does");
}

/* One CPU that we may use. */
static char *choose_cpu(void) {
        g_auto(CpuList) cpus = { 0 };
        bool is_known = cpus_read(0, &cpus);

        for (size_t i = 0; is_known && i < cpus.size * 8; i++)
                if (cpus.bytes[i / 8] & (1U << (i % 8)))
                        return g_strdup_printf("%zu", i);
        return g_strdup("0");
}

int examine(ManagerKind only, ManagerKind standard, const Caller *caller, Report *report) {
        g_autofree char *cpu = choose_cpu();
        g_autofree char *pool = g_strdup_printf("doctor-%d", (int)getpid());
        Examination examination = { .report = report,
                                    .caller = caller,
                                    .world = { .cpu = cpu, .pool = pool } };

        machine_read(&report->machine);
        if (report->machine.is_booted == ANSWER_NO)
                report->is_oomd_active = ANSWER_NO;
        if (only == MANAGER_AUTO) {
                look_at_all(&examination, standard);
        } else {
                report->standard = only;
                report->is_named = true;
                look_at(&examination, only);
        }
        if (examination.directory)
                place_remove(examination.directory);
        g_free(examination.directory);
        return examination.signal;
}
