/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The explanation for people: at most 80 columns, and nothing in it that a terminal would obey. */

#include "explanation.h"

char *explanation_to_text(const Explanation *explanation);
