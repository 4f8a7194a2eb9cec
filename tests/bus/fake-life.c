/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What happens to units in the course of time. Everything is an act in a queue, one a turn of the loop, so that a
 * consumer's calls come in between as they do with a real manager. The order of what is told inside an act is systemd's:
 * a unit's own interface before Unit's, the job's end before the news that the unit has no job any more. */

#include <signal.h>
#include <string.h>
#include <systemd/sd-event.h>

#include "fake-private.h"

typedef struct {
        void (*perform)(Fake *fake, FakeUnit *unit, int code, int status);
        char *unit; /* by name: it may be gone by then */
        int code, status;
} Act;

static void act_free(void *act) {
        g_free(((Act *)act)->unit);
        g_free(act);
}

static void perform_next(Fake *fake) {
        Act *act = g_queue_pop_head(fake->acts);
        FakeUnit *unit = fake_find(fake, act->unit);

        if (unit)
                act->perform(fake, unit, act->code, act->status);
        act_free(act);
}

static int on_turn(sd_event_source *source, void *userdata) {
        Fake *fake = userdata;

        /* A manager that executes itself anew does nothing until somebody can be told. */
        if (!g_queue_is_empty(fake->acts) && fake->server)
                perform_next(fake);
        if (g_queue_is_empty(fake->acts) || !fake->server)
                return sd_event_source_set_enabled(source, SD_EVENT_OFF);
        return 0;
}

static void wake(Fake *fake) {
        int r = 0;

        if (!fake->life)
                r = sd_event_add_defer(fake->event, &fake->life, on_turn, fake);
        if (r >= 0)
                r = sd_event_source_set_enabled(fake->life, SD_EVENT_ON);
        g_assert(r >= 0);
}

static void due(Fake *fake, void (*perform)(Fake *, FakeUnit *, int, int), const FakeUnit *unit,
                int code, int status) {
        Act *act = g_new(Act, 1);

        *act = (Act){ perform, g_strdup(unit->name), code, status };
        g_queue_push_tail(fake->acts, act);
        wake(fake);
}

void fake_life_all_now(Fake *fake) {
        while (!g_queue_is_empty(fake->acts))
                perform_next(fake);
}

void fake_life_resume(Fake *fake) {
        wake(fake);
}

void fake_life_forget(Fake *fake) {
        g_queue_free_full(fake->acts, act_free);
        fake->acts = g_queue_new();
}

static void news(Fake *fake, FakeUnit *unit) {
        if (!fake_unit_is_slice(unit))
                fake_tell(fake, unit, SERVICE_INTERFACE);
        fake_tell(fake, unit, UNIT_INTERFACE);
}

/* Jobs */

static void announce_job(Fake *fake, FakeUnit *unit) {
        char path[64];

        unit->job = ++fake->last_job;
        fake_unit_job_path(unit, path);
        fake_signal(fake, "JobNew", "uos", unit->job, path, unit->name);
}

static void finish_job(Fake *fake, FakeUnit *unit, const char *result) {
        char path[64];
        uint32_t job = unit->job;

        if (job == 0)
                return;
        fake_unit_job_path(unit, path);
        unit->job = 0;
        fake_signal(fake, "JobRemoved", "uoss", job, path, unit->name, result);
        news(fake, unit);
}

static bool is_idle(const FakeUnit *unit) {
        return strcmp(unit->active, "inactive") == 0 && unit->job == 0;
}

/* The one that a slice names, as one that comes before it. */
static FakeUnit *find_named(const Fake *fake, const FakeUnit *slice) {
        GVariant *before = g_hash_table_lookup(slice->asked, "Before");
        const char *name = NULL;

        if (!before)
                return NULL;
        g_variant_get_child(before, 0, "&s", &name);
        return fake_find(fake, name);
}

static bool has_loaded_unit(const Fake *fake, const FakeUnit *slice) {
        for (guint i = 0; i < fake->order->len; i++) {
                const FakeUnit *unit = g_ptr_array_index(fake->order, i);

                if (g_strcmp0(unit->slice, slice->name) == 0)
                        return true;
        }
        return false;
}

/* What is inactive, has no job and is named by no other unit is forgotten. A service names its slice, so that a failed one holds
 * it; where the slice names the service as well they go together, or neither. */
static void collect(Fake *fake, FakeUnit *unit) {
        FakeUnit *slice = fake_unit_is_slice(unit) ? unit
                          : unit->slice            ? fake_find(fake, unit->slice)
                                                   : NULL;
        FakeUnit *named = slice ? find_named(fake, slice) : NULL;

        if (named) {
                if (!is_idle(slice) || !is_idle(named))
                        return;
                fake_remove(fake, slice);
                fake_remove(fake, named);
                return;
        }
        if (!is_idle(unit) || (unit == slice && has_loaded_unit(fake, slice)))
                return;
        fake_remove(fake, unit);
        if (slice && slice != unit)
                collect(fake, slice);
}

/* The program's end */

static const char *result_of(int code, int status) {
        bool is_clean_signal = status == SIGTERM || status == SIGINT || status == SIGHUP ||
                               status == SIGPIPE;

        if (code == CLD_EXITED)
                return status == 0 ? "success" : "exit-code";
        return is_clean_signal ? "success" : "signal";
}

static void tell_listener(Fake *fake, FakeEvent event) {
        if (fake->listener)
                fake->listener(event, fake->listener_userdata);
}

static void reap(Fake *fake, FakeUnit *unit, int code, int status) {
        unit->main_pid = 0;
        unit->exec_main_code = code;
        unit->exec_main_status = status;
        unit->exec_exit_usec = ++fake->now_usec;
        unit->group = "";
        unit->result = result_of(code, status);
        tell_listener(fake, FAKE_ENDED);
        if (strcmp(unit->result, "success") != 0)
                fake_unit_set_state(unit, "failed", "failed");
        else
                fake_unit_set_state(unit, "inactive", "dead");
}

static void act_end(Fake *fake, FakeUnit *unit, int code, int status) {
        if (unit->main_pid == 0)
                return;
        reap(fake, unit, code, status);
        news(fake, unit);
        collect(fake, unit);
}

/* Turns */

static void for_each_backwards(Fake *fake, const char *member) {
        for (guint i = fake->order->len; i > 0; i--) {
                FakeUnit *unit = g_ptr_array_index(fake->order, i - 1);

                fake_signal(fake, member, "so", unit->name, unit->path);
        }
}

/* Measured: a reload tells of every unit that it is removed, then that it is new. */
static void reload(Fake *fake, FakeUnit *unit, bool ends_meanwhile) {
        bool ends = ends_meanwhile && fake->program->ends && unit->main_pid > 0;

        fake_signal(fake, "Reloading", "b", 1);
        for_each_backwards(fake, "UnitRemoved");
        if (ends)
                reap(fake, unit, fake->program->code, fake->program->status);
        for_each_backwards(fake, "UnitNew");
        fake_signal(fake, "Reloading", "b", 0);
        if (ends)
                collect(fake, unit);
}

static void act_reload(Fake *fake, FakeUnit *unit, int code, int status) {
        reload(fake, unit, false);
}

static void act_turn(Fake *fake, FakeUnit *unit, int code, int status) {
        FaultTurn turn = fake->fault->turn;
        const Program *program = fake->program;

        if (turn == TURN_RELOAD || turn == TURN_RELOAD_ENDED)
                reload(fake, unit, turn == TURN_RELOAD_ENDED);
        else if (turn == TURN_REMOVED)
                fake_remove(fake, unit);
        else if (turn != TURN_NONE) {
                if (turn == TURN_REEXEC_GONE_AFTER_END && program->ends)
                        act_end(fake, unit, code, status);
                fake_drop(fake, false);
                if (turn == TURN_REEXEC_ENDED && program->ends && unit->main_pid > 0) {
                        reap(fake, unit, code, status);
                        collect(fake, unit);
                }
                if (turn == TURN_REEXEC_GONE || turn == TURN_REEXEC_GONE_AFTER_END)
                        fake_remove(fake, unit);
        }
}

/* The start */

static void act_slice_up(Fake *fake, FakeUnit *unit, int code, int status) {
        fake_signal(fake, "UnitNew", "so", unit->name, unit->path);
        announce_job(fake, unit);
        news(fake, unit);
        unit->group = "/cordon.slice/cordon-x.slice";
        fake_unit_set_state(unit, "active", "active");
        news(fake, unit);
        finish_job(fake, unit, "done");
}

static void late_job(Fake *fake, FakeUnit *unit) {
        announce_job(fake, unit);
        finish_job(fake, unit, "canceled");
}

/* Type=simple: it has started when it is forked, whatever comes of its exec. */
static void act_forked(Fake *fake, FakeUnit *unit, int code, int status) {
        unit->main_pid = unit->exec_main_pid = 4711;
        unit->exec_start_usec = ++fake->now_usec;
        unit->group = "/cordon.slice/cordon-x.slice/cordon-x.service";
        news(fake, unit);
        fake_unit_set_state(unit, "active", "running");
        news(fake, unit);
        if (fake->fault->loses_job)
                unit->job = 0;
        finish_job(fake, unit, "done");
        if (fake->fault->has_late_jobs)
                late_job(fake, unit);
        tell_listener(fake, FAKE_FORKED);
}

/* Nothing was ever forked. A failed unit stays, any other result leaves one that is inactive as before. */
static void act_job_ends(Fake *fake, FakeUnit *unit, int code, int status) {
        if (strcmp(fake->fault->job_result, "failed") == 0) {
                unit->result = "resources";
                fake_unit_set_state(unit, "failed", "failed");
        }
        news(fake, unit);
        finish_job(fake, unit, fake->fault->job_result);
        collect(fake, unit);
}

static void due_turn(Fake *fake, const FakeUnit *unit) {
        for (int i = 0; i < 1 + (fake->fault->turn == TURN_REEXEC_TWICE); i++)
                due(fake, act_turn, unit, fake->program->code, fake->program->status);
}

static void due_end(Fake *fake, const FakeUnit *unit) {
        due_turn(fake, unit);
        if (fake->program->ends)
                due(fake, act_end, unit, fake->program->code, fake->program->status);
}

void fake_life_start(Fake *fake, FakeUnit *unit) {
        const Program *program = fake->program;
        FakeUnit *slice = unit->slice ? fake_find(fake, unit->slice) : NULL;

        announce_job(fake, unit);
        if (fake->fault->reloads_at_start)
                due(fake, act_reload, unit, 0, 0);
        if (slice)
                due(fake, act_slice_up, slice, 0, 0);
        if (fake->fault->job_result) {
                due(fake, act_job_ends, unit, 0, 0);
                return;
        }
        due(fake, act_forked, unit, 0, 0);
        if (!program->is_executed || !fake->listener)
                due_end(fake, unit);
}

void fake_hold(Fake *fake, FakeListener listener, void *userdata) {
        fake->listener = listener;
        fake->listener_userdata = userdata;
}

void fake_go(Fake *fake) {
        for (guint i = 0; i < fake->order->len; i++) {
                FakeUnit *unit = g_ptr_array_index(fake->order, i);

                if (unit->main_pid > 0)
                        due_end(fake, unit);
        }
}

/* Ending from outside */

void fake_life_signal(Fake *fake, FakeUnit *unit, int signal) {
        for (guint i = 0; i < fake->order->len; i++) {
                FakeUnit *each = g_ptr_array_index(fake->order, i);

                if (each->main_pid > 0 && (each == unit || g_strcmp0(each->slice, unit->name) == 0))
                        due(fake, act_end, each, CLD_KILLED, signal);
        }
}

void fake_kill(Fake *fake, const char *name, int signal) {
        FakeUnit *unit = fake_find(fake, name);

        if (unit)
                fake_life_signal(fake, unit, signal);
}

void fake_exit(Fake *fake, const char *name, int status) {
        FakeUnit *unit = fake_find(fake, name);

        if (unit)
                due(fake, act_end, unit, CLD_EXITED, status);
}

static void act_stopped(Fake *fake, FakeUnit *unit, int code, int status) {
        if (unit->main_pid > 0)
                reap(fake, unit, CLD_KILLED, SIGTERM);
        else if (strcmp(unit->active, "failed") != 0)
                fake_unit_set_state(unit, "inactive", "dead");
        news(fake, unit);
        finish_job(fake, unit, "done");
        collect(fake, unit);
}

static void act_stopping(Fake *fake, FakeUnit *unit, int code, int status) {
        if (strcmp(unit->active, "failed") == 0 || strcmp(unit->active, "inactive") == 0)
                return;
        finish_job(fake, unit, "canceled"); /* of a start under way */
        announce_job(fake, unit);
        if (unit->main_pid > 0)
                fake_unit_set_state(unit, "deactivating", "stop-sigterm");
        news(fake, unit);
        act_stopped(fake, unit, code, status);
}

void fake_life_stop(Fake *fake, FakeUnit *unit) {
        if (!fake_unit_is_slice(unit)) {
                due(fake, act_stopping, unit, 0, 0);
                return;
        }
        announce_job(fake, unit);
        for (guint i = 0; i < fake->order->len; i++) {
                FakeUnit *each = g_ptr_array_index(fake->order, i);

                if (g_strcmp0(each->slice, unit->name) == 0)
                        due(fake, act_stopping, each, 0, 0);
        }
        due(fake, act_stopped, unit, 0, 0);
}

static void act_reset(Fake *fake, FakeUnit *unit, int code, int status) {
        if (strcmp(unit->active, "failed") != 0)
                return;
        unit->result = "success";
        fake_unit_set_state(unit, "inactive", "dead");
        news(fake, unit);
        collect(fake, unit);
}

void fake_life_reset(Fake *fake, FakeUnit *unit) {
        due(fake, act_reset, unit, 0, 0);
}
