/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tally.h"

#include <string.h>

#include "units/format.h"
#include "units/text.h"

static void peaks_clear(TallyPeak *peaks) {
        for (int i = 0; i < TALLY_PEAKS; i++)
                g_clear_pointer(&peaks[i].id, g_free);
}

void tally_clear(Tally *tally) {
        peaks_clear(tally->slowest);
        peaks_clear(tally->hungriest);
}

/* Kept in order; the last one falls out. */
static void peaks_add(TallyPeak *peaks, uint64_t value, const char *id, uint64_t line) {
        int place = TALLY_PEAKS;

        if (value == FACTS_UNKNOWN)
                return;
        while (place > 0 && value > peaks[place - 1].value)
                place--;
        if (place == TALLY_PEAKS)
                return;
        g_free(peaks[TALLY_PEAKS - 1].id);
        memmove(&peaks[place + 1], &peaks[place],
                (size_t)(TALLY_PEAKS - 1 - place) * sizeof *peaks);
        peaks[place] = (TallyPeak){ value, g_strdup(id), line };
}

void tally_add(Tally *tally, const Verdict *verdict, const Facts *facts, const char *id,
               uint64_t line) {
        tally->done++;
        tally->ok += verdict->is_ok;
        tally->outcomes[verdict->outcome]++;
        if (facts->stage != STAGE_EXECUTED)
                return;
        if (facts->cpu_usec != FACTS_UNKNOWN) {
                tally->cpu_usec += facts->cpu_usec;
                tally->outcome_cpu_usec[verdict->outcome] += facts->cpu_usec;
        }
        peaks_add(tally->slowest, facts_wall_usec(facts), id, line);
        peaks_add(tally->hungriest, facts->memory_peak_bytes, id, line);
}

/* Of those that ended themselves not all did well. */
static uint64_t failed_as(const Tally *tally, Outcome outcome) {
        return outcome == OUTCOME_EXITED ? tally->outcomes[outcome] - tally->ok
                                         : tally->outcomes[outcome];
}

static void append_failures(GString *text, const Tally *tally) {
        const char *before = " (";

        g_string_append_printf(text, ", %" G_GUINT64_FORMAT " failed", tally->done - tally->ok);
        for (int i = 0; i < _OUTCOME_MAX; i++) {
                uint64_t count = failed_as(tally, (Outcome)i);

                if (count == 0)
                        continue;
                g_string_append_printf(text, "%s%s %" G_GUINT64_FORMAT, before,
                                       outcome_info((Outcome)i)->word, count);
                before = ", ";
        }
        if (before[0] == ',')
                g_string_append_c(text, ')');
}

char *tally_line(const Tally *tally, uint64_t running, uint64_t total, uint64_t elapsed_usec,
                 size_t width) {
        g_autoptr(GString) text = g_string_new(NULL);
        double seconds = (double)MAX(elapsed_usec, 1) / G_USEC_PER_SEC;
        double rate = (double)tally->done / seconds;

        g_string_append_printf(text, "%" G_GUINT64_FORMAT " done, %" G_GUINT64_FORMAT " running",
                               tally->done, running);
        if (tally->done > tally->ok)
                append_failures(text, tally);
        if (tally->done > 0)
                g_string_append_printf(text, ", %.1f/s", rate);
        if (tally->done > 0 && total > tally->done) {
                double left_usec = (double)(total - tally->done) / rate * G_USEC_PER_SEC;
                g_autofree char *left = format_seconds_short((uint64_t)left_usec);

                g_string_append_printf(text, ", about %s left", left);
        }
        return text_printable(text->str, width);
}

static void append_row(GString *text, const Tally *tally, Outcome outcome) {
        g_autofree char *cpu = format_seconds_short(tally->outcome_cpu_usec[outcome]);

        g_string_append_printf(text, "  %-13s%8" G_GUINT64_FORMAT "%12s\n",
                               outcome_info(outcome)->word, tally->outcomes[outcome], cpu);
}

static void append_peaks(GString *text, const char *title, const TallyPeak *peaks,
                         char *(*format)(uint64_t value)) {
        if (!peaks[0].id)
                return;
        g_string_append_printf(text, "  %s", title);
        for (int i = 0; i < TALLY_PEAKS && peaks[i].id; i++) {
                g_autofree char *value = format(peaks[i].value);

                g_string_append_printf(text, "%s %s (line %" G_GUINT64_FORMAT ") %s",
                                       i > 0 ? "," : ":", peaks[i].id, peaks[i].line, value);
        }
        g_string_append_c(text, '\n');
}

char *tally_table(const Tally *tally, uint64_t elapsed_usec) {
        GString *text = g_string_new(NULL);
        g_autofree char *elapsed = format_seconds_short(elapsed_usec);
        g_autofree char *cpu = format_seconds_short(tally->cpu_usec);

        g_string_append_printf(text,
                               "%" G_GUINT64_FORMAT " job%s, %" G_GUINT64_FORMAT
                               " ok, in %s (%.1f/s)\n",
                               tally->done, tally->done == 1 ? "" : "s", tally->ok, elapsed,
                               (double)tally->done * G_USEC_PER_SEC / (double)MAX(elapsed_usec, 1));
        if (tally->done == 0)
                return g_string_free(text, FALSE);
        g_string_append_printf(text, "  %-13s%8s%12s\n", "outcome", "jobs", "CPU time");
        for (int i = 0; i < _OUTCOME_MAX; i++)
                if (tally->outcomes[i] > 0)
                        append_row(text, tally, (Outcome)i);
        g_string_append_printf(text, "  %-13s%8" G_GUINT64_FORMAT "%12s\n", "all", tally->done,
                               cpu);
        append_peaks(text, "slowest", tally->slowest, format_seconds_short);
        append_peaks(text, "hungriest", tally->hungriest, format_size_short);
        return g_string_free(text, FALSE);
}
