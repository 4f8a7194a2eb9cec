/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an option does that is neither a limit nor isolation depends on its value alone: a row each, with a small function
 * where there is something to say. */

#include <string.h>

#include "explanation.h"
#include "launcher/plan.h"

typedef struct {
        const char *key;
        void (*add)(Explanation *explanation, const char *key);
} Row;

/* Who sees to it, unless it is said. */
#define CORDON  "cordon itself"
#define GATE    "cordon's gate, inside the unit, before the program is executed"
#define CHILD   "its first process, before it is executed"
#define MANAGER "the manager: "

static const Options *options_of(const Explanation *explanation) {
        return explanation->options;
}

static void add(Explanation *explanation, const char *key, char *value, char *words,
                const char *how) {
        Clause *clause = explanation_add(explanation, key, value);

        clause->words = words;
        clause->how = g_strdup(how);
}

static void add_flag(Explanation *explanation, const char *key, const char *words,
                     const char *how) {
        add(explanation, key, NULL, g_strdup(words), how);
}

static void add_workspace(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->isolation.workspace)
                add(explanation, key, g_strdup(options->isolation.workspace),
                    g_strdup("what --fs strict lets it write and --disk measures"), CORDON);
}

static void add_mode(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (strcmp(key, options->is_scope ? "scope" : "service") != 0)
                return;
        add_flag(explanation, key,
                 options->is_scope ? "the program is a child of the caller's, with all it has open"
                                   : "the program is a child of the manager's",
                 options->is_scope ? MANAGER "a scope around a process of cordon's"
                                   : MANAGER "a transient service");
        if (!options->is_mode_said)
                ((Clause *)g_ptr_array_index(explanation->clauses, explanation->clauses->len - 1))
                        ->origin = "default";
}

static void add_wait(Explanation *explanation, const char *key) {
        if (options_of(explanation)->is_tree_awaited)
                add(explanation, key, g_strdup("tree"),
                    g_strdup("it ends with the last process that it leaves"),
                    CORDON ", which looks into its control group");
}

static void add_id(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);
        bool is_refused = g_strcmp0(explanation->rehearsal->code, "id-in-use") == 0;

        if (!options->id)
                return;
        add(explanation, key, g_strdup(options->id),
            g_strdup_printf("the unit is %s, its slice %s", explanation->unit, explanation->slice),
            MANAGER "no second unit of that name is started");
        if (is_refused) {
                Clause *clause = g_ptr_array_index(explanation->clauses,
                                                   explanation->clauses->len - 1);

                clause->standing = STANDING_REFUSED;
                clause->code = g_strdup(explanation->rehearsal->code);
                clause->reason = g_strdup(explanation->rehearsal->message);
        }
}

static void add_profile(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->profile)
                add(explanation, key, g_strdup(options->profile),
                    g_strdup("what it says holds where nothing else is said"), CORDON);
}

static void add_pool(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->pool)
                add(explanation, key, g_strdup(options->pool),
                    g_strdup_printf("its slice lies in %s, with those of all runs of the pool",
                                    explanation->pool),
                    MANAGER "that slice has the limits of all together");
}

static void add_max_parallel(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->max_parallel > 0)
                add(explanation, key, g_strdup_printf("%" G_GUINT64_FORMAT, options->max_parallel),
                    g_strdup_printf("it begins when fewer runs of yours are in pool %s",
                                    options->pool),
                    CORDON ": a lock for each run, which its end releases");
}

static void add_on_full(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->has_on_full)
                add(explanation, key, g_strdup(options->is_refused_on_full ? "fail" : "wait"),
                    g_strdup(options->is_refused_on_full ? "a full pool refuses the run"
                                                         : "a full pool is waited for"),
                    CORDON);
}

static gint compare_words(gconstpointer a, gconstpointer b) {
        return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_labels(Explanation *explanation, const char *key) {
        GHashTable *labels = options_of(explanation)->labels;
        g_autoptr(GPtrArray) pairs = g_ptr_array_new();
        gpointer name, value;
        GHashTableIter iter;

        g_hash_table_iter_init(&iter, labels);
        while (g_hash_table_iter_next(&iter, &name, &value))
                g_ptr_array_add(pairs, g_strconcat(name, "=", value, NULL));
        g_ptr_array_sort(pairs, compare_words);
        for (guint i = 0; i < pairs->len; i++)
                add(explanation, key, pairs->pdata[i],
                    g_strdup("a label in the record; the program sees nothing of it"), CORDON);
}

/* A value may be a secret: its name alone. */
static void add_variables(Explanation *explanation, const char *key) {
        const GPtrArray *variables = options_of(explanation)->variables;

        for (guint i = 0; i < variables->len; i++) {
                const char *variable = variables->pdata[i], *equals = strchr(variable, '=');

                add(explanation, key,
                    equals ? g_strndup(variable, (gsize)(equals - variable)) : g_strdup(variable),
                    g_strdup(equals ? "this variable is set for the program"
                                    : "the caller's variable is passed on, if there is one"),
                    GATE);
        }
}

static void add_clean_environment(Explanation *explanation, const char *key) {
        if (options_of(explanation)->is_clean_environment)
                add_flag(explanation, key, "the program begins with an empty environment", GATE);
}

static void add_directory(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->directory)
                add(explanation, key, g_strdup(options->directory),
                    g_strdup("the directory in which the program begins"), GATE);
}

static void add_user(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->user)
                add(explanation, key, g_strdup(options->user),
                    g_strdup("the program runs as this user, with its groups"),
                    options->is_scope ? CHILD : MANAGER "User of its unit");
}

static void add_group(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->group)
                add(explanation, key, g_strdup(options->group),
                    g_strdup("the program runs as this group"),
                    options->is_scope ? CHILD : MANAGER "Group of its unit");
}

static void add_input(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->input)
                add(explanation, key, g_strdup(options->input),
                    g_strdup(strcmp(options->input, "null") == 0
                                     ? "there is nothing to read for the program"
                                     : "what the program reads; it is opened before it starts"),
                    CORDON);
}

static void add_terminal(Explanation *explanation, const char *key) {
        if (options_of(explanation)->pty == PTY_YES)
                add_flag(explanation, key, "the program gets a terminal of its own",
                         CORDON ", which passes on what is typed and shown");
}

/* What was asked for, and no option has a name for. */
static void add_properties(Explanation *explanation, const char *key) {
        const PropertyList *extra = explanation->spec->extra;
        const Rehearsal *rehearsal = explanation->rehearsal;

        for (size_t i = 0; extra && i < property_list_length(extra); i++) {
                const Property *property = property_list_at(extra, i);
                const Refusal *refusal = rehearsal_find(rehearsal, key, property->name);
                char *setting = plan_setting(extra, property);
                Clause *clause;

                if (!setting)
                        continue;
                clause = explanation_add(explanation, key, setting);
                clause->by = property->name;
                clause->words = g_strdup("a property of its unit, as systemd reads it");
                clause->how = g_strdup(MANAGER "it takes it or refuses it; what it makes of it is "
                                               "systemd's word");
                clause->standing = rehearsal->is_ready ? STANDING_NONE : STANDING_UNTRIED;
                if (!refusal)
                        continue;
                clause->standing = STANDING_REFUSED;
                clause->code = g_strdup(refusal->code);
                clause->reason = g_strdup(refusal->message);
        }
}

static void add_capture(Explanation *explanation, const char *key) {
        if (options_of(explanation)->is_capture)
                add_flag(explanation, key,
                         "what it writes to stdout and stderr goes into the record", CORDON);
}

static void add_on_output(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->is_kill_on_output)
                add(explanation, key, g_strdup("kill"),
                    g_strdup("it is killed when it writes more than --output"), CORDON);
}

static void add_record(Explanation *explanation, const char *key) {
        const Options *options = options_of(explanation);

        if (options->record)
                add(explanation, key, g_strdup(options->record),
                    g_strdup("one JSON object says how it ended, and why"), CORDON);
}

static void add_best_effort(Explanation *explanation, const char *key) {
        if (options_of(explanation)->is_best_effort)
                add_flag(explanation, key,
                         "what cannot be enforced is reported, and the run goes on", CORDON);
}

static void add_detach(Explanation *explanation, const char *key) {
        if (options_of(explanation)->is_detach)
                add_flag(explanation, key, "cordon prints the id once it runs, and ends",
                         "a process of cordon's stays with it, in a session of its own");
}

static void add_quiet(Explanation *explanation, const char *key) {
        if (options_of(explanation)->is_quiet)
                add_flag(explanation, key, "no words on stderr", CORDON);
}

static void add_verbose(Explanation *explanation, const char *key) {
        if (options_of(explanation)->is_verbose)
                add_flag(explanation, key, "more words on stderr", CORDON);
}

/* Nothing is to be said of these: they are how it was asked. */
static void add_nothing(Explanation *explanation, const char *key) {
}

/* clang-format off */
static const Row rows[] = {
        { "system",       add_nothing }, /* the manager has lines of its own */
        { "user",         add_nothing },
        { "private",      add_nothing },
        { "workspace",    add_workspace },
        { "service",      add_mode },
        { "scope",        add_mode },
        { "wait",         add_wait },
        { "id",           add_id },
        { "profile",      add_profile },
        { "pool",         add_pool },
        { "max-parallel", add_max_parallel },
        { "on-full",      add_on_full },
        { "label",        add_labels },
        { "setenv",       add_variables },
        { "clean-env",    add_clean_environment },
        { "directory",    add_directory },
        { "uid",          add_user },
        { "gid",          add_group },
        { "stdin",        add_input },
        { "pty",          add_terminal },
        { "no-pty",       add_nothing },
        { "property",     add_properties },
        { "job",          add_nothing }, /* its keys have */
        { "capture",      add_capture },
        { "on-output",    add_on_output },
        { "record",       add_record },
        { "json",         add_nothing }, /* it is --capture and --record */
        { "best-effort",  add_best_effort },
        { "detach",       add_detach },
        { "dry-run",      add_nothing },
        { "explain",      add_nothing },
        { "quiet",        add_quiet },
        { "verbose",      add_verbose },
        { "help",         add_nothing },
};
/* clang-format on */

bool explanation_has_row(const char *key) {
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                if (strcmp(rows[i].key, key) == 0)
                        return true;
        return false;
}

void explanation_add_world(Explanation *explanation) {
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                rows[i].add(explanation, rows[i].key);
}
