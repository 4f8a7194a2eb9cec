/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The explanation as one JSON object; cordon-run(1) has the keys. */

#include "explanation.h"

/* One line, or indented for people; with a newline behind it. */
char *explanation_to_json(const Explanation *explanation, bool is_pretty);
