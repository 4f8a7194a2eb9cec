/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a verdict says: to the record and to people. */

#include <errno.h>
#include <signal.h>
#include <tap.h>

#include "units/cause.h"

#define MS UINT64_C(1000)

typedef struct {
        const char *message;
        const char *words; /* NULL: nothing to say */
        const char *limits;
        int code, number;
        Act act;        /* _ACT_MAX: none */
        uint64_t acted; /* ms after exec */
        int cancel_signal;
        uint64_t ended; /* ms after exec */
        uint64_t oom, oom_own, peak, cpu, denied, growth;
        bool no_wall, is_whole, is_stopped;
        uint64_t oom_below;
        const char *ancestor;
} Row;

/* clang-format off */
static const Row rows[] = {
        { "exited with 0", NULL, "", CLD_EXITED, 0, _ACT_MAX, 0, 0, 100 },
        { "exited with 3", NULL, "memory=64M", CLD_EXITED, 3, _ACT_MAX, 0, 0, 100 },
        { "exited with 1 [limits: tasks=8]",
          "tasks limit met: a new process or thread was denied 3 times, then exited with 1 [tasks=8]",
          "tasks=8", CLD_EXITED, 1, _ACT_MAX, 0, 0, 100, .denied = 3 },
        { "exited with 0 [limits: tasks=8]", NULL, "tasks=8", CLD_EXITED, 0, _ACT_MAX, 0, 0, 100, .denied = 3 },
        { "memory limit hit: killed (SIGKILL) [limits: memory=268435456]",
          "memory limit hit: killed (SIGKILL) after 0.8s, peak 256M [memory=256M]", "memory=256M swap=0", CLD_KILLED, SIGKILL,
          _ACT_MAX, 0, 0, 812, .oom = 1, .oom_own = 1, .peak = 268435456 },
        { "memory limit hit: exited with 0 [limits: memory=268435456, tasks=8]",
          "memory limit hit: exited with 0 after 0.8s, peak 256M [memory=256M, tasks=8]", "memory=256M tasks=8", CLD_EXITED, 0,
          _ACT_MAX, 0, 0, 812, .oom = 1, .oom_own = 1, .peak = 268435456, .denied = 1 },
        { "out of memory beyond its own limit: killed (SIGKILL)",
          "out of memory beyond its own limit: killed (SIGKILL) after 0.8s, peak 12M", "memory=256M", CLD_KILLED, SIGKILL,
          _ACT_MAX, 0, 0, 812, .oom = 1, .peak = 12 << 20 },
        { "memory limit of b.slice hit: killed (SIGKILL)",
          "memory limit of b.slice hit: killed (SIGKILL) after 0.8s, peak 12M", "memory=256M", CLD_KILLED, SIGKILL,
          _ACT_MAX, 0, 0, 812, .oom = 1, .peak = 12 << 20, .ancestor = "/a.slice/b.slice", .is_whole = true },
        { "the machine ran out of memory: killed (SIGKILL)",
          "the machine ran out of memory: killed (SIGKILL) after 0.8s, peak 12M", "", CLD_KILLED, SIGKILL,
          _ACT_MAX, 0, 0, 812, .oom = 1, .peak = 12 << 20, .is_whole = true },
        { "memory limit inside it hit: exited with 0",
          "memory limit inside it hit: exited with 0 after 0.8s, peak 12M", "memory=256M", CLD_EXITED, 0,
          _ACT_MAX, 0, 0, 812, .oom = 1, .peak = 12 << 20, .oom_below = 1, .is_whole = true },
        { "stopped at the manager: killed (SIGTERM)", "stopped at the manager: killed (SIGTERM) after 0.8s", "timeout=1s",
          CLD_KILLED, SIGTERM, _ACT_MAX, 0, 0, 812, .is_stopped = true },
        { "stopped at the manager: exited with 0", "stopped at the manager: exited with 0 after 0.8s", "", CLD_EXITED, 0,
          _ACT_MAX, 0, 0, 812, .is_stopped = true },
        { "timeout limit hit: killed (SIGTERM) [limits: timeout=1000000]",
          "timeout limit hit: killed (SIGTERM) after 1.0s [timeout=1s]", "timeout=1s", CLD_KILLED, SIGTERM, ACT_TIMEOUT, 1000, 0,
          1004, .is_stopped = true },
        { "timeout limit hit: killed (SIGTERM) [limits: timeout=1000000]",
          "timeout limit hit: killed (SIGTERM) after 1.0s [timeout=1s]", "timeout=1s", CLD_KILLED, SIGTERM, ACT_TIMEOUT, 1000, 0,
          1004 },
        { "timeout limit hit: exited with 0 [limits: timeout=90000000]",
          "timeout limit hit: exited with 0 after 90s [timeout=1m30s]", "timeout=90", CLD_EXITED, 0, ACT_TIMEOUT, 90000, 0,
          90001 },
        { "timeout limit hit: killed (SIGTERM) [limits: timeout=1000000]",
          "timeout limit hit: killed (SIGTERM) [timeout=1s]", "timeout=1s", CLD_KILLED, SIGTERM, ACT_TIMEOUT, 1000, 0, 1004,
          .no_wall = true },
        { "cpu-time limit hit: killed (SIGTERM) [limits: cpu-time=2000000]",
          "cpu-time limit hit: killed (SIGTERM) after 1.1s, cpu 2.0s [cpu-time=2s]", "cpu-time=2s cpu=50% memory-high=64M", CLD_KILLED, SIGTERM,
          ACT_CPU_TIME, 1050, 0, 1100, .cpu = 2004 },
        { "fsize limit hit: killed (SIGXFSZ, core dumped) [limits: fsize=52428800]",
          "fsize limit hit: killed (SIGXFSZ, core dumped) after 0.1s [fsize=50M]", "fsize=50M", CLD_DUMPED, SIGXFSZ, _ACT_MAX,
          0, 0, 100 },
        { "disk limit hit: killed (SIGKILL) [limits: disk=1073741824]",
          "disk limit hit: killed (SIGKILL) after 2.2s, grew by 1.1G [disk=1G]", "disk=1G", CLD_KILLED, SIGKILL, ACT_DISK, 2190,
          0, 2200, .growth = UINT64_C(1181116006) },
        { "exited with 0 [limits: disk=1048576]", NULL, "disk=1M", CLD_EXITED, 0, _ACT_MAX, 0, 0, 100, .growth = 2 << 20 },
        { "output limit hit: killed (SIGKILL) [limits: output=1048576]",
          "output limit hit: killed (SIGKILL) after 0.1s [output=1M]", "output=1M", CLD_KILLED, SIGKILL, ACT_OUTPUT, 90, 0, 100 },
        { "cancelled by SIGINT: killed (SIGTERM)", "cancelled by SIGINT: killed (SIGTERM) after 2.0s", "", CLD_KILLED, SIGTERM,
          ACT_CANCEL, 1990, SIGINT, 2000 },
        { "cancelled: exited with 0", "cancelled: exited with 0 after 2.0s", "", CLD_EXITED, 0, ACT_CANCEL, 1990, 0, 2000 },
        { "killed (SIGSEGV, core dumped)", "killed (SIGSEGV, core dumped) after 0.1s", "", CLD_DUMPED, SIGSEGV, _ACT_MAX, 0, 0,
          100 },
        { "killed (SIGPIPE)", NULL, "", CLD_KILLED, SIGPIPE, _ACT_MAX, 0, 0, 100 },
        { "its end could not be learnt", "its end could not be learnt", "", 0, 0, _ACT_MAX, 0, 0, 100 },
};

static const struct {
        int number;
        const char *code, *message;
} failures[] = {
        { ENOENT, "command-not-found", "\"no\\x0aprog\": command not found" },
        { EACCES, "permission-denied", "\"no\\x0aprog\": permission denied" },
        { EPERM, "permission-denied", "\"no\\x0aprog\": not permitted" },
        { ENOEXEC, "not-executable", "\"no\\x0aprog\": not a program this machine can execute" },
        { E2BIG, "arguments-too-long", "\"no\\x0aprog\": arguments and environment are too long" },
        { EIO, "exec-failed", "\"no\\x0aprog\": Input/output error" },
        { 0, "start-failed", "\"no\\x0aprog\" was not executed: what starts it ended before, unit Result=exit-code" },
};
/* clang-format on */

static void set_limits(Facts *facts, const char *limits) {
        g_auto(GStrv) words = g_strsplit(limits, " ", -1);

        for (char **word = words; *word; word++) {
                g_auto(GStrv) pair = g_strsplit(*word, "=", 2);
                Limit limit = _LIMIT_MAX;

                if (!limit_from_key(pair[0], &limit) ||
                    !limit_set_parse(&facts->limits, limit, pair[1], NULL))
                        BAIL_OUT("bad limits in a row: %s", limits);
        }
}

static void tell(Facts *facts, const Row *row) {
        facts_init(facts);
        set_limits(facts, row->limits);
        facts->stage = STAGE_EXECUTED;
        facts->exec_main_code = row->code;
        facts->exec_main_status = row->number;
        facts->started_usec = row->no_wall ? 0 : 1000 * MS;
        facts->ended_usec = (1000 + row->ended) * MS;
        if (row->act != _ACT_MAX)
                facts->act_usec[row->act] = (1000 + row->acted) * MS;
        facts->cancel_signal = row->cancel_signal;
        facts->oom_kills = row->oom;
        facts->oom_kills_local_limit = row->oom_own;
        facts->oom_events = row->oom_below;
        facts->oom_ancestor = g_strdup(row->ancestor);
        facts->is_ancestry_whole = row->is_whole;
        facts->is_stopped = row->is_stopped;
        facts->disk_growth_bytes = row->growth;
        facts->memory_peak_bytes = row->peak;
        facts->cpu_usec = row->cpu * MS;
        facts->tasks_denied = row->denied;
        facts->cpu_throttled = 1;      /* merely slowed down: */
        facts->memory_high_events = 1; /* no explanation, never named */
}

static void test_rows(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_auto(Facts) facts = { 0 };
                g_auto(Verdict) verdict = { 0 };
                g_autofree char *words = NULL;

                tell(&facts, &rows[i]);
                cause_decide(&facts, "prog", &verdict);
                words = verdict_words(&verdict, &facts);
                is(verdict.message, rows[i].message, "row %zu, the record", i);
                is(words, rows[i].words, "row %zu, people", i);
        }
}

static void test_not_started(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(failures); i++) {
                g_auto(Facts) facts = { 0 };
                g_auto(Verdict) verdict = { 0 };
                g_autofree char *words = NULL;

                facts_init(&facts);
                facts.stage = STAGE_NOT_EXECUTED;
                facts.exec_errno = failures[i].number;
                facts.unit_result = g_strdup("exit-code");
                cause_decide(&facts, "no\nprog", &verdict);
                words = verdict_words(&verdict, &facts);
                is(verdict.error_code, failures[i].code, "errno %d: the code", failures[i].number);
                is(verdict.message, failures[i].message, "errno %d: the message",
                   failures[i].number);
                is(words, failures[i].message, "errno %d: the words", failures[i].number);
        }
}

/* What has become of the gate is not the program's end. */
static void test_cancelled_before(void) {
        g_auto(Facts) facts = { 0 };
        g_auto(Verdict) verdict = { 0 };
        g_autofree char *words = NULL;

        facts_init(&facts);
        set_limits(&facts, "timeout=1s memory=64M grace=1s");
        facts.memory_max_events = 1;
        facts.exec_main_code = CLD_KILLED;
        facts.exec_main_status = SIGKILL;
        facts.is_lost = true;
        facts_set_cancelled(&facts, SIGINT, 1000 * MS);
        cause_decide(&facts, "prog", &verdict);
        words = verdict_words(&verdict, &facts);
        cmp_ok(verdict.outcome, "==", OUTCOME_CANCELLED, "cancelled before exec: the outcome");
        is(verdict.message, "cancelled by SIGINT before it was executed", "the message");
        is(words, verdict.message, "the words");
        cmp_ok(verdict_exit_status(&verdict, &facts), "==", 128 + SIGINT, "the exit status");
        cmp_ok(verdict.signal, "==", 0, "no signal of a program");
        cmp_ok(verdict.exit_code, "==", -1, "no exit code of a program");
        ok(!verdict.touched_known[LIMIT_MEMORY], "no limit was met");
        cmp_ok(verdict.evidence->len, "==", 1, "one line of evidence");
        is(g_ptr_array_index(verdict.evidence, 0), "cancelled by the caller before it was executed",
           "and that is it");
}

static void test_refused_and_lost(void) {
        g_auto(Facts) refused = { 0 };
        g_auto(Facts) lost = { 0 };
        g_auto(Verdict) refusal = { 0 };
        g_auto(Verdict) loss = { 0 };

        facts_init(&refused);
        refused.refusal_code = g_strdup("unenforceable");
        refused.refusal_message = g_strdup("--cpus: cannot be enforced");
        cause_decide(&refused, NULL, &refusal);
        is(refusal.error_code, "unenforceable", "a refusal keeps its code");
        is(refusal.message, "--cpus: cannot be enforced", "and its message");

        facts_init(&lost);
        lost.stage = STAGE_EXECUTED;
        lost.is_lost = true;
        lost.lost_message = g_strdup("the manager closed the connection");
        cause_decide(&lost, "prog", &loss);
        is(loss.error_code, "lost", "a loss is one");
        is(loss.message, "the manager closed the connection", "and says what is known");
}

int main(void) {
        plan(NO_PLAN);
        test_rows();
        test_not_started();
        test_cancelled_before();
        test_refused_and_lost();
        done_testing();
}
