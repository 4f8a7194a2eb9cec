/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whatever happens (a line is there, a program was executed, a run is over, the reader has taken something, a signal)
 * wakes one function, which begins what may begin and sees whether that was all. Launches are freed from there or in
 * their own last word, never while they act.
 *
 * A job has a place in the order of records when it is read, and its record, or the word that there is none, comes to
 * that place exactly once. Whose program was not executed when the end came has none, be it that he was cancelled or that
 * his manager had gone: the next --resume runs him. */

#include "foreman.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "choices.h"
#include "clerk.h"
#include "gauge.h"
#include "launcher/deadline.h"
#include "launcher/fleet.h"
#include "launcher/interrupt.h"
#include "launcher/kernel/error.h"
#include "launcher/manager/door.h"
#include "lull.h"
#include "outbox.h"
#include "pools.h"
#include "progress.h"
#include "task.h"

#define LINES_A_TURN 64 /* then other events get theirs */
#define FLEET_ID     "" /* nobody's whose launch is in it, too */

typedef struct {
        const ForemanOrder *order;
        TaskWorld world;
        char *stem;
        sd_event *event;
        sd_event_source *wake;
        GPtrArray *doors; /* Door*; those before the last are somebody's yet who is tried again */
        Door *door;
        Fleet *fleet;         /* the door's, as long as we go through it */
        bool is_manager_gone; /* and never comes back to that door */
        Outbox *outbox;
        Gauge gauge;
        Lull *lull;          /* who begins waits for it; NULL: it is over, or not needed */
        GHashTable *running; /* Task* */
        GHashTable *leaving; /* Task*, which have their records, and whose units are stopped */
        Pools *pools;
        GQueue again; /* Task* that are to be tried once more */
        uint64_t parallel, jobs, places;
        unsigned retry_on;
        bool is_input_over, is_stopped, is_left_out; /* the last: somebody has no record */
        Progress *progress;                          /* NULL: nobody wants to see any */
        ForemanReport *report;
        uint64_t begun_usec;
} Foreman;

void foreman_report_clear(ForemanReport *report) {
        tally_clear(&report->tally);
        g_clear_pointer(&report->failure, g_free);
}

static uint64_t now_usec(void) {
        return (uint64_t)g_get_monotonic_time();
}

static void wake(Foreman *foreman) {
        (void)sd_event_source_set_enabled(foreman->wake, SD_EVENT_ONESHOT);
}

static bool is_ending(const Foreman *foreman) {
        return foreman->report->cancel_signal || foreman->report->failure || foreman->is_stopped;
}

static void conclude(Foreman *foreman, Task *task);

/* Who waits for a slot of his pool has nothing that could be ended. */
static void cancel(Foreman *foreman, Task *task, int signal) {
        if (task->errand.launch) {
                launch_cancel(task->errand.launch, signal);
                return;
        }
        task_cancel(task, signal);
        g_hash_table_remove(foreman->running, task);
        conclude(foreman, task);
}

static void cancel_all(Foreman *foreman, int signal) {
        g_autoptr(GList) tasks = g_hash_table_get_keys(foreman->running);

        for (GList *next = tasks; next; next = next->next)
                cancel(foreman, next->data, signal);
        wake(foreman);
}

/* Ours, and not a job's: nothing begins any more, and what runs would have nobody to be told to. */
static void fail(Foreman *foreman, char *message) {
        if (foreman->report->failure) {
                g_free(message);
                return;
        }
        foreman->report->failure = message;
        cancel_all(foreman, SIGPIPE);
}

/* Records */

static void heed(Foreman *foreman, const Verdict *verdict) {
        const BatchChoices *choices = &foreman->order->options->batch;
        const Tally *tally = &foreman->report->tally;

        if ((choices->stop_on & (1U << verdict->outcome)) ||
            (choices->failures > 0 && tally->done - tally->ok >= choices->failures))
                foreman->is_stopped = true;
}

static void report(Foreman *foreman, const Task *task) {
        const Clerk clerk = { foreman->order->store, foreman->outbox, &foreman->report->tally };
        g_autofree char *complaint = NULL;
        g_auto(Verdict) verdict = { 0 };
        RecordSource source = errand_judge(&task->errand, &verdict);

        if (source.facts->stage == STAGE_CANCELLED || task->is_unbegun) {
                foreman->is_left_out = true;
                outbox_put(foreman->outbox, task->place, NULL);
        } else {
                complaint = clerk_put(&clerk, task, &source);
                if (complaint)
                        fail(foreman, g_steal_pointer(&complaint));
                heed(foreman, &verdict);
        }
}

/* It is done with, one way or the other. */
static void finish(Foreman *foreman, Task *task) {
        report(foreman, task);
        task_free(task);
}

/* Whose manager went before he began did not use up one of --retry's. */
static bool is_to_be_tried_again(const Foreman *foreman, Task *task) {
        g_auto(Verdict) verdict = { 0 };

        if (errand_facts(&task->errand)->stage == STAGE_CANCELLED)
                return false;
        (void)errand_judge(&task->errand, &verdict);
        task->is_unbegun = task_is_managers(task, &verdict, door_is_open(foreman->door));
        task->unreached += task->is_unbegun;
        if (is_ending(foreman))
                return false;
        return task->is_unbegun ||
               (task->job.attempts - task->unreached <= foreman->order->options->batch.retries &&
                foreman->retry_on & (1U << verdict.outcome));
}

static void conclude(Foreman *foreman, Task *task) {
        g_clear_pointer(&task->slot, pool_release);
        if (is_to_be_tried_again(foreman, task))
                g_queue_push_tail(&foreman->again, task);
        else
                finish(foreman, task);
        wake(foreman);
}

static void refuse(Foreman *foreman, Task *task, const GError *error) {
        task_refuse(task, launcher_error_word(error), error->message);
        conclude(foreman, task);
}

/* Launches */

static void on_started(void *userdata) {
        Task *task = userdata;
        Foreman *foreman = task->owner;

        if (!task->is_starting)
                return;
        gauge_end(&foreman->gauge, now_usec());
        task->is_starting = false;
        errand_note_start(&task->errand);
        wake(foreman);
}

/* Its reader, and who waits for its place, need not wait until its units are gone. Who is tried again does. */
static void on_ended(void *userdata) {
        Task *task = userdata;
        Foreman *foreman = task->owner;

        if (errand_facts(&task->errand)->stage != STAGE_EXECUTED ||
            is_to_be_tried_again(foreman, task))
                return;
        g_clear_pointer(&task->slot, pool_release);
        report(foreman, task);
        g_hash_table_remove(foreman->running, task);
        g_hash_table_add(foreman->leaving, task);
        wake(foreman);
}

static void on_over(void *userdata) {
        Task *task = userdata;
        Foreman *foreman = task->owner;

        if (task->is_starting)
                gauge_drop(&foreman->gauge);
        task->is_starting = false;
        if (g_hash_table_remove(foreman->running, task))
                conclude(foreman, task);
        else
                g_hash_table_remove(foreman->leaving, task); /* and it is freed */
        wake(foreman);
}

static bool launch(Foreman *foreman, Task *task, GError **error) {
        LaunchSettings settings;

        if (!errand_measure(&task->errand, error) ||
            (foreman->order->store && !store_begin(foreman->order->store, task->options.id,
                                                   task->files, task->job.files, error)))
                return false;
        settings = errand_settings(&task->errand, foreman->door);
        settings.files = foreman->order->store ? task->files : NULL;
        settings.is_network_counted = true;
        settings.event = foreman->event;
        settings.on_started = on_started;
        settings.on_ended = on_ended;
        settings.handler = on_over;
        settings.userdata = task;
        return errand_launch(&task->errand, &settings, error);
}

static void start(Foreman *foreman, Task *task) {
        g_autoptr(GError) error = NULL;

        if (launch(foreman, task, &error)) {
                task->is_starting = true;
                gauge_begin(&foreman->gauge, now_usec());
                return;
        }
        g_hash_table_remove(foreman->running, task);
        refuse(foreman, task, error);
}

static void on_slot(PoolSlot *slot, const GError *error, void *userdata) {
        Task *task = userdata;
        Foreman *foreman = task->owner;

        if (!error) {
                start(foreman, task);
                return;
        }
        g_hash_table_remove(foreman->running, task);
        refuse(foreman, task, error);
}

static void begin(Foreman *foreman, Task *task) {
        g_autoptr(GError) error = NULL;

        task->job.attempts++;
        task_ask(task, &foreman->world);
        if (!task_prepare(task, &error)) {
                refuse(foreman, task, error);
                return;
        }
        g_hash_table_add(foreman->running, task);
        if (task->options.max_parallel > 0)
                task->slot = pools_acquire(foreman->pools, &task->options, on_slot, task);
        else
                start(foreman, task);
}

/* Jobs */

static Task *make_task(Foreman *foreman, const IntakeLine *line) {
        Task *task = task_new(&foreman->world, line, foreman->jobs++);

        task->owner = foreman;
        return task;
}

/* False: it has its record, or just got it. */
static bool is_to_be_run(Foreman *foreman, Task *task, const GError *mistake) {
        LedgerWord word = ledger_look_up(foreman->order->ledger,
                                         task->has_own_id ? task->options.id : NULL,
                                         task->job.index);
        g_autofree char *message = NULL;

        if (word == LEDGER_DONE) {
                task_free(task);
                return false;
        }
        task->place = foreman->places++;
        if (!mistake && word == LEDGER_NEW)
                return true;
        task_ask(task, &foreman->world);
        if (mistake) {
                task_refuse(task, launcher_error_word(mistake), mistake->message);
        } else {
                message = task_repeated_words(task);
                task_refuse(task, LEDGER_DUPLICATE, message);
        }
        finish(foreman, task);
        return false;
}

static void take_line(Foreman *foreman, const IntakeLine *line) {
        g_autoptr(GError) mistake = NULL;
        Task *task = make_task(foreman, line);
        bool was_read = task_read(task, &foreman->world, line, &mistake);

        if (is_to_be_run(foreman, task, was_read ? NULL : mistake))
                begin(foreman, task);
}

static void end_input(Foreman *foreman) {
        const Intake *intake = foreman->order->intake;

        foreman->is_input_over = true;
        if (intake_error(intake) != 0 && !foreman->report->failure)
                foreman->report->failure = g_strdup_printf("cannot read jobs from %s: %s",
                                                           intake_name(intake),
                                                           g_strerror(intake_error(intake)));
}

static void on_manager(bool is_back, void *userdata) {
        Foreman *foreman = userdata;

        foreman->is_manager_gone = !is_back;
        wake(foreman);
}

static void leave_fleet(Foreman *foreman) {
        if (foreman->fleet)
                fleet_discharge(foreman->fleet, FLEET_ID, foreman);
        g_clear_pointer(&foreman->fleet, fleet_leave);
}

/* Jobs come one after the other, and guard and signals are not to be found anew for each. */
static void join_fleet(Foreman *foreman) {
        leave_fleet(foreman);
        foreman->is_manager_gone = false;
        foreman->fleet = fleet_join(foreman->event, foreman->door);
        (void)!fleet_enlist(foreman->fleet, FLEET_ID, on_manager, foreman);
}

static bool open_door(Foreman *foreman, GError **error) {
        Door *door = door_open(foreman->order->options->manager, error);

        if (!door)
                return false;
        g_ptr_array_add(foreman->doors, door);
        foreman->door = door;
        door_learn_version(foreman->door);
        if (sd_bus_attach_event(foreman->door->bus, foreman->event, SD_EVENT_PRIORITY_NORMAL) < 0) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM,
                            "cannot watch the manager");
                return false;
        }
        join_fleet(foreman);
        return true;
}

/* Who runs waits for the manager to come back, and nobody else begins meanwhile. When it never will, and all of them have
 * ended, there may be another. */
static bool has_manager(Foreman *foreman) {
        g_autoptr(GError) error = NULL;

        if (!foreman->is_manager_gone)
                return door_is_open(foreman->door) && !fleet_is_cut_off(foreman->fleet);
        if (g_hash_table_size(foreman->running) > 0 || g_hash_table_size(foreman->leaving) > 0)
                return false;
        if (open_door(foreman, &error))
                return true;
        fail(foreman, g_strdup(error->message));
        return false;
}

static bool has_free_hands(const Foreman *foreman) {
        return !is_ending(foreman) && !foreman->lull &&
               g_hash_table_size(foreman->running) < foreman->parallel &&
               gauge_has_room(&foreman->gauge);
}

/* False: there is none now, or ever. */
static bool begin_next(Foreman *foreman) {
        IntakeLine line;
        IntakeResult result;

        if (foreman->again.length > 0) {
                begin(foreman, g_queue_pop_head(&foreman->again));
                return true;
        }
        /* Who is tried again may be the one that all the others wait for. */
        if (foreman->is_input_over || !outbox_has_room(foreman->outbox))
                return false;
        result = intake_next(foreman->order->intake, &line);
        if (result == INTAKE_LINE || result == INTAKE_HUGE)
                take_line(foreman, &line);
        else if (result != INTAKE_WAIT)
                end_input(foreman);
        return result == INTAKE_LINE || result == INTAKE_HUGE;
}

static void begin_more(Foreman *foreman) {
        int lines = 0;

        while (has_free_hands(foreman) && has_manager(foreman) && begin_next(foreman))
                if (++lines == LINES_A_TURN) {
                        wake(foreman);
                        return;
                }
}

/* The end */

static void look_at_outbox(Foreman *foreman) {
        int error = outbox_error(foreman->outbox);

        if (error != 0)
                fail(foreman,
                     g_strdup_printf("cannot write to standard output: %s", g_strerror(error)));
}

static bool is_over(const Foreman *foreman) {
        return g_hash_table_size(foreman->running) == 0 && foreman->again.length == 0 &&
               g_hash_table_size(foreman->leaving) == 0 &&
               (foreman->is_input_over || is_ending(foreman)) && outbox_is_empty(foreman->outbox);
}

/* At its end the loop would wait for a connection that is still being made. */
static void close_shop(Foreman *foreman) {
        for (guint i = 0; i < foreman->doors->len; i++) {
                const Door *door = g_ptr_array_index(foreman->doors, i);

                if (door->bus && sd_bus_is_ready(door->bus) == 0)
                        (void)sd_bus_detach_event(door->bus);
        }
        (void)sd_event_exit(foreman->event, 0);
}

static int on_wake(sd_event_source *source, void *userdata) {
        Foreman *foreman = userdata;

        look_at_outbox(foreman);
        begin_more(foreman);
        look_at_outbox(foreman);
        while (is_ending(foreman) && foreman->again.length > 0)
                finish(foreman, g_queue_pop_head(&foreman->again)); /* as it was the last time */
        if (is_over(foreman))
                close_shop(foreman);
        return 0;
}

static void on_news(void *userdata) {
        wake(userdata);
}

/* Who insists does not wait for a reader either. */
static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Foreman *foreman = userdata;
        int number = (int)info->ssi_signo;

        if (!foreman->report->cancel_signal)
                foreman->report->cancel_signal = number;
        else if (g_hash_table_size(foreman->running) == 0) /* who leaves is the guard's then */
                close_shop(foreman);
        cancel_all(foreman, number);
        return 0;
}

static bool watch_signals(Foreman *foreman) {
        uint64_t ignored = foreman->order->caller->signal_ignored;
        int number;

        interrupt_hold();
        for (size_t i = 0; (number = interrupt_signal(i)) != 0; i++)
                if (!(ignored & (UINT64_C(1) << (number - 1))) &&
                    sd_event_add_signal(foreman->event, NULL, number, on_signal, foreman) < 0)
                        return false;
        return signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}

/* Those who ran when the batch was killed may not be gone yet. */
static void on_lull(void *userdata) {
        Foreman *foreman = userdata;

        g_clear_pointer(&foreman->lull, lull_free);
        wake(foreman);
}

/* For people */

static char *progress_text(void *userdata, size_t width) {
        const Foreman *foreman = userdata;
        uint64_t had_theirs = foreman->jobs - foreman->places; /* so --resume says */
        uint64_t total = intake_estimate(foreman->order->intake, foreman->jobs);

        return tally_line(&foreman->report->tally, g_hash_table_size(foreman->running),
                          total - MIN(total, had_theirs), now_usec() - foreman->begun_usec, width);
}

/* A record is about to be written, perhaps to the terminal that the line stands on. */
static void on_write(void *userdata) {
        const Foreman *foreman = userdata;

        if (foreman->progress)
                progress_wipe(foreman->progress);
}

static bool open_shop(Foreman *foreman, GError **error) {
        const ForemanOrder *order = foreman->order;
        OutboxSettings outbox = { .fd = order->output_fd,
                                  .is_ordered = order->options->batch.is_ordered,
                                  .handler = on_news,
                                  .userdata = foreman };

        if (order->has_progress && isatty(order->output_fd))
                outbox.before_write = on_write;
        if (sd_event_new(&foreman->event) < 0 ||
            sd_event_add_defer(foreman->event, &foreman->wake, on_wake, foreman) < 0 ||
            !watch_signals(foreman)) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM,
                            "cannot set up the event loop");
                return false;
        }
        if (!open_door(foreman, error))
                return false;
        foreman->pools = pools_new(foreman->event);
        foreman->outbox = outbox_new(foreman->event, &outbox);
        intake_attach(order->intake, foreman->event, on_news, foreman);
        if (order->options->batch.resume)
                foreman->lull = lull_new(foreman->event, foreman->door, on_lull, foreman);
        if (order->has_progress)
                foreman->progress = progress_new(foreman->event, STDERR_FILENO, progress_text,
                                                 foreman);
        return true;
}

static void foreman_init(Foreman *foreman, const ForemanOrder *order, ForemanReport *report) {
        *foreman = (Foreman){
                .order = order,
                .stem = task_stem(),
                .doors = g_ptr_array_new_with_free_func((GDestroyNotify)door_free),
                .running = g_hash_table_new(NULL, NULL),
                .leaving = g_hash_table_new_full(NULL, NULL, (GDestroyNotify)task_free, NULL),
                .parallel = choices_parallel(&order->options->batch),
                .retry_on = choices_retry_on(&order->options->batch),
                .report = report,
                .begun_usec = now_usec(),
        };
        gauge_init(&foreman->gauge, foreman->parallel);
        foreman->world = (TaskWorld){ order->words, order->shelf, order->caller, foreman->stem };
}

static void foreman_clear(Foreman *foreman) {
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init(&iter, foreman->running);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                task_free(key);
        g_hash_table_unref(foreman->running);
        g_hash_table_unref(foreman->leaving);
        g_queue_clear_full(&foreman->again, (GDestroyNotify)task_free);
        pools_free(foreman->pools);
        lull_free(foreman->lull);
        leave_fleet(foreman);
        outbox_free(foreman->outbox);
        progress_free(foreman->progress);
        sd_event_source_disable_unref(foreman->wake);
        g_ptr_array_unref(foreman->doors);
        sd_event_unref(foreman->event);
        g_free(foreman->stem);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Foreman, foreman_clear)

/* Of a pipe whose writer is still there nobody knows. */
static bool has_more_input(Foreman *foreman) {
        IntakeLine line;

        return !foreman->is_input_over &&
               intake_next(foreman->order->intake, &line) != INTAKE_ENDED;
}

bool foreman_run(const ForemanOrder *order, ForemanReport *ret_report, GError **error) {
        g_auto(Foreman) foreman = { 0 };
        int r;

        foreman_init(&foreman, order, ret_report);
        if (!open_shop(&foreman, error))
                return false;
        r = sd_event_loop(foreman.event);
        if (r < 0 && !ret_report->failure)
                ret_report->failure = g_strdup_printf("the event loop failed: %s", g_strerror(-r));
        ret_report->elapsed_usec = now_usec() - foreman.begun_usec;
        ret_report->is_cut_short = foreman.is_stopped &&
                                   (foreman.is_left_out || has_more_input(&foreman));
        return true;
}
