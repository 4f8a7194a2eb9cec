/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a limit is for is said by its row in the limit table, and how it is carried by the kind of row that it is: there is
 * nothing here of a limit alone. */

#include "explanation.h"

#include <string.h>

#include "launcher/carrier.h"
#include "launcher/doctor/remedy.h"
#include "units/name.h"

static const struct {
        const char *word, *words, *words_best_effort;
} standings[_STANDING_MAX] = {
        [STANDING_NONE] = { NULL, NULL, NULL },
        [STANDING_OWN] = { "kept-by-cordon", NULL, NULL },
        [STANDING_HOLDS] = { "in-force", "in force here", "in force here" },
        [STANDING_STAND_IN] = { "stand-in", "not enforced here", "not enforced here" },
        [STANDING_REFUSED] = { "refused", "refused here",
                               "not enforced here, and the run goes on" },
        [STANDING_UNTRIED] = { "not-tried", "not tried", "not tried" },
};

/* How the kinds of limits are carried: by encoding, since that is what a property needs. %1 is the property, %2 the unit
 * that has it, %3 the kernel's file or rlimit. */
static const char *const ways[] = {
        [LIMIT_ENCODING_NONE] = "cordon's own watch: no manager knows of it",
        [LIMIT_ENCODING_NUMBER] = "%1 of %2, in the kernel %3",
        [LIMIT_ENCODING_BITMAP] = "%1 of %2, in the kernel %3",
        [LIMIT_ENCODING_BACKSTOP] = "cordon's own timer; %1 of %2 is the backstop, a little later",
        [LIMIT_ENCODING_RLIMIT] = "%1 of %2, in the kernel %3",
        [LIMIT_ENCODING_CPU_SECONDS] =
                "cordon's own watch of its CPU time; %1 of %2 is the backstop",
        [LIMIT_ENCODING_STOP] = "cordon's own timer; %1 of %2 has the same for the manager",
};

const char *standing_words(Standing standing, bool goes_on) {
        return goes_on ? standings[standing].words_best_effort : standings[standing].words;
}

const char *standing_word(Standing standing) {
        return standings[standing].word;
}

static void clause_free(gpointer data) {
        Clause *clause = data;

        g_free(clause->said);
        g_free(clause->value);
        g_free(clause->words);
        g_free(clause->how);
        g_free(clause->effective);
        g_free(clause->code);
        g_free(clause->reason);
        g_free(clause);
}

void explanation_init(Explanation *explanation, const Options *options, const Spec *spec,
                      const Machine *machine, const Rehearsal *rehearsal) {
        *explanation = (Explanation){
                .options = options,
                .spec = spec,
                .machine = machine,
                .rehearsal = rehearsal,
                .unit = options->id ? name_unit(spec->id, spec->is_scope) : NULL,
                .slice = options->id ? name_slice(spec->pool, spec->id) : NULL,
                .pool = spec->pool ? name_pool_slice(spec->pool) : NULL,
                .clauses = g_ptr_array_new_with_free_func(clause_free),
        };
}

void explanation_clear(Explanation *explanation) {
        g_free(explanation->unit);
        g_free(explanation->slice);
        g_free(explanation->pool);
        g_clear_pointer(&explanation->clauses, g_ptr_array_unref);
}

Clause *explanation_add(Explanation *explanation, const char *key, char *value) {
        Clause *clause = g_new0(Clause, 1);

        clause->key = key;
        clause->said = options_said_as(explanation->options, key);
        clause->value = value;
        g_ptr_array_add(explanation->clauses, clause);
        return clause;
}

static void refuse(Clause *clause, const Refusal *refusal) {
        clause->standing = STANDING_REFUSED;
        clause->code = g_strdup(refusal->code);
        clause->reason = g_strdup(refusal->message);
}

/* Limits */

static char *fill(const char *way, const char *property, const char *unit, const char *file) {
        g_autoptr(GString) text = g_string_new(NULL);

        for (; *way; way++) {
                if (*way != '%')
                        g_string_append_c(text, *way);
                else
                        g_string_append(text, *++way == '1' ? property : *way == '2' ? unit : file);
        }
        return g_string_free(g_steal_pointer(&text), FALSE);
}

/* As unit files and systemctl call it: RuntimeMaxUSec is RuntimeMaxSec there. */
static char *setting_name(const char *property) {
        g_autoptr(GString) name = g_string_new(property);

        if (g_str_has_suffix(property, "PerSecUSec"))
                g_string_truncate(name, name->len - strlen("PerSecUSec"));
        else if (g_str_has_suffix(property, "USec"))
                g_string_append(g_string_truncate(name, name->len - strlen("USec")), "Sec");
        return g_string_free(g_steal_pointer(&name), FALSE);
}

static char *kernel_place(const Clause *clause, const LimitInfo *info) {
        if (info->encoding == LIMIT_ENCODING_RLIMIT)
                return g_strdup_printf("RLIMIT_%s of each process",
                                       info->property + strlen("Limit"));
        if (clause->in)
                return g_strdup_printf("%s of its control group", clause->in);
        return g_strdup("no file of this machine's control groups");
}

static char *way_of(const Explanation *explanation, const Clause *clause, Limit limit) {
        const LimitInfo *info = limit_info(limit);
        g_autofree char *place = kernel_place(clause, info);
        g_autofree char *property = info->property ? setting_name(info->property) : NULL;
        const char *unit = info->carrier == LIMIT_ON_POOL    ? "its pool's slice"
                           : info->carrier == LIMIT_ON_SLICE ? "its slice"
                                                             : "its unit";

        if (explanation->spec->is_scope && info->encoding == LIMIT_ENCODING_RLIMIT)
                return g_strdup_printf("its first process sets RLIMIT_%s, for itself and all it "
                                       "starts",
                                       info->property + strlen("Limit"));
        if (explanation->spec->is_scope && info->encoding == LIMIT_ENCODING_CPU_SECONDS)
                return g_strdup("cordon's own watch of its CPU time; RLIMIT_CPU, which its first "
                                "process sets, is the backstop");
        return fill(ways[info->encoding], property ?: "", unit, place);
}

/* What stands in brackets in the help is about how it is written. */
static char *limit_words(const LimitInfo *info) {
        const char *bracket = strstr(info->help, " (");

        return bracket ? g_strndup(info->help, (gsize)(bracket - info->help))
                       : g_strdup(info->help);
}

/* What brought it; NULL: it was asked for. */
static const char *origin_of(const Explanation *explanation, Limit limit) {
        const LimitInfo *info = limit_info(limit);

        if (explanation->options->limits.is_set[limit])
                return NULL;
        if (explanation->spec->isolation.is_untrusted && info->untrusted_value > 0)
                return "--untrusted";
        switch (info->default_when) {
        case LIMIT_DEFAULT_WITH_MEMORY:
                return "--memory";
        case LIMIT_DEFAULT_WITH_POOL_MEMORY:
                return "--pool-memory";
        case LIMIT_DEFAULT_WHEN_CAPTURING:
                return "--capture";
        default:
                return "default";
        }
}

/* Kept by us, from our own clock or counter, unless the counter is missing. */
static bool is_own(Limit limit) {
        LimitReadback readback = limit_info(limit)->readback;

        return readback == LIMIT_READBACK_NONE || readback == LIMIT_READBACK_MANAGER;
}

static void judge_limit(const Explanation *explanation, Clause *clause, Limit limit) {
        const Rehearsal *rehearsal = explanation->rehearsal;
        const Effective *now = &rehearsal->readback.limits[limit];
        const Refusal *refusal = rehearsal_find(rehearsal, clause->key, NULL);
        bool is_seen = rehearsal->is_ready && rehearsal->readback.is_read;

        if (refusal)
                refuse(clause, refusal);
        else if (is_own(limit))
                clause->standing = STANDING_OWN;
        else
                clause->standing = is_seen && now->is_enforced ? STANDING_HOLDS : STANDING_UNTRIED;
        if (is_seen && now->is_stand_in) {
                clause->standing = STANDING_STAND_IN;
                clause->by = carrier_of_limit(explanation->spec, limit, true);
        }
        if (clause->standing == STANDING_HOLDS && now->is_known && limit != LIMIT_CPUS)
                clause->effective = limit_format(limit, now->effective);
}

static void add_limit(Explanation *explanation, Limit limit) {
        const LimitInfo *info = limit_info(limit);
        Clause *clause = explanation_add(explanation, info->key,
                                         limit_set_format(&explanation->spec->limits, limit));

        clause->origin = origin_of(explanation, limit);
        clause->by = carrier_of_limit(explanation->spec, limit, false);
        clause->in = remedy_file(explanation->machine, limit);
        clause->words = limit_words(info);
        clause->how = way_of(explanation, clause, limit);
        judge_limit(explanation, clause, limit);
        if (clause->standing == STANDING_HOLDS && info->readback == LIMIT_READBACK_CGROUP &&
            !clause->in) {
                g_free(clause->how);
                clause->how = g_strdup("nothing has to be set: this machine has none of it");
        }
}

/* One that was lifted. */
static void add_lifted(Explanation *explanation, Limit limit) {
        Clause *clause = explanation_add(explanation, limit_info(limit)->key, g_strdup("infinity"));

        clause->words = limit_words(limit_info(limit));
        clause->how = g_strdup("no limit of this kind is set");
}

void explanation_add_limits(Explanation *explanation) {
        const LimitSet *limits = &explanation->spec->limits;

        for (int i = 0; i < _LIMIT_MAX; i++)
                if (limit_set_is_limited(limits, (Limit)i))
                        add_limit(explanation, (Limit)i);
                else if (explanation->options->limits.is_set[i])
                        add_lifted(explanation, (Limit)i);
}

/* Isolation */

static char *isolation_way(const Explanation *explanation, Isolation isolation) {
        const char *by = carrier_of_isolation(explanation->spec, isolation,
                                              explanation->rehearsal->readback.is_landlock);
        const char *namespace = isolation_info(isolation)->namespace;

        if (explanation->spec->is_scope && explanation->rehearsal->readback.is_landlock)
                return g_strdup("its first process denies itself the rest, by Landlock, before it "
                                "is executed");
        if (explanation->spec->is_scope)
                return g_strdup_printf("its first process makes a %s of its own before it is "
                                       "executed",
                                       by);
        if (isolation == ISOLATION_NET && explanation->spec->isolation.allow)
                return g_strdup_printf("%s of its unit, and a filter for each of its packets", by);
        return g_strdup_printf("%s of its unit%s: a %s namespace of its own", by,
                               isolation == ISOLATION_UNTRUSTED ? " and more" : "", namespace);
}

static void judge_isolation(const Explanation *explanation, Clause *clause, Isolation isolation) {
        const Rehearsal *rehearsal = explanation->rehearsal;
        const Refusal *refusal = rehearsal_find(rehearsal, clause->key, NULL);
        bool holds = rehearsal->is_ready && rehearsal->readback.isolation[isolation];

        if (refusal)
                refuse(clause, refusal);
        else
                clause->standing = holds ? STANDING_HOLDS : STANDING_UNTRIED;
        if (holds && isolation == ISOLATION_UNTRUSTED)
                clause->residuals = rehearsal->readback.residuals;
}

static void add_isolation(Explanation *explanation, Isolation isolation, char *value) {
        const char *key = isolation_info(isolation)->key;
        Clause *clause = explanation_add(explanation, key, value);

        clause->by = carrier_of_isolation(explanation->spec, isolation,
                                          explanation->rehearsal->readback.is_landlock);
        clause->words = g_strdup(isolation_meaning(&explanation->spec->isolation, isolation));
        clause->how = isolation_way(explanation, isolation);
        if (!isolation_is_asked(&explanation->options->isolation, isolation))
                clause->origin = "--untrusted";
        judge_isolation(explanation, clause, isolation);
}

static void add_rules(Explanation *explanation, Isolation kind) {
        const GPtrArray *rules = explanation->spec->isolation.rules;

        for (guint i = 0; rules && i < rules->len; i++) {
                const PathRule *rule = g_ptr_array_index(rules, i);

                if (rule->kind == kind)
                        add_isolation(explanation, kind, isolation_rule_text(rule));
        }
}

static char *isolation_value(const IsolationSet *set, Isolation isolation) {
        if (isolation == ISOLATION_NET && set->allow)
                return g_strconcat("allow=", set->allow->text, NULL);
        if (isolation == ISOLATION_NET)
                return g_strdup("none");
        return isolation == ISOLATION_FS ? g_strdup("strict") : NULL;
}

/* The caller's own, said in so many words. */
static void add_host(Explanation *explanation, Isolation isolation, const char *what) {
        Clause *clause = explanation_add(explanation, isolation_info(isolation)->key,
                                         g_strdup("host"));

        clause->words = g_strdup_printf("the caller's %s, all of it", what);
        clause->how = g_strdup("nothing is asked for");
}

void explanation_add_isolation(Explanation *explanation) {
        const IsolationSet *set = &explanation->spec->isolation;

        for (int i = 0; i < ISOLATION_RO; i++)
                if (isolation_is_asked(set, (Isolation)i))
                        add_isolation(explanation, (Isolation)i,
                                      isolation_value(set, (Isolation)i));
                else if (i == ISOLATION_NET && set->is_net_said)
                        add_host(explanation, ISOLATION_NET, "network");
                else if (i == ISOLATION_FS && set->is_fs_said)
                        add_host(explanation, ISOLATION_FS, "files");
        for (int i = ISOLATION_RO; i < _ISOLATION_MAX; i++)
                add_rules(explanation, (Isolation)i);
}
