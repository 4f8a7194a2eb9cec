/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define PIECE 4096 /* nearly all of them are shorter */

static ssize_t read_piece(int fd, GString *text) {
        gsize length = text->len;
        ssize_t n;

        g_string_set_size(text, length + PIECE);
        do
                n = read(fd, text->str + length, PIECE);
        while (n < 0 && errno == EINTR);
        g_string_set_size(text, length + (gsize)MAX(n, 0));
        return n;
}

char *file_read_text(int dir, const char *path) {
        int fd = dir < 0 && dir != AT_FDCWD ? -1 : openat(dir, path, O_RDONLY | O_CLOEXEC);
        g_autoptr(GString) text = NULL;
        ssize_t n;

        if (fd < 0)
                return NULL;
        text = g_string_sized_new(PIECE);
        while ((n = read_piece(fd, text)) > 0)
                ;
        (void)close(fd);
        return n < 0 ? NULL : g_string_free(g_steal_pointer(&text), FALSE);
}
