/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One call and one wait. The reply to StartTransientUnit says only that a job was queued; the process has moved when
 * the job is done, so JobRemoved is watched for from before the call on. */

#include "delegate.h"

#include <stdint.h>
#include <systemd/sd-bus.h>

#include "connect.h"
#include "error.h"

#define DELEGATE_WAIT_USEC (60 * UINT64_C(1000000))

typedef struct {
        char *job;    /* NULL until the reply came */
        char *early;  /* the first job that ended before it */
        char *result; /* NULL until it was removed */
} DelegateJob;

static void delegate_job_clear(DelegateJob *job) {
        g_free(job->job);
        g_free(job->early);
        g_free(job->result);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(DelegateJob, delegate_job_clear)

static int on_job_removed(sd_bus_message *message, void *data, sd_bus_error *ret_error) {
        DelegateJob *job = data;
        const char *path, *unit, *result;
        uint32_t id;

        if (sd_bus_message_read(message, "uoss", &id, &path, &unit, &result) < 0)
                return 0;
        if (job->job && g_str_equal(job->job, path)) {
                g_free(job->result);
                job->result = g_strdup(result);
        }
        return 0;
}

static int delegate_call(sd_bus *bus, const char *unit, pid_t pid, const char *description,
                         sd_bus_error *reason, sd_bus_message **ret_reply) {
        return sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                  "org.freedesktop.systemd1.Manager", "StartTransientUnit", reason,
                                  ret_reply, "ssa(sv)a(sa(sv))", unit, "fail", 5,         /* */
                                  "Description", "s", description,                        /* */
                                  "PIDs", "au", 1, (uint32_t)pid,                         /* */
                                  "Delegate", "b", 1,                                     /* */
                                  "CollectMode", "s", "inactive-or-failed",               /* */
                                  "TasksMax", "t", UINT64_MAX, 0);
}
