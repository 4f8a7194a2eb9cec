/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Both ends of a batch, on a loop of their own: the intake with files and pipes, and the outbox with readers of all
 * kinds. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/batch/intake.h"
#include "launcher/batch/outbox.h"
#include "launcher/deadline.h"

static unsigned news;

static void on_news(void *userdata) {
        news++;
}

static void turn(sd_event *event) {
        for (int i = 0; i < 16 && sd_event_run(event, 0) > 0; i++)
                continue;
}

/* "[text]" with the line's number before it, "!" for a huge one; then how it goes on. */
static char *take_all(Intake *intake) {
        GString *seen = g_string_new(NULL);
        IntakeResult result;
        IntakeLine line;

        while ((result = intake_next(intake, &line)) == INTAKE_LINE || result == INTAKE_HUGE)
                if (line.text)
                        g_string_append_printf(seen, "%d[%s]", (int)line.number, line.text);
                else
                        g_string_append_printf(seen, "%d!", (int)line.number);
        g_string_append(seen, result == INTAKE_ENDED  ? "."
                              : result == INTAKE_WAIT ? "…"
                                                      : "failed");
        return g_string_free(seen, FALSE);
}

static char *memory_file(const char *text, size_t size, int *ret_fd) {
        *ret_fd = memfd_create("jobs", MFD_CLOEXEC);
        if (write(*ret_fd, text, size) != (ssize_t)size)
                BAIL_OUT("no file");
        return g_strdup_printf("/proc/self/fd/%d", *ret_fd);
}

static void check_file(const char *text, const char *expected, const char *name) {
        g_autoptr(sd_event) event = NULL;
        int fd;
        g_autofree char *path = memory_file(text, strlen(text), &fd), *seen = NULL;
        g_autoptr(Intake) intake = intake_open(path, NULL);

        (void)sd_event_new(&event);
        intake_attach(intake, event, on_news, NULL);
        seen = take_all(intake);
        is(seen, expected, "a file: %s", name);
        ok(intake_is_file(intake), "a file: it is one");
        (void)close(fd);
}

static void test_files(void) {
        g_autofree char *huge = g_strnfill(INTAKE_LINE_MAX + 1, 'x');
        g_autofree char *with_huge = g_strconcat("a\n", huge, "\nb\n", NULL);
        g_autofree char *largest = g_strndup(huge, INTAKE_LINE_MAX);
        int fd;
        g_autofree char *path = memory_file(largest, INTAKE_LINE_MAX, &fd);
        g_autoptr(Intake) intake = intake_open(path, NULL);
        IntakeLine line = { 0 };

        check_file("", ".", "nothing");
        check_file("\n \t\r\n", ".", "blank lines");
        check_file("a\n\nb\n", "1[a]3[b].", "lines");
        check_file("a\nb", "1[a]2[b].", "no newline at the end");
        check_file("a\r\n", "1[a\r].", "a carriage return is left to JSON, which takes it");
        check_file(with_huge, "1[a]2!3[b].", "a huge line");
        ok(intake_next(intake, &line) == INTAKE_LINE && line.size == INTAKE_LINE_MAX,
           "a file: the longest line that is taken");
        (void)close(fd);
}

static void test_pipe(void) {
        g_autoptr(sd_event) event = NULL;
        g_autofree char *path = NULL, *first = NULL, *second = NULL, *third = NULL, *last = NULL;
        int ends[2];

        if (pipe2(ends, O_CLOEXEC) < 0 || sd_event_new(&event) < 0)
                BAIL_OUT("no pipe");
        path = g_strdup_printf("/proc/self/fd/%d", ends[0]);

        g_autoptr(Intake) intake = intake_open(path, NULL);

        (void)close(ends[0]);
        intake_attach(intake, event, on_news, NULL);
        first = take_all(intake);
        is(first, "…", "a pipe: nothing is there yet, and nobody waits");
        news = 0;
        turn(event);
        cmp_ok(news, "==", 0, "a pipe: and there is no news");
        (void)!write(ends[1], "one\nt", 5);
        turn(event);
        cmp_ok(news, "==", 1, "a pipe: news, once");
        second = take_all(intake);
        is(second, "1[one]…", "a pipe: a line and a half");
        (void)!write(ends[1], "wo\n", 3);
        third = take_all(intake);
        is(third, "2[two]…", "a pipe: the other half");
        intake_rest(intake);
        (void)!write(ends[1], "x", 1);
        news = 0;
        turn(event);
        cmp_ok(news, "==", 0, "a pipe: who has enough is not bothered");
        (void)close(ends[1]);
        last = take_all(intake);
        is(last, "3[x].", "a pipe: its end");
        cmp_ok(intake_estimate(intake, 3), "==", 0, "a pipe: nobody knows how long it is");
}

static void test_wrong(void) {
        g_autoptr(GError) missing = NULL, directory = NULL;

        ok(!intake_open("/nonexistent", &missing), "what is not there");
        is(missing->message, "cannot read jobs from \"/nonexistent\": No such file or directory",
           "is named");
        ok(!intake_open("/", &directory), "a directory");
        is(directory->message, "cannot read jobs from \"/\": Is a directory", "is none either");
}

/* The outbox */

static GString *line_of(const char *text) {
        return g_string_new(text);
}

static char *read_now(int fd) {
        char buffer[65536];
        ssize_t n = recv(fd, buffer, sizeof buffer, MSG_DONTWAIT);

        return g_strndup(buffer, (gsize)MAX(n, 0));
}

static Outbox *make(sd_event *event, bool is_ordered, int *ret_reader) {
        OutboxSettings settings = { .is_ordered = is_ordered, .handler = on_news };
        int ends[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
                BAIL_OUT("no sockets");
        settings.fd = ends[1];
        *ret_reader = ends[0];
        return outbox_new(event, &settings);
}

static void test_ordered(void) {
        g_autoptr(sd_event) event = NULL;
        g_autofree char *none = NULL, *three = NULL, *rest = NULL;
        int reader;

        (void)sd_event_new(&event);

        g_autoptr(Outbox) outbox = make(event, true, &reader);

        outbox_put(outbox, 2, line_of("2\n"));
        outbox_put(outbox, 1, NULL);
        none = read_now(reader);
        is(none, "", "ordered: who is early waits");
        outbox_put(outbox, 0, line_of("0\n"));
        three = read_now(reader);
        is(three, "0\n2\n", "ordered: a place may stay empty");
        outbox_put(outbox, 4, line_of("4\n"));
        outbox_put(outbox, 3, line_of("3\n"));
        rest = read_now(reader);
        is(rest, "3\n4\n", "ordered: and so on");
        ok(outbox_is_empty(outbox), "ordered: all is written");
        (void)close(reader);
}

static void test_slow_reader(void) {
        g_autoptr(sd_event) event = NULL;
        g_autoptr(GString) got = g_string_new(NULL);
        g_autofree char *large = g_strnfill(3 << 20, 'x');
        int reader;

        (void)sd_event_new(&event);

        g_autoptr(Outbox) outbox = make(event, false, &reader);

        outbox_put(outbox, 0, line_of(large));
        ok(outbox_has_room(outbox), "a slow reader: there is room for some");
        outbox_put(outbox, 1, line_of(large));
        ok(!outbox_has_room(outbox), "a slow reader: and then no more");
        ok(!outbox_is_empty(outbox), "a slow reader: it is kept");
        for (int i = 0; i < 4096 && got->len < (6 << 20); i++) {
                g_autofree char *piece = read_now(reader);

                g_string_append(got, piece);
                turn(event);
        }
        cmp_ok(got->len, "==", 6 << 20, "a slow reader: all of it came");
        ok(outbox_is_empty(outbox) && outbox_has_room(outbox),
           "a slow reader: there is room again");
        (void)close(reader);
}

static void test_reader_gone(void) {
        g_autoptr(sd_event) event = NULL;
        int reader;

        (void)sd_event_new(&event);

        g_autoptr(Outbox) outbox = make(event, false, &reader);

        news = 0;
        (void)close(reader);
        turn(event);
        cmp_ok(outbox_error(outbox), "==", EPIPE, "a reader who is gone: that shows at once");
        cmp_ok(news, "==", 1, "a reader who is gone: it is told");
        outbox_put(outbox, 0, line_of("late\n"));
        ok(outbox_is_empty(outbox) && !outbox_has_room(outbox),
           "a reader who is gone: nothing is kept for him");
}

int main(void) {
        plan(NO_PLAN);
        test_files();
        test_pipe();
        test_wrong();
        test_ordered();
        test_slow_reader();
        test_reader_gone();
        done_testing();
}
