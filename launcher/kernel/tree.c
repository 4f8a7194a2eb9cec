/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A directory is read whole, the names of those in it are kept, and then it is their turn, the last one first: so one
 * buffer serves all, and how deep it goes costs neither stack nor descriptors. Of the directories on the way only the
 * deepest are open; a higher one is found again through "..", and if that is another now, the way was moved: what was
 * still to be done there is left for the next walk.
 *
 * Where a mount begins only its id tells: a btrfs subvolume, which every user can make, has a device of its own, and so
 * have files of an overlay. */

#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define OPEN_MAX_LEVELS 64
#define BUFFER_BYTES    ((size_t)32768)
#define BLOCK_BYTES     512 /* of st_blocks, whatever the file system has */
#define WANTED          (STATX_TYPE | STATX_INO | STATX_BLOCKS | STATX_MNT_ID)

typedef struct {
        int fd; /* −1: closed meanwhile */
        uint64_t device, inode;
        size_t names_from; /* where those of its directories begin */
} Level;

typedef struct {
        Tree *tree;
        GArray *levels;    /* of Level */
        GByteArray *names; /* each with its NUL */
        struct statx root;
        char buffer[BUFFER_BYTES];
} Walk;

static uint64_t device_of(const struct statx *st) {
        return makedev(st->stx_dev_major, st->stx_dev_minor);
}

static bool is_same_mount(const struct statx *a, const struct statx *b) {
        if (a->stx_mask & b->stx_mask & STATX_MNT_ID)
                return a->stx_mnt_id == b->stx_mnt_id;
        return device_of(a) == device_of(b); /* a kernel before 5.8 */
}

bool tree_has_place(const Tree *tree, const char *root, const char *path) {
        g_autofree char *directory = g_strdup(path);
        struct statx top, st;

        if (statx(tree->root_fd, "", AT_EMPTY_PATH, WANTED, &top) < 0)
                return false;
        while (strlen(directory) > strlen(root)) {
                *strrchr(directory, '/') = '\0';
                if (statx(AT_FDCWD, directory[0] ? directory : "/",
                          AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, WANTED,
                          &st) == 0)
                        return is_same_mount(&st, &top);
        }
        return true; /* the tree itself has no path any more, or another */
}

bool tree_add(Tree *tree, uint64_t device, uint64_t inode, uint64_t bytes) {
        if (!inode_set_add(&tree->seen, device, inode))
                return false;
        tree->bytes += bytes;
        return true;
}

static bool count(Walk *walk, const struct statx *st) {
        return tree_add(walk->tree, device_of(st), st->stx_ino, st->stx_blocks * BLOCK_BYTES);
}

/* It went while we were on our way. */
static bool is_gone(int number) {
        return number == ENOENT || number == ENOTDIR || number == ELOOP || number == ESTALE;
}

/* Ours is the trouble, not the directory's. */
static bool is_ours(int number) {
        return number == EMFILE || number == ENFILE || number == ENOMEM;
}

/* False: not to be gone on with. */
static bool note_failure(Walk *walk, int number) {
        walk->tree->hidden += !is_gone(number);
        return !is_ours(number);
}

/* Above a few levels, those on top are found again when it is their turn. */
static void push_level(Walk *walk, int fd, const struct statx *st) {
        Level level = { fd, device_of(st), st->stx_ino, walk->names->len };

        g_array_append_val(walk->levels, level);
        if (walk->levels->len <= OPEN_MAX_LEVELS)
                return;

        Level *high = &g_array_index(walk->levels, Level, walk->levels->len - 1 - OPEN_MAX_LEVELS);

        if (high->fd >= 0)
                (void)close(high->fd);
        high->fd = -1;
}

static Level *top_level(Walk *walk) {
        return walk->levels->len > 0 ? &g_array_index(walk->levels, Level, walk->levels->len - 1)
                                     : NULL;
}

static void find_again(Walk *walk, Level *level, int below_fd) {
        struct statx st;

        level->fd = openat(below_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (level->fd >= 0 && statx(level->fd, "", AT_EMPTY_PATH, WANTED, &st) == 0 &&
            st.stx_ino == level->inode && device_of(&st) == level->device)
                return;
        walk->tree->is_torn = true;
}

static void pop_level(Walk *walk) {
        Level *level = top_level(walk), *above;
        int fd = level->fd;

        g_array_set_size(walk->levels, walk->levels->len - 1);
        above = top_level(walk);
        if (above && above->fd < 0 && !walk->tree->is_torn)
                find_again(walk, above, fd);
        if (fd >= 0)
                (void)close(fd);
}

/* "." and ".." are no entries. */
static bool is_dots(const char *name) {
        return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* False: it may not be looked at. */
static bool take_entry(Walk *walk, int dir, const struct dirent64 *entry) {
        /* A mount point is not asked who is behind it: its server may be dead. */
        int flags = entry->d_type == DT_DIR ? AT_STATX_DONT_SYNC : 0;
        struct statx st;

        if (is_dots(entry->d_name))
                return true;
        walk->tree->entries++;
        if (statx(dir, entry->d_name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | flags, WANTED, &st) <
            0)
                return is_gone(errno);
        if (!is_same_mount(&st, &walk->root))
                return true;
        if (S_ISDIR(st.stx_mode)) /* counted when it is entered */
                g_byte_array_append(walk->names, (const guint8 *)entry->d_name,
                                    (guint)strlen(entry->d_name) + 1);
        else
                (void)count(walk, &st);
        return true;
}

static bool read_entries(Walk *walk, int dir) {
        bool is_seen = true;
        ssize_t size;

        while ((size = getdents64(dir, walk->buffer, sizeof walk->buffer)) > 0)
                for (ssize_t at = 0; at < size;) {
                        const struct dirent64 *entry = (const void *)(walk->buffer + at);

                        if (atomic_load_explicit(walk->tree->is_off, memory_order_relaxed)) {
                                errno = ECANCELED;
                                return false;
                        }
                        is_seen = take_entry(walk, dir, entry) && is_seen;
                        at += entry->d_reclen;
                }
        if (size == 0)
                walk->tree->hidden += !is_seen;
        return size == 0 || note_failure(walk, errno);
}

/* O_NOATIME is for owners. */
static int open_directory(int dir, const char *name) {
        int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
        int fd = openat(dir, name, flags | O_NOATIME);

        return fd < 0 && errno == EPERM ? openat(dir, name, flags) : fd;
}

/* False: not to be gone on with. */
static bool enter(Walk *walk, int dir, const char *name) {
        int fd = open_directory(dir, name);
        struct statx st;

        if (fd < 0)
                return note_failure(walk, errno);
        if (statx(fd, "", AT_EMPTY_PATH, WANTED, &st) < 0 || !is_same_mount(&st, &walk->root) ||
            !count(walk, &st)) { /* another is in its place, or it was moved to where we are */
                (void)close(fd);
                return true;
        }
        push_level(walk, fd, &st);
        return read_entries(walk, fd);
}

/* Takes the last name off; its text stays until the next is added. */
static const char *pop_name(Walk *walk) {
        const char *names = (const char *)walk->names->data;
        const char *before = memrchr(names, '\0', walk->names->len - 1);
        const char *name = before ? before + 1 : names;

        g_byte_array_set_size(walk->names, (guint)(name - names));
        return name;
}

static bool walk_on(Walk *walk) {
        char name[NAME_MAX + 1];
        Level *level;

        while ((level = top_level(walk)) && !walk->tree->is_torn) {
                if (walk->names->len == level->names_from) {
                        pop_level(walk);
                        continue;
                }
                if (g_strlcpy(name, pop_name(walk), sizeof name) < sizeof name &&
                    !enter(walk, level->fd, name))
                        return false;
        }
        return true;
}

bool tree_walk(Tree *tree) {
        g_autofree Walk *walk = g_new(Walk, 1);
        bool is_done = false;
        int number;

        tree_clear(tree); /* of a walk before */
        walk->tree = tree;
        walk->levels = g_array_new(FALSE, FALSE, sizeof(Level));
        walk->names = g_byte_array_new();
        if (statx(tree->root_fd, "", AT_EMPTY_PATH, WANTED, &walk->root) == 0)
                is_done = enter(walk, tree->root_fd, ".") && walk_on(walk);
        number = errno;
        while (top_level(walk)) {
                tree->is_torn = true; /* nothing is to be found again any more */
                pop_level(walk);
        }
        g_array_unref(walk->levels);
        g_byte_array_unref(walk->names);
        errno = number;
        return is_done;
}

void tree_clear(Tree *tree) {
        inode_set_clear(&tree->seen);
        tree->bytes = tree->entries = tree->hidden = 0;
        tree->is_torn = false;
}
