/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The mount namespace of the private manager. The cover is a small file system over /run/systemd, or,
 * where there is none, over /run, and then all that was there is shown in it. It is taken away as soon
 * as the manager has started: else every later program would think that systemd had booted this
 * machine, and, say, a package's scripts would call systemctl instead of init scripts. The price: a
 * re-exec of the manager finds no /run/systemd/system, and ends it. */

#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "launcher/manager/error.h"
#include "launcher/manager/fd.h"
#include "launcher/manager/identity.h"

static void world_set_error(GError **error, const char *what, int code) {
        const char *remedy = geteuid() == 0
                                     ? "run it with CAP_SYS_ADMIN (a container: --privileged "
                                       "or --cap-add SYS_ADMIN)"
                                     : "this needs unprivileged user namespaces: see the "
                                       "sysctls user.max_user_namespaces, "
                                       "kernel.unprivileged_userns_clone and "
                                       "kernel.apparmor_restrict_unprivileged_userns";

        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_NO_NAMESPACE,
                    "no namespace for the private manager: %s: %s: %s", what, g_strerror(code),
                    remedy);
}

static bool world_write(const char *path, const char *text) {
        AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);

        return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* A user namespace in which we are who we were, so that we may mount. */
static bool world_enter_user(GError **error) {
        g_autofree char *uid = g_strdup_printf("%u %u 1", geteuid(), geteuid());
        g_autofree char *gid = g_strdup_printf("%u %u 1", getegid(), getegid());

        if (unshare(CLONE_NEWUSER) < 0) {
                world_set_error(error, "unshare", errno);
                return false;
        }
        if (!world_write("/proc/self/setgroups", "deny") ||
            !world_write("/proc/self/uid_map", uid) || !world_write("/proc/self/gid_map", gid)) {
                world_set_error(error, "uid_map", errno);
                return false;
        }
        return true;
}

/* Shows `name` of the covered directory at its old place. A name that cannot be shown is left out. */
static void world_show(int old_fd, const char *cover, const char *name) {
        g_autofree char *target = g_build_filename(cover, name, NULL);
        g_autofree char *source = g_strdup_printf("/proc/self/fd/%d/%s", old_fd, name);
        struct stat st;

        if (fstatat(old_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return;

        if (S_ISLNK(st.st_mode)) {
                g_autofree char *to = g_file_read_link(source, NULL);

                if (to)
                        (void)!symlink(to, target);
                return;
        }

        if (S_ISDIR(st.st_mode) ? mkdir(target, 0755) < 0 : mknod(target, S_IFREG | 0600, 0) < 0)
                return;
        (void)mount(source, target, NULL, MS_BIND | MS_REC, NULL);
}

static bool world_cover(const char *cover, GError **error) {
        int old_fd = open(cover, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *stream = old_fd < 0 ? NULL : fdopendir(old_fd);
        struct dirent *entry;

        if (!stream || mount("tmpfs", cover, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0) {
                world_set_error(error, cover, errno);
                if (stream)
                        closedir(stream);
                return false;
        }

        /* Of /run/systemd the manager needs nothing to start; below /run is our own directory, too. */
        while (g_str_equal(cover, "/run") && (entry = readdir(stream)))
                if (!g_str_equal(entry->d_name, ".") && !g_str_equal(entry->d_name, ".."))
                        world_show(old_fd, cover, entry->d_name);
        closedir(stream);

        if (g_mkdir_with_parents("/run/systemd/system", 0755) < 0) {
                world_set_error(error, "/run/systemd/system", errno);
                return false;
        }
        return true;
}

/* The manager logs to /dev/console or to the journal, and finds ours there. It stays connected when the
 * cover is taken away. */
static int world_open_log(void) {
        AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        struct sockaddr_un address = {
                .sun_family = AF_UNIX,
                .sun_path = "/run/systemd/journal/socket",
        };

        if (fd < 0 || (mkdir("/run/systemd/journal", 0755) < 0 && errno != EEXIST) ||
            bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
                return -1;
        return fd_steal(&fd);
}

/* Where the manager keeps its notes of each unit, files that live as long as a run: it makes and removes three of them a run,
 * which on a disk costs it a sixth of its time (ext4 looks for an inode that was not in use a moment ago). Nobody else
 * has to do with them. Without it they are on the disk. */
static void world_keep_in_memory(const char *runtime_dir) {
        static const char *const names[] = { "systemd", "systemd/transient", "systemd/units" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = g_build_filename(runtime_dir, names[i], NULL);

                if (mkdir(path, 0755) < 0 && errno != EEXIST)
                        return;
                if (i > 0)
                        (void)mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC,
                                    "mode=0755,size=256m");
        }
}

bool world_make(const char *runtime_dir, World *ret_world, GError **error) {
        const char *cover = access("/run/systemd/.", F_OK) >= 0 ? "/run/systemd" : "/run";

        if (identity_is_booted()) {
                *ret_world = WORLD_INIT;
                return true;
        }

        if (geteuid() != 0 && !world_enter_user(error))
                return false;

        /* Later mounts are seen where the caller's are shared; ours are seen by nobody. */
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0) {
                world_set_error(error, "unshare", errno);
                return false;
        }

        world_keep_in_memory(runtime_dir); /* before the cover, which would take it away with it */
        if (!world_cover(cover, error))
                return false;

        *ret_world = (World){ .cover = g_strdup(cover), .log_fd = world_open_log() };
        return true;
}

void world_uncover(World *world) {
        if (world->cover)
                (void)umount2(world->cover, MNT_DETACH);
        g_clear_pointer(&world->cover, g_free);
}

void world_clear(World *world) {
        g_clear_pointer(&world->cover, g_free);
        fd_close_pointer(&world->log_fd);
}
