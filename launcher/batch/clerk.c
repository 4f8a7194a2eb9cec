/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "clerk.h"

#include "ledger.h"

static void append(void *userdata, const char *data, size_t size) {
        g_string_append_len(userdata, data, (gssize)size);
}

/* Another's id has another's files. */
static bool store_record(const Clerk *clerk, const RecordSource *source, GError **error) {
        return !clerk->store || g_strcmp0(source->verdict->error_code, LEDGER_DUPLICATE) == 0 ||
               store_put_record(clerk->store, source, error);
}

char *clerk_put(const Clerk *clerk, const Task *task, RecordSource *source) {
        GString *line = g_string_new(NULL);
        g_autoptr(GError) error = NULL;
        char *complaint;

        source->place = &task->job;
        complaint = task_complaint(task, source);
        if (!store_record(clerk, source, &error) && !complaint)
                complaint = g_strdup(error->message);
        record_put(source, false, append, line);
        g_string_append_c(line, '\n');
        tally_add(clerk->tally, source->verdict, source->facts, task->options.id, task->job.line);
        outbox_put(clerk->outbox, task->place, line);
        return complaint;
}
