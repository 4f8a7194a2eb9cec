/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The words of the command line are read anew for each job: what is said there begins, and the job is put on top. */

#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/layers.h"
#include "units/name.h"
#include "units/text.h"

#define UNREACHED_MAX 3

char *task_stem(void) {
        return name_id_from_random((uint64_t)g_random_int() << 32 | g_random_int());
}

Task *task_new(const TaskWorld *world, const IntakeLine *line, uint64_t index) {
        Task *task = g_new0(Task, 1);

        task->job = (RecordPlace){ .index = index, .line = line->number };
        task->words = g_strdup_printf("line %" G_GUINT64_FORMAT, line->number);
        task->errand = (Errand)ERRAND_INIT;
        for (int i = 0; i < CAPTURE_STREAMS; i++)
                task->files[i] = -1;
        options_init(&task->options);
        task->options.verb = VERB_BATCH;
        task->options.job_words = task->words;
        return task;
}

/* What stands on one line says nothing by calling it line 1. */
static char *without_line(const char *message) {
        static const char line[] = " (line 1, ";
        const char *at = g_strrstr(message, line);

        return at ? g_strdup_printf("%.*s (%s", (int)(at - message), message, at + strlen(line))
                  : g_strdup(message);
}

static bool fail(const Task *task, const GError *cause, GError **error) {
        g_autofree char *message = without_line(cause->message);

        g_set_error(error, cause->domain, cause->code, "%s: %s", task->words, message);
        return false;
}

static void give_id(Task *task, const TaskWorld *world) {
        task->has_own_id = task->options.id;
        if (!task->has_own_id)
                task->options.id = g_strdup_printf("%s.%" G_GUINT64_FORMAT, world->stem,
                                                   task->job.index);
        task->job.id = task->options.id;
}

static bool read_line(Task *task, const TaskWorld *world, const IntakeLine *line, GError **error) {
        bool was_read = false;

        if (!line->text) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_JOB,
                            "larger than 16M, which no job is");
                (void)!options_parse(&task->options, world->defaults, NULL);
        } else {
                was_read = layers_parse_line(&task->options, world->shelf, world->defaults,
                                             line->text, line->size, error);
        }
        task->options.command = task->options.job_command; /* and not the name of the file */
        if (!was_read || task->options.command)
                return was_read;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_JOB, "$.command: there is none");
        return false;
}

bool task_read(Task *task, const TaskWorld *world, const IntakeLine *line, GError **error) {
        static char *nothing[] = { NULL };
        g_autoptr(GError) cause = NULL;
        bool was_read = read_line(task, world, line, &cause);

        give_id(task, world);
        if (!task->options.command)
                task->options.command = task->options.job_command ?: nothing;
        task->options.is_capture = true;
        if (!task->options.input)
                task->options.input = g_strdup("null");
        return was_read || fail(task, cause, error);
}

static void close_files(Task *task) {
        for (int i = 0; i < CAPTURE_STREAMS; i++) {
                if (task->files[i] >= 0)
                        (void)close(task->files[i]);
                task->files[i] = -1;
        }
}

/* Those of the attempt before may be there for a moment yet. The name is of the batch's own making: whatever was put behind
 * the job's id could be another job's, or more than an id may be long. */
static void rename_units(const Task *task, const TaskWorld *world) {
        g_autofree char *name = g_strdup_printf("%s.%" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT,
                                                world->stem, task->job.index, task->job.attempts);

        text_replace(&task->errand.spec->id, name);
}

void task_ask(Task *task, const TaskWorld *world) {
        errand_clear(&task->errand);
        close_files(task);
        caller_copy(world->caller, &task->errand.caller);
        errand_ask(&task->errand, &task->options);
        if (task->job.attempts > 1)
                rename_units(task, world);
}

/* Its reader would wait for a writer who may never come. */
static bool check_input(const Task *task, GError **error) {
        struct stat st;

        if (fstat(task->errand.input_fd, &st) < 0 || !S_ISFIFO(st.st_mode))
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "--stdin: \"%s\" is a FIFO; accepted: a file that opens at once",
                    task->options.input);
        return false;
}

bool task_prepare(Task *task, GError **error) {
        return errand_prepare(&task->errand, error) &&
               errand_open_input(&task->errand, false, error) && check_input(task, error);
}

char *task_repeated_words(const Task *task) {
        return g_strdup_printf("%s: $.id: \"%s\" is another job's", task->words, task->options.id);
}

char *task_complaint(const Task *task, const RecordSource *source) {
        const Capture *captures[CAPTURE_STREAMS] = {
                [STDOUT_FILENO] = source->output, [STDERR_FILENO] = source->errors
        };

        for (int i = 0; i < CAPTURE_STREAMS; i++)
                if (captures[i] && capture_error(captures[i]) != 0)
                        return g_strdup_printf("--output-dir: cannot write to \"%s\": %s",
                                               task->job.files[i],
                                               g_strerror(capture_error(captures[i])));
        return NULL;
}

bool task_is_managers(const Task *task, const Verdict *verdict, bool is_door_open) {
        bool is_gone = g_strcmp0(verdict->error_code, "manager-unreachable") == 0 || !is_door_open;

        return verdict->outcome == OUTCOME_REFUSED && is_gone && task->unreached < UNREACHED_MAX;
}

void task_cancel(Task *task, int signal) {
        facts_set_cancelled(&task->errand.refused, signal, (uint64_t)g_get_monotonic_time());
}

void task_refuse(Task *task, const char *code, const char *message) {
        errand_refuse(&task->errand, code, message);
}

void task_free(Task *task) {
        if (!task)
                return;
        pool_release(task->slot);
        errand_clear(&task->errand);
        close_files(task);
        for (int i = 0; i < CAPTURE_STREAMS; i++)
                g_free(task->job.files[i]);
        options_clear(&task->options);
        g_free(task->words);
        g_free(task);
}
