/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The environment is the caller's, less what describes the caller's own unit, plus what -E says; with --uid it says
 * whose it is now, as a login would. */

#include "request.h"

#include <string.h>
#include <sys/random.h>

#include "launcher/kernel/account.h"
#include "launcher/kernel/caller.h"
#include "launcher/kernel/error.h"
#include "launcher/net/settle.h"
#include "launcher/paths.h"
#include "units/extra.h"
#include "units/name.h"
#include "units/text.h"
#include "units/untrusted.h"

#define NAME_SHOWN 40

static char *made_up_id(void) {
        uint64_t random = 0;

        while (getrandom(&random, sizeof random, 0) != sizeof random)
                ;
        return name_id_from_random(random);
}

static char *variable_name(const char *variable) {
        const char *equals = strchr(variable, '=');

        return equals ? g_strndup(variable, (gsize)(equals - variable)) : g_strdup(variable);
}

/* What kind it is is said by the caller's: that is where it is shown. */
static char **with_terminal(const Options *options, char *const *callers, char **environment) {
        const char *kind = g_environ_getenv((char **)callers, "TERM");

        if (options->pty != PTY_YES || !kind)
                return environment;
        return g_environ_setenv(environment, "TERM", kind, TRUE);
}

/* -E NAME=VALUE sets, -E NAME passes the caller's on (which only matters with --clean-env). */
static char **make_environment(const Options *options, char *const *callers) {
        char **environment;

        if (options->is_clean_environment)
                environment = g_new0(char *, 1);
        else if (options->isolation.is_untrusted)
                environment = with_terminal(options, callers,
                                            g_strdupv((char **)untrusted_environment()));
        else
                environment = caller_environment(callers);
        for (guint i = 0; i < options->variables->len; i++) {
                const char *variable = g_ptr_array_index(options->variables, i);
                g_autofree char *name = variable_name(variable);
                const char *value = variable[strlen(name)] == '='
                                            ? variable + strlen(name) + 1
                                            : g_environ_getenv((char **)callers, name);

                if (value)
                        environment = g_environ_setenv(environment, name, value, TRUE);
        }
        return environment;
}

char *request_lost_variables(const Options *options, const Spec *spec, char *const *callers) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

        bool is_another = options->is_clean_environment || options->isolation.is_untrusted;

        for (; !is_another && *callers; callers++) {
                g_autofree char *name = variable_name(*callers);

                if (!g_environ_getenv(spec->environment, name) && strchr(*callers, '='))
                        g_ptr_array_add(names, text_printable(name, NAME_SHOWN));
        }
        if (names->len == 0)
                return NULL;
        g_ptr_array_add(names, NULL);
        return g_strjoinv(", ", (char **)names->pdata);
}

Spec *request_spec(const Options *options, char *const *environment) {
        Spec *spec = spec_new();

        spec->is_scope = options->is_scope;
        spec->profile = g_strdup(options->profile);
        spec->pool = g_strdup(options->pool);
        spec->id = options->id ? g_strdup(options->id) : made_up_id();
        spec->command = g_strdupv(options->command);
        spec->environment = make_environment(options, environment);
        spec->labels = g_hash_table_ref(options->labels);
        spec->extra = property_list_copy(options->extra);
        isolation_set_copy(&options->isolation, &spec->isolation);
        isolation_set_settle(&spec->isolation);
        limit_set_copy(&options->limits, &spec->limits);
        if (spec->isolation.is_untrusted)
                limit_set_apply_untrusted_defaults(&spec->limits, spec->isolation.has_strict_fs);
        limit_set_apply_defaults(&spec->limits);
        if (options->is_capture)
                limit_set_apply_capture_default(&spec->limits);
        return spec;
}

static bool is_asked(const Options *options, const char *name) {
        for (guint i = 0; i < options->variables->len; i++) {
                g_autofree char *asked = variable_name(g_ptr_array_index(options->variables, i));

                if (strcmp(asked, name) == 0)
                        return true;
        }
        return false;
}

static void describe_account(const Options *options, Spec *spec, const Account *account) {
        const struct {
                const char *name, *value;
        } variables[] = {
                { "HOME", account->home },
                { "LOGNAME", account->name },
                { "SHELL", account->shell },
                { "USER", account->name },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(variables); i++)
                if (!is_asked(options, variables[i].name))
                        spec->environment = g_environ_setenv(spec->environment, variables[i].name,
                                                             variables[i].value, TRUE);
}

/* Root's files, and processes, are root's without any privilege. */
static bool check_not_root(const char *option, unsigned number, GError **error) {
        if (number != 0)
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "--%s: with --untrusted not root; accepted: another", option);
        return false;
}

/* What is said of a pool needs one. */
static bool check_pool(const Options *options, const Spec *spec, GError **error) {
        const char *key = options->max_parallel > 0 ? "max-parallel" : NULL;

        for (int i = 0; i < _LIMIT_MAX && !key; i++)
                if (limit_info((Limit)i)->carrier == LIMIT_ON_POOL &&
                    limit_set_is_limited(&options->limits, (Limit)i))
                        key = limit_info((Limit)i)->key;
        if (!options->pool && key)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                            "--%s needs --pool: it is about all runs of one", key);
        else if (options->has_on_full && options->max_parallel == 0)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                            "--on-full needs --max-parallel: else no pool is ever full");
        else
                return !options->pool || name_check_both(spec->pool, spec->id, error);
        return false;
}

/* What is a manager's alone: it is known without asking one. */
static bool check_scope(const Options *options, const Spec *spec, GError **error) {
        const char *property = extra_needs_service(spec->extra), *key = NULL;

        if (spec->isolation.is_untrusted || spec->isolation.allow)
                key = spec->isolation.is_untrusted ? "untrusted" : "net allow";
        if (!spec->is_scope)
                return true;
        if (key && !options->is_best_effort)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                            "--%s cannot be had with --scope, where the program is a child of the "
                            "caller's; use --service",
                            key);
        else if (property)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                            "-p: a scope has no \"%s\": its program is a child of the caller's; use "
                            "--service",
                            property);
        else
                return true;
        return false;
}

bool request_complete(const Options *options, char **directory, Spec *spec, GError **error) {
        g_auto(Account) account = { 0 };
        gid_t gid;

        if (options->user) {
                if (!account_find(options->user, &account, error))
                        return false;
                if (spec->isolation.is_untrusted && !check_not_root("uid", account.uid, error))
                        return false;
                if (!spec->isolation.is_untrusted) /* it sees nobody's home */
                        describe_account(options, spec, &account);
        }
        if (options->group &&
            (!account_find_group(options->group, &gid, error) ||
             (spec->isolation.is_untrusted && !check_not_root("gid", gid, error))))
                return false;

        spec->user = g_strdup(options->user);
        spec->group = g_strdup(options->group);
        return check_pool(options, spec, error) &&
               paths_settle(&spec->isolation, &spec->limits, directory, error) &&
               isolation_check_extra(&spec->isolation, spec->extra, error) &&
               check_scope(options, spec, error) && net_settle(&spec->isolation, error);
}
