/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The report as one JSON object; cordon-doctor(1) has the keys. */

#include "report.h"

/* One line, or indented for people; with a newline behind it. */
char *report_to_json(const Report *report, bool is_pretty);
