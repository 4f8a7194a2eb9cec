/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Files of cgroups above the runs, which one run after the other reads: kept open, for what is in them is made anew at every
 * reading. Of the main thread only. */

/* Its beginning, which is all of a file that says one thing; NULL: it cannot be read. Only for what many runs share: it stays open. */
char *kept_read(const char *path);

/* Closes all of them: nobody runs any more. */
void kept_close(void);
