/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What cordon doctor has found: data alone, for lines.h and object.h to put into words and JSON. What is not known is
 * NULL, ANSWER_UNKNOWN or absent from its list. */

#include <glib.h>
#include <stdbool.h>

#include "launcher/kernel/machine.h"
#include "launcher/manager/door.h"

/* An option, as it would go here. */
typedef struct {
        const char *key;  /* static, as the next two */
        const char *by;   /* the property that carries it; NULL: cordon alone */
        const char *in;   /* the kernel's file in which it was found; NULL: not in one */
        bool is_limit;    /* else it is of the isolation */
        bool is_decisive; /* whether all is well depends on it */
        bool is_enforced;
        unsigned residuals;  /* what it leaves open here: bit n: UntrustedResidual n */
        char **tried;        /* the words of a cordon run */
        char *code, *reason; /* as cordon run refuses it; NULL: it does not */
        char *remedy;        /* NULL: none is known */
} Finding;

typedef struct {
        ManagerKind kind;
        Answer is_reachable;
        Answer is_usable;              /* a unit of ours was started there */
        char *reason;                  /* why one of these is not so, or not known */
        char *version;                 /* of its systemd */
        CgroupControllers controllers; /* that its units can have */
        Answer has_bpf, has_user_namespaces, has_pid_namespaces; /* tried */
        GPtrArray *
                findings; /* of Finding*, in the order of the tables; empty where it is not usable */
} ManagerReport;

typedef struct {
        const char *version; /* of cordon; static */
        Machine machine;
        Answer is_oomd_active;
        ManagerKind standard; /* the manager that a run would take, or */
        bool is_named;        /* … that was asked for */
        GPtrArray *managers;  /* of ManagerReport* */
} Report;

void report_init(Report *report);
void report_clear(Report *report);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Report, report_clear)

const ManagerReport *report_manager(const Report *report, ManagerKind kind); /* NULL: none */

ManagerReport *report_add_manager(Report *report, ManagerKind kind);
Finding *report_add_finding(ManagerReport *manager);

/* All that is decisive can be enforced by the manager that a run would take. */
bool report_is_ok(const Report *report);

/* What somebody should know, a line each; NULL ends it. */
const char *report_warning(const Report *report, size_t index);
