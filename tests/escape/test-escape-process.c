/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Other processes. What happens to a canary is seen at the canary. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "canary.h"
#include "outside.h"
#include "stage.h"

static Canary canary, signalled, signalled_by_pidfd;

static bool has_died(const KitRun *run, const char *verdict) {
        return canary_is_dead(&signalled);
}

static bool has_died_by_pidfd(const KitRun *run, const char *verdict) {
        return canary_is_dead(&signalled_by_pidfd);
}

static bool is_traced(const KitRun *run, const char *verdict) {
        g_autofree char *tracer = canary_status(&canary, "status", "TracerPid:");

        return !g_str_equal(tracer, "0");
}

static bool is_written(const KitRun *run, const char *verdict) {
        g_autofree char *memory = canary_memory(&canary);

        return g_str_equal(memory, "forged");
}

static bool is_limited(const KitRun *run, const char *verdict) {
        g_autofree char *limit = canary_status(&canary, "limits", "Max open files");

        return g_str_has_prefix(limit, "7 ");
}

static bool is_reniced(const KitRun *run, const char *verdict) {
        return getpriority(PRIO_PROCESS, (id_t)canary.pid) == 7;
}

static bool is_doomed(const KitRun *run, const char *verdict) {
        g_autofree char *score = canary_status(&canary, "oom_score_adj", "");

        return g_str_equal(score, "777");
}

/* clang-format off */
static const Trial trials[] = {
        { "list-processes",   { "@canary", "@secret" },                  stage_told_secret },
        { "read-environment", { "@canary", "@secret" },                  stage_told_secret },
        { "read-memory",      { "@canary", "@canary-address" },          stage_told_secret },
        { "borrow-file",      { "@canary", "5", "@secret" },             stage_told_secret },
        { "borrow-from-parent", { NULL }, NULL },
        { "through-root",     { "@canary", "@secret-file", "@secret" },  stage_told_secret },
        { "write-memory",     { "@canary", "@canary-address" },          is_written },
        { "limit-another",    { "@canary" },                             is_limited },
        { "renice-another",   { "@canary" },                             is_reniced },
        { "doom-another",     { "@canary" },                             is_doomed },
        { "signal-manager",   { "@manager", "@process-namespace" },      NULL },
        { "signal",           { "@signalled" },                          has_died },
        { "signal-pidfd",     { "@signalled-by-pidfd" },                 has_died_by_pidfd },
        { "ptrace",           { "@canary" },                             is_traced },
};
/* clang-format on */

int main(void) {
        static const Stage stages[] = { STAGE_PLAIN, STAGE_UNTRUSTED };

        g_autofree char *namespace = NULL;

        stage_begin();
        outside_know_manager();
        namespace = g_file_read_link("/proc/self/ns/pid", NULL);
        stage_know("process-namespace", "%s", namespace);
        for (size_t i = 0; i < G_N_ELEMENTS(stages); i++) {
                canary = canary_start("canary");
                signalled = canary_start("signalled");
                signalled_by_pidfd = canary_start("signalled-by-pidfd");
                stage_try(stages[i], "process", trials, G_N_ELEMENTS(trials));
                canary_end(&canary);
                canary_end(&signalled);
                canary_end(&signalled_by_pidfd);
        }
        stage_covers("process", trials, G_N_ELEMENTS(trials));
        stage_end();
        done_testing();
}
