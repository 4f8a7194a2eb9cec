/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As <linux/landlock.h> has them; headers may be older. */
#define ASK_VERSION   1U
#define PATH_BENEATH  1
#define FS_EXECUTE    (UINT64_C(1) << 0)
#define FS_WRITE_FILE (UINT64_C(1) << 1)
#define FS_READ_FILE  (UINT64_C(1) << 2)
#define FS_READ_DIR   (UINT64_C(1) << 3)
#define FS_TRUNCATE   (UINT64_C(1) << 14)
#define FS_IOCTL_DEV  (UINT64_C(1) << 15)

#define READ_RIGHTS (FS_EXECUTE | FS_READ_FILE | FS_READ_DIR)
#define FILE_RIGHTS (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

/* How many rights each version knows; later ones are of other things. */
static const struct { int version, count; } known[] = { { 5, 16 }, { 3, 15 } };

typedef struct {
        uint64_t files;
} RulesetAttributes;

typedef struct {
        uint64_t rights;
        int32_t fd;
} __attribute__((packed)) PathAttributes;

uint64_t landlock_rights(int version) {
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
                if (version >= known[i].version)
                        return (UINT64_C(1) << known[i].count) - 1;
        return 0;
}

static bool add_permit(int ruleset, uint64_t rights, const Step *permit, const char *texts) {
        PathAttributes attributes = { .rights = permit->flags & STEP_IS_WRITABLE ? rights
                                                                                 : READ_RIGHTS };
        struct stat st;
        bool is_added;

        attributes.fd = open(texts + permit->target, O_PATH | O_CLOEXEC);
        if (attributes.fd < 0)
                return errno == ENOENT && (permit->flags & STEP_IS_OPTIONAL);
        if (fstat(attributes.fd, &st) == 0 && !S_ISDIR(st.st_mode))
                attributes.rights &= FILE_RIGHTS;
        attributes.rights &= rights;
        is_added = syscall(SYS_landlock_add_rule, ruleset, PATH_BENEATH, &attributes, 0U) == 0;

        int error_number = errno;

        (void)close(attributes.fd);
        errno = error_number;
        return is_added;
}

/* Nothing permits the directory "/" itself. */
static bool is_in_force(void) {
        int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                return errno == EACCES;
        (void)close(fd);
        errno = EPROTO;
        return false;
}

static bool close_with(int ruleset, uint64_t rights, const Step *permits, uint32_t count,
                       const char *texts, uint32_t *ret_failed) {
        for (uint32_t i = 0; i < count; i++)
                if (!add_permit(ruleset, rights, &permits[i], texts)) {
                        *ret_failed = i;
                        return false;
                }
        *ret_failed = count;
        return syscall(SYS_landlock_restrict_self, ruleset, 0U) == 0 && is_in_force();
}

bool landlock_close(const Step *permits, uint32_t count, const char *texts, uint32_t *ret_failed) {
        long version = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
        RulesetAttributes attributes = { .files = landlock_rights((int)version) };
        int ruleset;
        bool is_closed;

        *ret_failed = count;
        if (version < 0)
                return false;
        errno = EOPNOTSUPP;
        if (attributes.files == 0)
                return false;
        ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0U);
        if (ruleset < 0)
                return false;
        is_closed = close_with(ruleset, attributes.files, permits, count, texts, ret_failed);

        int error_number = errno;

        (void)close(ruleset);
        errno = error_number;
        return is_closed;
}
