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

static int open_file(int dir, const char *path) {
        return dir < 0 && dir != AT_FDCWD ? -1 : openat(dir, path, O_RDONLY | O_CLOEXEC);
}

static char *read_to_end(int fd, GString *begun) {
        g_autoptr(GString) text = begun;
        ssize_t n;

        while ((n = read_piece(fd, text)) > 0)
                ;
        return n < 0 ? NULL : g_string_free(g_steal_pointer(&text), FALSE);
}

char *file_read_text(int dir, const char *path) {
        int fd = open_file(dir, path);
        char *text;

        if (fd < 0)
                return NULL;
        text = read_to_end(fd, g_string_sized_new(PIECE));
        (void)close(fd);
        return text;
}

static char *read_record(int fd) {
        char piece[PIECE];
        ssize_t n;

        do
                n = read(fd, piece, PIECE);
        while (n < 0 && errno == EINTR);
        if (n < PIECE)
                return n < 0 ? NULL : g_strndup(piece, (gsize)n);
        return read_to_end(fd, g_string_new_len(piece, n));
}

char *file_read_record(int dir, const char *path) {
        int fd = open_file(dir, path);
        char *text;

        if (fd < 0)
                return NULL;
        text = read_record(fd);
        (void)close(fd);
        return text;
}
