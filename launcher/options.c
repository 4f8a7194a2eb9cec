/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A row's `take` puts one value into the struct; it may refuse it with a message that names the option. The parser
 * knows nothing but the table: --name VALUE, --name=VALUE, -x VALUE, -xVALUE, flags, "--", and that the first word
 * which is no option begins the command. */

#include "options.h"

#include <string.h>

#include "launcher/batch/choices.h"
#include "launcher/kernel/error.h"
#include "units/error.h"
#include "units/extra.h"
#include "units/name.h"
#include "units/nearest.h"
#include "units/parse.h"
#include "units/text.h"

#define TEXT_SHOWN       40
#define MAX_PARALLEL_MAX 100000

static bool fail(LauncherError code, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static bool fail(LauncherError code, GError **error, const char *format, ...) {
        va_list arguments;

        va_start(arguments, format);
        g_autofree char *message = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        g_set_error_literal(error, LAUNCHER_ERROR, (int)code, message);
        return false;
}

/* A value as a message repeats it. */
static bool not_accepted(GError **error, const char *option, const char *value, const char *why) {
        g_autofree char *shown = text_printable(value, TEXT_SHOWN);

        return fail(LAUNCHER_ERROR_BAD_VALUE, error, "%s: \"%s\" is not %s", option, shown, why);
}

#define usage_error(...) fail(LAUNCHER_ERROR_USAGE, __VA_ARGS__)
#define value_error(...) fail(LAUNCHER_ERROR_BAD_VALUE, __VA_ARGS__)

static const OptionInfo *find_long(const char *name, size_t length);

/* The takers */

static bool take_system(Options *options, const char *value, GError **error) {
        options->manager = MANAGER_SYSTEM;
        return true;
}

static bool take_user(Options *options, const char *value, GError **error) {
        options->manager = MANAGER_USER;
        return true;
}

static bool take_private(Options *options, const char *value, GError **error) {
        options->manager = MANAGER_PRIVATE;
        return true;
}

static bool take_service(Options *options, const char *value, GError **error) {
        options->is_scope = false;
        options->is_mode_said = true;
        return true;
}

static bool take_scope(Options *options, const char *value, GError **error) {
        options->is_scope = options->is_mode_said = true;
        return true;
}

/* One of the words that the row has for its value; is it this one? */
static bool take_word(const char *name, const char *value, const char *asked, bool *ret_is_asked,
                      GError **error) {
        g_auto(GStrv) words = g_strsplit(find_long(name, strlen(name))->value_name, "|", -1);
        g_autofree char *accepted = g_strjoinv(", ", words);
        g_autofree char *meant = nearest_of(value, (const char *const *)words);
        g_autofree char *shown = text_printable(value, TEXT_SHOWN);

        *ret_is_asked = strcmp(value, asked) == 0;
        return g_strv_contains((const char *const *)words, value) ||
               value_error(error, "--%s: \"%s\" is not accepted%s; accepted: %s", name, shown,
                           meant, accepted);
}

static bool take_wait(Options *options, const char *value, GError **error) {
        return take_word("wait", value, "tree", &options->is_tree_awaited, error);
}

static bool take_id(Options *options, const char *value, GError **error) {
        if (!name_id_check(value, error))
                return false;
        text_replace(&options->id, value);
        return true;
}

static bool take_pool(Options *options, const char *value, GError **error) {
        if (!name_pool_check(value, error))
                return false;
        text_replace(&options->pool, value);
        return true;
}

static bool take_max_parallel(Options *options, const char *value, GError **error) {
        uint64_t count = 0;

        if (parse_count(value, &count) != PARSE_OK || count == 0 || count > MAX_PARALLEL_MAX)
                return not_accepted(error, "--max-parallel", value,
                                    "accepted; accepted: a whole number, 1 to 100000");
        options->max_parallel = count;
        return true;
}

static bool take_on_full(Options *options, const char *value, GError **error) {
        options->has_on_full = true;
        return take_word("on-full", value, "fail", &options->is_refused_on_full, error);
}

static bool take_label(Options *options, const char *value, GError **error) {
        const char *equals = strchr(value, '=');

        if (!equals || equals == value || !g_utf8_validate(value, -1, NULL))
                return not_accepted(error, "--label", value, "KEY=VALUE");
        g_hash_table_replace(options->labels, g_strndup(value, (gsize)(equals - value)),
                             g_strdup(equals + 1));
        return true;
}

static bool take_variable(Options *options, const char *value, GError **error) {
        if (value[0] == '\0' || value[0] == '=')
                return not_accepted(error, "-E", value, "NAME or NAME=VALUE");
        g_ptr_array_add(options->variables, g_strdup(value));
        return true;
}

static bool take_clean_environment(Options *options, const char *value, GError **error) {
        options->is_clean_environment = true;
        return true;
}

static bool take_directory(Options *options, const char *value, GError **error) {
        if (value[0] == '\0')
                return value_error(error, "-C: a directory is needed");
        text_replace(&options->directory, value);
        return true;
}

static bool take_uid(Options *options, const char *value, GError **error) {
        text_replace(&options->user, value);
        return true;
}

static bool take_gid(Options *options, const char *value, GError **error) {
        text_replace(&options->group, value);
        return true;
}

static bool take_stdin(Options *options, const char *value, GError **error) {
        if (value[0] == '\0')
                return value_error(error, "--stdin: a file or \"null\" is needed");
        text_replace(&options->input, value);
        return true;
}

static bool take_pty(Options *options, const char *value, GError **error) {
        options->pty = PTY_YES;
        return true;
}

static bool take_no_pty(Options *options, const char *value, GError **error) {
        options->pty = PTY_NO;
        return true;
}

static bool take_property(Options *options, const char *value, GError **error) {
        return extra_parse(value, options->extra, error);
}

static bool take_job(Options *options, const char *value, GError **error) {
        if (value[0] == '\0')
                return value_error(error, "--job: a file or \"-\" is needed");
        if (options->job)
                return usage_error(error, "--job is given twice: one run has one job");
        text_replace(&options->job, value);
        return true;
}

static bool take_profile(Options *options, const char *value, GError **error) {
        if (!name_profile_check(value, error))
                return false;
        text_replace(&options->profile, value);
        return true;
}

/* Isolation: one taker a row, because a taker does not know its row. */

static bool take_untrusted(Options *options, const char *value, GError **error) {
        return isolation_set_parse(&options->isolation, ISOLATION_UNTRUSTED, value, error);
}

static bool take_private_tmp(Options *options, const char *value, GError **error) {
        return isolation_set_parse(&options->isolation, ISOLATION_PRIVATE_TMP, value, error);
}

static bool take_net(Options *options, const char *value, GError **error) {
        return isolation_set_parse(&options->isolation, ISOLATION_NET, value, error);
}

static bool take_fs(Options *options, const char *value, GError **error) {
        return isolation_set_parse(&options->isolation, ISOLATION_FS, value, error);
}

static bool take_ro(Options *options, const char *value, GError **error) {
        return isolation_set_parse(&options->isolation, ISOLATION_RO, value, error);
}

static bool take_rw(Options *options, const char *value, GError **error) {
        return isolation_set_parse(&options->isolation, ISOLATION_RW, value, error);
}

static bool take_hide(Options *options, const char *value, GError **error) {
        return isolation_set_parse(&options->isolation, ISOLATION_HIDE, value, error);
}

static bool take_scratch(Options *options, const char *value, GError **error) {
        return isolation_set_parse(&options->isolation, ISOLATION_SCRATCH, value, error);
}

static bool take_workspace(Options *options, const char *value, GError **error) {
        g_autofree char *path = isolation_path(ISOLATION_RW, "workspace", value, error);

        if (path)
                text_replace(&options->isolation.workspace, path);
        return path;
}

static bool take_capture(Options *options, const char *value, GError **error) {
        options->is_capture = true;
        return true;
}

static bool take_on_output(Options *options, const char *value, GError **error) {
        return take_word("on-output", value, "kill", &options->is_kill_on_output, error);
}

static bool take_record(Options *options, const char *value, GError **error) {
        if (value[0] == '\0')
                return value_error(error, "--record: a file, \"-\" or \"fd:N\" is needed");
        text_replace(&options->record, value);
        return true;
}

static bool take_json(Options *options, const char *value, GError **error) {
        options->is_json = true;
        options->is_capture = true;
        if (!options->record)
                options->record = g_strdup("-");
        return true;
}

static bool take_best_effort(Options *options, const char *value, GError **error) {
        options->is_best_effort = true;
        return true;
}

static bool take_detach(Options *options, const char *value, GError **error) {
        options->is_detach = true;
        return true;
}

static bool take_dry_run(Options *options, const char *value, GError **error) {
        options->is_dry_run = true;
        return true;
}

static bool take_explain(Options *options, const char *value, GError **error) {
        options->is_explain = true;
        return true;
}

static bool take_quiet(Options *options, const char *value, GError **error) {
        options->is_quiet = true;
        options->is_verbose = false;
        return true;
}

static bool take_verbose(Options *options, const char *value, GError **error) {
        options->is_verbose = true;
        options->is_quiet = false;
        return true;
}

static bool take_help(Options *options, const char *value, GError **error) {
        options->is_help = true;
        return true;
}

/* clang-format off */
static const OptionInfo table[] = {
        { "system",      0,  NULL,       OPTION_GROUP_MANAGER, take_system,     "run it under the system manager", OPTION_NOT_IN_JOB, "look at the system manager alone" },
        { "user",        0,  NULL,       OPTION_GROUP_MANAGER, take_user,       "under your user manager", OPTION_NOT_IN_JOB, "at your user manager alone" },
        { "private",     0,  NULL,       OPTION_GROUP_MANAGER, take_private,    "under a manager of cordon's own, started on demand", OPTION_NOT_IN_JOB, "at cordon's own alone; it is started on demand" },
        { "untrusted",   0,  NULL,       OPTION_GROUP_ISOLATION, take_untrusted, "for a program that wants out: all of it, bounded", .flag = offsetof(Options, isolation.is_untrusted) },
        { "private-tmp", 0,  NULL,       OPTION_GROUP_ISOLATION, take_private_tmp, "own /tmp and /var/tmp, empty, gone afterwards", .flag = offsetof(Options, isolation.has_private_tmp) },
        { "net",         0,  "host|none|allow=LIST", OPTION_GROUP_ISOLATION, take_net, "the caller's network (the default), none, a part" },
        { "fs",          0,  "host|strict", OPTION_GROUP_ISOLATION, take_fs,    "files: the caller's, or system and workspace only" },
        { "workspace",   0,  "DIR",      OPTION_GROUP_ISOLATION, take_workspace, "what --fs strict writes and --disk measures" },
        { "ro",          0,  "PATH",     OPTION_GROUP_ISOLATION, take_ro,       "shown, and read-only; repeatable", OPTION_REPEATABLE },
        { "rw",          0,  "PATH",     OPTION_GROUP_ISOLATION, take_rw,       "shown, and writable; repeatable", OPTION_REPEATABLE },
        { "hide",        0,  "PATH",     OPTION_GROUP_ISOLATION, take_hide,     "not to be seen; repeatable", OPTION_REPEATABLE },
        { "scratch",     0,  "PATH[:SIZE]", OPTION_GROUP_ISOLATION, take_scratch, "an empty tmpfs there; repeatable", OPTION_REPEATABLE },
        { "service",     0,  NULL,       OPTION_GROUP_WORLD,   take_service,    "a child of the manager's (the default)", .in_shell = "a child of the manager's" },
        { "scope",       0,  NULL,       OPTION_GROUP_WORLD,   take_scope,      "a child of the caller's, with all it has open", .in_shell = "a child of the caller's (the default)", .flag = offsetof(Options, is_scope) },
        { "wait",        0,  "main|tree", OPTION_GROUP_WORLD,  take_wait,       "which end is its end (default: main)" },
        { "id",          0,  "NAME",     OPTION_GROUP_WORLD,   take_id,         "name of the sandbox (default: made up)", OPTION_NOT_IN_BATCH | OPTION_JOBS_ALONE | OPTION_NOT_IN_PROFILE },
        { "profile",     0,  "PROFILE",  OPTION_GROUP_WORLD,   take_profile,    "what this profile says, where nothing else is said", OPTION_NOT_IN_PROFILE },
        { "pool",        0,  "POOL",     OPTION_GROUP_WORLD,   take_pool,       "in this pool of runs, within its limits" },
        { "max-parallel", 0, "COUNT",    OPTION_GROUP_WORLD,   take_max_parallel, "only when fewer runs of yours are in the pool", OPTION_COUNT },
        { "on-full",     0,  "wait|fail", OPTION_GROUP_WORLD,  take_on_full,    "what a full pool means (default: wait)" },
        { "label",       0,  "KEY=VALUE", OPTION_GROUP_WORLD,  take_label,      "a label for the record; repeatable", OPTION_NOT_IN_JOB | OPTION_IN_PROFILE | OPTION_REPEATABLE },
        { "setenv",      'E', "VAR[=VALUE]", OPTION_GROUP_WORLD, take_variable, "set a variable, or pass the caller's", OPTION_NOT_IN_JOB | OPTION_IN_PROFILE | OPTION_REPEATABLE },
        { "clean-env",   0,  NULL,       OPTION_GROUP_WORLD,   take_clean_environment, "begin with an empty environment", .flag = offsetof(Options, is_clean_environment) },
        { "directory",   'C', "DIR",     OPTION_GROUP_WORLD,   take_directory,  "working directory" },
        { "uid",         0,  "USER",     OPTION_GROUP_WORLD,   take_uid,        "run it as this user (name or number)", .in_shell = "this user's shell, run as this user" },
        { "gid",         0,  "GROUP",    OPTION_GROUP_WORLD,   take_gid,        "run it as this group" },
        { "stdin",       0,  "FILE|null", OPTION_GROUP_WORLD,  take_stdin,      "standard input (default: the caller's)", OPTION_NOT_IN_SHELL, .in_batch = "standard input (default: null)" },
        { "pty",         0,  NULL,       OPTION_GROUP_WORLD,   take_pty,        "a terminal of its own (the default at a terminal)", OPTION_NOT_IN_BATCH, .in_shell = "--service, with a terminal of its own" },
        { "no-pty",      0,  NULL,       OPTION_GROUP_WORLD,   take_no_pty,     "the caller's streams, at a terminal too", OPTION_NOT_IN_JOB | OPTION_NOT_IN_SHELL | OPTION_NOT_IN_BATCH },
        { "property",    'p', "NAME=VALUE", OPTION_GROUP_WORLD, take_property,  "a property of the unit; repeatable", OPTION_REPEATABLE },
        { "job",         0,  "FILE|-",   OPTION_GROUP_WORLD,   take_job,        "a JSON job; options win over what it says", OPTION_NOT_IN_JOB | OPTION_NOT_IN_BATCH, .in_shell = "a JSON job, without a command" },
        { "capture",     0,  NULL,       OPTION_GROUP_RECORD,  take_capture,    "stdout and stderr go into the record", OPTION_NOT_IN_SHELL | OPTION_NOT_IN_BATCH | OPTION_JOBS_ALONE, .flag = offsetof(Options, is_capture) },
        { "on-output",   0,  "truncate|kill", OPTION_GROUP_RECORD, take_on_output, "what the output limit does (default: truncate)", OPTION_NOT_IN_SHELL },
        { "record",      0,  "FILE|-|fd:N", OPTION_GROUP_RECORD, take_record,   "write the record there", OPTION_NOT_IN_JOB | OPTION_NOT_IN_BATCH },
        { "json",        0,  NULL,       OPTION_GROUP_RECORD,  take_json,       "the same as --capture --record -", OPTION_NOT_IN_JOB, "one JSON object on standard output", "the same as --record -", "records alone, those of --check too" },
        { "best-effort", 0,  NULL,       OPTION_GROUP_RECORD,  take_best_effort, "report a limit that cannot hold", .flag = offsetof(Options, is_best_effort) },
        { "detach",      0,  NULL,       OPTION_GROUP_RECORD,  take_detach,     "print the id once it runs, and leave it", OPTION_NOT_IN_SHELL | OPTION_NOT_IN_BATCH, .flag = offsetof(Options, is_detach) },
        { "dry-run",     0,  NULL,       OPTION_GROUP_RECORD,  take_dry_run,    "print what would be asked, ask nothing", OPTION_NOT_IN_JOB | OPTION_NOT_IN_BATCH },
        { "explain",     0,  NULL,       OPTION_GROUP_RECORD,  take_explain,    "say what each option does here, do nothing", OPTION_NOT_IN_JOB | OPTION_NOT_IN_BATCH },
        { "quiet",       'q', NULL,      OPTION_GROUP_GENERAL, take_quiet,      "no words on stderr", OPTION_NOT_IN_JOB },
        { "verbose",     'v', NULL,      OPTION_GROUP_GENERAL, take_verbose,    "more words on stderr", OPTION_NOT_IN_JOB | OPTION_NOT_IN_BATCH },
        { "help",        'h', NULL,      OPTION_GROUP_GENERAL, take_help,       "this text", OPTION_NOT_IN_JOB, "this text" },
};
/* clang-format on */

void options_init(Options *options) {
        *options = (Options){
                .labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                .variables = g_ptr_array_new_with_free_func(g_free),
                .extra = property_list_new(),
                .of_job = g_hash_table_new(g_str_hash, g_str_equal),
                .of_profile = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free),
                .job_words = "--job",
        };
}

void options_clear(Options *options) {
        limit_set_clear(&options->limits);
        isolation_set_clear(&options->isolation);
        g_clear_pointer(&options->labels, g_hash_table_unref);
        g_clear_pointer(&options->variables, g_ptr_array_unref);
        g_free(options->id);
        g_free(options->pool);
        g_free(options->directory);
        g_free(options->user);
        g_free(options->group);
        g_free(options->input);
        g_free(options->record);
        g_free(options->batch.resume);
        g_free(options->batch.output_dir);
        g_free(options->job);
        g_strfreev(options->job_command);
        g_clear_pointer(&options->extra, property_list_free);
        g_clear_pointer(&options->of_job, g_hash_table_unref);
        g_clear_pointer(&options->of_profile, g_hash_table_unref);
        g_free(options->profile);
}

void options_restart(Options *options) {
        const char *verb = options->verb, *job_words = options->job_words;

        options_clear(options);
        options_init(options);
        options->verb = verb;
        options->job_words = job_words;
}

const OptionInfo *option_at(size_t index) {
        static OptionInfo of_limits[_LIMIT_MAX];

        if (index < G_N_ELEMENTS(table))
                return &table[index];
        index -= G_N_ELEMENTS(table);
        if (index < choices_count())
                return choices_at(index);
        index -= choices_count();
        if (index >= _LIMIT_MAX)
                return NULL;

        const LimitInfo *limit = limit_info((Limit)index);

        of_limits[index] = (OptionInfo){ .name = limit->key,
                                         .value_name = limit->value_name,
                                         .group = OPTION_GROUP_LIMITS,
                                         .help = limit->help,
                                         .flags = index == LIMIT_OUTPUT ? OPTION_NOT_IN_SHELL : 0 };
        return &of_limits[index];
}

static const OptionInfo *find_long(const char *name, size_t length) {
        const OptionInfo *info;

        for (size_t i = 0; (info = option_at(i)); i++)
                if (strlen(info->name) == length && strncmp(info->name, name, length) == 0)
                        return info;
        return NULL;
}

static const OptionInfo *find_letter(char letter) {
        const OptionInfo *info;

        for (size_t i = 0; (info = option_at(i)); i++)
                if (info->letter && info->letter == letter)
                        return info;
        return NULL;
}

/* The value of an option: what is attached, else the next word. */
static bool value_of(const char *shown, const char *attached, char ***argv, const char **ret_value,
                     GError **error) {
        if (attached) {
                *ret_value = attached;
                return true;
        }
        if (!(*argv)[1])
                return usage_error(error, "%s needs a value", shown);
        *ret_value = *++(*argv);
        return true;
}

/* The command line has it now. */
static void own(Options *options, const char *name) {
        g_hash_table_remove(options->of_job, name);
        g_hash_table_remove(options->of_profile, name);
}

static bool take(Options *options, const OptionInfo *info, const char *shown, const char *attached,
                 char ***argv, GError **error) {
        const char *value = NULL;

        own(options, info->name);
        if (!info->value_name && attached)
                return usage_error(error, "%s takes no value", shown);
        if (info->value_name && !value_of(shown, attached, argv, &value, error))
                return false;
        return info->take(options, value, error);
}

static bool is_batch(const char *verb) {
        return g_strcmp0(verb, VERB_BATCH) == 0;
}

static bool is_profile(const char *verb) {
        return g_strcmp0(verb, VERB_PROFILE) == 0;
}

/* "-timeout" is a --timeout that lacks a dash. */
static bool unknown_option(const char *verb, const char *shown, const char *word, GError **error) {
        Nearest nearest = nearest_to(word);
        g_autofree char *printable = text_printable(shown, TEXT_SHOWN);

        for (size_t i = 0; option_at(i); i++)
                if (option_is_of(option_at(i), verb))
                        nearest_offer(&nearest, option_at(i)->name);
        if (nearest.best)
                return usage_error(error, "unknown option %s (did you mean --%s?)", printable,
                                   nearest.best);
        return usage_error(error, "unknown option %s", printable);
}

static bool not_of_verb(const char *verb, const OptionInfo *info, const char *shown,
                        GError **error) {
        return usage_error(error, "%s: cordon %s has no such option, cordon %s has", shown,
                           verb ?: "run", option_is_of(info, NULL) ? "run" : VERB_BATCH);
}

static bool parse_long(Options *options, char ***argv, GError **error) {
        const char *name = **argv + 2, *equals = strchr(name, '=');
        size_t length = equals ? (size_t)(equals - name) : strlen(name);
        g_autofree char *shown = g_strdup_printf("--%.*s", (int)length, name);
        const char *attached = equals ? equals + 1 : NULL, *value = NULL;
        const OptionInfo *info = find_long(name, length);
        Limit limit;

        if (!info)
                return unknown_option(options->verb, length > 0 ? shown : **argv, shown + 2, error);
        if (!option_is_of(info, options->verb))
                return not_of_verb(options->verb, info, shown, error);
        if (!limit_from_key(info->name, &limit))
                return take(options, info, shown, attached, argv, error);
        own(options, limit_info(limit)->key);
        return value_of(shown, attached, argv, &value, error) &&
               limit_set_parse(&options->limits, limit, value, error);
}

static bool parse_letters(Options *options, char ***argv, GError **error) {
        for (const char *p = **argv + 1; *p; p++) {
                const OptionInfo *info = find_letter(*p);
                char shown[] = { '-', *p, '\0' };

                if (!info)
                        return unknown_option(options->verb, shown, **argv + 1, error);
                if (!option_is_of(info, options->verb))
                        return not_of_verb(options->verb, info, shown, error);
                if (info->value_name)
                        return take(options, info, shown, p[1] ? p + 1 : NULL, argv, error);
                if (!take(options, info, shown, NULL, argv, error))
                        return false;
        }
        return true;
}

/* The one that the verb takes among its options. */
static bool take_operand(Options *options, const char *word, GError **error) {
        if (is_batch(options->verb))
                return choices_take_file(options, word, error);
        if (!options->profile)
                return take_profile(options, word, error);

        g_autofree char *shown = text_printable(word, TEXT_SHOWN);

        return usage_error(error, "profile shows one at a time, not \"%s\" as well", shown);
}

/* A word that is no option begins the command, or is an operand. */
static bool parse_word(Options *options, char ***argv, GError **error) {
        if ((**argv)[0] != '-' || (**argv)[1] == '\0')
                return take_operand(options, **argv, error);
        if ((**argv)[1] == '-')
                return parse_long(options, argv, error);
        return parse_letters(options, argv, error);
}

static bool has_operand(const char *verb) {
        return is_batch(verb) || is_profile(verb);
}

static bool begins_command(const Options *options, const char *word) {
        return strcmp(word, "--") == 0 ||
               ((word[0] != '-' || word[1] == '\0') && !has_operand(options->verb));
}

bool options_parse(Options *options, char **argv, GError **error) {
        g_autoptr(GError) first = NULL;

        for (; *argv && !begins_command(options, *argv); argv++)
                (void)!parse_word(options, &argv, first ? NULL : &first);
        if (*argv && strcmp(*argv, "--") == 0)
                argv++;
        if (*argv && has_operand(options->verb))
                (void)!take_operand(options, *argv++, first ? NULL : &first);

        options->command = *argv || !options->job_command ? argv : options->job_command;
        if (!first)
                return true;
        g_propagate_error(error, g_steal_pointer(&first));
        return false;
}

const char *option_of_word(const char *word) {
        size_t length = strcspn(word, ":= ");
        const OptionInfo *info = NULL;

        if (length == 2 && word[0] == '-')
                info = find_letter(word[1]);
        else if (length > 2 && g_str_has_prefix(word, "--"))
                info = find_long(word + 2, length - 2);
        return info ? info->name : NULL;
}

bool options_are_for_show(const Options *options) {
        return options->is_dry_run || options->is_explain;
}
