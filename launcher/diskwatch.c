/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two who share one object: the loop's side, and the thread, which does all that can block (a dead network file system
 * blocks even the question for free space). Whoever goes last frees it: the loop does not wait for a thread that hangs.
 * They talk through two eventfds, one each way, and a lock around the numbers. */

#include "diskwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "diskpace.h"
#include "launcher/kernel/cgroup.h"
#include "launcher/kernel/error.h"
#include "launcher/kernel/open-file.h"
#include "launcher/kernel/tree.h"
#include "units/text.h"

#define STACK_BYTES        ((size_t)1 << 20)
#define QUICK_LOOK_USEC    10000
#define LAST_PATIENCE_USEC 100000
#define TORN_MOST          3
#define TRIES              3
#define PATH_SHOWN         80

typedef struct {
        bool is_over;
        int error_number; /* of a first look that failed */
        uint64_t before_bytes, hidden_before;
        DiskLook look; /* as the first one */
} Baseline;

struct DiskWatch {
        gint users; /* the loop's side, the thread */
        char *root;
        int root_fd, wake_fd, full_fd;
        uint64_t limit_bytes;
        atomic_bool is_off;

        GMutex lock; /* of what follows */
        GCond changed;
        Baseline baseline;
        char *cgroup_path; /* from "go" on */
        bool is_looking, is_last_asked, is_last_done;
        unsigned torn_in_a_row;        /* looks that did not see everything; the thread's alone */
        bool is_grown;                 /* it was looked at, at least once */
        uint64_t growth_bytes, hidden; /* the most that was seen */
        uint64_t look_usec;            /* how long the last one took */

        sd_event_source *full; /* of the loop's side alone */
        DiskWatchHandler handler;
        void *userdata;
};

static void unref(DiskWatch *watch) {
        if (!g_atomic_int_dec_and_test(&watch->users))
                return;

        const int fds[] = { watch->root_fd, watch->wake_fd, watch->full_fd };

        for (size_t i = 0; i < G_N_ELEMENTS(fds); i++)
                if (fds[i] >= 0)
                        (void)close(fds[i]);
        g_mutex_clear(&watch->lock);
        g_cond_clear(&watch->changed);
        g_free(watch->root);
        g_free(watch->cgroup_path);
        g_free(watch);
}

/* The thread */

static uint64_t now_usec(void) {
        return (uint64_t)g_get_monotonic_time();
}

static uint64_t cpu_usec(void) {
        struct timespec now;

        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return (uint64_t)now.tv_sec * G_USEC_PER_SEC + (uint64_t)now.tv_nsec / 1000;
}

static uint64_t free_bytes(const DiskWatch *watch, uint64_t otherwise) {
        struct statfs fs;

        if (fstatfs(watch->root_fd, &fs) < 0)
                return otherwise;
        return (uint64_t)fs.f_bfree * (uint64_t)(fs.f_frsize > 0 ? fs.f_frsize : fs.f_bsize);
}

static void count_open_files(const DiskWatch *watch, const char *cgroup_path, Tree *tree) {
        g_autoptr(GArray) pids = g_array_new(FALSE, FALSE, sizeof(pid_t));

        if (cgroup_path)
                cgroup_list_processes(cgroup_path, pids);
        else
                open_file_count(getpid(), watch->root, tree); /* what it will inherit */
        for (guint i = 0; i < pids->len; i++)
                open_file_count(g_array_index(pids, pid_t, i), watch->root, tree);
}

/* What was not met now would be growth later. 0, or why it cannot be measured. */
static int walk_before(Tree *tree) {
        for (int i = 0; i < TRIES; i++) {
                if (!tree_walk(tree))
                        return errno;
                if (!tree->is_torn)
                        return tree->seen.count > 0 ? 0 : EACCES;
        }
        return EBUSY;
}

static void measure_before(DiskWatch *watch) {
        g_auto(Tree) tree = { .root_fd = watch->root_fd, .is_off = &watch->is_off };
        uint64_t cpu = cpu_usec(), wall = now_usec();
        Baseline baseline = { .is_over = true, .look.free_bytes = free_bytes(watch, 0) };

        baseline.error_number = walk_before(&tree);
        count_open_files(watch, NULL, &tree);
        baseline.before_bytes = tree.bytes;
        baseline.hidden_before = tree.hidden;
        baseline.look.cpu_usec = cpu_usec() - cpu;
        baseline.look.wall_usec = now_usec() - wall;

        g_mutex_lock(&watch->lock);
        watch->baseline = baseline;
        watch->look_usec = baseline.look.wall_usec;
        g_cond_broadcast(&watch->changed);
        g_mutex_unlock(&watch->lock);
}

/* Who moves directories about can keep every look from reaching the end. What is hidden in directories that we could
 * read before, or that were not there, may be all that the file system has lost: what cannot be counted is taken for
 * the most that it can be. */
static uint64_t growth_of(const DiskWatch *watch, const Tree *tree) {
        const Baseline *before = &watch->baseline;
        uint64_t growth = tree->bytes > before->before_bytes ? tree->bytes - before->before_bytes
                                                             : 0;
        uint64_t now = free_bytes(watch, before->look.free_bytes);

        bool is_blind = tree->hidden > before->hidden_before || watch->torn_in_a_row >= TORN_MOST;

        if (!is_blind || now >= before->look.free_bytes)
                return growth;
        return MAX(growth, before->look.free_bytes - now);
}

static void note_look(DiskWatch *watch, const DiskLook *look, uint64_t hidden) {
        g_mutex_lock(&watch->lock);
        watch->is_looking = false;
        watch->is_grown = true;
        watch->growth_bytes = MAX(watch->growth_bytes, look->growth_bytes);
        watch->hidden = MAX(watch->hidden, hidden);
        watch->look_usec = look->wall_usec;
        g_cond_broadcast(&watch->changed);
        g_mutex_unlock(&watch->lock);
}

static void look(DiskWatch *watch, const char *cgroup_path, DiskPace *pace) {
        g_auto(Tree) tree = { .root_fd = watch->root_fd, .is_off = &watch->is_off };
        uint64_t cpu = cpu_usec(), wall = now_usec();
        DiskLook result = { .free_bytes = free_bytes(watch, pace->free_bytes) };

        g_mutex_lock(&watch->lock);
        watch->is_looking = true;
        g_mutex_unlock(&watch->lock);
        result.is_partial = !tree_walk(&tree) || tree.is_torn;
        watch->torn_in_a_row = result.is_partial ? watch->torn_in_a_row + 1 : 0;
        count_open_files(watch, cgroup_path, &tree);
        result.growth_bytes = growth_of(watch, &tree);
        result.cpu_usec = cpu_usec() - cpu;
        result.wall_usec = now_usec() - wall;
        disk_pace_note(pace, now_usec(), &result);
        note_look(watch, &result, tree.hidden - MIN(tree.hidden, watch->baseline.hidden_before));
        if (result.growth_bytes > watch->limit_bytes && !atomic_load(&watch->is_off))
                (void)eventfd_write(watch->full_fd, 1); /* last: who hears it asks by how much */
}

static void note_last(DiskWatch *watch) {
        g_mutex_lock(&watch->lock);
        watch->is_last_done = true;
        g_cond_broadcast(&watch->changed);
        g_mutex_unlock(&watch->lock);
}

/* NULL: not before "go". */
static const char *cgroup_of(DiskWatch *watch, bool *ret_is_last) {
        const char *path;

        g_mutex_lock(&watch->lock);
        path = watch->cgroup_path;
        *ret_is_last = watch->is_last_asked;
        g_mutex_unlock(&watch->lock);
        return path;
}

static void wait_for_news(const DiskWatch *watch, int msec) {
        struct pollfd news = { .fd = watch->wake_fd, .events = POLLIN };
        eventfd_t count;

        if (poll(&news, 1, msec) > 0)
                (void)eventfd_read(watch->wake_fd, &count);
}

static void watch_workspace(DiskWatch *watch) {
        const char *cgroup_path;
        bool is_last = false;
        DiskPace pace;

        while (!(cgroup_path = cgroup_of(watch, &is_last)) && !atomic_load(&watch->is_off))
                wait_for_news(watch, -1);
        disk_pace_begin(&pace, watch->limit_bytes, now_usec(), &watch->baseline.look);
        while (!atomic_load(&watch->is_off)) {
                if (is_last ||
                    disk_pace_is_due(&pace, now_usec(), free_bytes(watch, pace.free_bytes)))
                        look(watch, cgroup_path, &pace);
                if (is_last) {
                        note_last(watch);
                        return;
                }
                wait_for_news(watch, (int)(disk_pace_wait_usec(&pace, now_usec()) / 1000));
                (void)cgroup_of(watch, &is_last);
        }
}

static void *run_thread(void *userdata) {
        DiskWatch *watch = userdata;

        measure_before(watch);
        watch_workspace(watch);
        unref(watch);
        return NULL;
}

/* Signals are for the loop. */
static int start_thread(DiskWatch *watch) {
        pthread_attr_t attributes;
        sigset_t all, before;
        pthread_t thread;
        int r;

        (void)sigfillset(&all);
        (void)pthread_attr_init(&attributes);
        (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
        (void)pthread_sigmask(SIG_SETMASK, &all, &before);
        g_atomic_int_inc(&watch->users);
        r = pthread_create(&thread, &attributes, run_thread, watch);
        if (r != 0)
                unref(watch);
        (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
        (void)pthread_attr_destroy(&attributes);
        return r;
}

/* The loop's side */

static DiskWatch *new_watch(const char *root, uint64_t limit_bytes) {
        DiskWatch *watch = g_new0(DiskWatch, 1);

        watch->users = 1;
        watch->root_fd = watch->wake_fd = watch->full_fd = -1;
        watch->root = g_strdup(g_str_equal(root, "/") ? "" : root);
        watch->limit_bytes = limit_bytes;
        atomic_init(&watch->is_off, false);
        g_mutex_init(&watch->lock);
        g_cond_init(&watch->changed);
        return watch;
}

/* 0, or why not. */
static int measure(DiskWatch *watch, const char *root) {
        int number;

        watch->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
        if (watch->root_fd < 0)
                return errno;
        watch->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        watch->full_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (watch->wake_fd < 0 || watch->full_fd < 0)
                return errno;
        number = start_thread(watch);
        if (number != 0)
                return number;
        g_mutex_lock(&watch->lock);
        while (!watch->baseline.is_over)
                g_cond_wait(&watch->changed, &watch->lock);
        number = watch->baseline.error_number;
        g_mutex_unlock(&watch->lock);
        return number;
}

bool disk_watch_open(const Spec *spec, bool is_best_effort, DiskWatch **ret_watch, GError **error) {
        const char *root = spec->isolation.workspace;
        g_autofree char *shown = NULL;
        DiskWatch *watch;
        int number;

        *ret_watch = NULL;
        if (!limit_set_is_limited(&spec->limits, LIMIT_DISK))
                return true;
        watch = new_watch(root, spec->limits.value[LIMIT_DISK]);
        number = measure(watch, root);
        if (number == 0) {
                *ret_watch = watch;
                return true;
        }
        disk_watch_free(watch);
        if (is_best_effort)
                return true;
        shown = text_printable(root, PATH_SHOWN);
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                    "--disk cannot be enforced: \"%s\" cannot be measured: %s; --workspace names "
                    "another, or give --best-effort",
                    shown, g_strerror(number));
        return false;
}

static int on_full(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        DiskWatch *watch = userdata;

        watch->full = sd_event_source_disable_unref(watch->full);
        watch->handler(watch->userdata);
        return 0;
}

void disk_watch_begin(DiskWatch *watch, sd_event *event, const char *cgroup_path,
                      DiskWatchHandler handler, void *userdata) {
        int r = sd_event_add_io(event, &watch->full, watch->full_fd, EPOLLIN, on_full, watch);

        g_assert(r >= 0);
        watch->handler = handler;
        watch->userdata = userdata;
        g_mutex_lock(&watch->lock);
        watch->cgroup_path = g_strdup(cgroup_path);
        g_mutex_unlock(&watch->lock);
        (void)eventfd_write(watch->wake_fd, 1);
}

/* A look that takes longer than the quickest of programs is not worth its end. */
static void look_once_more(DiskWatch *watch) {
        gint64 until = g_get_monotonic_time() + LAST_PATIENCE_USEC;

        if (watch->is_looking || watch->look_usec > QUICK_LOOK_USEC)
                return;
        watch->is_last_asked = true;
        (void)eventfd_write(watch->wake_fd, 1);
        while (!watch->is_last_done && g_cond_wait_until(&watch->changed, &watch->lock, until))
                ;
}

void disk_watch_finish(DiskWatch *watch, Facts *facts) {
        g_mutex_lock(&watch->lock);
        if (!watch->is_last_asked && watch->cgroup_path)
                look_once_more(watch);
        facts->disk_before_bytes = watch->baseline.before_bytes;
        if (watch->is_grown) {
                facts->disk_growth_bytes = watch->growth_bytes;
                facts->disk_hidden = watch->hidden;
                facts->is_disk_final = watch->is_last_done;
        }
        g_mutex_unlock(&watch->lock);
}

void disk_watch_end(DiskWatch *watch) {
        watch->full = sd_event_source_disable_unref(watch->full);
}

void disk_watch_free(DiskWatch *watch) {
        if (!watch)
                return;
        disk_watch_end(watch);
        atomic_store(&watch->is_off, true);
        if (watch->wake_fd >= 0)
                (void)eventfd_write(watch->wake_fd, 1);
        unref(watch);
}
