/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "errand.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/request.h"
#include "launcher/rundir.h"
#include "launcher/session.h"
#include "units/text.h"

extern char **environ;

void errand_ask(Errand *errand, const Options *options) {
        errand->options = options;
        errand->spec = request_spec(options, environ);
        facts_init(&errand->refused);
}

bool errand_prepare(Errand *errand, GError **error) {
        const Options *options = errand->options;

        return caller_read_directory(&errand->caller, options->directory, error) &&
               request_complete(options, &errand->caller.directory, errand->spec, error);
}

/* O_NONBLOCK is for the open alone. */
static int open_input(const char *path, bool may_wait) {
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (may_wait ? 0 : O_NONBLOCK));

        if (fd >= 0 && !may_wait)
                (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
        return fd;
}

bool errand_open_input(Errand *errand, bool may_wait, GError **error) {
        const char *input = errand->options->input;

        if (!input)
                return true;
        errand->input_fd = open_input(strcmp(input, "null") == 0 ? "/dev/null" : input, may_wait);
        if (errand->input_fd >= 0)
                return true;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "--stdin: cannot open \"%s\": %s", input, g_strerror(errno));
        return false;
}

bool errand_measure(Errand *errand, GError **error) {
        return disk_watch_open(errand->spec, errand->options->is_best_effort, &errand->disk, error);
}

LaunchSettings errand_settings(const Errand *errand, Door *door) {
        const Options *options = errand->options;

        return (LaunchSettings){
                .door = door,
                .spec = errand->spec,
                .caller = &errand->caller,
                .disk = errand->disk,
                .stdio = { errand->input_fd, -1, -1 },
                .is_capture = options->is_capture,
                .is_kill_on_output = options->is_kill_on_output,
                .is_tree_awaited = options->is_tree_awaited,
                .is_best_effort = options->is_best_effort,
        };
}

bool errand_launch(Errand *errand, LaunchSettings *settings, GError **error) {
        errand->door = settings->door;
        if (!session_settle(settings, errand->spec, &errand->pins, error))
                return false;
        errand->launch = launch_new(settings, error);
        return errand->launch != NULL;
}

void errand_note_start(Errand *errand) {
        rundir_remove(errand->pins);
        g_clear_pointer(&errand->pins, g_free);
}

void errand_refuse(Errand *errand, const char *code, const char *message) {
        g_clear_pointer(&errand->launch, launch_free);
        facts_set_refusal(&errand->refused, code, message);
}

const Facts *errand_facts(const Errand *errand) {
        return errand->launch ? launch_facts(errand->launch) : &errand->refused;
}

/* Whoever is below us knows options alone, and repeats what it was given. */
static void say_to_giver(const Options *options, char **message) {
        g_autofree char *said = options_say(options, *message);

        g_free(*message);
        *message = text_printable(said, G_MAXSIZE);
}

RecordSource errand_judge(const Errand *errand, Verdict *ret_verdict) {
        const Launch *launch = errand->launch;
        RecordSource source = { .spec = errand->spec,
                                .facts = errand_facts(errand),
                                .verdict = ret_verdict };

        cause_decide(source.facts, errand->spec->command[0], ret_verdict);
        if (ret_verdict->outcome == OUTCOME_REFUSED || ret_verdict->outcome == OUTCOME_LOST)
                say_to_giver(errand->options, &ret_verdict->message);
        if (errand->door)
                source.manager = manager_kind_word(errand->door->kind);
        if (!launch)
                return source;
        source.readback = launch_readback(launch);
        source.unapplied = launch_unapplied(launch);
        source.output = launch_capture(launch, STDOUT_FILENO);
        source.errors = launch_capture(launch, STDERR_FILENO);
        source.manager_version = launch_unit_state(launch)->manager_version;
        source.invocation_id = launch_unit_state(launch)->snapshot.invocation_id;
        return source;
}

void errand_clear(Errand *errand) {
        errand_note_start(errand);
        launch_free(errand->launch);
        disk_watch_free(errand->disk);
        spec_free(errand->spec);
        caller_clear(&errand->caller);
        facts_clear(&errand->refused);
        if (errand->input_fd >= 0)
                (void)close(errand->input_fd);
        *errand = (Errand)ERRAND_INIT;
}
