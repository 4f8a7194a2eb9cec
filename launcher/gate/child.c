/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Everything that only the process itself can do, in an order that matters: descriptors first (the channel must leave
 * the stdio numbers), then what the caller had (umask, nice, CPUs, rlimits, signals, directory), then hello, the wait for
 * "go", and the exec. What fails here is told to the launcher with its errno; after the exec nothing of the gate is
 * left: the channel is close-on-exec and the request was only mapped. */

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "builder.h"
#include "init.h"
#include "namespace.h"
#include "probe.h"
#include "protocol.h"
#include "schedule.h"
#include "scope.h"

#define STDIO_COUNT  3
#define FD_COUNT     (1 + STDIO_COUNT)
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* Of our own environment, that of the unit, which is otherwise nobody's business: where -p StateDirectory= and its like
 * have led. */
static const char *const unit_variables[] = {
        "RUNTIME_DIRECTORY=", "STATE_DIRECTORY=",         "CACHE_DIRECTORY=",
        "LOGS_DIRECTORY=",    "CONFIGURATION_DIRECTORY=",
};

#define UNIT_VARIABLES (sizeof unit_variables / sizeof unit_variables[0])

typedef struct {
        const GateRequest *request; /* mapped, private: argv and environment point into it */
        const char *texts;          /* of the steps */
        const char *directory;
        const char *path; /* what is executed; argv[0] may be another name of it */
        char **argv;
        char **environment;
        int stdio[STDIO_COUNT]; /* −1: the caller has it closed */
} Program;

static int tell(int channel, GateFailure *failure) {
        failure->type = GATE_FAILURE;
        namespace_read(&failure->world);
        (void)send(channel, failure, sizeof *failure, MSG_NOSIGNAL);
        return GATE_EXIT_FAILED;
}

static int fail(int channel, GateStage stage, int error_number) {
        GateFailure failure = { .stage = stage, .error_number = error_number };

        return tell(channel, &failure);
}

/* Receives the request's descriptors into fds; returns how many, or −1. */
static int receive_fds(int channel, int fds[FD_COUNT]) {
        char type = 0;
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof(int) * FD_COUNT)];
        } control = { 0 };
        struct iovec iov = { .iov_base = &type, .iov_len = 1 };
        struct msghdr message = { .msg_iov = &iov,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = sizeof control };
        ssize_t n = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
        const struct cmsghdr *c = CMSG_FIRSTHDR(&message);

        if (n < 0)
                return -1;
        errno = EPROTO;
        if (n != 1 || type != GATE_REQUEST || (message.msg_flags & MSG_CTRUNC))
                return -1;
        if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                return -1;

        size_t size = c->cmsg_len - CMSG_LEN(0);

        memcpy(fds, CMSG_DATA(c), size);
        return (int)(size / sizeof(int));
}

static size_t steps_size(const GateRequest *request) {
        return ((size_t)request->step_count + request->permit_count) * sizeof(Step);
}

static const gid_t *groups_of(const GateRequest *request) {
        return (const gid_t *)((const char *)(request + 1) + steps_size(request));
}

static size_t groups_size(const GateRequest *request) {
        return request->group_count == GATE_GROUPS_KEPT ? 0 : request->group_count * sizeof(gid_t);
}

static const GateRequest *map_request(int memfd) {
        struct stat st;

        if (fstat(memfd, &st) < 0)
                return NULL;
        errno = EPROTO;
        if ((size_t)st.st_size < sizeof(GateRequest))
                return NULL;

        /* Writable and private, because argv and environment are the program's to scribble on. */
        const GateRequest *request = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE, memfd, 0);

        if (request == MAP_FAILED)
                return NULL;
        errno = EPROTO;
        if (request->version != GATE_VERSION || request->argc == 0 ||
            (size_t)st.st_size != sizeof(GateRequest) + steps_size(request) + groups_size(request) +
                                          request->strings_size + request->texts_size)
                return NULL;
        return request;
}

static char *next_string(char **cursor) {
        char *string = *cursor;

        *cursor += strlen(string) + 1;
        return string;
}

static char *login_name(const char *path) {
        const char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        char *dashed = calloc(1, strlen(name) + 2);

        if (dashed) {
                dashed[0] = '-';
                memcpy(dashed + 1, name, strlen(name));
        }
        return dashed;
}

static bool lay_out(Program *program, const GateRequest *request) {
        char *cursor = (char *)groups_of(request) + groups_size(request);
        char **pointers = calloc((size_t)request->argc + request->envc + 2 + UNIT_VARIABLES,
                                 sizeof(char *));

        if (!pointers)
                return false;
        program->request = request;
        program->texts = cursor + request->strings_size;
        program->directory = next_string(&cursor);
        program->argv = pointers;
        program->environment = pointers + request->argc + 1;
        for (uint32_t i = 0; i < request->argc; i++)
                program->argv[i] = next_string(&cursor);
        for (uint32_t i = 0; i < request->envc; i++)
                program->environment[i] = next_string(&cursor);
        program->path = program->argv[0];
        if (request->is_login)
                program->argv[0] = login_name(program->path);
        return program->argv[0];
}

static void put_variable(char **environment, const char *name, char *variable) {
        while (*environment && strncmp(*environment, name, strlen(name)) != 0)
                environment++;
        *environment = variable; /* calloc() has the end behind it */
}

static void add_unit_variables(const Program *program) {
        for (char **variable = environ; variable && *variable; variable++)
                for (size_t i = 0; i < UNIT_VARIABLES; i++)
                        if (strncmp(*variable, unit_variables[i], strlen(unit_variables[i])) == 0)
                                put_variable(program->environment, unit_variables[i], *variable);
}

static bool receive(int channel, Program *program) {
        int fds[FD_COUNT] = { -1, -1, -1, -1 };
        int count = receive_fds(channel, fds);
        int next = 1;

        if (count < 1)
                return false;

        const GateRequest *request = map_request(fds[0]);

        if (!request || !lay_out(program, request))
                return false;
        (void)close(fds[0]);
        add_unit_variables(program);
        for (int i = 0; i < STDIO_COUNT; i++)
                program->stdio[i] = (request->stdio_mask & (1U << i)) && next < count ? fds[next++]
                                                                                      : -1;
        return true;
}

/* Puts the sent descriptors on 0, 1 and 2. All of them are above 2: the numbers below are taken by what the manager
 * gave us. */
static bool place_stdio(const Program *program) {
        for (int i = 0; i < STDIO_COUNT; i++) {
                if (program->stdio[i] < 0) {
                        (void)close(i);
                        continue;
                }
                if (dup2(program->stdio[i], i) < 0)
                        return false;
                (void)close(program->stdio[i]);
        }
        return true;
}

/* Whose session has a terminal leads it: a service does already, the child of a process 1 does not. */
static bool take_terminal(void) {
        if (getsid(0) != getpid() && setsid() < 0)
                return false;
        return ioctl(STDIN_FILENO, TIOCSCTTY, 0) == 0;
}

static bool enter_directory(const Program *program) {
        struct stat st;

        if (chdir(program->directory) < 0 || stat(".", &st) < 0)
                return false;
        if (program->request->directory_ino == GATE_DIRECTORY_ANY)
                return true;
        errno = ESTALE; /* the same path, another directory: these are not the caller's namespaces */
        return st.st_dev == program->request->directory_dev &&
               st.st_ino == program->request->directory_ino;
}

/* The caller's limit, as far as the manager's hard limit lets us. */
static bool apply_rlimit(int resource, rlim_t soft, rlim_t hard) {
        struct rlimit now, wanted = { .rlim_cur = soft, .rlim_max = hard };

        if (setrlimit((__rlimit_resource_t)resource, &wanted) == 0)
                return true;
        if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
                return false;
        wanted.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
        wanted.rlim_max = hard < now.rlim_max ? hard : now.rlim_max;
        (void)setrlimit((__rlimit_resource_t)resource, &wanted);
        return false;
}

/* On the heap: there may be 65536 of them, and the stack may be the program's small one. */
static bool groups_are(const gid_t *wanted, uint32_t count) {
        int now_count = getgroups(0, NULL);
        gid_t *now = now_count == (int)count ? calloc(count + 1, sizeof(gid_t)) : NULL;
        bool same = now && getgroups(now_count, now) == now_count &&
                    memcmp(now, wanted, count * sizeof(gid_t)) == 0;

        free(now);
        return same;
}

/* Only where they differ: without privileges the kernel lets nobody set what is already so. */
static bool apply_groups(const GateRequest *request) {
        const gid_t *wanted = groups_of(request);

        if (request->group_count == GATE_GROUPS_KEPT || request->uid != GATE_USER_KEPT)
                return true;
        if (!groups_are(wanted, request->group_count) &&
            setgroups(request->group_count, wanted) < 0)
                return false;
        return getgid() == request->gid || setgid(request->gid) == 0;
}

/* Groups before it: in a user namespace nobody can set them, nor see which they are. Rlimits after it: it opens files. */
static bool make_enclosure(const Program *program, GateHello *hello, GateFailure *failure) {
        const GateRequest *request = program->request;
        Building building = { .steps = (const Step *)(request + 1),
                              .step_count = request->step_count,
                              .permit_count = request->permit_count,
                              .has_permits = request->has_permits,
                              .texts = program->texts };

        if (!apply_groups(request))
                hello->unapplied |= GATE_UNAPPLIED_GROUPS;
        failure->stage = GATE_AT_ENCLOSURE;
        return builder_run(&building, &hello->enclosure, failure);
}

static uint32_t apply_caller(const GateRequest *request) {
        uint32_t unapplied = 0;

        if (request->umask != GATE_UMASK_KEPT)
                (void)umask((mode_t)request->umask);
        if (request->nice != GATE_NICE_KEPT && setpriority(PRIO_PROCESS, 0, request->nice) < 0)
                unapplied |= GATE_UNAPPLIED_NICE;
        for (int i = 0; i < GATE_RLIMITS; i++)
                if ((request->rlimit_mask & (1U << i)) &&
                    !apply_rlimit(i, (rlim_t)request->rlimits[i].soft,
                                  (rlim_t)request->rlimits[i].hard))
                        unapplied |= GATE_UNAPPLIED_RLIMIT;
        return unapplied | schedule_apply(&request->schedule, request->schedule_parts);
}

/* Last, for what is before may need to be who we are. */
static bool become(const GateRequest *request) {
        const gid_t *groups = groups_of(request);

        return request->uid == GATE_USER_KEPT ||
               (setgroups(request->group_count, groups) == 0 &&
                setresgid(request->gid, request->gid, request->gid) == 0 &&
                setresuid(request->uid, request->uid, request->uid) == 0);
}

/* The C library keeps some signals to itself, and leaves them ignored in what posix_spawn() starts. */
static void reset_hidden_signals(void) {
        static const uint64_t standard[8]; /* the kernel's own struct sigaction: SIG_DFL, no flags */

        for (int i = __SIGRTMIN; i < SIGRTMIN; i++)
                (void)syscall(SYS_rt_sigaction, i, standard, NULL, sizeof(uint64_t));
}

static void apply_signals(const GateRequest *request) {
        sigset_t mask;

        reset_hidden_signals();

        sigemptyset(&mask);
        for (int i = 1; i < NSIG; i++) {
                if (request->signal_ignored & (UINT64_C(1) << (i - 1)))
                        (void)signal(i, SIG_IGN);
                if (request->signal_mask & (UINT64_C(1) << (i - 1)))
                        (void)sigaddset(&mask, i);
        }
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* Read here because nobody outside may: asking for another user's needs a capability. */
static void read_rlimits(GateRlimit rlimits[GATE_RLIMITS]) {
        struct rlimit now;

        for (int i = 0; i < GATE_RLIMITS; i++)
                if (getrlimit((__rlimit_resource_t)i, &now) == 0)
                        rlimits[i] = (GateRlimit){ .soft = now.rlim_cur, .hard = now.rlim_max };
}

static bool send_hello(int channel, GateHello *hello, const int *fds, size_t count) {
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(GATE_HELLO_FDS * sizeof(int))];
        } control = { .header = { .cmsg_level = SOL_SOCKET,
                                  .cmsg_type = SCM_RIGHTS,
                                  .cmsg_len = CMSG_LEN(count * sizeof(int)) } };
        struct iovec iov = { .iov_base = hello, .iov_len = sizeof *hello };
        struct msghdr message = { .msg_iov = &iov,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = CMSG_SPACE(count * sizeof(int)) };

        hello->type = GATE_HELLO;
        namespace_read(&hello->world);
        read_rlimits(hello->rlimits);
        memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
        return sendmsg(channel, &message, MSG_NOSIGNAL) == (ssize_t)sizeof *hello;
}

/* Says hello with a pidfd of ourselves (it stays the program's after the exec, also across pid namespaces) and moves to a
 * fresh channel that nobody else has a copy of. −1: the launcher cannot be told. */
static int say_hello(int channel, GateHello *hello, int init_end) {
        int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
        int ends[2];

        if (pidfd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
                return -1;

        bool said = send_hello(channel, hello, (const int[]){ pidfd, ends[0], init_end },
                               init_end < 0 ? GATE_HELLO_FDS - 1 : GATE_HELLO_FDS);

        if (init_end >= 0)
                (void)close(init_end);
        (void)close(pidfd);
        (void)close(ends[0]);
        (void)close(channel);
        return said ? ends[1] : -1;
}

static bool wait_for_go(int channel) {
        char type = 0;
        ssize_t n;

        do
                n = recv(channel, &type, 1, 0);
        while (n < 0 && errno == EINTR);
        return n == 1 && type == GATE_GO;
}

static const char *search_path(char *const environment[]) {
        for (; *environment; environment++)
                if (strncmp(*environment, "PATH=", 5) == 0)
                        return *environment + 5;
        return DEFAULT_PATH;
}

/* The kernel says of a directory that it denies, and of a script without its interpreter that it is not there. */
static int explain_exec(const char *path, int error_number) {
        struct stat st;

        if (stat(path, &st) < 0)
                return error_number;
        if (S_ISDIR(st.st_mode))
                return EISDIR;
        return error_number == ENOENT ? ELIBBAD : error_number;
}

/* Tries one directory of PATH; an empty one is the working directory. */
static void exec_in(const char *directory, size_t length, const Program *program) {
        const char *name = program->path;
        char path[4096];

        errno = ENAMETOOLONG;
        if (length + strlen(name) + 2 > sizeof path)
                return;
        memcpy(path, directory, length);
        if (length > 0)
                path[length++] = '/';
        memcpy(path + length, name, strlen(name) + 1);
        execve(path, program->argv, program->environment);
        if (errno == ENOENT)
                errno = explain_exec(path, errno);
}

/* As execvpe() does it, but for one thing: a file without a format is not handed to a shell behind the caller's back.
 * Returns the errno that tells most: "not permitted" somewhere on the way wins over "not found". */
static int exec_program(const Program *program) {
        bool denied = false;

        if (program->path[0] == '\0')
                return ENOENT;
        if (strchr(program->path, '/')) {
                execve(program->path, program->argv, program->environment);
                return explain_exec(program->path, errno);
        }
        for (const char *p = search_path(program->environment);;) {
                size_t length = strcspn(p, ":");

                exec_in(p, length, program);
                if (errno == EACCES)
                        denied = true;
                else if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
                        return errno;
                if (p[length] == '\0')
                        return denied ? EACCES : ENOENT;
                p += length + 1;
        }
}

int gate_child_run(int inherited) {
        Program program = { .stdio = { -1, -1, -1 } };
        int channel = fcntl(inherited, F_DUPFD_CLOEXEC, STDIO_COUNT);

        if (channel < 0)
                return GATE_EXIT_FAILED;
        if (!receive(channel, &program))
                return fail(channel, GATE_AT_REQUEST, errno);

        int init_ends[2] = { -1, -1 };
        pid_t child = init_is_needed() ? init_fork(init_ends) : -1;

        if (child > 0)
                return init_run(init_ends[0], child);
        if (child < 0 && init_is_needed())
                return fail(channel, GATE_AT_INIT, errno);
        if (child < 0)
                init_ends[1] = -1;
        else if (!init_await(init_ends))
                return GATE_EXIT_FAILED;
        if (!place_stdio(&program))
                return fail(channel, GATE_AT_STDIO, errno);
        if (program.request->with_terminal && !take_terminal())
                return fail(channel, GATE_AT_TERMINAL, errno);

        GateHello hello = { 0 };
        GateFailure failure = { 0 };

        if (!make_enclosure(&program, &hello, &failure))
                return tell(channel, &failure);
        hello.unapplied |= apply_caller(program.request);
        if (!become(program.request))
                return fail(channel, GATE_AT_USER, errno);
        if (!enter_directory(&program))
                return fail(channel, GATE_AT_DIRECTORY, errno);
        probe_network(program.request, &hello);
        apply_signals(program.request);
        hello.is_scoped = program.request->is_scoped && scope_close();
        hello.is_filtered = program.request->is_scoped && scope_is_filtered() && scope_limits();
        channel = say_hello(channel, &hello, init_ends[1]);
        if (channel < 0 || !wait_for_go(channel))
                return GATE_EXIT_FAILED;
        return fail(channel, GATE_AT_EXEC, exec_program(&program));
}
