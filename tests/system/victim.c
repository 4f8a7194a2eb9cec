/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the tests run under cordon: a program that does what its arguments say, one verb after another, such as
 * "ignore TERM say ready pause". Between `child` and `then` stands what a child does, while we go on behind `then`. It
 * is static and small, so that tight limits hit what it does and not how it is loaded. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB           ((size_t)1 << 20)
#define STORM_CHAINS  2
#define GROUPS_SHOWN  64
#define STATUS_MISUSE 70 /* of the verbs themselves */

typedef struct {
        const char *name;
        int n_arguments;
        void (*run)(char **arguments);
        const char *help;
} Verb;

static void say(const char *text) {
        size_t left = strlen(text);

        while (left > 0) {
                ssize_t n = write(STDOUT_FILENO, text, left);

                if (n < 0 && errno != EINTR)
                        _exit(STATUS_MISUSE);
                if (n > 0) {
                        text += n;
                        left -= (size_t)n;
                }
        }
}

static void say_line(const char *what, const char *how) {
        char line[4096];

        (void)snprintf(line, sizeof line, "%s%s%s\n", what, how[0] ? " " : "", how);
        say(line);
}

static void say_number(const char *what, long long number) {
        char text[32];

        (void)snprintf(text, sizeof text, "%lld", number);
        say_line(what, text);
}

static void say_count(const char *what, long long count, int error) {
        char text[64];

        (void)snprintf(text, sizeof text, "%lld %s", count, error ? strerrorname_np(error) : "all");
        say_line(what, text);
}

static int signal_of(const char *name) {
        for (int number = 1; number < NSIG; number++) {
                const char *known = sigabbrev_np(number);

                if (known && strcmp(known, name) == 0)
                        return number;
        }
        fprintf(stderr, "victim: no signal %s\n", name);
        _exit(STATUS_MISUSE);
}

/* Ends */

static void verb_exit(char **arguments) {
        _exit((int)strtol(arguments[0], NULL, 10));
}

static void verb_raise(char **arguments) {
        int number = signal_of(arguments[0]);

        (void)kill(getpid(), number);
}

static void verb_end(char **arguments) {
        _exit(0);
}

/* Words */

static void verb_say(char **arguments) {
        say_line(arguments[0], "");
}

static void verb_complain(char **arguments) {
        fprintf(stderr, "%s\n", arguments[0]);
}

static void verb_flood(char **arguments) {
        static const char block[65536] = { 0 };

        for (long left = strtol(arguments[0], NULL, 10); left > 0;) {
                ssize_t n = write(STDOUT_FILENO, block,
                                  (size_t)left < sizeof block ? (size_t)left : sizeof block);

                if (n < 0)
                        _exit(STATUS_MISUSE);
                left -= n;
        }
}

static void copy(int from) {
        char buffer[65536];
        ssize_t n;

        while ((n = read(from, buffer, sizeof buffer)) > 0)
                for (ssize_t done = 0, w; done < n; done += w) {
                        w = write(STDOUT_FILENO, buffer + done, (size_t)(n - done));
                        if (w < 0)
                                _exit(STATUS_MISUSE);
                }
        if (n < 0)
                say_line("copy", strerrorname_np(errno));
}

static void verb_copy(char **arguments) {
        copy(STDIN_FILENO);
}

static void verb_cat(char **arguments) {
        int fd = open(arguments[0], O_RDONLY | O_CLOEXEC);

        if (fd < 0) {
                say_line("cat", strerrorname_np(errno));
                return;
        }
        copy(fd);
        (void)close(fd);
}

/* Signals */

static void handle_note(int number) {
        say_line("got", sigabbrev_np(number));
}

static void handle_quit(int number) {
        _exit(0);
}

/* Dies and leaves one behind. */
static void handle_breed(int number) {
        if (fork() == 0) {
                (void)signal(SIGTERM, SIG_IGN);
                for (;;)
                        (void)pause();
        }
        _exit(0);
}

static void verb_ignore(char **arguments) {
        (void)signal(signal_of(arguments[0]), SIG_IGN);
}

static void verb_note(char **arguments) {
        (void)signal(signal_of(arguments[0]), handle_note);
}

static void verb_quit_on(char **arguments) {
        (void)signal(signal_of(arguments[0]), handle_quit);
}

static void verb_breed_on(char **arguments) {
        (void)signal(signal_of(arguments[0]), handle_breed);
}

static void verb_pause(char **arguments) {
        for (;;)
                (void)pause();
}

static uint64_t clock_usec(clockid_t clock) {
        struct timespec now;

        (void)clock_gettime(clock, &now);
        return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void verb_nap(char **arguments) {
        uint64_t end = clock_usec(CLOCK_MONOTONIC) + strtoul(arguments[0], NULL, 10) * 1000, now;

        while ((now = clock_usec(CLOCK_MONOTONIC)) < end)
                (void)poll(NULL, 0, (int)((end - now + 999) / 1000));
}

/* Processes and threads */

static void *spin(void *unused) {
        for (volatile uint64_t turns = 0;; turns++)
                ;
        return unused;
}

static void verb_spin(char **arguments) {
        (void)spin(NULL);
}

/* Counted from here: what was used to get here, before the exec too, is in the clock. */
static void verb_burn(char **arguments) {
        uint64_t end = clock_usec(CLOCK_PROCESS_CPUTIME_ID) +
                       strtoul(arguments[0], NULL, 10) * 1000;

        while (clock_usec(CLOCK_PROCESS_CPUTIME_ID) < end)
                ;
}

static void verb_thread(char **arguments) {
        pthread_t thread;
        int r = pthread_create(&thread, NULL, spin, NULL);

        if (r != 0)
                say_line("thread", strerrorname_np(r));
}

static void verb_reap(char **arguments) {
        int status;

        while (wait(&status) >= 0) {
                if (WIFSIGNALED(status))
                        say_line("child", sigabbrev_np(WTERMSIG(status)));
                else
                        say_number("child", WEXITSTATUS(status));
        }
}

static void verb_leave(char **arguments) {
        (void)setsid();
}

static void verb_forks(char **arguments) {
        long wanted = strtol(arguments[0], NULL, 10), made = 0;
        int error = 0;

        for (long i = 0; i < wanted; i++) {
                pid_t pid = fork();

                if (pid == 0)
                        verb_pause(NULL);
                if (pid < 0)
                        error = errno;
                else
                        made++;
        }
        say_count("forks", made, error);
}

/* Each is gone before anybody can have read its number and sent it a signal, but for its child. */
static void verb_storm(char **arguments) {
        (void)signal(SIGTERM, SIG_IGN);
        for (int i = 0; i < STORM_CHAINS; i++) {
                if (fork() != 0)
                        continue;
                for (;;) {
                        if (fork() > 0)
                                _exit(0);
                        (void)poll(NULL, 0, 1);
                }
        }
}

/* Memory */

static char *map(size_t size) {
        char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        return memory == MAP_FAILED ? NULL : memory;
}

static void verb_map(char **arguments) {
        char *memory = map(strtoul(arguments[0], NULL, 10) * MIB);

        say_line("map", memory ? "all" : strerrorname_np(errno));
}

static void verb_eat(char **arguments) {
        size_t size = strtoul(arguments[0], NULL, 10) * MIB;
        char *memory = map(size);

        for (size_t i = 0; memory && i < size; i += 4096)
                ((volatile char *)memory)[i] = 1;
        say_line("eat", memory ? "all" : strerrorname_np(errno));
}

static uint64_t __attribute__((noinline)) recurse(size_t left) {
        volatile char frame[4096];

        frame[0] = (char)left;
        return left <= sizeof frame ? (uint64_t)frame[0] : recurse(left - sizeof frame) + frame[0];
}

static void verb_recurse(char **arguments) {
        uint64_t sum = recurse(strtoul(arguments[0], NULL, 10) * 1024);

        say_line("recurse", sum == UINT64_MAX ? "?" : "all");
}

/* Files */

static void verb_write(char **arguments) {
        static const char block[4096] = { 0 };
        int fd = open(arguments[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        long wanted = strtol(arguments[1], NULL, 10), done = 0;
        int error = fd < 0 ? errno : 0;

        while (error == 0 && done < wanted) {
                size_t next = (size_t)(wanted - done);
                ssize_t n = write(fd, block, next < sizeof block ? next : sizeof block);

                if (n < 0)
                        error = errno;
                else
                        done += n;
        }
        say_count("write", done, error);
        if (fd >= 0)
                (void)close(fd);
}

static void verb_open(char **arguments) {
        long wanted = strtol(arguments[0], NULL, 10), count = 0;

        while (count < wanted && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
                count++;
        say_count("open", count, count < wanted ? errno : 0);
}

static void verb_close(char **arguments) {
        (void)close((int)strtol(arguments[0], NULL, 10));
}

/* What the world looks like from inside */

static void verb_fds(char **arguments) {
        DIR *directory = opendir("/proc/self/fd");
        struct dirent *entry;

        if (!directory)
                _exit(STATUS_MISUSE);
        while ((entry = readdir(directory))) {
                char target[4096] = "";

                if (entry->d_name[0] == '.' || strtol(entry->d_name, NULL, 10) == dirfd(directory))
                        continue;
                if (readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1) < 0)
                        continue;
                say_line(entry->d_name, target);
        }
        (void)closedir(directory);
}

static void verb_where(char **arguments) {
        char directory[4096] = "";
        mode_t mask = umask(0);

        (void)umask(mask);
        if (!getcwd(directory, sizeof directory))
                (void)snprintf(directory, sizeof directory, "%s", strerrorname_np(errno));
        say_line("directory", directory);
        say_number("umask", mask);
        say_number("nice", getpriority(PRIO_PROCESS, 0));
        say_number("uid", getuid());
        say_number("gid", getgid());
}

static void verb_schedule(char **arguments) {
        struct sched_param parameters = { 0 };

        (void)sched_getparam(0, &parameters);
        say_number("policy", sched_getscheduler(0));
        say_number("priority", parameters.sched_priority);
        say_number("io", syscall(SYS_ioprio_get, 1, 0)); /* IOPRIO_WHO_PROCESS */
}

static int compare_groups(const void *a, const void *b) {
        gid_t left = *(const gid_t *)a, right = *(const gid_t *)b;

        return (left > right) - (left < right);
}

static void verb_groups(char **arguments) {
        gid_t groups[GROUPS_SHOWN];
        int count = getgroups(GROUPS_SHOWN, groups);

        qsort(groups, count < 0 ? 0 : (size_t)count, sizeof groups[0], compare_groups);
        for (int i = 0; i < count; i++)
                say_number("group", groups[i]);
}

static void verb_link(char **arguments) {
        char target[4096] = "";

        if (readlink(arguments[0], target, sizeof target - 1) < 0)
                (void)snprintf(target, sizeof target, "%s", strerrorname_np(errno));
        say_line("link", target);
}

static void verb_pid(char **arguments) {
        say_number("pid", getpid());
}

/* clang-format off */
static const Verb verbs[] = {
        { "exit",     1, verb_exit,     "N: ends" },
        { "raise",    1, verb_raise,    "SIG: to itself" },
        { "end",      0, verb_end,      "ends with 0; what follows is not read" },
        { "say",      1, verb_say,      "TEXT: a line" },
        { "complain", 1, verb_complain, "TEXT: a line on stderr" },
        { "flood",    1, verb_flood,    "BYTES: so many zeros" },
        { "copy",     0, verb_copy,     "stdin to stdout" },
        { "cat",      1, verb_cat,      "FILE: to stdout" },
        { "ignore",   1, verb_ignore,   "SIG" },
        { "note",     1, verb_note,     "SIG: says \"got SIG\" when it comes, and goes on" },
        { "quit-on",  1, verb_quit_on,  "SIG: ends with 0 when it comes" },
        { "breed-on", 1, verb_breed_on, "SIG: likewise, but leaves a child that ignores TERM" },
        { "pause",    0, verb_pause,    "for ever" },
        { "nap",      1, verb_nap,      "MSEC" },
        { "spin",     0, verb_spin,     "on a CPU for ever" },
        { "burn",     1, verb_burn,     "MSEC: uses so much CPU time" },
        { "thread",   0, verb_thread,   "starts one that spins" },
        { "reap",     0, verb_reap,     "waits for all children and says how they ended" },
        { "leave",    0, verb_leave,    "to a session of its own" },
        { "forks",    1, verb_forks,    "N: children that pause; says how many it got" },
        { "storm",    0, verb_storm,    "processes that live for a moment each, one after another" },
        { "map",      1, verb_map,      "MIB: without touching it" },
        { "eat",      1, verb_eat,      "MIB: of memory" },
        { "recurse",  1, verb_recurse,  "KIB: of stack" },
        { "write",    2, verb_write,    "FILE BYTES: says how many it got" },
        { "open",     1, verb_open,     "N: files; says how many it got" },
        { "close",    1, verb_close,    "FD" },
        { "fds",      0, verb_fds,      "says what is open" },
        { "where",    0, verb_where,    "says directory, umask, nice, user and group" },
        { "schedule", 0, verb_schedule, "says policy, its priority and that of I/O" },
        { "groups",   0, verb_groups,   "says the other groups" },
        { "link",     1, verb_link,     "PATH: says where it leads" },
        { "pid",      0, verb_pid,      "says its number" },
};
/* clang-format on */

static const Verb *verb_find(const char *name) {
        for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
                if (strcmp(verbs[i].name, name) == 0)
                        return &verbs[i];
        fprintf(stderr, "victim: no verb \"%s\"; known:\n", name);
        for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
                fprintf(stderr, "  %-10s %s\n", verbs[i].name, verbs[i].help);
        _exit(STATUS_MISUSE);
}

/* Behind the `then` that belongs to a `child`. */
static char **skip_child(char **words) {
        for (int depth = 1; *words; words++) {
                depth += strcmp(*words, "child") == 0;
                depth -= strcmp(*words, "then") == 0;
                if (depth == 0)
                        return words + 1;
        }
        return words;
}

static char **perform(char **words) {
        const Verb *verb = verb_find(*words++);

        for (int i = 0; i < verb->n_arguments; i++)
                if (!words[i]) {
                        fprintf(stderr, "victim: %s %s\n", verb->name, verb->help);
                        _exit(STATUS_MISUSE);
                }
        verb->run(words);
        return words + verb->n_arguments;
}

int main(int argc, char *argv[]) {
        char **words = argv + 1;

        while (words < argv + argc) {
                if (strcmp(*words, "then") == 0)
                        _exit(0);
                if (strcmp(*words, "child") != 0) {
                        words = perform(words);
                        continue;
                }

                pid_t pid = fork();

                if (pid < 0)
                        say_line("child", strerrorname_np(errno));
                words = pid == 0 ? words + 1 : skip_child(words + 1);
        }
        return 0;
}
