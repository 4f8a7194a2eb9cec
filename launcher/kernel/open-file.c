/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A removed file has no place any more; the kernel still says where it was, seen from the process, to whom a workspace
 * is at the same path as to us. What is mapped and not open is known by the lines of maps; only the links in map_files
 * lead to it, and following them is for the privileged. */

#include "open-file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "units/isolation.h"

#define BLOCK_BYTES 512

static void count_link(int dir, const char *name, const char *root, Tree *tree) {
        char path[PATH_MAX + sizeof " (deleted)"];
        struct statx st;
        ssize_t length = readlinkat(dir, name, path, sizeof path - 1);

        if (length < 0)
                return;
        path[length] = '\0';
        if (isolation_is_within(path, root) && tree_has_place(tree, root, path) &&
            statx(dir, name, AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO | STATX_BLOCKS, &st) == 0 &&
            S_ISREG(st.stx_mode))
                (void)tree_add(tree, makedev(st.stx_dev_major, st.stx_dev_minor), st.stx_ino,
                               st.stx_blocks * BLOCK_BYTES);
}

static void count_descriptors(pid_t pid, const char *root, Tree *tree) {
        g_autofree char *path = g_strdup_printf("/proc/%d/fd", (int)pid);
        DIR *dir = opendir(path);

        for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir))
                if (entry->d_type == DT_LNK && !atomic_load(tree->is_off))
                        count_link(dirfd(dir), entry->d_name, root, tree);
        if (dir)
                (void)closedir(dir);
}

/* "7f12a000-7f12b000 rw-s 00000000 08:01 1234   /work/file (deleted)" */
static void count_maps(pid_t pid, const char *root, Tree *tree) {
        g_autofree char *maps = g_strdup_printf("/proc/%d/maps", (int)pid);
        g_autofree char *links = g_strdup_printf("/proc/%d/map_files", (int)pid);
        g_autofree char *text = NULL;
        int dir = -1;

        if (!g_file_get_contents(maps, &text, NULL, NULL) || !strstr(text, " (deleted)\n"))
                return;
        dir = open(links, O_PATH | O_DIRECTORY | O_CLOEXEC);
        for (char *line = text, *end; dir >= 0 && (end = strchr(line, '\n')); line = end + 1) {
                char *space = strchr(line, ' ');

                *end = '\0';
                if (!space || !g_str_has_suffix(line, " (deleted)") || !strchr(line, '/'))
                        continue;
                *space = '\0';
                count_link(dir, line, root, tree);
        }
        if (dir >= 0)
                (void)close(dir);
}

void open_file_count(pid_t pid, const char *root, Tree *tree) {
        count_descriptors(pid, root, tree);
        count_maps(pid, root, tree);
}
