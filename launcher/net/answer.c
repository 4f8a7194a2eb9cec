/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* While we wait, a signal to us ends us at once (launcher/interrupt), and the child goes with us: it asked the kernel for
 * that. Its own group is for what a tool starts in its turn. */

#include "answer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "units/isolation.h"

#define SIZE_MAX_BYTES     ((guint)1 << 20)
#define TOOL_PATIENCE_USEC (10 * G_USEC_PER_SEC)

static void be_child(pid_t parent, AnswerBody body, int fd, const void *what) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
                _exit(1);
        (void)setpgid(0, 0);
        body(fd, what);
        _exit(0);
}

/* False: nothing more comes in time. */
static bool wait_for_more(int fd, gint64 deadline) {
        struct pollfd wait = { .fd = fd, .events = POLLIN };

        for (;;) {
                gint64 left = deadline - g_get_monotonic_time();
                int n = left > 0 ? poll(&wait, 1, (int)(left / 1000) + 1) : 0;

                if (n >= 0 || errno != EINTR)
                        return n > 0;
        }
}

static void read_answer(int fd, gint64 deadline, Answer *answer) {
        guint8 buffer[4096];
        ssize_t n = 0;

        while (answer->bytes->len < SIZE_MAX_BYTES) {
                if (!wait_for_more(fd, deadline)) {
                        answer->is_late = true;
                        return;
                }
                n = read(fd, buffer, sizeof buffer);
                if (n == 0 || (n < 0 && errno != EINTR))
                        return;
                if (n > 0)
                        g_byte_array_append(answer->bytes, buffer, (guint)n);
        }
}

Answer answer_to(AnswerBody body, const void *what, uint64_t patience_usec) {
        Answer answer = { .bytes = g_byte_array_new() };
        gint64 deadline = g_get_monotonic_time() + (gint64)patience_usec;
        pid_t self = getpid(), child;
        int ends[2], status = 0;

        if (pipe2(ends, O_CLOEXEC) < 0)
                return answer;
        child = fork();
        if (child == 0)
                be_child(self, body, ends[1], what);
        (void)close(ends[1]);
        if (child > 0) {
                (void)setpgid(child, child);
                read_answer(ends[0], deadline, &answer);
                (void)kill(-child, SIGKILL);
                while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                        ;
                answer.is_whole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        }
        (void)close(ends[0]);
        return answer;
}

void answer_clear(Answer *answer) {
        g_byte_array_unref(answer->bytes);
}

/* Tools */

static char *find_tool(const char *name) {
        const char *path = g_getenv("PATH");
        g_auto(GStrv) directories = g_strsplit(path ?: "/usr/local/bin:/usr/bin:/bin", ":", -1);
        g_autofree char *here = realpath(".", NULL);

        for (char **directory = directories; *directory; directory++) {
                g_autofree char *tool = g_build_filename(*directory, name, NULL);
                g_autofree char *target = realpath(tool, NULL);

                if (g_path_is_absolute(*directory) && target &&
                    !(here && isolation_is_within(target, here)) &&
                    !(here && isolation_is_within(*directory, here)) &&
                    g_file_test(tool, G_FILE_TEST_IS_EXECUTABLE) &&
                    !g_file_test(tool, G_FILE_TEST_IS_DIR))
                        return g_steal_pointer(&tool);
        }
        return NULL;
}

bool answer_has_tool(const char *name) {
        g_autofree char *path = find_tool(name);

        return path;
}

typedef struct {
        const char *path;
        const char *const *argv;
        char **environment;
} Tool;

/* In "/", where no project is. */
static void be_tool(int fd, const void *what) {
        const Tool *tool = what;
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
            dup2(null, STDERR_FILENO) < 0 || chdir("/") < 0)
                _exit(1);
        (void)execve(tool->path, (char *const *)tool->argv, tool->environment);
        _exit(1);
}

char *answer_of_tool(const char *const *argv, const char *const *variables) {
        g_autofree char *path = find_tool(argv[0]);
        g_auto(GStrv) environment = g_get_environ();
        g_auto(Answer) answer = { 0 };
        Tool tool = { .path = path, .argv = argv };

        for (; *variables; variables++) {
                g_auto(GStrv) parts = g_strsplit(*variables, "=", 2);

                environment = g_environ_setenv(environment, parts[0], parts[1], TRUE);
        }
        tool.environment = environment;
        if (path)
                answer = answer_to(be_tool, &tool, TOOL_PATIENCE_USEC);
        else
                answer.bytes = g_byte_array_new();
        if (!answer.is_whole)
                return NULL;
        return g_strndup((const char *)answer.bytes->data, answer.bytes->len);
}
