/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "batch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leftover.h"

#define PATIENCE_USEC (20 * KIT_SEC)

KitRun *batch_start_in(const char *const *options, int input_fd, void (*prepare)(void)) {
        GPtrArray *words = g_ptr_array_new();

        g_ptr_array_add(words, (char *)"batch");
        if (kit_is_scope())
                g_ptr_array_add(words, (char *)"--scope");
        for (; options && *options; options++)
                g_ptr_array_add(words, (char *)*options);
        g_ptr_array_add(words, NULL);

        KitOrder order = { .program = kit_cordon(),
                           .command = (const char *const *)words->pdata,
                           .input_fd = input_fd,
                           .prepare = prepare };
        KitRun *run;
        g_auto(GStrv) argv = g_strdupv((char **)words->pdata);

        order.command = (const char *const *)argv;
        run = kit_start(&order);
        g_ptr_array_unref(words);
        return run;
}

KitRun *batch_start(const char *const *options, int input_fd) {
        return batch_start_in(options, input_fd, NULL);
}

int batch_open(const char *text) {
        int fd = memfd_create("jobs", MFD_CLOEXEC);
        size_t size = strlen(text);

        if (fd < 0 || write(fd, text, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET) < 0)
                BAIL_OUT("no file for jobs: %s", g_strerror(errno));
        return fd;
}

KitRun *batch_run(const char *const *options, const char *jobs) {
        int fd = batch_open(jobs);
        KitRun *run = batch_start(options, fd);

        (void)close(fd);
        kit_finish(run);
        return run;
}

char *batch_file(const char *name, const char *text) {
        char *path = g_build_filename(kit_directory(), name, NULL);

        if (!g_file_set_contents(path, text, -1, NULL))
                BAIL_OUT("cannot write %s", path);
        return path;
}

void batch_add(GString *jobs, const char *id, const char *extra, const char *const *command) {
        cJSON *job = cJSON_CreateObject(), *words = cJSON_AddArrayToObject(job, "command");

        if (id)
                cJSON_AddStringToObject(job, "id", id);
        for (; *command; command++)
                cJSON_AddItemToArray(words, cJSON_CreateString(*command));

        char *text = cJSON_PrintUnformatted(job);

        g_string_append_printf(jobs, "%.*s%s}\n", (int)strlen(text) - 1, text, extra ?: "");
        cJSON_free(text);
        cJSON_Delete(job);
}

typedef struct {
        const char *path;
        size_t size;
} Awaited;

static bool has_size(const void *what) {
        const Awaited *awaited = what;
        struct stat st;

        return stat(awaited->path, &st) == 0 && (size_t)st.st_size >= awaited->size;
}

bool batch_wait_size(const char *path, size_t size) {
        const Awaited awaited = { path, size };

        return kit_wait_until(has_size, &awaited, kit_patience(PATIENCE_USEC));
}

static unsigned count_lines(const GString *text) {
        unsigned lines = 0;

        for (const char *p = text->str; (p = strchr(p, '\n')); p++)
                lines++;
        return lines;
}

bool batch_wait(KitRun *run, unsigned records) {
        uint64_t deadline = kit_now() + kit_patience(PATIENCE_USEC);
        char piece[65536];

        while (count_lines(run->output) < records) {
                struct pollfd wait = { .fd = run->fds[0], .events = POLLIN };
                uint64_t now = kit_now();
                ssize_t n;

                if (now >= deadline || poll(&wait, 1, (int)((deadline - now) / 1000) + 1) <= 0)
                        break;
                n = read(run->fds[0], piece, sizeof piece);
                if (n <= 0)
                        break;
                g_string_append_len(run->output, piece, n);
        }
        if (count_lines(run->output) >= records)
                return true;
        diag("%u records never came; there are: %s", records, run->output->str);
        return false;
}

GPtrArray *batch_records(const char *text) {
        GPtrArray *records = g_ptr_array_new_with_free_func((GDestroyNotify)cJSON_Delete);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++) {
                cJSON *record = (*line)[0] ? kit_parse_record(*line, NULL) : NULL;

                if (record)
                        g_ptr_array_add(records, record);
                else if ((*line)[0])
                        fail("a line is no record: %.200s", *line);
        }
        return records;
}

const char *batch_text(const cJSON *record, const char *key) {
        return cJSON_GetStringValue(cJSON_GetObjectItem(record, key)) ?: "";
}

int batch_number(const cJSON *record, const char *key) {
        const cJSON *item = cJSON_GetObjectItem(record, key);

        return cJSON_IsNumber(item) ? (int)cJSON_GetNumberValue(item) : -1;
}

const cJSON *batch_find(const GPtrArray *records, const char *id) {
        const cJSON *found = NULL;

        for (guint i = 0; i < records->len; i++) {
                const cJSON *record = g_ptr_array_index(records, i);

                if (strcmp(batch_text(record, "id"), id) != 0)
                        continue;
                if (found)
                        return NULL;
                found = record;
        }
        return found;
}

const cJSON *batch_at(const GPtrArray *records, int index) {
        const cJSON *found = NULL;

        for (guint i = 0; i < records->len; i++) {
                const cJSON *record = g_ptr_array_index(records, i);

                if (batch_number(record, "index") != index)
                        continue;
                if (found)
                        return NULL;
                found = record;
        }
        return found;
}

unsigned batch_count(const GPtrArray *records, const char *outcome) {
        unsigned count = 0;

        for (guint i = 0; i < records->len; i++)
                count += g_str_equal(batch_text(g_ptr_array_index(records, i), "outcome"), outcome);
        return count;
}

void batch_check_nothing_left(const GPtrArray *records, const char *name) {
        bool is_clean = true;

        for (guint i = 0; i < records->len; i++) {
                KitRun run = { .id = (char *)batch_text(g_ptr_array_index(records, i), "id") };

                is_clean = leftover_wait(&run, KIT_SEC) && is_clean;
        }
        ok(is_clean, "%s: nothing is left", name);
}
