/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One loop reads whatever comes from a run until what is waited for has come. The hard thing is to end: a program may
 * leave somebody behind who has the output open, and then end of file never comes. */

#include "kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "manager.h"
#include "schema.h"

#define RUN_PATIENCE_USEC  (20 * KIT_SEC)
#define HELD_PATIENCE_USEC (1 * KIT_SEC)
#define SLOWNESS           10
#define LOOK_AGAIN_MSEC    5
#define RECORD_FD          9

/* The test's own world, read once. */
static struct {
        bool is_slow, is_full, is_scope;
        const char *manager;
        char *cordon, *victim, *directory;
        unsigned runs;
        pid_t janitor;
        int janitor_fd;
        Schema *schema; /* of records */
} kit;

char *kit_program(const char *name) {
        g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *directory = g_path_get_dirname(self ?: "");

        g_autofree char *beside = g_build_filename(directory, name, NULL);

        /* installed, all are in one place */
        if (g_file_test(beside, G_FILE_TEST_EXISTS))
                return g_steal_pointer(&beside);
        return g_build_filename(directory, "..", "system", name, NULL);
}

static bool is_one(const char *variable) {
        return g_strcmp0(g_getenv(variable), "1") == 0;
}

/* A first run, because it starts a private manager where that is what is tested. */
static void find_manager(void) {
        KitOrder order = { .command = VICTIM("cat", "/proc/self/cgroup") };
        g_autoptr(KitRun) run = kit_run(&order);

        if (run->status != 0)
                BAIL_OUT("no run at all succeeds here: %s", run->errors->str);
        manager_learn(run->output->str);
}

static void remove_tree(const char *path) {
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);

        for (const char *name; directory && (name = g_dir_read_name(directory));) {
                g_autofree char *child = g_build_filename(path, name, NULL);

                remove_tree(child);
        }
        (void)remove(path);
}

/* Who outlives us for a moment, however we end: when the pipe is closed, the directory goes. */
static void start_janitor(void) {
        int ends[2];
        char nothing;

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe: %s", strerror(errno));
        kit.janitor = fork();
        if (kit.janitor != 0) {
                (void)close(ends[0]);
                kit.janitor_fd = ends[1];
                return;
        }

        (void)setsid();
        for (int fd = 0; fd < 64; fd++)
                if (fd != ends[0])
                        (void)close(fd);
        while (read(ends[0], &nothing, 1) < 0 && errno == EINTR)
                ;
        remove_tree(kit.directory);
        _exit(0);
}

static void read_schema(void) {
        g_autofree char *fault = NULL;

        kit.schema = schema_new(schema_record_text, &fault);
        if (!kit.schema)
                BAIL_OUT("the schema of records: %s", fault);
}

void kit_init(void) {
        (void)signal(SIGPIPE, SIG_IGN);
        kit.is_slow = is_one("CORDON_TEST_SLOW");
        kit.is_full = is_one("CORDON_TEST_FULL");
        kit.is_scope = is_one("CORDON_TEST_SCOPE");
        kit.manager = g_getenv("CORDON_MANAGER");
        kit.cordon = g_strdup(g_getenv("CORDON") ?: "/usr/bin/cordon");
        kit.victim = kit_program("victim");
        if (!kit.manager)
                BAIL_OUT("CORDON_MANAGER is not set");
        if (access(kit.cordon, X_OK) < 0 || access(kit.victim, X_OK) < 0)
                BAIL_OUT("%s or %s is not there", kit.cordon, kit.victim);
        kit.directory = g_dir_make_tmp("system-floor-XXXXXX", NULL);
        if (!kit.directory)
                BAIL_OUT("there is no place for temporary files");

        /* What is started for the test goes soon after it. */
        if (!g_getenv("CORDON_PRIVATE_IDLE"))
                g_setenv("CORDON_PRIVATE_IDLE", kit.is_slow ? "30s" : "3s", TRUE);
        (void)umask(022);
        read_schema();
        start_janitor();
        plan(NO_PLAN);
        find_manager();
}

void kit_clear(void) {
        manager_forget();
        (void)close(kit.janitor_fd);
        (void)waitpid(kit.janitor, NULL, 0);
        schema_free(kit.schema);
        g_free(kit.directory);
        g_free(kit.victim);
        g_free(kit.cordon);
}

bool kit_is_slow(void) {
        return kit.is_slow;
}

bool kit_is_scope(void) {
        return kit.is_scope;
}

bool kit_is_brief(void) {
        return kit.is_slow && !kit.is_full;
}

/* Cordon and the tests are of one build. */
bool kit_is_sanitized(void) {
#ifdef __SANITIZE_ADDRESS__
        return true;
#else
        return false;
#endif
}

uint64_t kit_patience(uint64_t usec) {
        return kit.is_slow ? usec * SLOWNESS : usec;
}

int kit_rounds(int native, int brief) {
        return kit_is_brief() ? brief : kit.is_slow ? MIN(native, brief * 4) : native;
}

const char *kit_manager(void) {
        return kit.manager;
}

const char *kit_cordon(void) {
        return kit.cordon;
}

const char *kit_victim(void) {
        return kit.victim;
}

const char *kit_directory(void) {
        return kit.directory;
}

uint64_t kit_now(void) {
        return (uint64_t)g_get_monotonic_time();
}

/* Starting */

static void append_words(GPtrArray *argv, const char *const *words) {
        for (; words && *words; words++)
                g_ptr_array_add(argv, g_strdup(*words));
}

char **kit_victim_argv(const char *const *verbs) {
        GPtrArray *argv = g_ptr_array_new();

        g_ptr_array_add(argv, g_strdup(kit.victim));
        append_words(argv, verbs);
        g_ptr_array_add(argv, NULL);
        return (char **)g_ptr_array_free(argv, FALSE);
}

static char **make_argv(const KitOrder *order, const char *id) {
        GPtrArray *argv = g_ptr_array_new();

        if (order->program) {
                g_ptr_array_add(argv, g_strdup(order->program));
                append_words(argv, order->command);
                g_ptr_array_add(argv, NULL);
                return (char **)g_ptr_array_free(argv, FALSE);
        }

        append_words(argv, WORDS(order->cordon ?: kit.cordon, order->verb ?: "run"));
        if (kit.is_scope)
                append_words(argv, WORDS("--scope"));
        if (id)
                append_words(argv, WORDS("--id", id));
        if (!order->record)
                g_ptr_array_add(argv, g_strdup_printf("--record=fd:%d", RECORD_FD));
        else if (order->record[0] != '\0')
                append_words(argv, WORDS("--record", order->record));
        append_words(argv, order->options);
        if (order->command)
                g_ptr_array_add(argv, g_strdup("--"));
        append_words(argv, order->command);
        g_ptr_array_add(argv, NULL);
        return (char **)g_ptr_array_free(argv, FALSE);
}

/* Everything as if nobody had been there before. */
static void become_clean(void) {
        sigset_t none;

        /* Should the test be killed, cordon goes too, and with it the run. */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int number = 1; number < NSIG; number++)
                (void)signal(number, SIG_DFL);
        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* At a terminal its other end is the first of the three. */
static void take_streams(const KitOrder *order, const int ends[3]) {
        bool has_terminal = order->terminal_fd > 0;
        int input = order->input_fd > 0 ? order->input_fd
                    : has_terminal      ? ends[0]
                                        : open("/dev/null", O_RDONLY);
        int errors = has_terminal && !order->has_errors ? ends[0] : ends[1];

        if (has_terminal ? setsid() < 0 || ioctl(ends[0], TIOCSCTTY, 0) < 0 : setpgid(0, 0) < 0)
                _exit(125);
        if (dup2(input, STDIN_FILENO) < 0 || dup2(ends[0], STDOUT_FILENO) < 0 ||
            dup2(errors, STDERR_FILENO) < 0)
                _exit(125);
}

static void become(const KitOrder *order, const char *id, char **argv, int ends[3]) {
        become_clean();
        for (int i = 0; i < 3; i++)
                ends[i] = fcntl(ends[i], F_DUPFD, 20);
        take_streams(order, ends);
        if (!order->record && !order->program && dup2(ends[2], RECORD_FD) < 0)
                _exit(125);
        for (int fd = 3; fd < 64; fd++)
                if (fd != RECORD_FD || order->record || order->program)
                        (void)close(fd);
        if (chdir(order->directory ?: kit.directory) < 0)
                _exit(125);
        if (order->prepare)
                order->prepare();
        if (id)
                (void)setenv(KIT_MARK, id, 1);
        if (order->environment)
                (void)execve(argv[0], argv, (char **)order->environment);
        else
                (void)execv(argv[0], argv);
        fprintf(stderr, "cannot execute %s: %s\n", argv[0], strerror(errno));
        _exit(125);
}

/* The pipes, of which a terminal takes the first one's place. */
static void make_streams(const KitOrder *order, int ret_ours[3], int ret_ends[3]) {
        int pair[2];

        for (int i = 0; i < 3; i++) {
                if (pipe2(pair, O_CLOEXEC) < 0)
                        BAIL_OUT("no pipe: %s", g_strerror(errno));
                ret_ours[i] = pair[0];
                ret_ends[i] = pair[1];
        }
        if (order->terminal_fd <= 0)
                return;
        (void)close(ret_ours[0]);
        (void)close(ret_ends[0]);
        ret_ours[0] = fcntl(order->terminal_fd, F_DUPFD_CLOEXEC, 3);
        ret_ends[0] = ioctl(order->terminal_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (ret_ours[0] < 0 || ret_ends[0] < 0)
                BAIL_OUT("no terminal: %s", g_strerror(errno));
}

KitRun *kit_start(const KitOrder *order) {
        KitRun *run = g_new0(KitRun, 1);
        int ends[3];

        if (!order->program && g_strcmp0(order->id, "") != 0)
                run->id = order->id ? g_strdup(order->id)
                                    : g_strdup_printf("test-%d-%u", (int)getpid(), ++kit.runs);
        run->command = g_strdupv((char **)order->command);
        run->output = g_string_new(NULL);
        run->errors = g_string_new(NULL);
        run->record_text = g_string_new(NULL);

        g_auto(GStrv) argv = make_argv(order, run->id);

        make_streams(order, run->fds, ends);
        run->started_usec = kit_now();
        run->pid = fork();
        if (run->pid == 0)
                become(order, run->id, argv, ends);
        if (run->pid < 0)
                BAIL_OUT("no process: %s", g_strerror(errno));
        run->pidfd = pidfd_open(run->pid, 0);
        if (order->terminal_fd <= 0)
                (void)setpgid(run->pid, run->pid);
        for (int i = 0; i < 3; i++)
                (void)close(ends[i]);
        return run;
}

/* Reading */

static void take(KitRun *run, int index) {
        GString *texts[] = { run->output, run->errors, run->record_text };
        char buffer[65536];
        ssize_t n = read(run->fds[index], buffer, sizeof buffer);

        if (n > 0) {
                g_string_append_len(texts[index], buffer, n);
                return;
        }
        (void)close(run->fds[index]);
        run->fds[index] = -1;
}

static bool is_all_read(const KitRun *run) {
        return run->fds[0] < 0 && run->fds[1] < 0 && run->fds[2] < 0;
}

static int left_msec(uint64_t deadline_usec) {
        uint64_t now = kit_now();

        return now >= deadline_usec ? 0 : (int)((deadline_usec - now + 999) / 1000);
}

/* One round; false when nothing came until the deadline. */
static bool pump(KitRun *run, uint64_t deadline_usec) {
        struct pollfd wait[4];
        int n;

        for (int i = 0; i < 3; i++)
                wait[i] = (struct pollfd){ .fd = run->fds[i], .events = POLLIN };
        wait[3] = (struct pollfd){ .fd = run->ended_usec ? -1 : run->pidfd, .events = POLLIN };
        do
                n = poll(wait, 4, left_msec(deadline_usec));
        while (n < 0 && errno == EINTR);

        for (int i = 0; i < 3; i++)
                if (wait[i].revents)
                        take(run, i);
        if (wait[3].revents)
                run->ended_usec = kit_now();
        return n > 0;
}

static bool has_line(const GString *text, const char *line) {
        size_t length = strlen(line);

        for (const char *p = text->str; p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
                if (strncmp(p, line, length) == 0 && p[length] == '\n')
                        return true;
        return false;
}

bool kit_wait_line(KitRun *run, const char *line) {
        uint64_t deadline = kit_now() + kit_patience(RUN_PATIENCE_USEC);

        while (!has_line(run->output, line)) {
                if (run->fds[0] < 0 || !pump(run, deadline)) {
                        diag("the program never said \"%s\"; it said: %s%s", line, run->output->str,
                             run->errors->str);
                        return false;
                }
        }
        return true;
}

static bool wait_text(KitRun *run, int stream, const GString *text, const char *pattern) {
        uint64_t deadline = kit_now() + kit_patience(RUN_PATIENCE_USEC);

        while (!g_pattern_match_simple(pattern, text->str)) {
                if (run->fds[stream] < 0 || !pump(run, deadline)) {
                        diag("never was \"%s\" said, but: %s", pattern, text->str);
                        return false;
                }
        }
        return true;
}

bool kit_wait_shown(KitRun *run, const char *pattern) {
        return wait_text(run, 0, run->output, pattern);
}

bool kit_wait_words(KitRun *run, const char *pattern) {
        return wait_text(run, 1, run->errors, pattern);
}

void kit_signal(const KitRun *run, int number) {
        (void)kill(run->pid, number);
}

void kit_signal_group(const KitRun *run, int number) {
        (void)kill(-run->pid, number);
}

static void take_status(KitRun *run) {
        struct rusage usage = { 0 };
        int status = 0;

        (void)wait4(run->pid, &status, 0, &usage);
        run->max_rss_bytes = (int64_t)usage.ru_maxrss * 1024;
        run->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* No reader may mind keys that it does not know; we know them all. */
static void check_record(const cJSON *record, const char *text) {
        g_autofree char *faults = record ? schema_faults(kit.schema, record, SCHEMA_CLOSED) : NULL;

        if (faults) {
                fail("a record is what its schema says");
                diag("%s\n%.2000s", faults, text);
        }
}

cJSON *kit_parse_record(const char *text, const char **ret_end) {
        cJSON *record = cJSON_ParseWithOpts(text, ret_end, false);

        check_record(record, text);
        return record;
}

bool kit_is_record(const char *text) {
        cJSON *record = text ? kit_parse_record(text, NULL) : NULL;

        cJSON_Delete(record);
        return record;
}

/* A record that is asked for is one line and nothing else: where somebody forged one before it, there is none. */
static void take_record(KitRun *run) {
        const char *end = NULL;

        if (run->record_text->len == 0)
                return;
        run->record = cJSON_ParseWithOpts(run->record_text->str, &end, false);
        if (run->record && g_strcmp0(end, "\n") != 0)
                g_clear_pointer(&run->record, cJSON_Delete);
        check_record(run->record, run->record_text->str);
        if (!run->id && run->record)
                run->id = g_strdup(cJSON_GetStringValue(cJSON_GetObjectItem(run->record, "id")));
}

void kit_finish(KitRun *run) {
        uint64_t deadline = kit_now() + kit_patience(RUN_PATIENCE_USEC);

        while (!run->ended_usec)
                if (!pump(run, deadline)) {
                        run->is_hung = true;
                        kit_signal_group(run, SIGKILL);
                        deadline = kit_now() + kit_patience(RUN_PATIENCE_USEC);
                }
        deadline = kit_now() + kit_patience(HELD_PATIENCE_USEC);
        while (!is_all_read(run) && !run->is_held)
                if (!pump(run, deadline))
                        run->is_held = true;
        for (int i = 0; i < 3; i++)
                if (run->fds[i] >= 0) {
                        (void)close(run->fds[i]);
                        run->fds[i] = -1;
                }
        take_status(run);
        take_record(run);
}

KitRun *kit_run(const KitOrder *order) {
        KitRun *run = kit_start(order);

        kit_finish(run);
        return run;
}

void kit_run_free(KitRun *run) {
        if (!run)
                return;
        if (!run->ended_usec) {
                kit_signal_group(run, SIGKILL);
                kit_finish(run);
        }
        (void)close(run->pidfd);
        g_free(run->id);
        g_strfreev(run->command);
        g_string_free(run->output, TRUE);
        g_string_free(run->errors, TRUE);
        g_string_free(run->record_text, TRUE);
        cJSON_Delete(run->record);
        g_free(run);
}

char *kit_said(const KitRun *run, const char *word) {
        g_auto(GStrv) lines = g_strsplit(run->output->str, "\n", -1);
        g_autofree char *prefix = g_strconcat(word, " ", NULL);

        for (char **line = lines; *line; line++)
                if (g_str_has_prefix(*line, prefix))
                        return g_strdup(*line + strlen(prefix));
        return NULL;
}

int64_t kit_said_number(const KitRun *run, const char *word) {
        g_autofree char *text = kit_said(run, word);

        return text ? g_ascii_strtoll(text, NULL, 10) : -1;
}

bool kit_wait_process(int pidfd, uint64_t usec) {
        struct pollfd wait = { .fd = pidfd, .events = POLLIN };
        uint64_t deadline = kit_now() + usec;

        for (;;) {
                int n = poll(&wait, 1, left_msec(deadline));

                if (n >= 0 || errno != EINTR)
                        return n > 0;
        }
}

bool kit_wait_until(bool (*is_true)(const void *what), const void *what, uint64_t usec) {
        uint64_t deadline = kit_now() + usec;

        while (!is_true(what)) {
                if (kit_now() >= deadline)
                        return false;
                (void)poll(NULL, 0, LOOK_AGAIN_MSEC);
        }
        return true;
}

int kit_listen(unsigned *ret_port) {
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t size = sizeof address;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
            listen(fd, SOMAXCONN) < 0 || getsockname(fd, (struct sockaddr *)&address, &size) < 0)
                BAIL_OUT("cannot listen: %s", strerror(errno));
        *ret_port = ntohs(address.sin_port);
        return fd;
}
