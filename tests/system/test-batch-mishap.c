/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What may happen to the manager, or to the way to it, in the midst of a batch: every line has exactly one record, with what
 * became of it, and nothing is left behind. */

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "batch.h"
#include "leftover.h"
#include "manager.h"

#define PARALLEL  4
#define JOBS      40
#define FD_MOST   256
#define BAD(i)    ((i) % 10 == 3)
#define LEAVES(i) ((i) % 10 == 6) /* a process that has nothing to do with its parent any more */
#define STATUS(i) ((i) % 3)

static bool is_systemd(pid_t pid) {
        g_autofree char *path = g_strdup_printf("/proc/%d/comm", (int)pid);
        g_autofree char *name = NULL;

        return g_file_get_contents(path, &name, NULL, NULL) && g_str_equal(name, "systemd\n");
}

/* Its own end of the socket, taken from it. */
static bool is_cut(int fd) {
        struct ucred peer = { 0 };
        socklen_t size = sizeof peer;

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && is_systemd(peer.pid) &&
               shutdown(fd, SHUT_RDWR) == 0;
}

static bool cut_connection(const KitRun *run) {
        unsigned cut = 0;

        for (int i = 3; i < FD_MOST; i++) {
                int fd = (int)syscall(SYS_pidfd_getfd, run->pidfd, i, 0);

                if (fd < 0)
                        continue;
                cut += is_cut(fd);
                (void)close(fd);
        }
        return cut > 0;
}

static bool reload(const KitRun *run) {
        return manager_reload();
}

static bool reexecute(const KitRun *run) {
        return manager_reexecute();
}

static char *make_jobs(void) {
        GString *jobs = g_string_new(NULL);

        for (int i = 0; i < JOBS; i++) {
                g_autofree char *status = g_strdup_printf("%d", STATUS(i));

                if (BAD(i))
                        g_string_append(jobs, "{\"command\":[\"true\"],\"memory\":\"12Q\"}\n");
                else if (LEAVES(i))
                        batch_add(jobs, NULL, NULL,
                                  WORDS("sh", "-c", "setsid sleep 1000 & sleep 0.1; exit $0",
                                        status));
                else
                        batch_add(jobs, NULL, NULL, VICTIM("nap", "100", "exit", status));
        }
        return g_string_free(jobs, FALSE);
}

/* Whose unit was just being made when the way to the manager went is refused, and says so. Nobody is lost: the units are
 * there when it is back. */
static bool is_of_mishap(const cJSON *record) {
        const cJSON *error = cJSON_GetObjectItemCaseSensitive(record, "error");

        return g_str_equal(batch_text(record, "outcome"), "refused") &&
               g_str_equal(batch_text(error, "code"), "manager-unreachable");
}

static void check_records(const GPtrArray *records, unsigned hit_most, const char *name) {
        unsigned right = 0, refused = 0, hit = 0, named = 0;

        for (int i = 0; i < JOBS; i++) {
                const cJSON *record = batch_at(records, i);
                bool is_bad = BAD(i);

                if (!record)
                        diag("%s: line %d has no record, or more than one", name, i + 1);
                else if (is_bad)
                        refused += g_str_equal(batch_text(record, "outcome"), "refused");
                else if (is_of_mishap(record))
                        hit++;
                else if (g_str_equal(batch_text(record, "outcome"), "exited") &&
                         batch_number(record, "exit_code") == STATUS(i)) {
                        right++;
                        named += strlen(batch_text(record, "invocation_id")) == 32;
                }
        }
        cmp_ok(records->len, "==", JOBS, "%s: every line has its record", name);
        cmp_ok(named, "==", right, "%s: with the invocation, where there was one", name);
        cmp_ok(refused, "==", JOBS / 10, "%s: bad ones are refused", name);
        cmp_ok(hit, "<=", hit_most, "%s: no more are hit than were being started", name);
        cmp_ok(right + hit, "==", JOBS - JOBS / 10, "%s: all others end as they would", name);
}

static void test_mishap(bool (*strike)(const KitRun *), unsigned hit_most, const char *name) {
        g_autofree char *jobs = make_jobs();
        int fd = batch_open(jobs);
        g_autoptr(KitRun) run = batch_start(WORDS("--parallel", "4"), fd);
        bool is_struck = batch_wait(run, 8) && strike(run) && batch_wait(run, 20) && strike(run);

        ok(is_struck, "%s: twice, among the jobs", name);
        kit_finish(run);
        (void)close(fd);
        cmp_ok(run->status, "==", 0, "%s: the batch ends well", name);

        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        check_records(records, hit_most, name);
        batch_check_nothing_left(records, name);
}

#define STOPPED 6

static GPtrArray *stopped_units(void) {
        return manager_units(WORDS("cordon-stopped*.service", "cordon-stopped*.scope"));
}

/* A scope that has ended is forgotten; a service stays as long as its slice, without a group. */
static bool are_stopped(const void *unused) {
        g_autoptr(GPtrArray) units = stopped_units();

        for (guint i = 0; i < units->len; i++) {
                g_autofree char *group = g_str_has_suffix(units->pdata[i], ".scope")
                                                 ? NULL
                                                 : manager_control_group(units->pdata[i]);

                if (!group || *group)
                        return false;
        }
        return true;
}

/* What a unit that is stopped at the manager has to say comes all at once to who could not listen meanwhile. */
static void test_stopped(void) {
        g_autofree char *log = batch_file("stopped", "");
        g_autoptr(GString) jobs = g_string_new(NULL);
        unsigned stopped = 0;

        for (int i = 0; i < STOPPED; i++) {
                g_autofree char *id = g_strdup_printf("stopped%d", i);

                batch_add(jobs, id, NULL,
                          WORDS("sh", "-c", "echo >>\"$0\"; exec \"$1\" pause", log, kit_victim()));
        }

        int fd = batch_open(jobs->str);
        g_autoptr(KitRun) run = batch_start(WORDS("--parallel", "6"), fd);
        g_autoptr(GPtrArray) units = NULL;

        ok(batch_wait_size(log, STOPPED), "stopped at the manager: all run");
        units = stopped_units();
        kit_signal(run, SIGSTOP);
        for (guint i = 0; i < units->len; i++)
                stopped += manager_stop_unit(units->pdata[i]);
        ok(stopped == STOPPED && kit_wait_until(are_stopped, NULL, kit_patience(30 * KIT_SEC)),
           "stopped at the manager: while the batch does not listen");
        kit_signal(run, SIGCONT);
        kit_finish(run);
        (void)close(fd);

        g_autoptr(GPtrArray) records = batch_records(run->output->str);

        cmp_ok(batch_count(records, "signaled"), "==", STOPPED,
               "stopped at the manager: each record says so");
        batch_check_nothing_left(records, "stopped at the manager");
}

int main(void) {
        const char *why_not;

        kit_init();
        test_mishap(reload, 0, "a reload of the manager");
        test_mishap(cut_connection, 2 * PARALLEL, "a connection that is cut");
        why_not = manager_cannot_reexecute();
        skip(why_not != NULL, 7, "%s", why_not);
        test_mishap(reexecute, 2 * PARALLEL, "a re-execution of the manager");
        end_skip;
        test_stopped();
        leftover_check_guard("after batches with mishaps");
        kit_clear();
        done_testing();
}
