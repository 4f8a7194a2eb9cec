/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "explain.h"

#include <stdio.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "lines.h"
#include "object.h"

#define STATUS_FAILURE 125

static void print(const Options *options, const Explanation *explanation) {
        g_autofree char *text = options->is_json
                                        ? explanation_to_json(explanation, isatty(STDOUT_FILENO))
                                        : explanation_to_text(explanation);

        (void)fputs(text, stdout);
        (void)fflush(stdout);
}

/* How large the workspace is comes first in a run, and may refuse it before a manager is asked. */
static void try(const Options *options, Errand *errand, Rehearsal *rehearsal) {
        g_autoptr(GError) error = NULL;

        if (errand_measure(errand, &error)) {
                rehearse(options, errand, rehearsal);
                return;
        }
        rehearsal_refuse(launcher_error_word(error), error->message, rehearsal);
}

int explain(const Options *options, Errand *errand) {
        g_auto(Machine) machine = MACHINE_INIT;
        g_auto(Rehearsal) rehearsal = { 0 };
        g_auto(Explanation) explanation = { 0 };

        try(options, errand, &rehearsal);
        if (rehearsal.signal)
                return 128 + rehearsal.signal;
        machine_read(&machine);
        explanation_init(&explanation, options, errand->spec, &machine, &rehearsal);
        explanation_add_limits(&explanation);
        explanation_add_isolation(&explanation);
        explanation_add_world(&explanation);
        print(options, &explanation);
        return rehearsal_verdict(&rehearsal, options) ? STATUS_FAILURE : 0;
}
