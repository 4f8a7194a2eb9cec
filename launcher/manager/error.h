/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Why no manager could be had. Messages are one line, written for the user: the reason, then what
 * would help. The numbers travel from cordon-keeper to the launcher, so a code is never renumbered. */

#include <glib.h>

typedef enum {
        MANAGER_ERROR_UNREACHABLE = 0,  /* it should be there, but does not answer */
        MANAGER_ERROR_NO_SYSTEMD = 1,   /* no systemd program on this machine */
        MANAGER_ERROR_NO_CGROUP = 2,    /* no cgroup that it could root in */
        MANAGER_ERROR_NO_NAMESPACE = 3, /* the kernel refuses a mount or user namespace */
        MANAGER_ERROR_RUNTIME_DIR = 4,  /* no directory that is safely ours */
        MANAGER_ERROR_START = 5,        /* it was started and ended, or never became ready */
        MANAGER_ERROR_KEEPER = 6,       /* cordon-keeper itself is missing or broke */
} ManagerError;

#define MANAGER_ERROR (manager_error_quark())
GQuark manager_error_quark(void);
