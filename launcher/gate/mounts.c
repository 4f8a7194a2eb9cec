/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The new root is mounted over "/", where it hides nothing: the root directory of a process stays what it was, so that
 * every source is where it always is, and "/.." is what lies on top. No directory is needed for it anywhere. Targets are
 * descriptors, given to mount(2) by their name in /proc. */

#include "mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "inside.h"

#define ON_TOP     "/.."
#define PTS_DEVICE "/dev/pts/ptmx"

/* As <linux/mount.h> has them; headers of another libc declare them twice. */
#define SETATTR_READ_ONLY UINT64_C(1)
#define SETATTR_RECURSIVE 0x8000U

typedef struct {
        uint64_t set, clear, propagation, user_namespace;
} MountAttributes;

typedef struct {
        char text[sizeof "/proc/self/fd/2147483647"];
} FdPath;

static FdPath path_of(int fd) {
        FdPath path;

        (void)snprintf(path.text, sizeof path.text, "/proc/self/fd/%d", fd);
        return path;
}

static bool finish(int fd, bool is_done) {
        int error_number = errno;

        if (fd >= 0)
                (void)close(fd);
        errno = error_number;
        return is_done;
}

static bool is_root(const char *path) {
        return strcmp(path, "/") == 0;
}

/* The first mount of all: what is at "/" then is below us, and what comes is on top. */
static bool begin(Mounts *mounts, const char *source, const char *type, unsigned long flags,
                  const char *options) {
        if (mount(source, "/", type, flags, options) < 0)
                return false;
        mounts->root = open(ON_TOP, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return mounts->root >= 0;
}

static int open_target(const Mounts *mounts, const char *target, bool is_directory,
                       uint32_t flags) {
        int fd = inside_open(mounts->root, target);

        if (fd < 0 && errno == ENOENT && (flags & STEP_MAKES_TARGET))
                return inside_make(mounts->root, target, is_directory);
        return fd;
}

static bool may_be_missing(uint32_t flags) {
        return errno == ENOENT && (flags & STEP_IS_OPTIONAL);
}

bool mounts_slave(void) {
        return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
}

bool mounts_tmpfs(Mounts *mounts, const char *target, const char *options, uint32_t flags) {
        unsigned long mount_flags = MS_STRICTATIME;
        int fd;

        if (flags & STEP_NO_SUID)
                mount_flags |= MS_NOSUID;
        if (flags & STEP_NO_DEVICES)
                mount_flags |= MS_NODEV;
        if (flags & STEP_NO_EXEC)
                mount_flags |= MS_NOEXEC;
        if (is_root(target))
                return begin(mounts, "tmpfs", "tmpfs", mount_flags, options);
        fd = open_target(mounts, target, true, flags);
        if (fd < 0)
                return may_be_missing(flags);
        return finish(fd, mount("tmpfs", path_of(fd).text, "tmpfs", mount_flags, options) == 0);
}

/* Read-only, without mount_setattr(2) */

static bool remount(int fd) {
        static const struct {
                unsigned long has, keeps;
        } flags[] = {
                { ST_NOSUID, MS_NOSUID },     { ST_NODEV, MS_NODEV },
                { ST_NOEXEC, MS_NOEXEC },     { ST_NOATIME, MS_NOATIME },
                { ST_RELATIME, MS_RELATIME }, { ST_NODIRATIME, MS_NODIRATIME },
        };
        unsigned long mount_flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
        struct statvfs fs;

        if (fstatvfs(fd, &fs) < 0)
                return false;
        for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
                if (fs.f_flag & flags[i].has)
                        mount_flags |= flags[i].keeps;
        return mount(NULL, path_of(fd).text, NULL, mount_flags, NULL) == 0;
}

/* In place: "\040" is a space. */
static void unescape(char *text) {
        char *to = text;

        while (*text) {
                if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] && text[3]) {
                        *to++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
                                       (text[3] - '0'));
                        text += 4;
                        continue;
                }
                *to++ = *text++;
        }
        *to = '\0';
}

static char *point_of(char *line) {
        char *saved = NULL, *word = strtok_r(line, " ", &saved);

        for (int i = 1; word && i < 5; i++)
                word = strtok_r(NULL, " ", &saved);
        if (word)
                unescape(word);
        return word;
}

static bool is_below(const char *path, const char *directory) {
        size_t length = is_root(directory) ? 0 : strlen(directory);

        return strncmp(path, directory, length) == 0 && path[length] == '/' && path[length + 1];
}

/* The list has mounts of the old root, too: there may be no mount at that path in the new one, or nothing. */
static bool remount_point(const Mounts *mounts, const char *point) {
        int fd = inside_open(mounts->root, point);

        if (fd < 0)
                return errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP;
        return finish(fd, remount(fd) || errno == EINVAL);
}

static bool remount_below(const Mounts *mounts, const char *target) {
        FILE *table = fopen("/proc/self/mountinfo", "re");
        bool is_done = table;
        char *line = NULL;
        size_t size = 0;

        while (is_done && getline(&line, &size, table) > 0) {
                const char *point = point_of(line);

                if (point && is_below(point, target))
                        is_done = remount_point(mounts, point);
        }
        if (table)
                (void)fclose(table);
        free(line);
        return is_done;
}

static bool seal(const Mounts *mounts, const char *target, bool is_recursive) {
        MountAttributes attributes = { .set = SETATTR_READ_ONLY };
        int fd = inside_open(mounts->root, target);

        if (fd < 0)
                return false;
        if (syscall(SYS_mount_setattr, fd, "",
                    AT_EMPTY_PATH | (is_recursive ? SETATTR_RECURSIVE : 0), &attributes,
                    sizeof attributes) == 0)
                return finish(fd, true);
        if (errno != ENOSYS && errno != EPERM)
                return finish(fd, false);
        if (!finish(fd, remount(fd)))
                return false;
        return !is_recursive || remount_below(mounts, target);
}

bool mounts_bind(Mounts *mounts, const char *source, const char *target, uint32_t flags) {
        unsigned long mount_flags = MS_BIND | (flags & STEP_IS_RECURSIVE ? MS_REC : 0);
        int from = open(source, O_PATH | O_CLOEXEC), to;
        struct stat st;
        bool is_done;

        if (from < 0)
                return may_be_missing(flags);
        if (is_root(target)) {
                is_done = begin(mounts, path_of(from).text, NULL, mount_flags, NULL);
        } else {
                to = fstat(from, &st) < 0 ? -1
                                          : open_target(mounts, target, S_ISDIR(st.st_mode), flags);
                is_done = finish(to, to >= 0 && mount(path_of(from).text, path_of(to).text, NULL,
                                                      mount_flags, NULL) == 0);
        }
        return finish(from,
                      is_done && (!(flags & STEP_IS_READ_ONLY) || seal(mounts, target, true)));
}

/* What is no mount yet becomes one. */
bool mounts_read_only(Mounts *mounts, const char *target, uint32_t flags) {
        int fd;

        if (seal(mounts, target, true))
                return true;
        if (errno != EINVAL)
                return may_be_missing(flags);
        fd = inside_open(mounts->root, target);
        if (fd < 0 || !finish(fd, mount(path_of(fd).text, path_of(fd).text, NULL, MS_BIND | MS_REC,
                                        NULL) == 0))
                return false;
        return seal(mounts, target, true);
}

bool mounts_seal(Mounts *mounts, const char *target, uint32_t flags) {
        return seal(mounts, target, false) || may_be_missing(flags);
}

bool mounts_link(Mounts *mounts, const char *source, const char *target) {
        return inside_link(mounts->root, target, source);
}

/* By anybody: who builds has privileges that the program will not have. */
static bool is_open(const char *path) {
        struct stat st;

        return stat(path, &st) == 0 && (st.st_mode & 0666) == 0666;
}

/* The device goes by what is mounted at "pts" beside it, so a bind mount of the machine's would find nothing. Who may not
 * make it uses the one among the terminals; where that is closed, as it is where the machine has the other, only terminals
 * of our own have one, and the caller's then has no name inside. */
bool mounts_terminals(Mounts *mounts, const char *source, const char *target, uint32_t flags) {
        const char *name = source + strspn(source, "/");
        int fd;

        if (!mounts_bind(mounts, target, target, flags))
                return false;
        if (mknodat(mounts->root, name, S_IFCHR | 0666, makedev(5, 2)) == 0)
                return fchmodat(mounts->root, name, 0666, 0) == 0;
        if (!is_open(PTS_DEVICE) && (fd = inside_open(mounts->root, target)) >= 0)
                (void)finish(fd, mount("devpts", path_of(fd).text, "devpts", MS_NOSUID | MS_NOEXEC,
                                       "newinstance,ptmxmode=0666,mode=620") == 0);
        return inside_link(mounts->root, source, "pts/ptmx");
}

/* With both at one path the old root comes to lie on top of the new one, and is taken off there. */
bool mounts_root(Mounts *mounts) {
        return fchdir(mounts->root) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
               umount2(".", MNT_DETACH) == 0 && chdir("/") == 0;
}
