/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An id has no slash in it and begins with no dot, so it is a name in the directory and nothing else. The directory may be
 * one that jobs can write to: what lies in the way is taken away, and not opened, for it could be a link to another file
 * or a FIFO that nobody reads. */

#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/replacement.h"
#include "units/text.h"

#define PATH_SHOWN 80

struct Store {
        char *path;
        int fd;
};

static bool fail(const char *path, const char *why, GError **error) {
        g_autofree char *shown = text_printable(path, PATH_SHOWN);

        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "--output-dir: cannot write to \"%s\": %s", shown, why);
        return false;
}

Store *store_open(const char *path, GError **error) {
        g_autoptr(Store) store = g_new0(Store, 1);

        store->path = g_strdup(path);
        store->fd = -1;
        if (mkdir(path, 0777) < 0 && errno != EEXIST) {
                (void)fail(path, g_strerror(errno), error);
                return NULL;
        }
        store->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (store->fd < 0 || faccessat(store->fd, ".", W_OK, AT_EACCESS) < 0) {
                (void)fail(path, g_strerror(errno), error);
                return NULL;
        }
        return g_steal_pointer(&store);
}

void store_free(Store *store) {
        if (!store)
                return;
        if (store->fd >= 0)
                (void)close(store->fd);
        g_free(store->path);
        g_free(store);
}

static bool create(const Store *store, const char *id, const char *suffix, int *ret_fd,
                   char **ret_name, GError **error) {
        g_autofree char *name = g_strconcat(id, suffix, NULL);
        bool is_free = unlinkat(store->fd, name, 0) >= 0 || errno == ENOENT;
        int fd = is_free ? openat(store->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                         : -1;

        g_free(*ret_name);
        *ret_name = g_build_filename(store->path, name, NULL);
        *ret_fd = fd;
        return fd >= 0 || fail(*ret_name, g_strerror(errno), error);
}

bool store_begin(Store *store, const char *id, int ret_fds[CAPTURE_STREAMS],
                 char *ret_names[CAPTURE_STREAMS], GError **error) {
        return create(store, id, ".stdout", &ret_fds[STDOUT_FILENO], &ret_names[STDOUT_FILENO],
                      error) &&
               create(store, id, ".stderr", &ret_fds[STDERR_FILENO], &ret_names[STDERR_FILENO],
                      error);
}

typedef struct {
        int fd;
        int error;
} Writer;

static void put(void *userdata, const char *data, size_t size) {
        Writer *writer = userdata;

        while (size > 0 && writer->error == 0) {
                ssize_t n = write(writer->fd, data, size);

                if (n < 0 && errno != EINTR)
                        writer->error = errno;
                data += MAX(n, 0);
                size -= (size_t)MAX(n, 0);
        }
}

/* 0, or why not. */
static int replace(Replacement *replacement, const char *path, const RecordSource *source) {
        Writer writer = { 0 };

        if (!replacement_find(replacement, path, NULL) ||
            !replacement_begin(replacement, NULL, true))
                return errno;
        writer.fd = replacement->fd;
        record_put(source, false, put, &writer);
        put(&writer, "\n", 1);
        if (writer.error == 0 && !replacement_end(replacement))
                writer.error = errno;
        return writer.error;
}

bool store_put_record(Store *store, const RecordSource *source, GError **error) {
        g_autofree char *name = g_strconcat(source->place->id, ".json", NULL);
        g_autofree char *path = g_build_filename(store->path, name, NULL);
        Replacement replacement = REPLACEMENT_INIT;
        int number = replace(&replacement, path, source);

        replacement_clear(&replacement);
        return number == 0 || fail(path, g_strerror(number), error);
}
