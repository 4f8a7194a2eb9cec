/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a directory takes on disk, against what stat says of each file. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/kernel/open-file.h"
#include "launcher/kernel/tree.h"

#define KIB          1024
#define NOBODY       65534
#define DEPTH        300
#define LONG_NAME    "a-name-that-makes-the-path-longer-than-a-path-can-be"
#define DESCRIPTORS  128 /* of the process, for the deep one */
#define MANY_FILES   500
#define MANY_NUMBERS 100000

static char *root, *outside;
static const atomic_bool never = false;

static void need(bool is_well, const char *what) {
        if (!is_well)
                BAIL_OUT("%s: %s", what, strerror(errno));
}

static char *path_of(const char *name) {
        return g_build_filename(root, name, NULL);
}

static void write_file(const char *directory, const char *name, size_t size) {
        g_autofree char *path = g_build_filename(directory, name, NULL);
        g_autofree char *data = g_malloc0(size);
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

        need(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0, path);
}

/* 0 where there is no such file. */
static uint64_t blocks_of(const char *path) {
        struct stat st;

        return lstat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

static void remove_all(const char *path) {
        const char *argv[] = { "rm", "-rf", path, NULL };

        (void)g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                           NULL, NULL);
}

static void begin(void) {
        root = g_dir_make_tmp("cordon-tree-XXXXXX", NULL);
        outside = g_dir_make_tmp("cordon-tree-XXXXXX", NULL);
        need(root && outside, "a directory");
}

static void end(void) {
        remove_all(root);
        remove_all(outside);
        g_clear_pointer(&root, g_free);
        g_clear_pointer(&outside, g_free);
}

/* Walks root; PID: whose open files count too; 0: nobody's. */
static Tree walk(pid_t pid, const char *what) {
        Tree tree = { .root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), .is_off = &never };

        ok(tree_walk(&tree), "%s: is walked", what);
        if (pid)
                open_file_count(pid, root, &tree);
        (void)close(tree.root_fd);
        return tree;
}

static void check_bytes(uint64_t expected, const char *what) {
        g_auto(Tree) tree = walk(0, what);

        cmp_ok(tree.bytes, "==", expected, "%s: counted in blocks", what);
        ok(tree.hidden == 0 && !tree.is_torn, "%s: all of it was seen", what);
}

static void test_kinds(void) {
        g_autofree char *file = NULL, *link = NULL, *sparse = NULL, *large = NULL;
        g_autofree char *symbolic = NULL, *to_directory = NULL;
        uint64_t expected;
        int fd;

        begin();
        file = path_of("file");
        link = path_of("link");
        sparse = path_of("sparse");
        symbolic = path_of("symbolic");
        to_directory = path_of("directory");
        large = g_build_filename(outside, "large", NULL);

        expected = blocks_of(root);
        check_bytes(expected, "an empty directory");
        write_file(root, "file", 300 * KIB);
        cmp_ok(blocks_of(file), ">=", 300 * KIB, "a file has blocks");
        expected = blocks_of(root) + blocks_of(file);
        check_bytes(expected, "a file");
        fd = open(sparse, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        need(fd >= 0 && ftruncate(fd, 1 << 30) == 0 && close(fd) == 0, sparse);
        expected += blocks_of(sparse);
        check_bytes(expected, "a sparse file of a gigabyte");
        need(linkat(AT_FDCWD, file, AT_FDCWD, link, 0) == 0, link);
        check_bytes(expected, "a second name");
        write_file(outside, "large", 900 * KIB);
        need(symlink(large, symbolic) == 0 && symlink(outside, to_directory) == 0, symbolic);
        expected += blocks_of(symbolic) + blocks_of(to_directory);
        check_bytes(expected, "links to what is outside");
        end();
}

static void test_many(void) {
        uint64_t expected;

        begin();
        for (int i = 0; i < MANY_FILES; i++) {
                g_autofree char *name = g_strdup_printf("%d", i);

                write_file(root, name, 1);
        }
        expected = blocks_of(root);
        for (int i = 0; i < MANY_FILES; i++) {
                g_autofree char *name = g_strdup_printf("%s/%d", root, i);

                expected += blocks_of(name);
        }
        check_bytes(expected, "many small files");
        end();
}

static uint64_t dig(int fd, int depth) {
        uint64_t bytes = 0;

        for (int i = 0; i < depth; i++) {
                struct stat st;
                int below;

                need(mkdirat(fd, LONG_NAME, 0700) == 0 && mkdirat(fd, "e", 0700) == 0 &&
                             fstatat(fd, "e", &st, 0) == 0,
                     "mkdir");
                bytes += (uint64_t)st.st_blocks * 512;
                below = openat(fd, LONG_NAME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                need(below >= 0 && close(fd) == 0 && fstat(below, &st) == 0, "a directory");
                bytes += (uint64_t)st.st_blocks * 512;
                fd = below;
        }
        need(close(fd) == 0, "close");
        return bytes;
}

static void test_deep(void) {
        struct rlimit before, few;
        uint64_t below;

        begin();
        /* The sizes of directories that have entries are those of empty ones but on tmpfs and its like. */
        below = dig(open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), DEPTH);
        need(getrlimit(RLIMIT_NOFILE, &before) == 0, "getrlimit");
        few = (struct rlimit){ DESCRIPTORS, before.rlim_max };
        need(setrlimit(RLIMIT_NOFILE, &few) == 0, "setrlimit");
        {
                g_auto(Tree) tree = walk(0, "a deep tree");

                cmp_ok(tree.entries, "==", 2 * DEPTH,
                       "a deep tree: with few descriptors all is met");
                cmp_ok(tree.bytes, "==", blocks_of(root) + below, "a deep tree: all is counted");
                ok(!tree.is_torn && tree.hidden == 0, "a deep tree: the way back is found");
        }
        need(setrlimit(RLIMIT_NOFILE, &before) == 0, "setrlimit");
        end();
}

static void test_removed(void) {
        g_autofree char *path = NULL, *other = NULL;
        uint64_t before;
        struct stat st;
        void *map;
        int fd, fd_outside;

        begin();
        path = path_of("removed");
        other = g_build_filename(outside, "removed", NULL);
        before = blocks_of(root);
        write_file(root, "removed", 512 * KIB);
        write_file(outside, "removed", 512 * KIB);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        fd_outside = open(other, O_RDONLY | O_CLOEXEC);
        need(fd >= 0 && fd_outside >= 0 && unlink(path) == 0 && unlink(other) == 0 &&
                     fstat(fd, &st) == 0,
             path);
        {
                g_auto(Tree) unseen = walk(0, "removed"), seen = walk(getpid(), "removed");

                cmp_ok(unseen.bytes, "==", before, "a removed file is not met");
                cmp_ok(seen.bytes, "==", before + (uint64_t)st.st_blocks * 512,
                       "while somebody has it open it counts; one outside does not");
        }
        map = mmap(NULL, 512 * KIB, PROT_READ, MAP_SHARED, fd, 0);
        need(map != MAP_FAILED && close(fd) == 0, "mmap");
        if (geteuid() == 0) {
                g_auto(Tree) seen = walk(getpid(), "mapped");

                cmp_ok(seen.bytes, "==", before + (uint64_t)st.st_blocks * 512,
                       "and while somebody has it mapped");
        } else {
                skip(true, 1, "n/a: links to mapped files are followed for the privileged");
                end_skip;
        }
        need(munmap(map, 512 * KIB) == 0 && close(fd_outside) == 0, "munmap");
        end();
}

/* A directory that forbids everything, and one whose entries may be read and not looked at. */
static void test_hidden(void) {
        g_autofree char *closed = NULL, *half = NULL;
        uid_t uid = geteuid();

        begin();
        closed = path_of("closed");
        half = path_of("half");
        need(mkdir(closed, 0700) == 0 && mkdir(half, 0700) == 0, closed);
        write_file(closed, "file", KIB);
        write_file(half, "one", KIB);
        write_file(half, "two", KIB);
        need(chmod(closed, 0) == 0 && chmod(half, 0444) == 0 && chmod(root, 0755) == 0, "chmod");
        need(uid != 0 || seteuid(NOBODY) == 0, "seteuid");
        {
                g_auto(Tree) tree = walk(0, "hidden");

                cmp_ok(tree.hidden, "==", 2, "directories that cannot be read are counted");
        }
        need(uid != 0 || seteuid(0) == 0, "seteuid");
        need(chmod(closed, 0700) == 0 && chmod(half, 0700) == 0, "chmod");
        end();
}

static void test_called_off(void) {
        static const atomic_bool now = true;
        g_auto(Tree) tree = { .is_off = &now };

        begin();
        write_file(root, "file", KIB);
        tree.root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ok(!tree_walk(&tree) && errno == ECANCELED, "a walk can be called off");
        tree.is_off = &never;
        for (int i = 0; i < 2; i++)
                ok(tree_walk(&tree) && tree.entries == 1 && tree.bytes > 0, "and be done anew");
        (void)close(tree.root_fd);
        end();
}

static void test_set(void) {
        InodeSet set = { 0 };
        bool all = true, none = false;

        for (uint64_t i = 0; i < MANY_NUMBERS; i++)
                all = inode_set_add(&set, 1 + i % 2, i) && all;
        for (uint64_t i = 0; i < MANY_NUMBERS; i++)
                none = inode_set_add(&set, 1 + i % 2, i) || none;
        ok(all && !none, "a file is new once");
        cmp_ok(set.count, "==", MANY_NUMBERS, "all are there");
        cmp_ok(set.size * sizeof *set.slots, "<=", MANY_NUMBERS * 4 * sizeof *set.slots,
               "and take little");
        ok(inode_set_add(&set, 9, 1), "another device, another file");
        inode_set_clear(&set);
}

static bool write_proc(const char *path, const char *text) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

        if (fd >= 0)
                (void)close(fd);
        return is_written;
}

/* With a user whom it knows: one that is unknown in it can make no file. */
static bool enter_user_namespace(void) {
        g_autofree char *users = g_strdup_printf("%u %u 1", geteuid(), geteuid());
        g_autofree char *groups = g_strdup_printf("%u %u 1", getegid(), getegid());

        return unshare(CLONE_NEWUSER) == 0 && write_proc("/proc/self/setgroups", "deny") &&
               write_proc("/proc/self/uid_map", users) && write_proc("/proc/self/gid_map", groups);
}

/* The last one: it leaves the machine's mounts. */
static void test_mounted(void) {
        g_autofree char *below = NULL;
        uint64_t above;

        begin();
        below = path_of("below");
        need(mkdir(below, 0700) == 0, below);
        above = blocks_of(root);
        check_bytes(above + blocks_of(below), "a directory below");
        skip((geteuid() != 0 && !enter_user_namespace()) || unshare(CLONE_NEWNS) < 0 ||
                     mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
                     mount("none", below, "tmpfs", 0, NULL) < 0,
             5, "n/a: no mounts can be made here");
        write_file(below, "file", 300 * KIB);
        check_bytes(above, "what is mounted below is another's");
        {
                g_autofree char *path = g_build_filename(below, "file", NULL);
                int fd = open(path, O_RDONLY | O_CLOEXEC);

                need(fd >= 0 && unlink(path) == 0, path);

                g_auto(Tree) tree = walk(getpid(), "removed there");

                cmp_ok(tree.bytes, "==", above, "also when it is removed and open");
                (void)close(fd);
        }
        end_skip;
        (void)umount2(below, MNT_DETACH);
        end();
}

int main(void) {
        plan(NO_PLAN);
        test_set();
        test_kinds();
        test_many();
        test_deep();
        test_removed();
        test_hidden();
        test_called_off();
        test_mounted();
        done_testing();
}
