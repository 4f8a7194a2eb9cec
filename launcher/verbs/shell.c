/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon shell: a login shell under limits. A run in all but this: the command is found here, it is a scope unless it
 * cannot be one, and what it is held to is said before its first prompt. */

#include <string.h>
#include <unistd.h>

#include "help.h"
#include "launcher/bounds.h"
#include "launcher/kernel/account.h"
#include "launcher/kernel/error.h"
#include "run.h"
#include "units/extra.h"
#include "units/text.h"
#include "verbs.h"

#define FALLBACK   "/bin/sh"
#define WORD_SHOWN 40

/* What a child of the caller's cannot have. */
static bool needs_service(const Options *options) {
        return options->isolation.is_untrusted || options->isolation.allow ||
               options->pty == PTY_YES || extra_needs_service(options->extra);
}

static bool refuse_command(const Options *options, GError **error) {
        g_autofree char *shown = text_printable(options->command[0], WORD_SHOWN);

        if (options->command == options->job_command)
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                            "--job: $.command: shell runs a shell; for a command use cordon run");
        else
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                            "shell takes nothing but options, not \"%s\"; for a command use cordon "
                            "run",
                            shown);
        return false;
}

static bool settle(Options *options, GError **error) {
        if (options->command[0])
                return refuse_command(options, error);
        if (options->input) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                            "--job: standard input is the shell's; a file is needed");
                return false;
        }
        options->is_capture = false; /* of --json; here it is the record alone */
        if (!options->is_mode_said)
                options->is_scope = !needs_service(options);
        return true;
}

/* As its environment names it, which is also how -E chooses another; else as the user data base does. */
static char *find_shell(const Options *options, const Spec *spec, GError **error) {
        const char *named = g_environ_getenv(spec->environment, "SHELL");
        g_autofree char *self = g_strdup_printf("%u", (unsigned)geteuid());
        g_auto(Account) account = { 0 };

        if (named && named[0] == '/')
                return g_strdup(named);
        if (named && named[0]) {
                g_autofree char *shown = text_printable(named, WORD_SHOWN);

                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                            "SHELL: \"%s\" is not an absolute path; -E SHELL=%s names another",
                            shown, FALLBACK);
                return NULL;
        }
        if (account_find(options->user ?: self, &account, NULL) && account.shell &&
            account.shell[0])
                return g_steal_pointer(&account.shell);
        return g_strdup(FALLBACK);
}

static bool complete(const Options *options, Spec *spec, GError **error) {
        g_autofree char *shell = find_shell(options, spec, error);

        if (!shell)
                return false;
        g_strfreev(spec->command);
        spec->command = g_new0(char *, 2);
        spec->command[0] = g_steal_pointer(&shell);
        spec->is_login = true;
        return true;
}

static char *greet(const Options *options, const Spec *spec, ManagerKind manager,
                   const Readback *readback) {
        g_autofree char *bounds = bounds_words(options, spec, readback);
        const char *place = g_strcmp0(options->record, "-") == 0 ? "standard output"
                                                                 : options->record;

        return g_strdup_printf("shell %s under %s (%s, %s manager)%s%s", spec->id, bounds,
                               spec->is_scope ? "scope" : "service", manager_kind_word(manager),
                               place ? "; the record goes to " : "", place ?: "");
}

int verb_shell(char **argv) {
        static const RunKind kind = { .verb = VERB_SHELL,
                                      .print_help = help_print_shell,
                                      .settle = settle,
                                      .complete = complete,
                                      .greet = greet };

        return run_execute(&kind, argv);
}
