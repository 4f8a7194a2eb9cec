/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* CPUs, scheduling policy and I/O priority of the caller arrive, an option for them wins, and what cannot be had is
 * told. */

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

#define NO_PROPERTY "n/a: a scope has no such property"

#define IO_WHO_PROCESS   1
#define IO(class, level) ((class) << 13 | (level))
#define IO_BEST_EFFORT   2
#define IO_IDLE          3

/* The first and the last CPU that we may use. */
static int first_cpu, last_cpu;
static bool has_cpus; /* these are two */

static bool find_cpus(void) {
        cpu_set_t cpus;

        if (sched_getaffinity(0, sizeof cpus, &cpus) < 0 || CPU_COUNT(&cpus) < 2)
                return false;
        for (first_cpu = 0; !CPU_ISSET(first_cpu, &cpus);)
                first_cpu++;
        for (last_cpu = CPU_SETSIZE - 1; !CPU_ISSET(last_cpu, &cpus);)
                last_cpu--;
        return true;
}

static void prepare_last_cpu(void) {
        cpu_set_t cpus;

        CPU_ZERO(&cpus);
        CPU_SET(last_cpu, &cpus);
        if (sched_setaffinity(0, sizeof cpus, &cpus) < 0)
                _exit(99);
}

static void set_policy(int policy, int priority) {
        struct sched_param parameters = { .sched_priority = priority };

        if (sched_setscheduler(0, policy, &parameters) < 0)
                _exit(99);
}

static void prepare_batch(void) {
        set_policy(SCHED_BATCH, 0);
}

static void prepare_idle(void) {
        set_policy(SCHED_IDLE, 0);
}

static void prepare_fifo(void) {
        set_policy(SCHED_FIFO, 7);
}

static void prepare_reset(void) {
        set_policy(SCHED_RR | SCHED_RESET_ON_FORK, 7);
        (void)setpriority(PRIO_PROCESS, 0, 5);
}

static void prepare_io(void) {
        if (syscall(SYS_ioprio_set, IO_WHO_PROCESS, 0, IO(IO_BEST_EFFORT, 6)) < 0)
                _exit(99);
}

static void is_on(const KitRun *run, int cpu, const char *name) {
        g_autofree char *line = g_strdup_printf("\nCpus_allowed_list:\t%d\n", cpu);

        if (!ok(strstr(run->output->str, line), "%s", name))
                diag("%s%s", run->output->str, run->errors->str);
        leftover_check(run, name);
}

static void test_cpus(void) {
        g_autofree char *first = g_strdup_printf("%d", first_cpu);
        g_autofree char *property = g_strdup_printf("CPUAffinity=%d", first_cpu);
        KitOrder plain = { .prepare = prepare_last_cpu,
                           .command = VICTIM("cat", "/proc/self/status") };
        KitOrder asked = { .prepare = prepare_last_cpu,
                           .options = WORDS("--best-effort", "--cpus", first),
                           .command = VICTIM("cat", "/proc/self/status") };
        KitOrder other = { .prepare = prepare_last_cpu,
                           .options = WORDS("-p", property),
                           .command = VICTIM("cat", "/proc/self/status") };
        g_autoptr(KitRun) run = kit_run(&plain);
        g_autoptr(KitRun) limited = kit_run(&asked);
        g_autoptr(KitRun) extra = kit_run(&other);

        is_on(run, last_cpu, "the caller's CPU affinity arrives");
        ok(!record_at(run, "not_passed_on"), "and nothing is missed");
        is(run->errors->str, "", "nor said");
        is_on(limited, first_cpu, "--cpus wins over it");
        skip(kit_is_scope(), 2, NO_PROPERTY);
        is_on(extra, first_cpu, "-p CPUAffinity= wins over it");
        end_skip;
}

/* Without libseccomp a manager drops filters without a word (systemd 262 loads it only when it is there). */
static bool has_filters(void) {
        KitOrder order = { .options = WORDS("-p", "SystemCallFilter=~acct"),
                           .command = VICTIM("cat", "/proc/self/status") };
        g_autoptr(KitRun) run = kit_run(&order);

        return strstr(run->output->str, "\nSeccomp:\t2\n");
}

/* A filter stands for a cgroup that has none of the caller's CPUs: the gate meets both in the same call. */
static void test_refused(const char *call, void (*prepare)(void), const char *key,
                         const char *words, bool is_told) {
        g_autofree char *filter = g_strconcat("SystemCallFilter=~", call, NULL);
        g_autofree char *said = g_strdup_printf("cordon: not passed on: %s\n", words);
        KitOrder quiet = { .prepare = prepare,
                           .options = WORDS("-p", filter, "-p", "SystemCallErrorNumber=EPERM"),
                           .command = VICTIM("exit", "0") };
        KitOrder verbose = { .prepare = prepare,
                             .options = WORDS("-v", "-p", filter, "-p",
                                              "SystemCallErrorNumber=EPERM"),
                             .command = VICTIM("exit", "0") };
        g_autoptr(KitRun) run = kit_run(&quiet);
        g_autoptr(KitRun) talking = kit_run(&verbose);
        const cJSON *keys = record_at(run, "not_passed_on");

        cmp_ok(run->status, "==", 0, "where %s is denied, the program runs", call);
        cmp_ok(cJSON_GetArraySize(keys), "==", 1, "and the record has what it could not have");
        is(cJSON_GetStringValue(cJSON_GetArrayItem(keys, 0)) ?: "", key, "by its name");
        is(run->errors->str, is_told ? said : "", "%s without -v", is_told ? "told" : "not told");
        ok(strstr(talking->errors->str, said), "told with -v");
        leftover_check(run, call);
}

static void test_refusals(void) {
        skip(!has_filters(), 12, "n/a: this manager has no libseccomp");
        skip(!has_cpus, 6, "n/a: there is only one CPU");
        test_refused("sched_setaffinity", prepare_last_cpu, "cpus",
                     "the caller's CPU affinity: the program's cgroup has none of these CPUs",
                     true);
        end_skip;
        test_refused("ioprio_set", prepare_io, "io-priority", "the caller's I/O priority", false);
        end_skip;
}

static int64_t said_after(void (*prepare)(void), const char *const *options, const char *word,
                          const char *name) {
        KitOrder order = { .prepare = prepare, .options = options, .command = VICTIM("schedule") };
        g_autoptr(KitRun) run = kit_run(&order);

        leftover_check(run, name);
        return kit_said_number(run, word);
}

static void test_policy(void) {
        cmp_ok(said_after(NULL, NULL, "policy", "an ordinary caller"), "==", SCHED_OTHER,
               "an ordinary caller's program is ordinary");
        cmp_ok(said_after(prepare_batch, NULL, "policy", "SCHED_BATCH"), "==", SCHED_BATCH,
               "SCHED_BATCH arrives");
        cmp_ok(said_after(prepare_idle, NULL, "policy", "SCHED_IDLE"), "==", SCHED_IDLE,
               "SCHED_IDLE arrives");
        skip(kit_is_scope(), 2, NO_PROPERTY);
        cmp_ok(said_after(prepare_idle, WORDS("-p", "CPUSchedulingPolicy=batch"), "policy",
                          "-p CPUSchedulingPolicy="),
               "==", SCHED_BATCH, "-p CPUSchedulingPolicy= wins over it");
        end_skip;
}

/* In a version 1 cgroup there may be no time for it; then that is told. */
static void test_real_time(void) {
        KitOrder order = { .prepare = prepare_fifo, .command = VICTIM("schedule") };
        KitOrder resetting = { .prepare = prepare_reset, .command = VICTIM("schedule", "where") };

        skip(geteuid() != 0, 5, "n/a: only root gives itself a real-time policy");

        g_autoptr(KitRun) run = kit_run(&order);
        g_autoptr(KitRun) reset = kit_run(&resetting);
        const cJSON *keys = record_at(run, "not_passed_on");
        const char *key = cJSON_GetStringValue(cJSON_GetArrayItem(keys, 0));

        if (kit_said_number(run, "policy") == SCHED_FIFO)
                ok(kit_said_number(run, "priority") == 7 && !keys, "SCHED_FIFO arrives");
        else
                is(key ?: "", "scheduling", "that SCHED_FIFO did not arrive is in the record");
        leftover_check(run, "SCHED_FIFO");
        cmp_ok(kit_said_number(reset, "policy"), "==", SCHED_OTHER,
               "of a policy that is reset on fork nothing arrives");
        cmp_ok(kit_said_number(reset, "nice"), "==", 0, "nor of the nice level under it");
        leftover_check(reset, "a policy that is reset on fork");
        end_skip;
}

static void test_io(void) {
        cmp_ok(said_after(prepare_io, NULL, "io", "an I/O priority"), "==", IO(IO_BEST_EFFORT, 6),
               "the I/O priority arrives");
        skip(kit_is_scope(), 2, NO_PROPERTY);
        cmp_ok(said_after(prepare_io, WORDS("-p", "IOSchedulingClass=idle"), "io",
                          "-p IOSchedulingClass=") >>
                       13,
               "==", IO_IDLE, "-p IOSchedulingClass= wins over it");
        end_skip;
}

int main(void) {
        has_cpus = find_cpus();
        kit_init();
        skip(!has_cpus, 9, "n/a: there is only one CPU");
        test_cpus();
        end_skip;
        test_refusals();
        test_policy();
        test_real_time();
        test_io();
        kit_clear();
        done_testing();
}
