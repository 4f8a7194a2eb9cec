/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "inspect.h"

#include <string.h>

#include "launcher/kernel/error.h"
#include "task.h"

typedef struct {
        const ForemanOrder *order;
        bool is_record;
        InspectTell tell;
        void *userdata;
        uint64_t bad;
} Inspection;

static void append(void *userdata, const char *data, size_t size) {
        g_string_append_len(userdata, data, (gssize)size);
}

static void tell(Inspection *inspection, const Task *task) {
        g_auto(Verdict) verdict = { 0 };
        RecordSource source = errand_judge(&task->errand, &verdict);
        g_autoptr(GString) record = g_string_new(NULL);

        source.place = &task->job;
        inspection->bad++;
        if (inspection->is_record)
                record_put(&source, false, append, record);
        inspection->tell(inspection->userdata,
                         inspection->is_record ? record->str : verdict.message);
}

/* What an option of the command line is refused for is refused in the name of the first line that meets it. */
static char *with_line(const Task *task, const char *message) {
        g_autofree char *said = options_say(&task->options, message);

        return g_str_has_prefix(said, task->words) ? g_steal_pointer(&said)
                                                   : g_strdup_printf("%s: %s", task->words, said);
}

static void inspect(Inspection *inspection, const TaskWorld *world, const IntakeLine *line,
                    uint64_t index) {
        g_autoptr(Task) task = task_new(world, line, index);
        g_autoptr(GError) error = NULL;
        bool is_good = task_read(task, world, line, &error);
        g_autofree char *message = NULL;

        task_ask(task, world);
        if (ledger_look_up(inspection->order->ledger, task->has_own_id ? task->options.id : NULL,
                           index) == LEDGER_REPEATED &&
            is_good) {
                message = task_repeated_words(task);
                task_refuse(task, LEDGER_DUPLICATE, message);
                tell(inspection, task);
                return;
        }
        if (is_good && task_prepare(task, &error))
                return;
        message = with_line(task, error->message);
        task_refuse(task, launcher_error_word(error), message);
        tell(inspection, task);
}

bool inspect_jobs(const ForemanOrder *order, bool is_record, InspectTell teller, void *userdata,
                  uint64_t *ret_bad, GError **error) {
        Inspection inspection = { order, is_record, teller, userdata, 0 };
        const TaskWorld world = { order->words, order->shelf, order->caller, "job" };
        IntakeResult result;
        IntakeLine line;

        for (uint64_t index = 0;
             (result = intake_next(order->intake, &line)) == INTAKE_LINE || result == INTAKE_HUGE;
             index++)
                inspect(&inspection, &world, &line, index);
        *ret_bad = inspection.bad;
        if (result == INTAKE_ENDED)
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE, "cannot read jobs from %s: %s",
                    intake_name(order->intake), g_strerror(intake_error(order->intake)));
        return false;
}
