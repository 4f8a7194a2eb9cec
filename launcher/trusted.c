/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Links are followed, as people link their configuration from elsewhere: what is opened is what is judged. */

#include "trusted.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/manager/fd.h"
#include "units/text.h"

#define SIZE_MAX_BYTES ((size_t)1 << 20)
#define PATH_SHOWN     80

static bool fail(GError **error, const char *path, const char *why) {
        g_autofree char *shown = text_printable(path, PATH_SHOWN);

        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE, "%s: %s", shown, why);
        return false;
}

static const char *what_is_wrong(const struct stat *st, bool is_ours) {
        if (!S_ISREG(st->st_mode))
                return "not a file";
        if (is_ours)
                return (size_t)st->st_size > SIZE_MAX_BYTES ? "too long; accepted: 1M" : NULL;
        if (st->st_uid != 0 && st->st_uid != geteuid())
                return "not trusted: it is neither root's nor yours";
        if (st->st_mode & 0022)
                return "not trusted: others can write it (chmod go-w)";
        return (size_t)st->st_size > SIZE_MAX_BYTES ? "too long; accepted: 1M" : NULL;
}

static bool read_all(int fd, GByteArray *bytes) {
        guint8 buffer[4096];
        ssize_t n;

        while ((n = read(fd, buffer, sizeof buffer)) > 0 && bytes->len <= SIZE_MAX_BYTES)
                g_byte_array_append(bytes, buffer, (guint)n);
        return n == 0;
}

static bool read_trusted(const char *path, bool is_ours, char **ret_text, GError **error) {
        AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        struct stat st;
        const char *wrong;

        *ret_text = NULL;
        if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
                return true;
        if (fd < 0 || fstat(fd, &st) < 0)
                return fail(error, path, g_strerror(errno));
        wrong = what_is_wrong(&st, is_ours);
        if (wrong)
                return fail(error, path, wrong);
        if (!read_all(fd, bytes) || (bytes->len > 0 && memchr(bytes->data, 0, bytes->len)))
                return fail(error, path, "not a text that can be read");
        g_byte_array_append(bytes, (const guint8 *)"", 1);
        *ret_text = (char *)g_byte_array_free(g_steal_pointer(&bytes), FALSE);
        return true;
}

bool trusted_read(const char *path, char **ret_text, GError **error) {
        return read_trusted(path, false, ret_text, error);
}

bool trusted_read_ours(const char *path, char **ret_text, GError **error) {
        return read_trusted(path, true, ret_text, error);
}
