/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Facts → outcome. A row is a story: what was asked, what happened, and the one right answer. Times are milliseconds
 * after exec, which is at 1000 ms of the clock. */

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <tap.h>

#include "units/cause.h"

#define MS   UINT64_C(1000)
#define EXEC (1000 * MS)
#define U    FACTS_UNKNOWN

typedef struct {
        Outcome expected;
        int status; /* of cordon run */
        const char *name;
        const char *limits; /* "memory=64M timeout=1s" */
        int code, number;   /* wait status */
        const char *result; /* of the unit */
        uint64_t ended;     /* ms; 0: 500 */
        uint64_t act[_ACT_MAX];
        int cancel_signal;
        uint64_t oom, oom_own, max_events; /* 0: counted, none; U: nobody could tell */
        uint64_t oom_events;
        const char *oom_ancestor, *pool;
        bool is_ancestry_whole, is_stopped;
        uint64_t cpu, denied, tasks_peak; /* cpu in ms */
        bool is_stale;                    /* nobody looked after the end */
        uint64_t growth, hidden;          /* of the workspace, with a disk limit */
        Stage stage_not; /* 0 (refused) is given by is_refused; so: STAGE_NOT_EXECUTED or nothing */
        int exec_errno;
        bool is_refused, is_lost;
        const char *touched;  /* "memory tasks": these and no others */
        const char *evidence; /* a pattern that one line must match */
} Row;

/* clang-format off */
static const Row rows[] = {
        /* the program ends itself: its word counts, whatever the number looks like */
        { OUTCOME_EXITED, 0, "exits 0", "", CLD_EXITED, 0, "success", .evidence = "main process exited 0" },
        { OUTCOME_EXITED, 1, "exits 1", "timeout=1s memory=64M", CLD_EXITED, 1, "exit-code" },
        { OUTCOME_EXITED, 124, "exits 124 like a timeout", "timeout=1s", CLD_EXITED, 124, "exit-code" },
        { OUTCOME_EXITED, 125, "exits 125", "timeout=1s", CLD_EXITED, 125, "exit-code" },
        { OUTCOME_EXITED, 126, "exits 126", "", CLD_EXITED, 126, "exit-code" },
        { OUTCOME_EXITED, 127, "exits 127", "", CLD_EXITED, 127, "exit-code" },
        { OUTCOME_EXITED, 137, "exits 137 like a memory kill", "memory=64M", CLD_EXITED, 137, "exit-code" },
        { OUTCOME_EXITED, 143, "exits 143", "", CLD_EXITED, 143, "exit-code" },
        { OUTCOME_EXITED, 152, "exits 152 like SIGXCPU", "cpu-time=1s", CLD_EXITED, 152, "exit-code" },
        { OUTCOME_EXITED, 153, "exits 153 like SIGXFSZ", "fsize=1M", CLD_EXITED, 153, "exit-code" },
        { OUTCOME_EXITED, 203, "exits 203 like systemd", "", CLD_EXITED, 203, "exit-code" },
        { OUTCOME_EXITED, 1, "ignores SIGXFSZ and ends as it likes", "fsize=1M", CLD_EXITED, 1, "exit-code" },
        { OUTCOME_EXITED, 0, "exits 0 after denied forks", "tasks=8", CLD_EXITED, 0, "success", .denied = 3,
          .touched = "tasks", .evidence = "pids.events max=3" },
        { OUTCOME_EXITED, 0, "reached its tasks by the peak alone", "tasks=8", CLD_EXITED, 0, "success", .denied = U,
          .tasks_peak = 8, .touched = "tasks" },
        { OUTCOME_EXITED, 0, "reclaimed at its memory limit", "memory=64M", CLD_EXITED, 0, "success", .max_events = 9,
          .touched = "memory" },

        /* signals that no limit explains */
        { OUTCOME_SIGNALED, 139, "crashes", "memory=64M timeout=1s", CLD_DUMPED, SIGSEGV, "core-dump",
          .evidence = "main process killed by SIGSEGV" },
        { OUTCOME_SIGNALED, 137, "kills itself with SIGKILL", "memory=64M timeout=1s", CLD_KILLED, SIGKILL, "signal" },
        { OUTCOME_SIGNALED, 137, "is killed by an administrator", "memory=64M cpu-time=1s", CLD_KILLED, SIGKILL, "signal", .cpu = 900 },
        { OUTCOME_SIGNALED, 143, "kills itself with SIGTERM, success says the unit", "timeout=1s", CLD_KILLED, SIGTERM, "success" },
        { OUTCOME_SIGNALED, 143, "is stopped by an administrator", "timeout=30s", CLD_KILLED, SIGTERM, "success",
          .is_stopped = true, .evidence = "unit stopped at the manager *" },
        { OUTCOME_EXITED, 0, "is stopped by an administrator and exits 0", "", CLD_EXITED, 0, "success", .is_stopped = true,
          .evidence = "unit stopped at the manager *" },
        { OUTCOME_SIGNALED, 137, "is stopped by an administrator and ignores it: Result=timeout is the stop's",
          "timeout=30s", CLD_KILLED, SIGKILL, "timeout", .ended = 6000, .is_stopped = true,
          .evidence = "unit Result=timeout" },
        { OUTCOME_SIGNALED, 152, "sends itself SIGXCPU", "cpu-time=10s", CLD_KILLED, SIGXCPU, "signal", .cpu = 10 },
        { OUTCOME_SIGNALED, 152, "SIGXCPU of the caller's own limit", "", CLD_KILLED, SIGXCPU, "signal", .cpu = 5000 },
        { OUTCOME_SIGNALED, 153, "SIGXFSZ of the caller's own limit", "", CLD_KILLED, SIGXFSZ, "signal" },
        { OUTCOME_SIGNALED, 153, "SIGXFSZ with the limit lifted", "fsize=infinity", CLD_KILLED, SIGXFSZ, "signal" },
        { OUTCOME_SIGNALED, 137, "the manager guesses oom-kill, counters say no", "memory=64M", CLD_KILLED, SIGKILL, "oom-kill",
          .evidence = "unit Result=oom-kill" },
        { OUTCOME_SIGNALED, 137, "a huge .bss under a smaller address space", "address-space=100M", CLD_KILLED, SIGKILL, "signal" },

        /* memory: counters decide */
        { OUTCOME_MEMORY, 137, "out of its memory", "memory=64M", CLD_KILLED, SIGKILL, "oom-kill", .oom = 1, .oom_own = 1,
          .max_events = 20, .touched = "memory", .evidence = "memory.events oom_kill=1" },
        { OUTCOME_MEMORY, 137, "the manager missed it", "memory=64M", CLD_KILLED, SIGKILL, "signal", .oom = 1, .oom_own = 1,
          .touched = "memory", .evidence = "memory.events.local oom=1" },
        { OUTCOME_MEMORY, 137, "parent exits 0 after its child was killed", "memory=64M", CLD_EXITED, 0, "oom-kill", .oom = 1,
          .oom_own = 1, .touched = "memory", .evidence = "main process exited 0" },
        { OUTCOME_MEMORY, 137, "ended with SIGTERM by OOMPolicy=stop", "memory=64M", CLD_KILLED, SIGTERM, "oom-kill", .oom = 1,
          .oom_own = 1, .touched = "memory" },
        { OUTCOME_MEMORY, 137, "an ancestor or the machine ran out", "memory=64M", CLD_KILLED, SIGKILL, "oom-kill", .oom = 1,
          .touched = "", .evidence = "own memory limit not met: *" },
        { OUTCOME_MEMORY, 137, "the machine ran out, no limit asked", "", CLD_KILLED, SIGKILL, "oom-kill", .oom = 1,
          .touched = "", .evidence = "own memory limit not met: *" },
        { OUTCOME_MEMORY, 137, "an ancestor ran out", "memory=64M", CLD_KILLED, SIGKILL, "oom-kill", .oom = 1,
          .oom_ancestor = "/a.slice/b.slice", .is_ancestry_whole = true, .touched = "",
          .evidence = "own memory limit not met, but that of /a.slice/b.slice" },
        { OUTCOME_MEMORY, 137, "the machine ran out, and it is known", "memory=64M", CLD_KILLED, SIGKILL, "oom-kill", .oom = 1,
          .is_ancestry_whole = true, .touched = "",
          .evidence = "own memory limit not met, nor that of an ancestor: the machine ran out of memory" },
        { OUTCOME_MEMORY, 137, "a limit of the program's own making", "memory=64M", CLD_EXITED, 0, "oom-kill", .oom = 1,
          .oom_events = 1, .is_ancestry_whole = true, .touched = "",
          .evidence = "own memory limit not met, but one inside it: memory.events oom=1" },
        { OUTCOME_MEMORY, 137, "its own, and an ancestor's too", "memory=64M", CLD_KILLED, SIGKILL, "oom-kill", .oom = 1,
          .oom_own = 1, .oom_events = 1, .oom_ancestor = "/a.slice", .touched = "memory",
          .evidence = "memory.events.local oom=1" },
        { OUTCOME_MEMORY, 137, "its pool ran out", "memory=64M pool-memory=128M", CLD_KILLED, SIGKILL, "oom-kill", .oom = 1,
          .oom_ancestor = "/cordon-pool-a\\x2db.slice", .pool = "a-b", .touched = "pool-memory",
          .evidence = "own memory limit not met, but that of /cordon-pool-a*x2db.slice" },
        { OUTCOME_MEMORY, 137, "the pool of an outer run ran out", "pool-memory=128M", CLD_KILLED, SIGKILL, "oom-kill", .oom = 1,
          .oom_ancestor = "/cordon-pool-c.slice", .pool = "a-b", .touched = "" },
        { OUTCOME_MEMORY, 137, "its own, and its pool's too", "memory=64M pool-memory=128M", CLD_KILLED, SIGKILL, "oom-kill",
          .oom = 1, .oom_own = 1, .oom_ancestor = "/cordon-pool-a\\x2db.slice", .pool = "a-b", .touched = "memory" },
        { OUTCOME_EXITED, 0, "an ancestor ran out and killed others", "memory=64M", CLD_EXITED, 0, "success",
          .oom_ancestor = "/a.slice", .touched = "" },
        { OUTCOME_MEMORY, 137, "v1: a notification and failcnt", "memory=64M", CLD_KILLED, SIGKILL, "signal", .oom = 1,
          .oom_own = U, .max_events = 7, .touched = "memory" },
        { OUTCOME_MEMORY, 137, "no counters at all, the manager's word", "memory=64M", CLD_KILLED, SIGKILL, "oom-kill", .oom = U,
          .oom_own = U, .max_events = U, .evidence = "unit Result=oom-kill" },
        { OUTCOME_SIGNALED, 137, "no counters, no word: 137 proves nothing", "memory=64M", CLD_KILLED, SIGKILL, "signal", .oom = U,
          .oom_own = U, .max_events = U },
        { OUTCOME_MEMORY, 137, "killed for memory before the gate could exec", "memory=4M", CLD_KILLED, SIGKILL, "oom-kill",
          .oom = 1, .oom_own = 1, .stage_not = STAGE_NOT_EXECUTED, .touched = "memory" },

        /* the wall deadline */
        { OUTCOME_TIMEOUT, 124, "deadline, SIGTERM", "timeout=1s", CLD_KILLED, SIGTERM, "success", .ended = 1010,
          .act = { [ACT_TIMEOUT] = 1000 }, .touched = "timeout", .evidence = "wall deadline passed 1s after exec" },
        { OUTCOME_TIMEOUT, 124, "handles SIGTERM and exits 0", "timeout=1s", CLD_EXITED, 0, "success", .ended = 1300,
          .act = { [ACT_TIMEOUT] = 1000 }, .touched = "timeout" },
        { OUTCOME_TIMEOUT, 124, "handles SIGTERM and exits 7", "timeout=1s", CLD_EXITED, 7, "exit-code", .ended = 1300,
          .act = { [ACT_TIMEOUT] = 1000 }, .touched = "timeout" },
        { OUTCOME_TIMEOUT, 124, "ignores SIGTERM, SIGKILL after grace", "timeout=1s grace=2s", CLD_KILLED, SIGKILL, "timeout",
          .ended = 3005, .act = { [ACT_TIMEOUT] = 1000 }, .touched = "timeout grace" },
        { OUTCOME_TIMEOUT, 124, "the manager acted because we did not", "timeout=1s", CLD_KILLED, SIGTERM, "timeout",
          .ended = 1200, .touched = "timeout", .evidence = "unit Result=timeout" },
        { OUTCOME_TIMEOUT, 124, "the manager was a little early", "timeout=1s", CLD_KILLED, SIGTERM, "timeout", .ended = 990,
          .touched = "timeout" },
        { OUTCOME_EXITED, 0, "ended before we acted", "timeout=1s", CLD_EXITED, 0, "success", .ended = 999,
          .act = { [ACT_TIMEOUT] = 1000 }, .touched = "",
          .evidence = "wall deadline passed, but the program had ended before" },
        { OUTCOME_SIGNALED, 139, "crashed before we acted", "timeout=1s", CLD_DUMPED, SIGSEGV, "core-dump", .ended = 999,
          .act = { [ACT_TIMEOUT] = 1000 } },
        { OUTCOME_TIMEOUT, 124, "no wait status, but our own act", "timeout=1s", 0, 0, NULL, .ended = 1500,
          .act = { [ACT_TIMEOUT] = 1000 }, .touched = "timeout" },

        /* two limits met: the one that ended it */
        { OUTCOME_TIMEOUT, 124, "a child was killed for memory, the parent waited for the deadline", "timeout=1s memory=64M",
          CLD_KILLED, SIGTERM, "oom-kill", .ended = 1010, .act = { [ACT_TIMEOUT] = 1000 }, .oom = 1, .oom_own = 1,
          .touched = "timeout memory" },
        { OUTCOME_MEMORY, 137, "killed for memory just when the deadline came", "timeout=1s memory=64M grace=5s", CLD_KILLED,
          SIGKILL, "oom-kill", .ended = 1004, .act = { [ACT_TIMEOUT] = 1000 }, .oom = 1, .oom_own = 1,
          .touched = "memory timeout" },
        { OUTCOME_TIMEOUT, 124, "with grace 0 our SIGKILL and the kernel's look alike: the act counts",
          "timeout=1s memory=64M grace=0", CLD_KILLED, SIGKILL, "oom-kill", .ended = 1004, .act = { [ACT_TIMEOUT] = 1000 },
          .oom = 1, .oom_own = 1, .touched = "memory timeout grace" },
        { OUTCOME_TIMEOUT, 124, "killed after grace, memory met earlier", "timeout=1s memory=64M grace=2s", CLD_KILLED, SIGKILL,
          "timeout", .ended = 3001, .act = { [ACT_TIMEOUT] = 1000 }, .oom = 1, .oom_own = 1, .touched = "memory timeout grace" },
        { OUTCOME_TIMEOUT, 124, "deadline, memory met, but the caller's second signal may be what killed it",
          "timeout=1s memory=64M grace=5s", CLD_KILLED, SIGKILL, "oom-kill", .ended = 1500,
          .act = { [ACT_TIMEOUT] = 1000, [ACT_CANCEL] = 1490 }, .cancel_signal = SIGINT, .oom = 1, .oom_own = 1,
          .touched = "memory timeout" },
        { OUTCOME_TIMEOUT, 124, "deadline, then budget", "timeout=1s cpu-time=1s", CLD_KILLED, SIGTERM, "success", .ended = 1100,
          .act = { [ACT_TIMEOUT] = 1000, [ACT_CPU_TIME] = 1050 }, .cpu = 1050, .touched = "timeout cpu-time" },
        { OUTCOME_CPU_TIME, 124, "budget, then deadline", "timeout=1s cpu-time=900ms", CLD_KILLED, SIGTERM, "success",
          .ended = 1100, .act = { [ACT_TIMEOUT] = 1000, [ACT_CPU_TIME] = 950 }, .cpu = 1050, .touched = "timeout cpu-time" },
        { OUTCOME_TIMEOUT, 124, "deadline, then the caller", "timeout=1s", CLD_KILLED, SIGKILL, "signal", .ended = 1500,
          .act = { [ACT_TIMEOUT] = 1000, [ACT_CANCEL] = 1400 }, .cancel_signal = SIGINT, .touched = "timeout" },
        { OUTCOME_CANCELLED, 130, "the caller, then the deadline in grace", "timeout=1s", CLD_KILLED, SIGKILL, "signal",
          .ended = 1500, .act = { [ACT_TIMEOUT] = 1000, [ACT_CANCEL] = 900 }, .cancel_signal = SIGINT, .touched = "timeout" },
        { OUTCOME_FSIZE, 153, "a file too large, a child lost to memory", "fsize=1M memory=64M", CLD_KILLED, SIGXFSZ, "oom-kill",
          .oom = 1, .oom_own = 1, .touched = "fsize memory" },
        { OUTCOME_MEMORY, 137, "out of memory after forks were denied", "memory=64M tasks=8", CLD_KILLED, SIGKILL, "oom-kill",
          .oom = 1, .oom_own = 1, .denied = 2, .tasks_peak = 8, .touched = "memory tasks" },
        { OUTCOME_MEMORY, 137, "out of memory with the CPU budget just spent", "memory=64M cpu-time=1s", CLD_KILLED, SIGKILL,
          "oom-kill", .oom = 1, .oom_own = 1, .cpu = 1000, .touched = "memory cpu-time" },

        /* the CPU budget */
        { OUTCOME_CPU_TIME, 124, "budget, SIGTERM", "cpu-time=1s", CLD_KILLED, SIGTERM, "success", .ended = 1100,
          .act = { [ACT_CPU_TIME] = 1050 }, .cpu = 1004, .touched = "cpu-time", .evidence = "cpu_usec=1004000" },
        { OUTCOME_CPU_TIME, 124, "the backstop, SIGXCPU", "cpu-time=1s", CLD_KILLED, SIGXCPU, "signal", .ended = 2100, .cpu = 2000,
          .touched = "cpu-time" },
        { OUTCOME_CPU_TIME, 124, "the backstop, dumping core", "cpu-time=1s", CLD_DUMPED, SIGXCPU, "core-dump", .ended = 2100,
          .cpu = 2000, .touched = "cpu-time" },
        { OUTCOME_CPU_TIME, 124, "the backstop, counters a tick behind", "cpu-time=1s", CLD_KILLED, SIGXCPU, "signal",
          .ended = 2100, .cpu = 985, .touched = "cpu-time" },
        { OUTCOME_CPU_TIME, 124, "the backstop, no counters", "cpu-time=1s", CLD_KILLED, SIGXCPU, "signal", .cpu = U,
          .touched = "cpu-time" },
        { OUTCOME_CPU_TIME, 124, "the backstop's SIGKILL", "cpu-time=1s", CLD_KILLED, SIGKILL, "signal", .ended = 3100, .cpu = 3000,
          .touched = "cpu-time" },

        /* the others */
        { OUTCOME_FSIZE, 153, "a file too large", "fsize=1M", CLD_KILLED, SIGXFSZ, "signal", .touched = "fsize" },
        { OUTCOME_FSIZE, 153, "a file too large, dumping core", "fsize=1M", CLD_DUMPED, SIGXFSZ, "core-dump", .touched = "fsize" },
        { OUTCOME_DISK, 137, "the workspace outgrew its limit", "disk=1M", CLD_KILLED, SIGKILL, "signal",
          .act = { [ACT_DISK] = 400 }, .growth = 2 << 20, .touched = "disk", .evidence = "workspace grew by 2097152 bytes, from 4096" },
        { OUTCOME_DISK, 137, "the workspace outgrew its limit, a child lost to memory", "disk=1M memory=64M", CLD_KILLED, SIGKILL,
          "oom-kill", .act = { [ACT_DISK] = 400 }, .growth = 2 << 20, .oom = 1, .oom_own = 1, .touched = "disk memory",
          .evidence = "workspace outgrew its limit 400ms after exec" },
        { OUTCOME_TIMEOUT, 124, "deadline, and the workspace outgrew its limit within the grace", "timeout=1s disk=1M grace=5s memory=64M",
          CLD_KILLED, SIGKILL, "signal", .ended = 1500, .act = { [ACT_TIMEOUT] = 1000, [ACT_DISK] = 1490 }, .growth = 2 << 20,
          .oom = 1, .oom_own = 1, .touched = "timeout disk memory" },
        { OUTCOME_EXITED, 0, "grew beyond its limit, seen when it had ended", "disk=1M", CLD_EXITED, 0, "success",
          .growth = (1 << 20) + 1, .touched = "disk" },
        { OUTCOME_EXITED, 0, "grew up to its limit", "disk=1M", CLD_EXITED, 0, "success", .growth = 1 << 20, .touched = "" },
        { OUTCOME_EXITED, 0, "grew beyond its limit, and nobody looked later", "disk=1M", CLD_EXITED, 0, "success",
          .growth = (1 << 20) + 1, .is_stale = true, .touched = "disk" },
        { OUTCOME_EXITED, 0, "acted upon too late", "disk=1M", CLD_EXITED, 0, "success", .act = { [ACT_DISK] = 501 },
          .growth = 2 << 20, .touched = "disk", .evidence = "workspace outgrew its limit, but the program had ended before" },
        { OUTCOME_DISK, 137, "some of it cannot be read", "disk=1M", CLD_KILLED, SIGKILL, "signal", .act = { [ACT_DISK] = 400 },
          .growth = 2 << 20, .hidden = 3, .touched = "disk", .evidence = "directories of the workspace that could not be read: 3, *" },
        { OUTCOME_OUTPUT, 137, "too much output", "output=1K", CLD_KILLED, SIGKILL, "signal", .act = { [ACT_OUTPUT] = 400 },
          .touched = "output" },
        { OUTCOME_CANCELLED, 130, "Ctrl-C", "", CLD_KILLED, SIGTERM, "success", .act = { [ACT_CANCEL] = 400 },
          .cancel_signal = SIGINT },
        { OUTCOME_CANCELLED, 129, "the terminal went away", "", CLD_KILLED, SIGTERM, "success", .act = { [ACT_CANCEL] = 400 },
          .cancel_signal = SIGHUP },
        { OUTCOME_CANCELLED, 143, "cordon stop", "", CLD_EXITED, 0, "success", .act = { [ACT_CANCEL] = 400 } },
        { OUTCOME_CANCELLED, 130, "Ctrl-C twice, memory met meanwhile", "memory=64M grace=5s", CLD_KILLED, SIGKILL, "oom-kill",
          .act = { [ACT_CANCEL] = 400 }, .cancel_signal = SIGINT, .oom = 1, .oom_own = 1, .touched = "memory" },
        { OUTCOME_EXITED, 0, "Ctrl-C came too late", "", CLD_EXITED, 0, "success", .ended = 399, .act = { [ACT_CANCEL] = 400 },
          .cancel_signal = SIGINT },

        /* not started, refused, lost */
        { OUTCOME_NOT_STARTED, 127, "no such command", "", CLD_EXITED, 203, "exit-code", .stage_not = STAGE_NOT_EXECUTED,
          .exec_errno = ENOENT },
        { OUTCOME_NOT_STARTED, 126, "not allowed", "", CLD_EXITED, 203, "exit-code", .stage_not = STAGE_NOT_EXECUTED,
          .exec_errno = EACCES },
        { OUTCOME_NOT_STARTED, 126, "wrong format", "", CLD_EXITED, 203, "exit-code", .stage_not = STAGE_NOT_EXECUTED,
          .exec_errno = ENOEXEC },
        { OUTCOME_NOT_STARTED, 126, "any other reason", "", CLD_EXITED, 203, "exit-code", .stage_not = STAGE_NOT_EXECUTED,
          .exec_errno = EIO },
        { OUTCOME_NOT_STARTED, 126, "the gate ended for no known reason", "", CLD_EXITED, 226, "exit-code",
          .stage_not = STAGE_NOT_EXECUTED },
        { OUTCOME_CANCELLED, 143, "cancelled while the gate waited", "", CLD_KILLED, SIGKILL, "signal",
          .stage_not = STAGE_NOT_EXECUTED, .act = { [ACT_CANCEL] = 1 }, .cancel_signal = SIGTERM },
        { OUTCOME_REFUSED, 125, "refused", "memory=64M", 0, 0, NULL, .is_refused = true },
        { OUTCOME_LOST, 125, "the manager went away", "timeout=1s", 0, 0, NULL, .is_lost = true },
        { OUTCOME_LOST, 125, "went away after we acted", "timeout=1s", CLD_KILLED, SIGTERM, NULL, .is_lost = true, .ended = 1500,
          .act = { [ACT_TIMEOUT] = 1000 } },
        { OUTCOME_LOST, 125, "nothing is known of its end", "memory=64M", 0, 0, NULL },
};
/* clang-format on */

static uint64_t at(uint64_t ms) {
        return ms == 0 ? 0 : EXEC + ms * MS;
}

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
        facts->stage = row->is_refused  ? STAGE_REFUSED
                       : row->stage_not ? row->stage_not
                                        : STAGE_EXECUTED;
        facts->exec_errno = row->exec_errno;
        facts->is_lost = row->is_lost;
        facts->exec_main_code = row->code;
        facts->exec_main_status = row->number;
        facts->unit_result = g_strdup(row->result);
        facts->started_usec = EXEC;
        facts->ended_usec = at(row->ended ? row->ended : 500);
        for (int i = 0; i < _ACT_MAX; i++)
                facts->act_usec[i] = at(row->act[i]);
        facts->cancel_signal = row->cancel_signal;
        facts->oom_kills = row->oom;
        facts->oom_kills_local_limit = row->oom_own;
        facts->oom_events = row->oom_events;
        facts->oom_ancestor = g_strdup(row->oom_ancestor);
        facts->pool = g_strdup(row->pool);
        facts->is_ancestry_whole = row->is_ancestry_whole;
        facts->is_stopped = row->is_stopped;
        facts->memory_max_events = row->max_events;
        facts->cpu_usec = row->cpu == U ? U : row->cpu * MS;
        facts->tasks_denied = row->denied;
        facts->tasks_peak = row->tasks_peak;
        if (facts->limits.is_set[LIMIT_DISK]) {
                facts->disk_before_bytes = 4096;
                facts->disk_growth_bytes = row->growth;
                facts->disk_hidden = row->hidden;
                facts->is_disk_final = !row->is_stale;
        }
        facts->counter_source = "memory.events oom_kill";
}

static bool word_is_in(const char *words, const char *word) {
        g_auto(GStrv) all = g_strsplit(words, " ", -1);

        return g_strv_contains((const char *const *)all, word);
}

static void check_touched(const Row *row, const Verdict *verdict) {
        for (int i = 0; row->touched && i < _LIMIT_MAX; i++) {
                const char *key = limit_info((Limit)i)->key;

                if (verdict->touched[i] != word_is_in(row->touched, key))
                        fail("%s: %s is %stouched", row->name, key,
                             verdict->touched[i] ? "" : "not ");
        }
}

static void check_evidence(const Row *row, const Verdict *verdict) {
        bool is_found = !row->evidence;

        for (guint i = 0; i < verdict->evidence->len; i++) {
                const char *line = verdict->evidence->pdata[i];

                is_found = is_found || g_pattern_match_simple(row->evidence, line);
        }

        ok(is_found, "%s: the evidence says so", row->name);
        for (guint i = 0; !is_found && i < verdict->evidence->len; i++)
                diag("evidence: %s", (char *)verdict->evidence->pdata[i]);
}

static void check_rest(const Row *row, const Verdict *verdict) {
        bool has_error = verdict->outcome == OUTCOME_NOT_STARTED ||
                         verdict->outcome == OUTCOME_REFUSED || verdict->outcome == OUTCOME_LOST;

        ok(verdict->is_ok == (verdict->outcome == OUTCOME_EXITED && row->number == 0), "%s: ok",
           row->name);
        cmp_ok(verdict->exit_code, "==", !has_error && row->code == CLD_EXITED ? row->number : -1,
               "%s: the exit code is the main process's", row->name);
        cmp_ok(verdict->signal, "==",
               !has_error && (row->code == CLD_KILLED || row->code == CLD_DUMPED) ? row->number : 0,
               "%s: the signal is the main process's", row->name);
        ok(verdict->core_dumped == (!has_error && row->code == CLD_DUMPED), "%s: core dumped",
           row->name);
        ok((verdict->error_code != NULL) == has_error, "%s: an error only when it is ours",
           row->name);
        ok(verdict->message && *verdict->message && !strchr(verdict->message, '\n'),
           "%s: one sentence", row->name);
}

static void test_rows(void) {
        bool seen[_OUTCOME_MAX] = { false };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                const Row *row = &rows[i];
                g_auto(Facts) facts = { 0 };
                g_auto(Verdict) verdict = { 0 };

                tell(&facts, row);
                cause_decide(&facts, "prog", &verdict);
                seen[row->expected] = true;
                is(outcome_info(verdict.outcome)->word, outcome_info(row->expected)->word,
                   "%s: the outcome", row->name);
                cmp_ok(verdict_exit_status(&verdict, &facts), "==", row->status,
                       "%s: the exit status", row->name);
                check_touched(row, &verdict);
                check_evidence(row, &verdict);
                check_rest(row, &verdict);
        }

        for (int i = 0; i < _OUTCOME_MAX; i++)
                ok(seen[i], "%s has a row", outcome_info((Outcome)i)->word);
}

static void test_table(void) {
        static const char *const exhausted = "memory timeout cpu-time fsize disk output";

        for (int i = 0; i < _OUTCOME_MAX; i++) {
                const OutcomeInfo *info = outcome_info((Outcome)i);

                ok(info->word && *info->word && info->help && g_utf8_strlen(info->help, -1) <= 60,
                   "outcome %d has a word and a line of help", i);
                ok(info->is_exhausted == word_is_in(exhausted, info->word),
                   "%s: resource_exhausted", info->word);
                ok(info->is_exhausted == (info->limit != _LIMIT_MAX),
                   "%s: what is exhausted is a limit", info->word);
                if (info->is_exhausted)
                        is(limit_info(info->limit)->key, info->word, "%s: the limit's own word",
                           info->word);
                for (int j = 0; j < i; j++)
                        isnt(info->word, outcome_info((Outcome)j)->word, "%s is one outcome",
                             info->word);
        }
}

/* Nothing known means nothing claimed. */
static void test_ignorance(void) {
        g_auto(Facts) facts = { 0 };
        g_auto(Verdict) verdict = { 0 };

        facts_init(&facts);
        facts.stage = STAGE_EXECUTED;
        set_limits(
                &facts,
                "timeout=1s memory=64M swap=0 memory-high=32M address-space=1G cpu=50% cpu-time=1s "
                "tasks=8 fsize=1M nofile=64 stack=8M core=0 cpus=0 disk=1M pool-memory=1G "
                "pool-swap=0 pool-cpu=1 pool-tasks=9");
        cause_decide(&facts, "prog", &verdict);
        cmp_ok(verdict.outcome, "==", OUTCOME_LOST, "no facts: lost");
        for (int i = 0; i < _LIMIT_MAX; i++)
                ok(!verdict.touched[i] && !verdict.touched_known[i],
                   "no facts: nothing is known of %s", limit_info((Limit)i)->key);
        cmp_ok(verdict.evidence->len, "==", 0, "no facts: no evidence");
}

static void test_what_can_be_known(void) {
        static const char
                *const known = "timeout grace memory memory-high cpu cpu-time tasks disk output";
        g_auto(Facts) facts = { 0 };
        g_auto(Verdict) verdict = { 0 };

        tell(&facts,
             &(Row){ .limits =
                             "timeout=1s grace=1s memory=64M swap=0 memory-high=32M address-space=1G "
                             "cpu=50% cpu-time=1s tasks=8 fsize=1M nofile=64 stack=8M core=0 cpus=0 "
                             "disk=1M output=1K pool-memory=1G pool-swap=0 pool-cpu=1 pool-tasks=9",
                     .code = CLD_EXITED });
        facts.memory_high_events = 1;
        facts.cpu_throttled = 0;
        cause_decide(&facts, "prog", &verdict);
        for (int i = 0; i < _LIMIT_MAX; i++)
                ok(verdict.touched_known[i] == word_is_in(known, limit_info((Limit)i)->key),
                   "%s: known or not", limit_info((Limit)i)->key);
        ok(verdict.touched[LIMIT_MEMORY_HIGH] && !verdict.touched[LIMIT_CPU],
           "slowing down is told apart");

        facts.is_disk_final = false;
        verdict_clear(&verdict);
        cause_decide(&facts, "prog", &verdict);
        ok(!verdict.touched_known[LIMIT_DISK], "what nobody looked at in the end is not known");
}

int main(void) {
        plan(NO_PLAN);
        test_table();
        test_rows();
        test_ignorance();
        test_what_can_be_known();
        done_testing();
}
