/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Files outside the workspace, with links and without; and what is still there when the program is not. */

#include <fcntl.h>
#include <mqueue.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leftover.h"
#include "stage.h"

#define SEGMENT_KEY_BASE 0x45530000

static char *left_name, *queue_name;

static bool is_taken_away(const char *directory, const char *name) {
        g_autofree char *path = g_build_filename(directory, name, NULL);

        return unlink(path) == 0;
}

static bool is_written(const KitRun *run, const char *verdict) {
        return unlink(stage_known("written")) == 0;
}

static bool is_written_through(const KitRun *run, const char *verdict) {
        return unlink(stage_known("written-through")) == 0;
}

static bool is_left_in_tmp(const KitRun *run, const char *verdict) {
        return is_taken_away("/tmp", left_name);
}

static bool is_left_in_shm(const KitRun *run, const char *verdict) {
        return is_taken_away("/dev/shm", left_name);
}

static bool is_segment_left(const KitRun *run, const char *verdict) {
        int id = shmget((key_t)(SEGMENT_KEY_BASE + getpid()), 0, 0);

        if (id >= 0)
                (void)shmctl(id, IPC_RMID, NULL);
        return id >= 0;
}

static bool is_queue_left(const KitRun *run, const char *verdict) {
        return mq_unlink(queue_name) == 0;
}

static bool is_set_user_id(const KitRun *run, const char *verdict) {
        g_autofree char *path = g_build_filename(stage_known("workspace"), "set-user-id", NULL);
        struct stat info;
        bool is_it = stat(path, &info) == 0 && (info.st_mode & S_ISUID);

        (void)unlink(path);
        return is_it;
}

/* clang-format off */
static const Trial trials[] = {
        { "read-file",          { "@secret-file", "@secret" }, stage_told_secret },
        { "read-through-link",  { "@secret-file", "@secret" }, stage_told_secret },
        { "read-upwards",       { "@secret-file", "@secret" }, stage_told_secret },
        { "hard-link",          { "@secret-file", "@secret" }, stage_told_secret },
        { "through-own-root",   { "@secret-file", "@secret" }, stage_told_secret },
        { "write-file",         { "@written" },                is_written },
        { "write-through-link", { "@written-through" },        is_written_through },
        { "write-system",       { NULL },                      NULL },
        { "leave-in-tmp",       { "@left" },                   is_left_in_tmp },
        { "leave-in-shm",       { "@left" },                   is_left_in_shm },
        { "leave-segment",      { "@segment" },                is_segment_left },
        { "leave-queue",        { "@queue" },                  is_queue_left },
        { "leave-set-user-id",  { NULL },                      is_set_user_id },
};
/* clang-format on */

/* Looked at when all is removed. */
static void test_removal(Stage stage) {
        g_autofree char *scratch = g_build_filename(stage_known("directory"), "scratch", NULL);
        g_autofree char *kept = g_build_filename(stage_known("directory"), "outside", "kept", NULL);
        Trial trial = { "lead-astray", { "@removed", "@outside" }, NULL };
        bool is_lost;

        (void)mkdir(scratch, 0755);
        if (!g_file_set_contents(kept, "kept", -1, NULL))
                BAIL_OUT("cannot write %s", kept);
        stage_know("removed", "/tmp:/var/tmp:%s", scratch);

        g_autoptr(KitRun)
                run = stage_start_alone(stage, &trial,
                                        stage == STAGE_UNTRUSTED
                                                ? WORDS("--scratch", scratch)
                                                : WORDS("--private-tmp", "--scratch", scratch,
                                                        "--rw", "@workspace", "--ro", "@attempt"));

        kit_finish(run);
        if (!ok(g_str_has_prefix(run->output->str, "perhaps"), "%s: the links are made",
                stage_name(stage)))
                diag("%s%s%s", run->output->str, run->errors->str, run->record_text->str);
        leftover_check(run, trial.name);
        is_lost = !g_file_test(kept, G_FILE_TEST_EXISTS);
        stage_judge(stage, run, trial.name, is_lost, is_lost);
}

int main(void) {
        static const Stage stages[] = { STAGE_PLAIN, STAGE_UNTRUSTED };
        Trial all[G_N_ELEMENTS(trials) + 1];

        stage_begin();
        left_name = g_strdup_printf("escape-left-%d", (int)getpid());
        queue_name = g_strdup_printf("/escape-%d", (int)getpid());
        stage_know("left", "%s", left_name);
        stage_know("queue", "%s", queue_name);
        stage_know("segment", "%d", SEGMENT_KEY_BASE + (int)getpid());
        stage_know("written", "%s/outside/written", stage_known("directory"));
        stage_know("written-through", "%s/outside/written-through", stage_known("directory"));
        for (size_t i = 0; i < G_N_ELEMENTS(stages); i++) {
                stage_try(stages[i], "files", trials, G_N_ELEMENTS(trials));
                test_removal(stages[i]);
        }
        all[G_N_ELEMENTS(trials)] = (Trial){ .name = "lead-astray" };
        memcpy(all, trials, sizeof trials);
        stage_covers("files", all, G_N_ELEMENTS(all));
        g_free(left_name);
        g_free(queue_name);
        stage_end();
        done_testing();
}
