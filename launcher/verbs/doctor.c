/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon doctor: what can be enforced here. */

#include <stdio.h>
#include <unistd.h>

#include "help.h"
#include "launcher/doctor/examine.h"
#include "launcher/doctor/lines.h"
#include "launcher/doctor/object.h"
#include "launcher/kernel/error.h"
#include "launcher/options.h"
#include "launcher/session.h"
#include "units/text.h"
#include "verbs.h"

#define STATUS_NOT_OK  1
#define STATUS_FAILURE 125
#define WORD_SHOWN     40

static int refuse(const char *message) {
        g_autofree char *line = text_printable(message, G_MAXSIZE);

        fprintf(stderr, "cordon: %s; see cordon doctor --help\n", line);
        return STATUS_FAILURE;
}

static bool parse(Options *options, char **argv, ManagerKind *ret_standard, GError **error) {
        options->verb = "doctor";
        if (!options_parse(options, argv, error))
                return false;
        if (options->command[0]) {
                g_autofree char *shown = text_printable(options->command[0], WORD_SHOWN);

                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE,
                            "doctor takes nothing but options, not \"%s\"", shown);
                return false;
        }
        *ret_standard = MANAGER_AUTO;
        return session_choose_manager(ret_standard, error);
}

int verb_doctor(char **argv) {
        g_auto(Options) options = { 0 };
        g_auto(Caller) caller = { 0 };
        g_auto(Report) report = { 0 };
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        ManagerKind standard;
        int number;

        options_init(&options);
        report_init(&report);
        caller_read(&caller); /* before anything of it is changed */
        if (!parse(&options, argv, &standard, &error))
                return refuse(error->message);
        if (options.is_help) {
                help_print_doctor(stdout);
                return 0;
        }
        session_lift_own_limits();
        number = examine(options.manager, standard, &caller, &report);
        if (number != 0)
                return 128 + number;

        text = options.is_json ? report_to_json(&report, isatty(STDOUT_FILENO))
                               : report_to_text(&report);
        (void)fputs(text, stdout); /* main looks whether it was written */
        return report_is_ok(&report) ? 0 : STATUS_NOT_OK;
}
