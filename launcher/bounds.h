/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a run is held to, in words for people: as it was found in force, and what was not. */

#include "launcher/options.h"
#include "launcher/readback.h"
#include "units/spec.h"

/* "memory=256M timeout=30s, net=none"; "no limits" where none was asked for. What holds always, asked or not, is left
 * out. The caller's to free. */
char *bounds_words(const Options *options, const Spec *spec, const Readback *readback);

/* --best-effort: what could not be kept, by the names of who asked. NULL: nothing, or nobody has looked. */
char *bounds_unenforced(const Options *options, const Spec *spec, const Readback *readback);
