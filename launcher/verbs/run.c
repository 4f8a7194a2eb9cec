/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon run, and whatever is one with a bit of its own: one command, one record, one exit status. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "help.h"
#include "launcher/attend.h"
#include "launcher/bounds.h"
#include "launcher/console.h"
#include "launcher/deadline.h"
#include "launcher/detach.h"
#include "launcher/errand.h"
#include "launcher/explain/explain.h"
#include "launcher/interrupt.h"
#include "launcher/kernel/cgroup.h"
#include "launcher/kernel/error.h"
#include "launcher/launch.h"
#include "launcher/layers.h"
#include "launcher/options.h"
#include "launcher/plan.h"
#include "launcher/record.h"
#include "launcher/request.h"
#include "launcher/session.h"
#include "launcher/shortfall.h"
#include "launcher/sink.h"
#include "run.h"
#include "units/compose.h"
#include "units/text.h"
#include "verbs.h"

#define STATUS_FAILURE 125

extern char **environ;

/* Everything of one invocation. */
typedef struct {
        const RunKind *kind;
        Options options;
        Errand errand;
        sd_event *event;
        Door *door;
        Attendance attendance;
        PoolSlot *slot; /* of --max-parallel; NULL: none */
        Sink sink;
        bool is_beginning_told;
        int tell_fd; /* of a detached launcher, while its caller waits; −1 */
        bool is_caller_told;
        bool is_interrupted;      /* by Ctrl-C, and so it ends */
        sd_event_source *signals; /* to us */
        sd_event_source *waiter;  /* says that the caller has heard, or does not wait any more */
} Run;

static void drop_caller(Run *run) {
        run->waiter = sd_event_source_disable_unref(run->waiter);
        if (run->tell_fd >= 0)
                (void)close(run->tell_fd);
        run->tell_fd = -1;
}

static void run_clear(Run *run) {
        drop_caller(run);
        errand_clear(&run->errand);
        pool_release(run->slot);
        attend_clear(&run->attendance);
        door_free(run->door);
        sd_event_source_disable_unref(run->signals);
        sd_event_unref(run->event);
        sink_clear(&run->sink);
        options_clear(&run->options);
}

/* A line on standard error. That nobody takes it is no failure. */
static void G_GNUC_PRINTF(1, 2) print(const char *format, ...) {
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);

        g_autofree char *line = g_strdup_printf("cordon: %s%s", text,
                                                console_line_end(STDERR_FILENO));

        (void)!interrupt_write(STDERR_FILENO, line, strlen(line));
}

/* One line, whatever a path or a manager has in it. */
static void say(const char *text) {
        g_autofree char *line = text_printable(text, G_MAXSIZE);

        print("%s", line);
}

/* What is captured must go somewhere, and what is not captured cannot be limited. */
static bool check_output(const Options *options, GError **error) {
        const char *message = NULL;

        if (options->is_capture && !options->record && !options->is_dry_run)
                message = "--capture needs --record: the output goes into the record";
        else if (options->is_dry_run && options->is_explain)
                message = "--explain and --dry-run are two ways to show it: one at a time";
        else if (!options->is_capture && options->limits.is_set[LIMIT_OUTPUT])
                message = "--output needs --capture or --json: what passes through is not counted";
        else if (!options->is_capture && options->is_kill_on_output)
                message =
                        "--on-output needs --capture or --json: what passes through is not counted";
        if (message)
                g_set_error_literal(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE, message);
        return !message;
}

/* main() has put something close-on-exec where the caller had nothing. */
static int stdio_of(int fd) {
        int flags = fcntl(fd, F_GETFD);

        return flags >= 0 && !(flags & FD_CLOEXEC) ? fd : -1;
}

static void put_text(void *userdata, const char *data, size_t size) {
        g_string_append_len(userdata, data, (gssize)size);
}

/* What is said and recorded when this signal comes; the texts are added to those that are to be freed. */
static void compose_interrupt(const Run *run, int number, GPtrArray *texts,
                              InterruptNote notes[INTERRUPT_NOTES]) {
        g_auto(Facts) facts = { 0 };
        g_auto(Verdict) verdict = { 0 };
        RecordSource source = { .spec = run->errand.spec, .facts = &facts, .verdict = &verdict };
        g_autofree char *words = NULL, *text = NULL;
        char *line = NULL, *record = NULL;

        facts_init(&facts);
        facts_set_cancelled(&facts, number, (uint64_t)g_get_monotonic_time());
        cause_decide(&facts, run->errand.spec->command[0], &verdict);
        words = verdict_words(&verdict, &facts);
        text = run->options.is_quiet ? NULL : g_strdup_printf("cordon: %s", words);
        if (run->tell_fd >= 0)
                line = detach_message(128 + number, text);
        else if (text)
                line = g_strconcat(text, "\n", NULL);
        if (run->sink.fd >= 0) {
                GString *put = g_string_new(NULL);

                record_put(&source, sink_is_terminal(&run->sink), put_text, put);
                g_string_append_c(put, '\n');
                record = g_string_free(put, FALSE);
        }
        g_ptr_array_add(texts, line);
        g_ptr_array_add(texts, record);
        notes[0] = (InterruptNote){ .fd = run->tell_fd >= 0 ? run->tell_fd : STDERR_FILENO,
                                    .text = line };
        notes[1] = sink_note(&run->sink, record);
}

/* Whatever stands between us and the run may take its time, and then a signal comes. */
static void prepare_interrupt(const Run *run) {
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
        InterruptNote notes[INTERRUPT_SIGNALS][INTERRUPT_NOTES];

        for (size_t i = 0; i < INTERRUPT_SIGNALS; i++)
                compose_interrupt(run, interrupt_signal(i), texts, notes[i]);
        interrupt_prepare(notes);
}

/* A command of the verb's own, once it is known as whom it runs. */
static bool complete(Run *run, GError **error) {
        if (!run->kind->complete)
                return true;
        if (!run->kind->complete(&run->options, run->errand.spec, error))
                return false;
        if (!options_are_for_show(&run->options))
                prepare_interrupt(run); /* the record has the command */
        return true;
}

/* The record first: what is wrong with the rest goes there. */
static bool prepare(Run *run, char **argv, GError **error) {
        g_autoptr(GError) no_sink = NULL;
        bool parsed = layers_parse(&run->options, argv, error) &&
                      (!run->kind->settle || run->kind->settle(&run->options, error)) &&
                      session_choose_terminal(&run->options, error);

        bool is_earnest = !run->options.is_help && !options_are_for_show(&run->options);

        errand_ask(&run->errand, &run->options);
        if (parsed && is_earnest)
                prepare_interrupt(run); /* the record may have to wait for a reader */
        if (run->options.record && is_earnest &&
            !sink_open(run->options.record, &run->sink, parsed ? error : &no_sink)) {
                if (no_sink)
                        g_prefix_error(error, "%s; ", no_sink->message);
                return false;
        }
        if (!parsed || run->options.is_help)
                return parsed;
        if (run->sink.fd >= 0)
                prepare_interrupt(run);
        if (!run->kind->complete && run->options.command[0] == NULL) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_USAGE, "no command given");
                return false;
        }
        if (!check_output(&run->options, error) ||
            !detach_check(&run->options, stdio_of(STDOUT_FILENO) >= 0, error))
                return false;
        return session_choose_manager(&run->options.manager, error) &&
               caller_read_namespaces(&run->errand.caller, error) &&
               errand_prepare(&run->errand, error) && complete(run, error) &&
               errand_open_input(&run->errand, true, error);
}

static int on_signal(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Run *run = userdata;
        struct signalfd_siginfo info;

        if (read(fd, &info, sizeof info) == sizeof info)
                attend_signal(&run->attendance, run->errand.launch, &info);
        return 0;
}

/* A signal that the caller had ignored (nohup) stays ignored. All have one descriptor of ours: sd-event would change its
 * own with each that comes or goes. */
static bool watch_signals(Run *run) {
        sigset_t set;
        int number, fd;

        interrupt_hold();
        (void)sigemptyset(&set);
        for (size_t i = 0; (number = interrupt_signal(i)) != 0; i++)
                if (!(run->errand.caller.signal_ignored & (UINT64_C(1) << (number - 1))))
                        (void)sigaddset(&set, number);
        fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        if (fd < 0)
                return false;
        if (sd_event_add_io(run->event, &run->signals, fd, EPOLLIN, on_signal, run) < 0) {
                (void)close(fd);
                return false;
        }
        return sd_event_source_set_io_fd_own(run->signals, true) >= 0 &&
               signal(SIGPIPE, SIG_IGN) != SIG_ERR;
}

/* -v: who runs it, and what of the caller's world it could not have. Told once: when it runs, else when it ends. */
static void print_beginning(Run *run) {
        const char *version = run->errand.launch
                                      ? launch_unit_state(run->errand.launch)->manager_version
                                      : NULL;
        uint32_t unapplied = run->errand.launch ? launch_unapplied(run->errand.launch) : 0;
        g_autofree char *variables = NULL;
        const Allow *allow = run->errand.spec->isolation.allow;
        const Shortfall *shortfall;

        if (run->is_beginning_told || !run->door)
                return;
        run->is_beginning_told = true;
        print("%s: %s manager, systemd %s", run->errand.spec->id,
              manager_kind_word(run->door->kind), version ?: "unknown");
        for (size_t i = 0; (shortfall = shortfall_at(i)); i++)
                if (unapplied & shortfall->bit)
                        print("not passed on: %s", shortfall->words);
        for (guint i = 0; allow && i < allow->notes->len; i++)
                print("%s", (const char *)allow->notes->pdata[i]);
        variables = request_lost_variables(&run->options, run->errand.spec, environ);
        if (variables)
                print("not passed on: %s, which describe the caller's own unit", variables);
}

static void print_evidence(const Verdict *verdict) {
        for (guint i = 0; i < verdict->evidence->len; i++)
                print("evidence: %s", (const char *)g_ptr_array_index(verdict->evidence, i));
}

static void on_over(void *userdata) {
        Run *run = userdata;

        if (sd_bus_is_ready(run->door->bus) == 0) /* at its end the loop would wait for it */
                (void)sd_bus_detach_event(run->door->bus);
        attend_finish(&run->attendance, run->errand.launch, run->event);
}

/* The caller of a detached launcher waits for one word: the id, or why there is none. */
static bool tell_caller(Run *run, int status, const char *text) {
        if (run->tell_fd < 0 || run->is_caller_told)
                return true;
        run->is_caller_told = true;
        return detach_tell(run->tell_fd, status, text);
}

/* Interrupted while it waited, or could not print the id: a run that nobody knows of would be nobody's. */
static void lose_caller(Run *run) {
        drop_caller(run);
        launch_cancel(run->errand.launch, SIGHUP);
}

static int on_caller(sd_event_source *source, int fd, uint32_t events, void *userdata) {
        Run *run = userdata;

        if (detach_is_heard(fd))
                drop_caller(run);
        else
                lose_caller(run);
        return 0;
}

static bool watch_caller(Run *run) {
        return run->tell_fd < 0 || sd_event_add_io(run->event, &run->waiter, run->tell_fd, EPOLLIN,
                                                   on_caller, run) >= 0;
}

static void on_ready(void *userdata) {
        Run *run = userdata;
        g_autofree char *words = NULL;

        if (run->options.is_verbose)
                print_beginning(run);
        if (run->options.is_quiet)
                return;
        words = run->kind->greet(&run->options, run->errand.spec, run->door->kind,
                                 launch_readback(run->errand.launch));
        say(words);
}

static void on_started(void *userdata) {
        Run *run = userdata;

        errand_note_start(&run->errand);
        attend_begin(&run->attendance, run->errand.launch);
        if (run->options.is_verbose)
                print_beginning(run);
        if (!tell_caller(run, 0, run->errand.spec->id))
                lose_caller(run);
}

/* At once: the end may be hours away. */
static void on_unguarded(void *userdata) {
        const Run *run = userdata;

        if (run->options.is_verbose)
                print("guard lost: %s", launch_facts(run->errand.launch)->guard_message);
}

static LaunchSettings settings_of(Run *run) {
        LaunchSettings settings = errand_settings(&run->errand, run->door);

        settings.event = run->event;
        if (settings.stdio[STDIN_FILENO] < 0)
                settings.stdio[STDIN_FILENO] = stdio_of(STDIN_FILENO);
        settings.stdio[STDOUT_FILENO] = stdio_of(STDOUT_FILENO);
        settings.stdio[STDERR_FILENO] = stdio_of(STDERR_FILENO);
        settings.is_network_counted = run->sink.fd >= 0;
        settings.is_hurried = true;
        settings.on_ready = run->kind->greet ? on_ready : NULL;
        settings.on_started = on_started;
        settings.on_unguarded = on_unguarded;
        settings.handler = on_over;
        settings.userdata = run;
        return settings;
}

static void on_full(const char *pool) {
        print("waiting: pool %s is full", pool);
}

/* Newer ones know more: of isolation, and of what happens to a scope that runs out of memory, which no manager learns with
 * version 1 of cgroups. */
static bool needs_version(const Spec *spec) {
        bool is_memory_limited = limit_set_is_limited(&spec->limits, LIMIT_MEMORY) ||
                                 limit_set_is_limited(&spec->limits, LIMIT_POOL_MEMORY);

        return spec->isolation.is_untrusted || spec->isolation.has_strict_fs ||
               (spec->is_scope && is_memory_limited && !cgroup_is_version_1("memory"));
}

static bool launch(Run *run, GError **error) {
        LaunchSettings settings;
        int r = sd_event_new(&run->event);

        if (!session_enter_pool(&run->options, run->tell_fd, on_full, &run->slot, error) ||
            !errand_measure(&run->errand, error))
                return false;
        run->errand.door = run->door = door_open_for(run->options.manager, &run->errand.caller,
                                                     error);
        if (!run->door)
                return false;
        if (needs_version(run->errand.spec))
                door_learn_version(run->door);
        if (run->tell_fd >= 0 && !detach_settle(run->door, run->errand.spec->id, error))
                return false;
        if (r < 0 ||
            sd_bus_attach_event(run->door->bus, run->event, SD_EVENT_PRIORITY_NORMAL) < 0 ||
            !watch_signals(run) || !watch_caller(run)) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM,
                            "cannot set up the event loop");
                return false;
        }
        settings = settings_of(run);
        if (run->options.pty == PTY_YES && !attend_open(&run->attendance, &settings, error))
                return false;
        if (!errand_launch(&run->errand, &settings, error))
                return false;

        r = sd_event_loop(run->event);
        attend_end(&run->attendance);
        g_clear_pointer(&run->slot, pool_release);
        if (r >= 0)
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM, "the event loop failed: %s",
                    g_strerror(-r));
        return false;
}

static void put_record(void *userdata, const char *data, size_t size) {
        sink_put(userdata, data, size);
}

static bool write_record(Run *run, const RecordSource *source) {
        g_autoptr(GError) error = NULL;

        if (run->sink.fd < 0)
                return true;
        sink_begin(&run->sink);
        record_put(source, sink_is_terminal(&run->sink), put_record, &run->sink);
        if (sink_end(&run->sink, &error))
                return true;
        if (!run->options.is_quiet)
                say(error->message);
        return false;
}

/* It ended before it was known to run. */
static void tell_end(Run *run, int status, const char *words) {
        g_autofree char *text = NULL;

        if (status == 0)
                text = g_strdup(run->errand.spec->id);
        else if (!run->options.is_quiet)
                text = g_strdup_printf("cordon: %s", words ?: "it ended at once");
        (void)tell_caller(run, status, text);
}

static void append_part(GString *line, const char *before, const char *part) {
        if (part)
                g_string_append_printf(line, "%s%s%s", line->len > 0 ? "; " : "", before, part);
}

/* The one line. What was lost of the caller's world is in it where the program may now do more than its caller; -v has told
 * all of it. */
static void print_words(const Run *run, const char *words, uint32_t unapplied) {
        const Readback *readback = run->errand.launch ? launch_readback(run->errand.launch) : NULL;
        g_autofree char *unenforced = bounds_unenforced(&run->options, run->errand.spec, readback);
        g_autoptr(GString) line = g_string_new(NULL);
        const Shortfall *shortfall;

        append_part(line, "", words);
        append_part(line, "", run->attendance.complaint);
        append_part(line, "not enforced: ", unenforced);
        for (size_t i = 0; !run->options.is_verbose && (shortfall = shortfall_at(i)); i++)
                if ((unapplied & shortfall->bit) && shortfall->is_told)
                        append_part(line, "not passed on: ", shortfall->words);
        if (line->len > 0)
                say(line->str);
}

static int report(Run *run) {
        const Facts *facts = errand_facts(&run->errand);
        g_auto(Verdict) verdict = { 0 };
        RecordSource source = errand_judge(&run->errand, &verdict);
        int status = STATUS_FAILURE;

        interrupt_hold(); /* what is known is told, to whoever listens */

        g_autofree char *words = verdict_words(&verdict, facts);

        if (run->options.is_verbose)
                print_beginning(run);
        if (run->tell_fd < 0 && !run->options.is_quiet)
                print_words(run, words, source.unapplied);
        if (run->options.is_verbose)
                print_evidence(&verdict);
        if (write_record(run, &source) && !run->attendance.complaint)
                status = verdict_exit_status(&verdict, facts);
        run->is_interrupted = status == 128 + SIGINT &&
                              attend_was_interrupted(&run->attendance, facts, &verdict);
        if (run->tell_fd >= 0)
                tell_end(run, status, words); /* its caller finds the record */
        return status;
}

static void refuse(Run *run, const GError *error) {
        g_autofree char *help = g_strdup_printf("; see cordon %s --help",
                                                run->options.verb ?: "run");
        g_autofree char *message = g_strconcat(error->message,
                                               launcher_error_is_mistake(error) ? help : "", NULL);

        errand_refuse(&run->errand, launcher_error_word(error), message);
}

/* The same composition as in earnest; only the launch is missing. */
static int print_plan(const Run *run) {
        g_autofree char *gate_path = door_program_path("cordon-gate");
        const Door door = { .kind = door_guess(run->options.manager) };
        ComposeContext context = { .gate_path = gate_path,
                                   .owner = "0:0:0",
                                   .has_stand_ins = run->options.is_best_effort &&
                                                    readback_has_stand_ins(
                                                            &run->errand.spec->limits),
                                   .is_unprivileged = door_is_unprivileged(&door),
                                   .is_booted = door.kind != MANAGER_PRIVATE,
                                   .is_system = door.kind == MANAGER_SYSTEM,
                                   .nice = run->errand.caller.nice,
                                   .counts_network = run->options.record || run->options.is_capture,
                                   .without_accounting = cgroup_is_version_1("memory"),
                                   .gate_fd = STDIN_FILENO };
        PlanWorld world = { .directory = run->options.directory,
                            .variables = run->options.variables,
                            .has_terminal = run->options.pty == PTY_YES,
                            .max_parallel = run->options.max_parallel };
        g_autoptr(PropertyList) slice = NULL;
        g_autoptr(PropertyList) unit = NULL;

        if (run->options.manager != MANAGER_AUTO)
                world.manager = manager_kind_word(run->options.manager);
        session_choose_user(&door, run->errand.spec);
        compose(run->errand.spec, &context, &slice, &unit);

        g_autofree char *text = run->options.is_json
                                        ? plan_to_json(run->errand.spec, &world, slice, unit)
                                        : plan_to_text(run->errand.spec, &world, slice, unit);

        (void)fputs(text, stdout); /* main looks whether it was written */
        return 0;
}

static int run_command(Run *run, char **argv) {
        g_autoptr(GError) error = NULL;
        int status = STATUS_FAILURE;

        if (!prepare(run, argv, &error)) {
                refuse(run, error);
                return report(run);
        }
        if (run->options.is_help) {
                run->kind->print_help(stdout);
                return 0;
        }
        if (run->options.is_explain)
                return explain(&run->options, &run->errand);
        if (run->options.is_dry_run)
                return print_plan(run);
        if (run->options.is_detach) {
                interrupt_forget(); /* from now on the child's business */
                if (!detach_fork(&run->tell_fd, &status))
                        return status;
                prepare_interrupt(run);
        }
        if (!launch(run, &error))
                refuse(run, error);
        return report(run);
}

int run_execute(const RunKind *kind, char **argv) {
        Run run = { .kind = kind, .errand = ERRAND_INIT, .sink = SINK_INIT, .tell_fd = -1 };
        int status;

        options_init(&run.options);
        run.options.verb = kind->verb;
        caller_read(&run.errand.caller); /* before anything of it is changed */
        interrupt_begin(run.errand.caller.signal_ignored);
        session_lift_own_limits();
        status = run_command(&run, argv);
        run_clear(&run);
        if (run.is_interrupted)
                interrupt_end();
        return status;
}

int verb_run(char **argv) {
        static const RunKind kind = { .print_help = help_print_run };

        return run_execute(&kind, argv);
}
