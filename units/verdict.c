/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A verdict in words: one sentence for the record, one for people, one number for the shell. */

#include <errno.h>
#include <inttypes.h>
#include <signal.h>

#include "format.h"
#include "name.h"
#include "signame.h"
#include "text.h"
#include "verdict.h"

#define COMMAND_SHOWN 80

/* clang-format off */
static const ExecFailure exec_failures[] = {
        { ENOENT,       "command-not-found",  127, "command not found" },
        { ENOTDIR,      "command-not-found",  127, "command not found: part of its path is not a directory" },
        { EACCES,       "permission-denied",  126, "permission denied" },
        { EPERM,        "permission-denied",  126, "not permitted" },
        { ENOEXEC,      "not-executable",     126, "not a program this machine can execute" },
        { ELIBBAD,      "not-executable",     126, "its interpreter is missing" },
        { EISDIR,       "not-executable",     126, "is a directory" },
        { ETXTBSY,      "busy",               126, "is being written to" },
        { E2BIG,        "arguments-too-long", 126, "arguments and environment are too long" },
        { ENAMETOOLONG, "bad-path",           126, "its path is too long" },
        { ELOOP,        "bad-path",           126, "too many symbolic links" },
        { ENOMEM,       "no-memory",          126, "not enough memory to execute it" },
        { 0,            "exec-failed",        126, NULL },
};
/* clang-format on */

const ExecFailure *exec_failure(int number) {
        const ExecFailure *failure = exec_failures;

        while (failure->number != 0 && failure->number != number)
                failure++;

        return failure;
}

/* "killed (SIGSEGV, core dumped)", "exited with 3" */
static char *how_it_ended(const Verdict *verdict) {
        g_autofree char *name = signame(verdict->signal);

        if (verdict->signal != 0)
                return g_strdup_printf("killed (%s%s)", name,
                                       verdict->core_dumped ? ", core dumped" : "");
        if (verdict->exit_code >= 0)
                return g_strdup_printf("exited with %d", verdict->exit_code);

        return g_strdup("ended");
}

/* Limits that merely slow down, or that only say how an end goes, are no explanation. */
static bool limit_is_worth_naming(const Verdict *verdict, const Facts *facts, Limit limit) {
        if (limit == LIMIT_CPU || limit == LIMIT_MEMORY_HIGH || limit == LIMIT_GRACE)
                return false;
        if (!limit_set_is_limited(&facts->limits, limit))
                return false;
        if (limit == LIMIT_MEMORY && verdict->outcome == OUTCOME_MEMORY)
                return facts_memory_is_own(facts);

        return verdict->touched[limit] || outcome_info(verdict->outcome)->limit == limit;
}

/* The limit that ended it first, then the others that were met. */
static void append_limits(GString *out, const Verdict *verdict, const Facts *facts,
                          bool for_people) {
        Limit first = outcome_info(verdict->outcome)->limit;
        const char *separator = for_people ? " [" : " [limits: ";
        gsize length = out->len;

        for (int i = -1; i < _LIMIT_MAX; i++) {
                Limit limit = i < 0 ? first : (Limit)i;
                g_autofree char *value = NULL;

                if (limit == _LIMIT_MAX || (i >= 0 && limit == first) ||
                    !limit_is_worth_naming(verdict, facts, limit))
                        continue;
                value = for_people ? limit_set_format(&facts->limits, limit)
                                   : g_strdup_printf("%" PRIu64, facts->limits.value[limit]);
                g_string_append_printf(out, "%s%s=%s", separator, limit_info(limit)->key, value);
                separator = ", ";
        }

        if (out->len > length)
                g_string_append_c(out, ']');
}

static char *whose_memory(const Facts *facts) {
        g_autofree char *ancestor = NULL, *pool = NULL;

        if (facts->oom_events != FACTS_UNKNOWN && facts->oom_events > 0)
                return g_strdup("memory limit inside it hit");
        if (facts->oom_ancestor) {
                ancestor = g_path_get_basename(facts->oom_ancestor);
                pool = name_pool_from_unit(ancestor);
                if (pool)
                        return g_strdup_printf("memory limit of pool %s hit", pool);
                return g_strdup_printf("memory limit of %s hit", ancestor);
        }
        return g_strdup(facts->is_ancestry_whole ? "the machine ran out of memory"
                                                 : "out of memory beyond its own limit");
}

static bool outcome_is_of_program(Outcome outcome) {
        return outcome == OUTCOME_EXITED || outcome == OUTCOME_SIGNALED;
}

/* "memory limit hit", "cancelled by SIGINT"; NULL: the end speaks for itself. */
static char *head(const Verdict *verdict, const Facts *facts) {
        Limit limit = outcome_info(verdict->outcome)->limit;
        g_autofree char *name = signame(facts->cancel_signal);

        if (verdict->outcome == OUTCOME_CANCELLED)
                return facts->cancel_signal ? g_strconcat("cancelled by ", name, NULL)
                                            : g_strdup("cancelled");
        if (verdict->outcome == OUTCOME_MEMORY && !facts_memory_is_own(facts))
                return whose_memory(facts);
        if (outcome_is_of_program(verdict->outcome) && facts_is_stopped_by_others(facts))
                return g_strdup("stopped at the manager");
        if (limit != _LIMIT_MAX)
                return g_strdup_printf("%s limit hit", limit_info(limit)->key);

        return NULL;
}

static void append_usage(GString *out, const Verdict *verdict, const Facts *facts) {
        uint64_t wall = facts_wall_usec(facts);
        g_autofree char *wall_text = format_seconds_short(wall);
        g_autofree char *peak_text = format_size_short(facts->memory_peak_bytes);
        g_autofree char *cpu_text = format_seconds_short(facts->cpu_usec);
        g_autofree char *growth_text = format_size_short(facts->disk_growth_bytes);

        if (wall != FACTS_UNKNOWN)
                g_string_append_printf(out, " after %s", wall_text);
        if (verdict->outcome == OUTCOME_MEMORY && facts->memory_peak_bytes != FACTS_UNKNOWN)
                g_string_append_printf(out, ", peak %s", peak_text);
        if (verdict->outcome == OUTCOME_CPU_TIME && facts->cpu_usec != FACTS_UNKNOWN)
                g_string_append_printf(out, ", cpu %s", cpu_text);
        if (verdict->outcome == OUTCOME_DISK && facts->disk_growth_bytes != FACTS_UNKNOWN)
                g_string_append_printf(out, ", grew by %s", growth_text);
}

static char *sentence(const Verdict *verdict, const Facts *facts, bool for_people) {
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *beginning = head(verdict, facts), *ending = how_it_ended(verdict);

        if (facts->stage == STAGE_CANCELLED)
                return g_strdup_printf("%s before it was executed", beginning);
        if (beginning)
                g_string_append_printf(out, "%s: ", beginning);
        g_string_append(out, ending);
        if (for_people)
                append_usage(out, verdict, facts);
        append_limits(out, verdict, facts, for_people);

        return g_string_free(g_steal_pointer(&out), FALSE);
}

static char *not_started_message(const Facts *facts, const char *command) {
        const ExecFailure *failure = exec_failure(facts->exec_errno);
        g_autofree char *shown = text_printable(command, COMMAND_SHOWN);

        if (facts->exec_errno == 0)
                return g_strdup_printf("\"%s\" was not executed: what starts it ended before%s%s",
                                       shown, facts->unit_result ? ", unit Result=" : "",
                                       facts->unit_result ? facts->unit_result : "");

        return g_strdup_printf("\"%s\": %s", shown,
                               failure->words ? failure->words : g_strerror(facts->exec_errno));
}

char *verdict_message(const Verdict *verdict, const Facts *facts, const char *command) {
        switch (verdict->outcome) {
        case OUTCOME_REFUSED:
                return g_strdup(facts->refusal_message ? facts->refusal_message : "refused");
        case OUTCOME_LOST:
                return g_strdup(facts->lost_message ? facts->lost_message
                                                    : "its end could not be learnt");
        case OUTCOME_NOT_STARTED:
                return not_started_message(facts, command);
        default:
                return sentence(verdict, facts, false);
        }
}

/* A program that failed after forks were denied may not say so itself. */
static char *words_for_exit(const Verdict *verdict, const Facts *facts) {
        g_autofree char *limit = NULL;

        if (facts_is_stopped_by_others(facts))
                return sentence(verdict, facts, true);
        if (verdict->exit_code == 0 || !verdict->touched[LIMIT_TASKS] || facts->tasks_denied == 0 ||
            facts->tasks_denied == FACTS_UNKNOWN)
                return NULL;

        limit = limit_set_format(&facts->limits, LIMIT_TASKS);
        return g_strdup_printf("tasks limit met: a new process or thread was denied %" PRIu64
                               " times, then exited with %d [tasks=%s]",
                               facts->tasks_denied, verdict->exit_code, limit);
}

char *verdict_words(const Verdict *verdict, const Facts *facts) {
        switch (verdict->outcome) {
        case OUTCOME_EXITED:
                return words_for_exit(verdict, facts);
        case OUTCOME_REFUSED:
        case OUTCOME_LOST:
        case OUTCOME_NOT_STARTED:
                return g_strdup(verdict->message);
        case OUTCOME_SIGNALED:
                /* As shells do: the reader of a pipe had enough, that is no news. */
                return verdict->signal == SIGPIPE ? NULL : sentence(verdict, facts, true);
        case OUTCOME_CANCELLED:
                return facts->cancel_signal == SIGPIPE ? NULL : sentence(verdict, facts, true);
        default:
                return sentence(verdict, facts, true);
        }
}

int verdict_exit_status(const Verdict *verdict, const Facts *facts) {
        switch (verdict->outcome) {
        case OUTCOME_EXITED:
                return verdict->exit_code;
        case OUTCOME_SIGNALED:
                return 128 + verdict->signal;
        case OUTCOME_MEMORY:
        case OUTCOME_DISK:
        case OUTCOME_OUTPUT:
                return 128 + SIGKILL;
        case OUTCOME_FSIZE:
                return 128 + SIGXFSZ;
        case OUTCOME_TIMEOUT:
        case OUTCOME_CPU_TIME:
                return 124;
        case OUTCOME_CANCELLED:
                return 128 + (facts->cancel_signal ? facts->cancel_signal : SIGTERM);
        case OUTCOME_NOT_STARTED:
                return exec_failure(facts->exec_errno)->exit_status;
        default:
                return 125;
        }
}

void verdict_clear(Verdict *verdict) {
        g_free(verdict->error_code);
        g_free(verdict->message);
        g_clear_pointer(&verdict->evidence, g_ptr_array_unref);
        *verdict = (Verdict){ .exit_code = -1 };
}
