/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What would come of a run: it is started like one, looked at like one, and ends where its program would be executed. What
 * is refused is taken away, and the rest is tried again: so every refusal is the one that a run gives. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/errand.h"
#include "launcher/manager/door.h"
#include "launcher/options.h"
#include "launcher/readback.h"

typedef struct {
        const char *option;   /* its name in the table; static */
        char *property;       /* of -p; NULL: all that it says, or it is another option */
        char *code, *message; /* as the run's record has them */
} Refusal;

typedef struct {
        ManagerKind manager;  /* MANAGER_AUTO: none was reached */
        char *version;        /* of its systemd; NULL: not learnt */
        bool is_ready;        /* what was not refused would be executed, and */
        Readback readback;    /* … this was in force */
        GPtrArray *refusals;  /* of Refusal*, in the order in which a run meets them */
        char *code, *message; /* what no option can be taken away for; NULL: nothing */
        int signal;           /* that came to us meanwhile; 0: none */
} Rehearsal;

void rehearse(const Options *options, const Errand *errand, Rehearsal *ret_rehearsal);
/* It came to an end before there was anything to rehearse. */
void rehearsal_refuse(const char *code, const char *message, Rehearsal *ret_rehearsal);
void rehearsal_clear(Rehearsal *rehearsal);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rehearsal, rehearsal_clear)

/* Of an option, or one property of -p; NULL: it was not refused. */
const Refusal *rehearsal_find(const Rehearsal *rehearsal, const char *option, const char *property);

/* What the run would be refused with first; NULL: it would be executed. With --best-effort it would be in spite of what an
 * option is refused for. */
const char *rehearsal_verdict(const Rehearsal *rehearsal, const Options *options);
