/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* More than the limits allow, of everything. Each has a bound of its own, so that the machine survives where a limit
 * does not hold; to reach it is the escape. */

#include "attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB            ((size_t)1 << 20)
#define PAGE           4096
#define TWO_MIB        (2 * MIB)
#define SEGMENT_BYTES  (4 * MIB)
#define FILES_AT_ONCE  64
#define TIMES_THE_MOST 4
#define WRITE_MSEC     10 /* as a slow disk would: nobody looks every microsecond */
#define BURN_USEC      5000

static size_t bytes_of(const char *text) {
        return strtoul(text, NULL, 10) * MIB;
}

static void pause_msec(int msec) {
        (void)poll(NULL, 0, msec);
}

/* Tasks */

static atomic_long *shared_counter(void) {
        atomic_long *counter = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                    -1, 0);

        if (counter == MAP_FAILED)
                held();
        return counter;
}

static void breed(atomic_long *count, long most) {
        while (atomic_fetch_add(count, 1) < most) {
                pid_t pid = fork();

                if (pid >= 0)
                        continue;
                atomic_fetch_sub(count, 1);
                pause_msec(1);
        }
        stay();
}

/* Every process makes as many as it can, for ever. */
static void fork_bomb(char **arguments) {
        long most = strtol(arguments[0], NULL, 10);
        atomic_long *count = shared_counter();

        (void)signal(SIGTERM, SIG_IGN);
        if (fork() == 0)
                breed(count, most);
        while (atomic_load(count) < most)
                pause_msec(5);
        escaped("%ld processes", most);
}

static void *idle(void *unused) {
        stay();
        return unused;
}

static void thread_bomb(char **arguments) {
        long most = strtol(arguments[0], NULL, 10), made = 0;
        pthread_attr_t attributes;
        pthread_t thread;

        (void)signal(SIGTERM, SIG_IGN);
        (void)pthread_attr_init(&attributes);
        (void)pthread_attr_setstacksize(&attributes, 65536);
        while (made < most)
                if (pthread_create(&thread, &attributes, idle, NULL) == 0)
                        made++;
                else
                        pause_msec(1);
        escaped("%ld threads", made);
}

/* Memory */

static void touch(volatile char *memory, size_t size, size_t step) {
        for (size_t i = 0; i < size; i += step)
                memory[i] = 1;
}

static void *map(size_t size, int flags, int fd) {
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

        if (memory == MAP_FAILED)
                held();
        return memory;
}

static void memory_anonymous(char **arguments) {
        size_t size = bytes_of(arguments[0]);

        touch(map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1), size, PAGE);
        escaped("%zu bytes", size);
}

static void memory_shared(char **arguments) {
        size_t size = bytes_of(arguments[0]);

        touch(map(size, MAP_SHARED | MAP_ANONYMOUS, -1), size, PAGE);
        escaped("%zu bytes", size);
}

static void memory_locked(char **arguments) {
        size_t size = bytes_of(arguments[0]);
        void *memory = map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);

        if (mlock(memory, size) < 0)
                held();
        escaped("%zu bytes", size);
}

static void fill(int fd, size_t size) {
        static const char block[65536] = { 1 };

        for (size_t done = 0; done < size;) {
                ssize_t n = write(fd, block, sizeof block);

                if (n <= 0)
                        held();
                done += (size_t)n;
        }
}

static void memory_memfd(char **arguments) {
        size_t size = bytes_of(arguments[0]);
        int fd = memfd_create("escape", MFD_CLOEXEC);

        if (fd < 0)
                held();
        fill(fd, size);
        escaped("%zu bytes", size);
}

/* A file without a name in a file system that is memory. */
static void memory_tmpfs(char **arguments) {
        char path[] = "/dev/shm/escape-XXXXXX";
        int fd = mkstemp(path);

        if (fd < 0)
                held();
        (void)unlink(path);
        fill(fd, bytes_of(arguments[0]));
        escaped("%s MiB", arguments[0]);
}

static void memory_cache(char **arguments) {
        int fd = open("cache", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd < 0)
                held();
        (void)unlink("cache");
        fill(fd, bytes_of(arguments[0]));
        held_by("written; what was kept of it in memory is counted");
}

static size_t fill_until_full(int fd) {
        static const char block[65536] = { 1 };
        size_t done = 0;
        ssize_t n;

        (void)fcntl(fd, F_SETFL, O_NONBLOCK);
        while ((n = write(fd, block, sizeof block)) > 0)
                done += (size_t)n;
        return done;
}

static void memory_pipes(char **arguments) {
        size_t size = bytes_of(arguments[0]), done = 0;
        int ends[2];

        while (done < size) {
                if (pipe(ends) < 0)
                        held();
                (void)fcntl(ends[1], F_SETPIPE_SZ, (int)MIB);
                done += fill_until_full(ends[1]);
        }
        escaped("%zu bytes", done);
}

static void memory_sockets(char **arguments) {
        size_t size = bytes_of(arguments[0]), done = 0;
        int ends[2], most = (int)MIB;

        while (done < size) {
                if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
                        held();
                (void)setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &most, sizeof most);
                done += fill_until_full(ends[1]);
        }
        escaped("%zu bytes", done);
}

/* Removed as soon as nobody has them, however we end. */
static void memory_segments(char **arguments) {
        size_t size = bytes_of(arguments[0]);

        for (size_t done = 0; done < size; done += SEGMENT_BYTES) {
                int id = shmget(IPC_PRIVATE, SEGMENT_BYTES, IPC_CREAT | 0600);
                char *memory = id < 0 ? (char *)-1 : shmat(id, NULL, 0);

                if (id >= 0)
                        (void)shmctl(id, IPC_RMID, NULL);
                if (memory == (char *)-1)
                        held();
                touch(memory, SEGMENT_BYTES, PAGE);
        }
        escaped("%zu bytes", size);
}

/* In many processes, each of them small. */
static void memory_children(char **arguments) {
        size_t size = bytes_of(arguments[0]);
        atomic_long *count = shared_counter();
        long wanted = (long)(size / (4 * MIB));

        for (long i = 0; i < wanted; i++) {
                pid_t pid = fork();

                if (pid < 0)
                        held();
                if (pid > 0)
                        continue;
                touch(map(4 * MIB, MAP_PRIVATE | MAP_ANONYMOUS, -1), 4 * MIB, PAGE);
                atomic_fetch_add(count, 1);
                stay();
        }
        while (atomic_load(count) < wanted) {
                if (waitpid(-1, NULL, WNOHANG) > 0)
                        held_by("a child was killed");
                pause_msec(5);
        }
        escaped("%zu bytes", size);
}

/* A page in every two MiB: what is large is not what was touched but the tables that lead there. */
static void memory_tables(char **arguments) {
        size_t size = bytes_of(arguments[0]), span = size / PAGE * TWO_MIB;
        volatile char *memory = mmap(NULL, span, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (memory == MAP_FAILED)
                held();
        (void)madvise((void *)memory, span, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < span; i += TWO_MIB)
                (void)memory[i]; /* the page of zeros, which is nobody's */
        escaped("%zu bytes", size);
}

/* Time */

static uint64_t cpu_usec(void) {
        struct timespec now;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* None of them lives long enough to be seen twice; one after another they use a CPU. */
static void cpu_children(char **arguments) {
        (void)signal(SIGCHLD, SIG_IGN);
        for (;;) {
                pid_t pid = fork();

                if (pid == 0) {
                        while (cpu_usec() < BURN_USEC)
                                ;
                        _exit(0);
                }
                (void)waitpid(pid, NULL, 0);
        }
}

/* Files */

static void sparse_file(char **arguments) {
        int fd = open("sparse", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        off_t size = (off_t)bytes_of(arguments[0]);

        (void)signal(SIGXFSZ, SIG_IGN);
        if (fd < 0)
                held();
        (void)unlink("sparse");
        if (ftruncate(fd, size) == 0 || pwrite(fd, "x", 1, size) == 1 ||
            posix_fallocate(fd, 0, size) == 0)
                escaped("%ld bytes", (long)size);
        held();
}

static void many_files(char **arguments) {
        size_t size = bytes_of(arguments[0]);
        char name[64];

        for (size_t i = 0; i < size / (MIB / 2); i++) {
                (void)snprintf(name, sizeof name, "many-%d-%zu", (int)getpid(), i);

                int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

                if (fd < 0)
                        held();
                fill(fd, MIB / 2);
                (void)close(fd);
                pause_msec(WRITE_MSEC);
        }
        escaped("%zu bytes", size);
}

/* They have no name, but their place on the disk. */
static void deleted_files(char **arguments) {
        size_t size = bytes_of(arguments[0]);

        for (size_t i = 0; i < size / (MIB / 2); i++) {
                int fd = open("deleted", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

                if (fd < 0)
                        held();
                (void)unlink("deleted");
                fill(fd, MIB / 2);
                pause_msec(WRITE_MSEC);
        }
        escaped("%zu bytes", size);
}

static void open_files(char **arguments) {
        long most = strtol(arguments[0], NULL, 10), count = 0;

        while (count < most && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
                count++;
        if (count < most)
                held();
        escaped("%ld files", count);
}

static int send_file(int socket_fd, int fd) {
        char space[CMSG_SPACE(sizeof fd)] = { 0 };
        struct iovec data = { (void *)"x", 1 };
        struct msghdr message = { .msg_iov = &data,
                                  .msg_iovlen = 1,
                                  .msg_control = space,
                                  .msg_controllen = sizeof space };
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);

        *head = (struct cmsghdr){ CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS };
        memcpy(CMSG_DATA(head), &fd, sizeof fd);
        return sendmsg(socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* Files on their way between two sockets are nobody's descriptors. The kernel lets every user have as many again. */
static void files_in_flight(char **arguments) {
        long most = TIMES_THE_MOST * strtol(arguments[0], NULL, 10), count = 0;

        while (count < most) {
                int ends[2], fd = 0;

                if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
                        held();
                for (int i = 0; i < FILES_AT_ONCE; i++, count++) {
                        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
                        if (fd < 0 || send_file(ends[0], fd) < 0)
                                break;
                        (void)close(fd);
                }
                if (fd < 0)
                        held();
        }
        escaped("%ld files", count);
}

static void output_flood(char **arguments) {
        static const char block[65536] = { 'x' };

        for (;;) {
                (void)!write(STDOUT_FILENO, block, sizeof block);
                (void)!write(STDERR_FILENO, block, sizeof block);
        }
}

const Attempt resource_attempts[] = {
        { "fork-bomb", 1, fork_bomb },
        { "thread-bomb", 1, thread_bomb },
        { "memory-anonymous", 1, memory_anonymous },
        { "memory-shared", 1, memory_shared },
        { "memory-locked", 1, memory_locked },
        { "memory-memfd", 1, memory_memfd },
        { "memory-tmpfs", 1, memory_tmpfs },
        { "memory-cache", 1, memory_cache },
        { "memory-pipes", 1, memory_pipes },
        { "memory-sockets", 1, memory_sockets },
        { "memory-segments", 1, memory_segments },
        { "memory-children", 1, memory_children },
        { "memory-tables", 1, memory_tables },
        { "cpu-children", 0, cpu_children },
        { "sparse-file", 1, sparse_file },
        { "many-files", 1, many_files },
        { "deleted-files", 1, deleted_files },
        { "open-files", 1, open_files },
        { "files-in-flight", 1, files_in_flight },
        { "output-flood", 0, output_flood },
        { 0 },
};
