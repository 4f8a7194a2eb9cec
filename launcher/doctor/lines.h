/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The report for people: at most 80 columns, and nothing in it that a terminal would obey. */

#include "report.h"

char *report_to_text(const Report *report);
