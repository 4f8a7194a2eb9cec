/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finding or starting the private manager. The hard thing is that everybody may come and go at any
 * moment: other first runs, a keeper that is just leaving, one that was killed. Two locks order them.
 * The flock on the runtime directory means "being started": whoever wants to start takes it, and hands
 * it to the new keeper, which keeps it until it listens. The record lock on `alive` in it means "a
 * keeper lives": only the keeper has it, until it is gone; the kernel tells who that is. */

#include "private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "door.h"
#include "error.h"
#include "fd.h"
#include "hold.h"
#include "identity.h"
#include "runtime.h"
#include "spawn.h"
#include "units/parse.h"

/* A keeper that listens answers at once, whatever it is doing; emulated machines are slow. */
#define PRIVATE_ANSWER_USEC  (15 * G_USEC_PER_SEC)
/* The keeper gives up earlier than this, and says so. */
#define PRIVATE_START_USEC   (120 * G_USEC_PER_SEC)
/* A keeper that is leaving needs milliseconds; after this it is ended. */
#define PRIVATE_LEAVE_USEC   (15 * G_USEC_PER_SEC)
/* For somebody else who starts one; how often the lock is tried meanwhile, for a wait for it has no end. */
#define PRIVATE_LOCK_USEC    (60 * G_USEC_PER_SEC)
#define PRIVATE_LOCK_MSEC    2
/* Keepers that vanished under our hands before we call it an error. */
#define PRIVATE_ATTEMPTS_MAX 100
#define PRIVATE_STARTS_MAX   3

/* 0: nobody, or one that our pid namespace cannot see. */
static pid_t private_keeper_pid(const RuntimeDir *dir) {
        AUTO_CLOSE int file = openat(dir->fd, "alive", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

        if (file < 0 || fcntl(file, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
                return 0;
        return lock.l_pid;
}

/* The process that holds the `alive` lock, as a pidfd. 0: nobody; −1: errno. */
static int private_keeper_open(const RuntimeDir *dir, bool *ret_lives) {
        AUTO_CLOSE int file = openat(dir->fd, "alive", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        AUTO_CLOSE int process = -1;
        pid_t pid = -1;

        *ret_lives = false;
        /* Asked again after the pidfd was opened: then the number still meant the holder. */
        for (int i = 0; file >= 0; i++) {
                struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

                if (fcntl(file, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
                        return -1;
                if (process >= 0 && lock.l_pid == pid) {
                        *ret_lives = true;
                        return fd_steal(&process);
                }
                fd_close_pointer(&process);
                pid = lock.l_pid;
                process = (int)syscall(SYS_pidfd_open, pid, 0);
                if (process < 0 && errno != ESRCH) {
                        *ret_lives = true;
                        return -1;
                }
        }
        return -1;
}

static bool private_process_wait(int process, int64_t timeout_usec) {
        gint64 deadline = g_get_monotonic_time() + timeout_usec;

        for (;;) {
                struct pollfd wait = { .fd = process, .events = POLLIN };
                gint64 left_usec = deadline - g_get_monotonic_time();
                int r = poll(&wait, 1, left_usec > 0 ? (int)((left_usec + 999) / 1000) : 0);

                if (r >= 0)
                        return r > 0;
                if (errno != EINTR)
                        return false;
        }
}

/* With the lock held and nobody answering: a keeper that still lives is leaving, or hangs. Says whether
 * there was one. */
static bool private_keeper_outlive(const RuntimeDir *dir, bool at_once, bool *ret_was,
                                   GError **error) {
        AUTO_CLOSE int process = private_keeper_open(dir, ret_was);

        if (!*ret_was)
                return true;

        if (process >= 0 && !at_once && private_process_wait(process, PRIVATE_LEAVE_USEC))
                return true;

        if (process >= 0 && syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0) >= 0 &&
            private_process_wait(process, PRIVATE_LEAVE_USEC))
                return true;

        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_UNREACHABLE,
                    "the keeper of %s neither answers nor can be ended: end cordon-keeper by hand",
                    dir->path);
        return false;
}

typedef struct {
        const PrivateSettings *settings;
        RuntimeDir dir;
        int hold_fd;
        int starts;
        bool silent; /* the last keeper was connected to and said nothing */
} PrivateSearch;

static void private_search_clear(PrivateSearch *search) {
        runtime_dir_clear(&search->dir);
        fd_close_pointer(&search->hold_fd);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PrivateSearch, private_search_clear)

typedef enum {
        SEARCH_FOUND,
        SEARCH_AGAIN,
        SEARCH_NOBODY,
        SEARCH_FAILED,
} SearchStep;

static SearchStep private_search_connect(PrivateSearch *search, GError **error) {
        fd_close_pointer(&search->hold_fd);
        search->silent = false;

        search->hold_fd = hold_connect(search->dir.fd);
        if (search->hold_fd < 0)
                return SEARCH_NOBODY;

        switch (hold_wait(search->hold_fd, PRIVATE_ANSWER_USEC, error)) {
        case HOLD_READY_SAID:
                return SEARCH_FOUND;
        case HOLD_FAILED:
                return SEARCH_FAILED;
        case HOLD_SILENT:
                search->silent = true;
                break;
        case HOLD_NOBODY:
                break;
        }
        return SEARCH_NOBODY;
}

/* With the lock held: a start that came to nothing leaves nothing. What a keeper has recorded is for the
 * next keeper to clear. */
static void private_search_give_up(PrivateSearch *search) {
        bool lives = false;
        AUTO_CLOSE int process = private_keeper_open(&search->dir, &lives);

        if (!lives && runtime_dir_is_current(&search->dir) &&
            faccessat(search->dir.fd, "ground", F_OK, 0) < 0)
                runtime_dir_remove(&search->dir);
}

static uint64_t private_idle_usec(const PrivateSettings *settings) {
        const char *text = g_getenv("CORDON_PRIVATE_IDLE");
        uint64_t usec;

        return text && parse_duration(text, &usec) == PARSE_OK ? usec : settings->idle_usec;
}

static SearchStep private_search_start(PrivateSearch *search, GError **error) {
        g_autofree char *keeper = search->settings->keeper_path
                                          ? g_strdup(search->settings->keeper_path)
                                          : door_program_path("cordon-keeper");
        g_autoptr(GError) reason = NULL;
        HoldAnswer answer;

        fd_close_pointer(&search->hold_fd);
        if (!spawn_keeper(keeper, search->dir.path, search->dir.fd,
                          private_idle_usec(search->settings), &search->hold_fd, error))
                return SEARCH_FAILED;

        answer = hold_wait(search->hold_fd, PRIVATE_START_USEC, &reason);
        if (answer == HOLD_READY_SAID)
                return SEARCH_FOUND;

        /* Somebody killed the keeper or the manager in its first moments: the next one clears up. */
        if (++search->starts < PRIVATE_STARTS_MAX &&
            (answer == HOLD_NOBODY ||
             g_error_matches(reason, MANAGER_ERROR, MANAGER_ERROR_UNREACHABLE)))
                return SEARCH_AGAIN;

        if (reason)
                g_propagate_error(error, g_steal_pointer(&reason));
        else
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_KEEPER,
                            "%s ended without a word while starting the private manager", keeper);
        return SEARCH_FAILED;
}

/* The keeper that is starting; else who took the lock, which may be a launcher that gave it away. */
static pid_t private_lock_holder(const RuntimeDir *dir) {
        g_autofree char *table = NULL, *wanted = NULL;
        g_auto(GStrv) lines = NULL;
        struct stat st;
        pid_t keeper = private_keeper_pid(dir);

        if (keeper > 0 || fstat(dir->fd, &st) < 0 ||
            !g_file_get_contents("/proc/locks", &table, NULL, NULL))
                return keeper;

        wanted = g_strdup_printf("%02x:%02x:%ju ", major(st.st_dev), minor(st.st_dev),
                                 (uintmax_t)st.st_ino);
        lines = g_strsplit(table, "\n", -1);
        for (char **line = lines; *line; line++) {
                int pid;

                if (strstr(*line, wanted) && sscanf(*line, "%*s FLOCK %*s %*s %d", &pid) == 1)
                        return pid;
        }
        return 0;
}

/* SEARCH_NOBODY: the lock is ours. */
static SearchStep private_search_lock(PrivateSearch *search, GError **error) {
        uint64_t patience_usec = search->settings->patience_usec ?: PRIVATE_LOCK_USEC;
        gint64 deadline = g_get_monotonic_time() + (gint64)patience_usec;

        while (flock(search->dir.fd, LOCK_EX | LOCK_NB) < 0) {
                if (errno != EWOULDBLOCK && errno != EINTR)
                        return SEARCH_AGAIN;
                if (g_get_monotonic_time() >= deadline) {
                        g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_UNREACHABLE,
                                    "process %d has been starting the private manager for too long: "
                                    "is it stopped? end it (kill -9 %d), or see who has locked %s",
                                    (int)private_lock_holder(&search->dir),
                                    (int)private_lock_holder(&search->dir), search->dir.path);
                        return SEARCH_FAILED;
                }
                (void)poll(NULL, 0, PRIVATE_LOCK_MSEC);
        }
        return SEARCH_NOBODY;
}

/* One try, from opening the directory on: everything in it may have changed since the last one. */
static SearchStep private_search_step(PrivateSearch *search, GError **error) {
        bool lived = false, silent;
        SearchStep step;

        runtime_dir_clear(&search->dir);
        if (!runtime_dir_open(identity_key, search->settings->caller, &search->dir, error))
                return SEARCH_FAILED;

        step = private_search_connect(search, error);
        if (step != SEARCH_NOBODY)
                return step;

        silent = search->silent;
        step = private_search_lock(search, error);
        if (step != SEARCH_NOBODY)
                return step;

        step = private_search_connect(search, error);
        if (step != SEARCH_NOBODY)
                return step;

        if (!private_keeper_outlive(&search->dir, silent && search->silent, &lived, error))
                return SEARCH_FAILED;

        if (lived || !runtime_dir_is_current(&search->dir))
                return SEARCH_AGAIN;

        step = private_search_start(search, error);
        if (step == SEARCH_FAILED)
                private_search_give_up(search);
        return step;
}

bool private_manager_ensure(const PrivateSettings *settings, char **ret_runtime_dir,
                            int *ret_hold_fd, GError **error) {
        g_auto(PrivateSearch) search = {
                .settings = settings,
                .dir = RUNTIME_DIR_INIT,
                .hold_fd = -1,
        };
        SearchStep step = SEARCH_AGAIN;

        for (int i = 0; step == SEARCH_AGAIN && i < PRIVATE_ATTEMPTS_MAX; i++)
                step = private_search_step(&search, error);

        if (step == SEARCH_FOUND) {
                *ret_runtime_dir = g_steal_pointer(&search.dir.path);
                *ret_hold_fd = fd_steal(&search.hold_fd);
                return true;
        }

        if (step == SEARCH_AGAIN)
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_UNREACHABLE,
                            "the private manager ended %d times while it was being reached",
                            PRIVATE_ATTEMPTS_MAX);
        return false;
}

char *private_manager_socket(void) {
        g_autofree char *directory = runtime_dir_find(identity_key);
        g_autofree char *path = directory ? g_build_filename(directory, "systemd", "private", NULL)
                                          : NULL;

        return path && g_file_test(path, G_FILE_TEST_EXISTS) ? g_steal_pointer(&path) : NULL;
}
