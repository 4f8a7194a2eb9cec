/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The socket that a guard listens on, and how it is found. */

/* is_direct: launchers speak to the manager itself, not over the system bus. */
char *guard_socket_path(const char *guard_dir, bool is_direct);

/* A connection that does not wait, to a guard that is ours or root's. Negative errno on failure. */
int guard_connect(const char *path);

/* A message with a descriptor, which stays the sender's. */
bool guard_send_fd(int socket_fd, const char *text, int fd);

/* As recv() without waiting; *ret_fd is −1 where none came along. */
ssize_t guard_receive(int socket_fd, char *text, size_t size, int *ret_fd);

/* Makes the directory (the user's alone, else -EPERM) and a listening socket at the path, in place of what a dead one of the same
 * name left. Negative errno on failure. */
int guard_listen(const char *path, uid_t uid);
