/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory that runs out beyond a run's own limit: an ancestor's, which others fill, too, and the machine's. The record
 * names who ran out; the run's own limit was not touched. */

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"
#include "manager.h"

#define MIB           (UINT64_C(1) << 20)
#define ANCESTOR_SIZE (64 * MIB) /* the guard has its place in it */
#define SYSRQ         "/proc/sysrq-trigger"

/* Its child waits for USR1 and ends; then it eats. */
#define EATING                                                                                    \
        VICTIM("child", "quit-on", "USR1", "pid", "say", "ready", "pause", "then", "reap", "eat", \
               "200")

static void tell(const KitRun *run) {
        pid_t child = (pid_t)kit_said_number(run, "pid");

        ok(child > 0 && kill(child, SIGUSR1) == 0, "it is told to go on");
}

static KitRun *start(const KitOrder *order) {
        KitRun *run = kit_start(order);

        (void)kit_wait_line(run, "ready");
        return run;
}

static Expected beyond_own(const char *head) {
        static char message[128], words[160];

        g_snprintf(message, sizeof message, "%s: killed (SIGKILL)", head);
        g_snprintf(words, sizeof words, "cordon: %s after *s, peak *\n", message);
        return (Expected){ .outcome = "memory",
                           .status = 137,
                           .exit_code = ABSENT,
                           .signal = SIGKILL,
                           .message = message,
                           .words = words,
                           .touched = "" };
}

/* An ancestor's limit */

static void check_ancestor(const KitRun *run, const char *name) {
        Expected expected = beyond_own("memory limit of cordon.slice hit");

        expected.said = "pid *\nready\nchild 0\n";
        expect(run, &expected, name);
        ok(record_has_evidence(run, "memory.*=*"), "%s: the evidence is the kernel's", name);
        ok(record_has_evidence(run, "own memory limit not met, but that of *cordon.slice"),
           "%s: the evidence says whose limit it was", name);
}

static void test_ancestor(const char *own) {
        KitOrder order = { .options = own ? WORDS("--memory", own) : NULL, .command = EATING };
        g_autofree char *name = g_strdup_printf("an ancestor's limit, own %s", own ?: "none");
        g_autoptr(KitRun) run = start(&order);

        ok(manager_limit_memory("cordon.slice", ANCESTOR_SIZE), "cordon.slice gets a limit");
        tell(run);
        kit_finish(run);
        check_ancestor(run, name);
}

/* Somebody else's memory runs out under the same ancestor: that is no news of this run. */
static void test_neighbour(void) {
        KitOrder order = { .command = EATING };
        KitOrder quiet = { .options = WORDS("--memory", "256M"),
                           .command = VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause") };
        Expected expected = { .outcome = "exited",
                              .message = "exited with 0",
                              .said = "pid *\nready\n" };
        g_autoptr(KitRun) neighbour = start(&quiet);
        g_autoptr(KitRun) run = start(&order);

        ok(manager_limit_memory("cordon.slice", ANCESTOR_SIZE), "cordon.slice gets a limit");
        tell(run);
        kit_finish(run);
        check_ancestor(run, "the one of two who eats");
        tell(neighbour);
        kit_finish(neighbour);
        expect(neighbour, &expected, "the other one");
        ok(!record_has_evidence(neighbour, "*memory*"),
           "there is nothing to be said of its memory");
}

/* Nor is it of one that has met its own limit, too, and made do with less cache. The directory for temporary files that
 * stay is on a disk. */
static void test_busy_neighbour(void) {
        g_autofree char *file = g_strdup_printf("/var/tmp/cordon-test-oom-%d", (int)getpid());
        KitOrder order = { .command = EATING };
        KitOrder busy = { .options = WORDS("--memory", "16M"),
                          .command = VICTIM("quit-on", "USR1", "write", file, "33554432", "pid",
                                            "say", "ready", "pause") };
        Expected expected = { .outcome = "exited",
                              .message = "exited with 0 [limits: memory=16777216]",
                              .said = "write 33554432*\npid *\nready\n",
                              .touched = "memory" };
        g_autoptr(KitRun) neighbour = start(&busy);
        g_autoptr(KitRun) run = start(&order);

        ok(manager_limit_memory("cordon.slice", ANCESTOR_SIZE), "cordon.slice gets a limit");
        tell(run);
        kit_finish(run);
        tell(neighbour);
        kit_finish(neighbour);
        (void)unlink(file);
        check_ancestor(run, "the one who eats beside one that is busy");
        expect(neighbour, &expected, "the busy one");
        ok(!record_has_evidence(neighbour, "*memory*"), "nobody was killed in it");
}

/* A limit that is there before the run is the effective one, and still not its own. */
static void test_stricter(void) {
        KitOrder order = { .options = WORDS("--memory", "1G"), .command = EATING };
        KitOrder holding = { .command = VICTIM("quit-on", "USR1", "pid", "say", "ready", "pause") };
        Expected expected = { .outcome = "exited", .said = "pid *\nready\n" };
        g_autoptr(KitRun) holder = start(&holding);

        ok(manager_limit_memory("cordon.slice", ANCESTOR_SIZE), "cordon.slice gets a limit");

        g_autoptr(KitRun) run = start(&order);

        tell(run);
        kit_finish(run);
        check_ancestor(run, "an ancestor's limit that was there before");
        expect_limit(run, "memory", (int64_t)(1024 * MIB), (int64_t)ANCESTOR_SIZE, "MemoryMax");
        tell(holder);
        kit_finish(holder);
        expect(holder, &expected, "a run that only holds the slice");
}

/* The machine's memory */

/* NULL: it can be had. */
static const char *cannot_run_out(void) {
        if (!g_getenv("CORDON_TEST_VM"))
                return "n/a: only a virtual machine may run out of memory";
        if (geteuid() != 0)
                return "n/a: only root can make the machine run out of memory";
        return NULL;
}

/* What the kernel does when no page is to be had, without the trouble of using them all up: it kills the one that is
 * the first to go. */
static bool run_out(void) {
        int fd = open(SYSRQ, O_WRONLY | O_CLOEXEC);
        bool is_told = fd >= 0 && write(fd, "f", 1) == 1;

        if (fd >= 0)
                (void)close(fd);
        return is_told;
}

/* In a scope the program has it from its caller; of all who have it, it takes most memory. */
static void be_first(void) {
        int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

        if (fd < 0 || write(fd, "1000", 4) != 4)
                _exit(1);
        (void)close(fd);
}

static void test_machine(const char *own) {
        KitOrder order = { .prepare = kit_is_scope() ? be_first : NULL,
                           .options = kit_is_scope() ? own ? WORDS("--memory", own) : NULL
                                      : own ? WORDS("--memory", own, "-p", "OOMScoreAdjust=1000")
                                            : WORDS("-p", "OOMScoreAdjust=1000"),
                           .command = VICTIM("eat", "20", "say", "ready", "pause") };
        Expected expected = beyond_own("the machine ran out of memory");
        g_autofree char *name = g_strdup_printf("the machine's memory, own limit %s",
                                                own ?: "none");
        g_autoptr(KitRun) run = start(&order);

        ok(run_out(), "the kernel is told that memory ran out");
        kit_finish(run);
        expected.said = "eat all\nready\n";
        expect(run, &expected, name);
        ok(record_has_evidence(run, "memory.events oom_kill=*"), "%s: the kernel has counted it",
           name);
        ok(record_has_evidence(run, "own memory limit not met, nor that of an ancestor: "
                                    "the machine ran out of memory"),
           "%s: the evidence says so", name);
}

int main(void) {
        const char *why_not;

        kit_init();
        test_ancestor(NULL);
        test_ancestor("1G");
        if (!kit_is_brief()) {
                test_neighbour();
                test_busy_neighbour();
                test_stricter();
        }
        why_not = cannot_run_out();
        skip(why_not != NULL, 1, "%s", why_not);
        test_machine(NULL);
        test_machine("256M");
        end_skip;
        leftover_check_guard("after memory ran out");
        kit_clear();
        done_testing();
}
