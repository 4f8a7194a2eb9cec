/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One call and one wait. The reply to StartTransientUnit says only that a job was queued; the process has moved when
 * the job is done, so JobRemoved is watched for from before the call on. The name of the unit is new: no other job can
 * be meant. */

#include "delegate.h"

#include <errno.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "connect.h"
#include "error.h"

#define DELEGATE_DESTINATION "org.freedesktop.systemd1"
#define DELEGATE_PATH        "/org/freedesktop/systemd1"
#define DELEGATE_INTERFACE   "org.freedesktop.systemd1.Manager"
#define DELEGATE_WAIT_USEC   (60 * G_USEC_PER_SEC)

typedef struct {
        const char *unit;
        char *result; /* NULL until the job was removed */
} DelegateJob;

static int on_job_removed(sd_bus_message *message, void *data, sd_bus_error *ret_error) {
        DelegateJob *job = data;
        const char *path, *unit, *result;
        uint32_t id;

        if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) >= 0 &&
            g_str_equal(unit, job->unit) && !job->result)
                job->result = g_strdup(result);
        return 0;
}

/* Process 0 is who asks. A number of ours would be somebody else's where the manager is in another pid namespace. */
static int delegate_call(sd_bus *bus, const char *unit, const char *description,
                         sd_bus_error *reason) {
        return sd_bus_call_method(bus, DELEGATE_DESTINATION, DELEGATE_PATH, DELEGATE_INTERFACE,
                                  "StartTransientUnit", reason, NULL, "ssa(sv)a(sa(sv))", unit,
                                  "fail", 5, "Description", "s", description, "PIDs", "au", 1,
                                  UINT32_C(0), "Delegate", "b", 1, "CollectMode", "s",
                                  "inactive-or-failed", "TasksMax", "t", UINT64_MAX, 0);
}

static int delegate_wait(sd_bus *bus, const DelegateJob *job) {
        gint64 deadline_usec = g_get_monotonic_time() + DELEGATE_WAIT_USEC;

        while (!job->result) {
                gint64 left_usec = deadline_usec - g_get_monotonic_time();
                int r = sd_bus_process(bus, NULL);

                if (r == 0)
                        r = left_usec > 0 ? sd_bus_wait(bus, (uint64_t)left_usec) : -ETIMEDOUT;
                if (r < 0 && r != -EINTR)
                        return r;
        }
        return g_str_equal(job->result, "done") ? 0 : -ECANCELED;
}

static int delegate_start(sd_bus *bus, DelegateJob *job, const char *description,
                          sd_bus_error *reason) {
        int r = sd_bus_match_signal(bus, NULL, NULL, DELEGATE_PATH, DELEGATE_INTERFACE,
                                    "JobRemoved", on_job_removed, job);

        if (r >= 0)
                r = delegate_call(bus, job->unit, description, reason);
        return r < 0 ? r : delegate_wait(bus, job);
}

bool delegate_scope(const char *socket_path, const char *unit, const char *description,
                    GError **error) {
        sd_bus_error reason = SD_BUS_ERROR_NULL;
        DelegateJob job = { .unit = unit };
        g_autoptr(sd_bus) bus = NULL;
        int r;

        if (!connect_direct(socket_path, &bus, error))
                return false;

        r = delegate_start(bus, &job, description, &reason);
        if (r < 0)
                (void)dbus_error_take(error, r, &reason, "starting a delegated scope");

        sd_bus_error_free(&reason);
        g_free(job.result);
        return r >= 0;
}
