/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* openat2(2) follows links as if that root were /. Where the kernel, or somebody's filter, has it not, we go step by step
 * and follow none: paths come here without any, but for a machine whose own directories are links. */

#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_FLAGS (O_PATH | O_CLOEXEC)
#define TRIES      16 /* while somebody else renames what is on the way */

typedef struct {
        const char *rest;
        char name[NAME_MAX + 1];
        bool is_last;
} Walk;

/* False: there is none, or it is too long (errno). */
static bool next_name(Walk *walk) {
        size_t length;

        walk->rest += strspn(walk->rest, "/");
        length = strcspn(walk->rest, "/");
        errno = length > NAME_MAX ? ENAMETOOLONG : 0;
        if (length == 0 || length > NAME_MAX)
                return false;
        memcpy(walk->name, walk->rest, length);
        walk->name[length] = '\0';
        walk->rest += length;
        walk->is_last = walk->rest[strspn(walk->rest, "/")] == '\0';
        return true;
}

static void close_keeping_errno(int fd) {
        int error_number = errno;

        (void)close(fd);
        errno = error_number;
}

static bool is_link(int fd) {
        struct stat st;

        return fstat(fd, &st) == 0 && S_ISLNK(st.st_mode);
}

/* One name further, in place of the directory that led to it. */
static int step_to(int directory, const char *name) {
        int fd = openat(directory, name, PATH_FLAGS | O_NOFOLLOW);

        close_keeping_errno(directory);
        if (fd < 0 || !is_link(fd))
                return fd;
        (void)close(fd);
        errno = ELOOP;
        return -1;
}

static int open_slowly(int root, const char *path) {
        int fd = fcntl(root, F_DUPFD_CLOEXEC, 0);
        Walk walk = { .rest = path };

        while (fd >= 0 && next_name(&walk))
                fd = step_to(fd, walk.name);
        if (fd < 0 || errno != ENAMETOOLONG)
                return fd;
        close_keeping_errno(fd);
        return -1;
}

int inside_open(int root, const char *path) {
        struct open_how how = { .flags = PATH_FLAGS, .resolve = RESOLVE_IN_ROOT };
        int fd = -1;

        errno = EAGAIN;
        for (int i = 0; i < TRIES && fd < 0 && errno == EAGAIN; i++)
                fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
        return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_slowly(root, path) : fd;
}

static bool make_one(int directory, const char *name, bool is_directory) {
        int made = is_directory ? mkdirat(directory, name, 0755)
                                : mknodat(directory, name, S_IFREG | 0444, 0);

        return made == 0 || errno == EEXIST;
}

int inside_make(int root, const char *path, bool is_directory) {
        int fd = fcntl(root, F_DUPFD_CLOEXEC, 0);
        Walk walk = { .rest = path };

        while (fd >= 0 && next_name(&walk)) {
                if (!make_one(fd, walk.name, !walk.is_last || is_directory)) {
                        close_keeping_errno(fd);
                        return -1;
                }
                fd = step_to(fd, walk.name);
        }
        if (fd < 0 || errno != ENAMETOOLONG)
                return fd;
        close_keeping_errno(fd);
        return -1;
}

bool inside_link(int root, const char *path, const char *says) {
        return symlinkat(says, root, path + strspn(path, "/")) == 0 || errno == EEXIST;
}
