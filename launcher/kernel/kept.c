/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A group that was removed answers ENODEV, also when another has its name by now: then the file is opened again. */

#include "kept.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <unistd.h>

#define PIECE     4096 /* longer ones are not for this */
#define KEPT_MOST 64   /* five levels of four files are usual */

static GHashTable *kept; /* path → descriptor */

static void close_kept(gpointer fd) {
        (void)close(GPOINTER_TO_INT(fd));
}

/* −1: not now. */
static int open_kept(const char *path) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return -1;
        if (!kept)
                kept = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, close_kept);
        if (g_hash_table_size(kept) >= KEPT_MOST)
                g_hash_table_remove_all(kept);
        g_hash_table_insert(kept, g_strdup(path), GINT_TO_POINTER(fd));
        return fd;
}

static char *read_kept(int fd) {
        char piece[PIECE];
        ssize_t n;

        do
                n = pread(fd, piece, PIECE, 0);
        while (n < 0 && errno == EINTR);
        return n < 0 ? NULL : g_strndup(piece, (gsize)n);
}

char *kept_read(const char *path) {
        gpointer found = NULL;
        bool is_kept = kept && g_hash_table_lookup_extended(kept, path, NULL, &found);
        int fd = is_kept ? GPOINTER_TO_INT(found) : open_kept(path);
        char *text = fd < 0 ? NULL : read_kept(fd);

        if (text || fd < 0)
                return text;
        g_hash_table_remove(kept, path);
        fd = is_kept ? open_kept(path) : -1;
        return fd < 0 ? NULL : read_kept(fd);
}

void kept_close(void) {
        g_clear_pointer(&kept, g_hash_table_unref);
}
