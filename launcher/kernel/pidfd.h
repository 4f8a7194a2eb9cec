/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who is behind a pidfd. */

#include <stdbool.h>
#include <sys/types.h>

/* As we number processes; −1: it is gone. */
pid_t pidfd_process(int pidfd);

/* Whose it is, as we number users. False: it is gone, or not to be seen. */
bool pidfd_user(int pidfd, uid_t *ret_uid);

/* It is dead, whoever has heard of it. */
bool pidfd_is_dead(int pidfd);
