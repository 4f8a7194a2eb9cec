/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon-many PREFIX COUNT OPTION… -- COMMAND…: many launches in one process, over one door and on one loop, a few starts
 * in flight at a time. It says "running N" at each hundred and when all run, and "settled" when no start is in flight; for SIGUSR1 "cost …" and "told", as at the beginning, before
 * the first launch ("base …") and in the end. SIGUSR2 breaks its connection to the manager ("back": it has another), SIGTERM
 * ends all. Then it says how many came to which outcome ("cancelled 200"), and of how many all is known that should be
 * ("whole 200"). What could not be started is said on standard error. */

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "launcher/fleet.h"
#include "launcher/kernel/error.h"
#include "launcher/launch.h"
#include "launcher/options.h"
#include "launcher/request.h"
#include "launcher/session.h"
#include "units/cause.h"

#define IN_FLIGHT 8
#define SAY_EVERY 100

extern char **environ;

typedef struct {
        const char *prefix;
        unsigned count, begun, running, over, starting;
        unsigned outcomes[_OUTCOME_MAX], whole;
        bool is_ending, is_beginning, is_settled;
        Options options;
        Caller caller;
        sd_event *event;
        Door *door;
        Fleet *fleet;
        struct Job *jobs;
} Many;

typedef struct Job {
        Many *many;
        Spec *spec;
        Launch *launch;
        bool is_running;
} Job;

static void begin_some(Many *many);

/* One line of what we cost by now. */
static void say_cost(const char *word) {
        g_autofree char *text = NULL;
        unsigned long pages = 0;
        unsigned fds = 0;
        struct rusage usage;
        DIR *open = opendir("/proc/self/fd");

        while (open && readdir(open))
                fds++;
        if (open)
                (void)closedir(open);
        if (g_file_get_contents("/proc/self/statm", &text, NULL, NULL))
                (void)sscanf(text, "%*s %lu", &pages);
        (void)getrusage(RUSAGE_SELF, &usage);
        printf("%s rss %lu fds %u cpu %ld\n", word, pages * (unsigned long)getpagesize() / 1024,
               fds - 3, /* "." and "..", and that of the directory */
               (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
                       usage.ru_stime.tv_usec);
}

static void on_started(void *userdata) {
        Job *job = userdata;
        Many *many = job->many;

        if (job->is_running)
                return;
        job->is_running = true;
        many->starting--;
        many->running++;
        if (many->running % SAY_EVERY == 0 || many->running == many->count)
                printf("running %u\n", many->running);
        begin_some(many);
}

/* All that is known of a program that ran, whatever ended it. */
static bool is_whole(const Facts *facts, const Readback *readback) {
        return facts->stage == STAGE_EXECUTED && facts->ended_usec >= facts->started_usec &&
               facts->exec_main_code != 0 && facts->cpu_usec != FACTS_UNKNOWN &&
               facts->tasks_peak != FACTS_UNKNOWN && facts->tasks_peak > 0 &&
               facts->outlived == 0 && readback->limits[LIMIT_TASKS].is_enforced;
}

static void on_over(void *userdata) {
        Job *job = userdata;
        Many *many = job->many;
        g_auto(Verdict) verdict = { 0 };

        cause_decide(launch_facts(job->launch), job->spec->command[0], &verdict);
        many->outcomes[verdict.outcome]++;
        many->whole += is_whole(launch_facts(job->launch), launch_readback(job->launch));
        if (verdict.error_code)
                fprintf(stderr, "%s: %s: %s\n", job->spec->id, verdict.error_code, verdict.message);
        g_clear_pointer(&job->launch, launch_free);
        g_clear_pointer(&job->spec, spec_free);
        many->over++;
        if (!job->is_running)
                many->starting--;
        if (many->over == (many->is_ending ? many->begun : many->count))
                (void)sd_event_exit(many->event, 0);
        else
                begin_some(many);
}

static bool begin_one(Many *many, Job *job) {
        g_autoptr(GError) error = NULL;
        LaunchSettings settings = { .event = many->event,
                                    .door = many->door,
                                    .caller = &many->caller,
                                    .stdio = { STDIN_FILENO, -1, -1 },
                                    .on_started = on_started,
                                    .handler = on_over,
                                    .userdata = job };

        job->many = many;
        job->spec = request_spec(&many->options, environ);
        g_free(job->spec->id);
        job->spec->id = g_strdup_printf("%s_%u", many->prefix, many->begun);
        settings.spec = job->spec;
        job->launch = launch_new(&settings, &error);
        if (!job->launch)
                fprintf(stderr, "%s: %s\n", job->spec->id, error->message);
        return job->launch;
}

/* From within news of another launch, too. */
static void begin_some(Many *many) {
        if (many->is_beginning)
                return;
        many->is_beginning = true;
        while (!many->is_ending && many->begun < many->count && many->starting < IN_FLIGHT) {
                Job *job = &many->jobs[many->begun++];

                many->starting++;
                if (!begin_one(many, job)) {
                        (void)sd_event_exit(many->event, EXIT_FAILURE);
                        break;
                }
        }
        many->is_beginning = false;
        if (!many->is_settled && many->begun == many->count && many->starting == 0) {
                many->is_settled = true;
                printf("settled\n");
        }
}

static int on_term(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Many *many = userdata;

        many->is_ending = true;
        for (unsigned i = 0; i < many->begun; i++)
                if (many->jobs[i].launch)
                        launch_cancel(many->jobs[i].launch, SIGTERM);
        return 0;
}

static int on_usr1(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        say_cost("cost");
        printf("told\n");
        return 0;
}

static int on_usr2(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata) {
        Many *many = userdata;

        (void)shutdown(sd_bus_get_fd(many->door->bus), SHUT_RDWR);
        return 0;
}

static void on_manager(bool is_back, void *userdata) {
        printf("%s\n", is_back ? "back" : "gone");
}

static bool watch_signals(Many *many) {
        sigset_t set;

        (void)sigemptyset(&set);
        (void)sigaddset(&set, SIGTERM);
        (void)sigaddset(&set, SIGUSR1);
        (void)sigaddset(&set, SIGUSR2);
        return sigprocmask(SIG_BLOCK, &set, NULL) >= 0 &&
               sd_event_add_signal(many->event, NULL, SIGTERM, on_term, many) >= 0 &&
               sd_event_add_signal(many->event, NULL, SIGUSR1, on_usr1, many) >= 0 &&
               sd_event_add_signal(many->event, NULL, SIGUSR2, on_usr2, many) >= 0;
}

static bool open_all(Many *many, char **argv, GError **error) {
        options_init(&many->options);
        caller_read(&many->caller);
        session_lift_own_limits();
        if (!options_parse(&many->options, argv, error) ||
            !session_choose_manager(&many->options.manager, error) ||
            !caller_read_place(&many->caller, NULL, error))
                return false;
        many->door = door_open(many->options.manager, error);
        if (!many->door)
                return false;
        if (sd_event_new(&many->event) < 0 ||
            sd_bus_attach_event(many->door->bus, many->event, SD_EVENT_PRIORITY_NORMAL) < 0 ||
            !watch_signals(many)) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM, "no loop");
                return false;
        }
        many->fleet = fleet_join(many->event, many->door);
        return fleet_enlist(many->fleet, many->prefix, on_manager, many);
}

static void close_all(Many *many) {
        if (many->fleet)
                fleet_discharge(many->fleet, many->prefix, many);
        fleet_leave(many->fleet);
        door_free(many->door);
        sd_event_unref(many->event);
        caller_clear(&many->caller);
        options_clear(&many->options);
        g_free(many->jobs);
}

static void say_end(const Many *many) {
        for (Outcome i = 0; i < _OUTCOME_MAX; i++)
                if (many->outcomes[i] > 0)
                        printf("%s %u\n", outcome_info(i)->word, many->outcomes[i]);
        printf("whole %u\n", many->whole);
}

int main(int argc, char *argv[]) {
        g_autoptr(GError) error = NULL;
        Many many = { 0 };
        int r = EXIT_FAILURE;

        (void)setvbuf(stdout, NULL, _IOLBF, 0);
        if (argc < 4)
                return EXIT_FAILURE;
        many.prefix = argv[1];
        many.count = (unsigned)strtoul(argv[2], NULL, 10);
        many.jobs = g_new0(Job, many.count);
        say_cost("begin");
        if (open_all(&many, argv + 3, &error)) {
                say_cost("base");
                begin_some(&many);
                r = sd_event_loop(many.event);
                say_end(&many);
        } else {
                fprintf(stderr, "%s\n", error->message);
        }
        close_all(&many);
        say_cost("end");
        return r;
}
