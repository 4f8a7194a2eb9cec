/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files that stay open: what is in them now is read, one that went is noticed, and no more of them are open than may be. The
 * kernel's files of a process stand in for those of a cgroup: both answer with an error when what they are of is gone. */

#include <dirent.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/kernel/hierarchy.h"
#include "launcher/kernel/kept.h"

#define MORE_THAN_KEPT 100

static char *folder;

static char *file_of(unsigned number) {
        return g_strdup_printf("%s/%u", folder, number);
}

static void put(const char *path, const char *text) {
        FILE *file = fopen(path, "w"); /* the same inode, as the kernel's files are */

        if (!file || fputs(text, file) < 0 || fclose(file) != 0)
                BAIL_OUT("%s: %s", path, strerror(errno));
}

static unsigned open_files(void) {
        DIR *dir = opendir("/proc/self/fd");
        unsigned count = 0;

        while (dir && readdir(dir))
                count++;
        if (dir)
                (void)closedir(dir);
        return count;
}

static void test_reads(void) {
        g_autofree char *path = file_of(0);
        g_autofree char *first = NULL, *second = NULL, *none = NULL;

        none = kept_read(path);
        is(none, NULL, "what is not there is not read");
        put(path, "1\n");
        first = kept_read(path);
        is(first, "1\n", "what is there is");
        put(path, "22\n");
        second = kept_read(path);
        is(second, "22\n", "what is in it now, from its beginning");
}

static void test_gone(void) {
        pid_t child = fork();
        g_autofree char *path = NULL, *there = NULL, *gone = NULL;

        if (child == 0) {
                (void)pause();
                _exit(0);
        }
        path = g_strdup_printf("/proc/%d/cmdline", (int)child);
        there = kept_read(path);
        ok(there && there[0], "a file of what lives");
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        gone = kept_read(path);
        ok(!gone || !gone[0], "is not read any more when that is gone");
}

/* A group of our own below our own, in the unified hierarchy. NULL: none can be made. */
static char *make_group(void) {
        g_autofree char *text = NULL, *path = NULL;
        const char *line, *root = hierarchy_root(HIERARCHY_UNIFIED);

        if (!root || !g_file_get_contents("/proc/self/cgroup", &text, NULL, NULL))
                return NULL;
        line = strstr(text, "0::");
        g_strdelimit(text, "\n", '\0');
        path = line ? g_strdup_printf("%s%s/cordon-kept-%d", root, line + strlen("0::"),
                                      (int)getpid())
                    : NULL;
        return path && g_mkdir(path, 0755) == 0 ? g_steal_pointer(&path) : NULL;
}

/* One that has its name later is another. */
static void test_groups(void) {
        g_autofree char *group = make_group();
        g_autofree char *file = group ? g_build_filename(group, "cgroup.procs", NULL) : NULL;
        g_autofree char *first = NULL, *gone = NULL, *second = NULL;
        int made;

        skip(!group, 4, "n/a: no group can be made here");
        first = kept_read(file);
        ok(first, "a file of a group");
        (void)g_rmdir(group);
        gone = kept_read(file);
        is(gone, NULL, "… and nothing, when it is removed");
        made = g_mkdir(group, 0755);
        g_clear_pointer(&first, g_free);
        first = kept_read(file);
        ok(made == 0 && first, "one that has its name is read");
        (void)g_rmdir(group);
        made = g_mkdir(group, 0755);
        second = kept_read(file);
        ok(made == 0 && second, "… and the next, between two readings");
        kept_close();
        (void)g_rmdir(group);
        end_skip;
}

static void test_many(void) {
        unsigned before, most = 0, wrong = 0;

        kept_close();
        before = open_files();
        for (unsigned i = 0; i < MORE_THAN_KEPT; i++) {
                g_autofree char *path = file_of(i), *text = NULL;

                put(path, path);
                text = kept_read(path);
                wrong += g_strcmp0(text, path) != 0;
                most = MAX(most, open_files() - before);
        }
        cmp_ok(wrong, "==", 0, "many are read");
        cmp_ok(most, "<=", 64, "… without as many being open");
        cmp_ok(most, ">", 1, "… but some");
        kept_close();
        cmp_ok(open_files(), "==", before, "none is open when all are closed");
}

/* Controllers are in one kind of hierarchy at a time. */
static void test_hierarchies(void) {
        static const char *const files[] = { "memory.max", "pids.max", "io.stat", "cpu.max",
                                             "cpuset.cpus.effective" };
        static const Hierarchy legacy[] = { HIERARCHY_MEMORY, HIERARCHY_PIDS, HIERARCHY_BLKIO,
                                            HIERARCHY_CPU, HIERARCHY_CPUSET };

        for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
                ok(hierarchy_can_have(HIERARCHY_UNIFIED, files[i]) == !hierarchy_root(legacy[i]),
                   "%s is looked for where its controller is", files[i]);
        ok(hierarchy_can_have(HIERARCHY_UNIFIED, "cpu.stat"), "cpu.stat is everywhere");
        ok(hierarchy_can_have(HIERARCHY_MEMORY, "memory.limit_in_bytes"), "and all of version 1");
        ok(hierarchy_has_controllers(HIERARCHY_CPUACCT, "cpu,cpuacct"), "a list has its last word");
        ok(!hierarchy_has_controllers(HIERARCHY_CPU, "cpuset,cpuacct"), "… and no part of one");
        ok(hierarchy_has_controllers(HIERARCHY_UNIFIED, ""), "the unified one has none");
        cmp_ok(hierarchy_named("pids", strlen("pids")), "==", HIERARCHY_PIDS, "each has its name");
        cmp_ok(hierarchy_named("pid", strlen("pid")), "==", HIERARCHY_UNIFIED, "… whole");
}

static void remove_all(void) {
        for (unsigned i = 0; i < MORE_THAN_KEPT; i++) {
                g_autofree char *path = file_of(i);

                (void)g_unlink(path);
        }
        (void)g_rmdir(folder);
        g_free(folder);
}

int main(void) {
        folder = g_dir_make_tmp("cordon-kept-XXXXXX", NULL);
        if (!folder)
                BAIL_OUT("no directory");
        test_reads();
        test_gone();
        test_groups();
        test_many();
        test_hierarchies();
        kept_close();
        remove_all();
        done_testing();
}
