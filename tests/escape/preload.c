/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Is loaded into whatever honours LD_PRELOAD, and leaves its name. */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void __attribute__((constructor)) leave_name(void) {
        const char *path = getenv("ESCAPE_PRELOAD_FILE");
        int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

        if (fd < 0)
                return;
        (void)!write(fd, program_invocation_short_name, strlen(program_invocation_short_name));
        (void)!write(fd, "\n", 1);
        (void)close(fd);
        (void)setenv("ESCAPE_PRELOADED", "yes", 1);
}
