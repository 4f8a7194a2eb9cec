/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What would help, where something cannot be enforced: decided from what was found, nothing is looked at. */

#include "report.h"
#include "units/isolation.h"
#include "units/limit.h"

/* "memory" of "memory.swap.max"; NULL: the limit is none of a control group's. */
char *remedy_controller(Limit limit);

/* The file of it that has the limit on this machine; NULL: likewise. */
const char *remedy_file(const Machine *machine, Limit limit);

/* NULL: none is known. */
char *remedy_of_limit(const Machine *machine, const ManagerReport *manager, Limit limit);
char *remedy_of_isolation(const Machine *machine, const ManagerReport *manager);
