/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The request goes into a memfd, whatever its size: a socket's buffer would make us wait for a gate that may never
 * come, and the gate maps it instead of copying. */

#include "channel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/kernel/error.h"

#define STDIO_COUNT 3

struct GateChannel {
        int fd, child_fd, pidfd;
        int former_fd; /* that it is not heard over any more; −1 */
        int init_fd;   /* of a gate that stays as process 1; −1 */
        GateEnd end;
        GateHello hello;
        GateFailure failure;
};

static void append_string(GByteArray *bytes, const char *string) {
        g_byte_array_append(bytes, (const guint8 *)string, (guint)strlen(string) + 1);
}

static void encode_probes(const Allow *allow, GateRequest *request) {
        static const int families[GATE_PROBES] = { AF_INET, AF_INET6 };

        request->with_probes = allow != NULL;
        for (int i = 0; allow && i < GATE_PROBES; i++) {
                AllowNetwork closed;

                if (!allow_find_closed(allow, families[i], &closed))
                        continue;
                request->probes[i].family = (uint32_t)families[i];
                memcpy(request->probes[i].address, closed.bytes, sizeof closed.bytes);
        }
}

static void encode_cpus(const CpuList *cpus, GateRequest *request) {
        memset(request->schedule.cpus, 0, sizeof request->schedule.cpus);
        request->schedule.has_cpus = 1;
        request->schedule_parts |= GATE_UNAPPLIED_CPUS;
        for (size_t i = 0; i < MIN(cpus->size, sizeof request->schedule.cpus); i++) {
                uint64_t *word = &request->schedule.cpus[i / sizeof *word];
                unsigned shift = (unsigned)(i % sizeof *word) * 8;

                *word |= (uint64_t)cpus->bytes[i] << shift;
        }
}

static void encode_enclosure(const Enclosure *enclosure, GateRequest *request) {
        if (!enclosure)
                return;
        request->step_count = enclosure_step_count(enclosure);
        request->permit_count = enclosure->permit_count;
        request->has_permits = enclosure->has_permits;
        request->texts_size = enclosure->texts->len;
}

static GByteArray *request_encode(const GateOrder *order) {
        GByteArray *bytes = g_byte_array_new();
        const Caller *caller = order->caller;
        guint strings_at;
        GateRequest request = {
                .version = GATE_VERSION,
                .argc = g_strv_length((char **)order->command),
                .envc = g_strv_length((char **)order->environment),
                .umask = order->keep_umask ? GATE_UMASK_KEPT : caller->umask,
                .nice = order->keep_nice ? GATE_NICE_KEPT : caller->nice,
                .rlimit_mask = order->rlimit_mask | order->asked_mask,
                .schedule_parts = order->schedule_parts,
                .is_scoped = order->is_scoped,
                .with_terminal = order->has_terminal,
                .is_login = order->is_login,
                .schedule = caller->schedule,
                .signal_mask = caller->signal_mask,
                .signal_ignored = caller->signal_ignored,
                .directory_dev = caller->directory_dev,
                .directory_ino = order->is_directory_another ? GATE_DIRECTORY_ANY
                                                             : caller->directory_ino,
                .gid = caller->gid,
                .group_count = order->keep_groups ? GATE_GROUPS_KEPT : caller->group_count,
                .uid = GATE_USER_KEPT,
        };
        const gid_t *groups = caller->groups;

        if (order->account) {
                request.uid = order->account->uid;
                request.gid = order->account->gid;
                request.group_count = order->account->group_count;
                groups = order->account->groups;
        }
        encode_probes(order->allow, &request);
        if (order->cpus)
                encode_cpus(order->cpus, &request);
        encode_enclosure(order->enclosure, &request);
        for (int i = 0; i < GATE_RLIMITS; i++) {
                request.rlimits[i].soft = caller->rlimits[i].rlim_cur;
                request.rlimits[i].hard = caller->rlimits[i].rlim_max;
                if (order->asked_mask & (1U << i))
                        request.rlimits[i] = order->asked[i];
        }
        for (int i = 0; i < STDIO_COUNT; i++)
                if (order->stdio[i] >= 0)
                        request.stdio_mask |= 1U << i;
        g_byte_array_append(bytes, (const guint8 *)&request, sizeof request);
        if (order->enclosure)
                g_byte_array_append(bytes, (const guint8 *)order->enclosure->steps->data,
                                    (guint)(order->enclosure->steps->len * sizeof(Step)));
        if (request.group_count != GATE_GROUPS_KEPT)
                g_byte_array_append(bytes, (const guint8 *)groups,
                                    (guint)(request.group_count * sizeof(gid_t)));
        strings_at = bytes->len;
        append_string(bytes, caller->directory);
        for (char *const *p = order->command; *p; p++)
                append_string(bytes, *p);
        for (char *const *p = order->environment; *p; p++)
                append_string(bytes, *p);
        ((GateRequest *)bytes->data)->strings_size = bytes->len - strings_at;
        if (order->enclosure)
                g_byte_array_append(bytes, order->enclosure->texts->data,
                                    order->enclosure->texts->len);
        return bytes;
}

static int memfd_of(const GByteArray *bytes) {
        int fd = memfd_create("cordon-request", MFD_CLOEXEC);

        for (size_t done = 0; fd >= 0 && done < bytes->len;) {
                ssize_t n = write(fd, bytes->data + done, bytes->len - done);

                if (n < 0 && errno != EINTR) {
                        (void)close(fd);
                        return -1;
                }
                done += (size_t)MAX(n, 0);
        }
        return fd;
}

static bool send_request(int socket_fd, int memfd, const int stdio[STDIO_COUNT]) {
        int fds[1 + STDIO_COUNT] = { memfd };
        size_t count = 1;
        char type = GATE_REQUEST;
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(sizeof fds)];
        } control = { 0 };
        struct iovec iov = { .iov_base = &type, .iov_len = 1 };

        for (int i = 0; i < STDIO_COUNT; i++)
                if (stdio[i] >= 0)
                        fds[count++] = stdio[i];

        struct msghdr message = {
                .msg_iov = &iov,
                .msg_iovlen = 1,
                .msg_control = &control,
                .msg_controllen = CMSG_SPACE(sizeof(int) * count),
        };

        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        control.header.cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * count);
        return sendmsg(socket_fd, &message, MSG_NOSIGNAL) == 1;
}

static bool post_request(GateChannel *channel, const GateOrder *order) {
        g_autoptr(GByteArray) bytes = request_encode(order);
        int memfd = memfd_of(bytes);

        if (memfd < 0)
                return false;

        bool sent = send_request(channel->fd, memfd, order->stdio);

        (void)close(memfd);
        return sent;
}

GateChannel *gate_channel_new(const GateOrder *order, GError **error) {
        g_autoptr(GateChannel) channel = g_new0(GateChannel, 1);
        int ends[2];

        channel->fd = channel->former_fd = channel->child_fd = channel->pidfd = channel->init_fd =
                -1;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
                channel->fd = ends[0];
                channel->child_fd = ends[1];
                if (post_request(channel, order))
                        return g_steal_pointer(&channel);
        }

        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_SYSTEM, "cannot prepare the start: %s",
                    g_strerror(errno));
        return NULL;
}

void gate_channel_free(GateChannel *channel) {
        if (!channel)
                return;
        gate_channel_hang_up(channel);
        if (channel->pidfd >= 0)
                (void)close(channel->pidfd);
        g_free(channel);
}

int gate_channel_fd(const GateChannel *channel) {
        return channel->fd;
}

int gate_channel_child_end(const GateChannel *channel) {
        return channel->child_fd;
}

void gate_channel_drop_child_end(GateChannel *channel) {
        if (channel->child_fd >= 0)
                (void)close(channel->child_fd);
        channel->child_fd = -1;
}

/* The pidfd, the channel that all else goes over, and that of an init. */
static bool take_fds(GateChannel *channel, const struct msghdr *message) {
        const struct cmsghdr *c = CMSG_FIRSTHDR(message);
        int fds[GATE_HELLO_FDS] = { -1, -1, -1 };
        size_t size = c ? c->cmsg_len - CMSG_LEN(0) : 0;

        if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || size > sizeof fds ||
            size < 2 * sizeof(int))
                return false;
        memcpy(fds, CMSG_DATA(c), size);
        channel->former_fd = channel->fd;
        channel->pidfd = fds[0];
        channel->fd = fds[1];
        channel->init_fd = fds[2];
        return true;
}

GateNews gate_channel_read(GateChannel *channel) {
        union {
                uint32_t type;
                GateHello hello;
                GateFailure failure;
        } news = { 0 };
        union {
                struct cmsghdr header;
                char space[CMSG_SPACE(GATE_HELLO_FDS * sizeof(int))];
        } control = { 0 };
        struct iovec iov = { .iov_base = &news, .iov_len = sizeof news };
        struct msghdr message = { .msg_iov = &iov,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = sizeof control };
        ssize_t n = recvmsg(channel->fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? GATE_NEWS_NONE : GATE_NEWS_END;
        if (n == sizeof news.hello && news.type == GATE_HELLO && channel->pidfd < 0) {
                channel->hello = news.hello;
                return take_fds(channel, &message) ? GATE_NEWS_HELLO : GATE_NEWS_END;
        }
        if (n == sizeof news.failure && news.type == GATE_FAILURE) {
                channel->failure = news.failure;
                return GATE_NEWS_FAILURE;
        }
        return GATE_NEWS_END;
}

const GateHello *gate_channel_hello(const GateChannel *channel) {
        return &channel->hello;
}

const GateFailure *gate_channel_failure(const GateChannel *channel) {
        return &channel->failure;
}

const GateWorld *gate_channel_world(const GateChannel *channel) {
        return channel->failure.type == GATE_FAILURE ? &channel->failure.world
                                                     : &channel->hello.world;
}

int gate_channel_pidfd(const GateChannel *channel) {
        return channel->pidfd;
}

int gate_channel_init_fd(const GateChannel *channel) {
        return channel->init_fd;
}

bool gate_channel_read_end(GateChannel *channel) {
        GateEnd end = { 0 };
        ssize_t n = recv(channel->init_fd, &end, sizeof end, MSG_DONTWAIT);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return false;
        if (n == sizeof end && end.type == GATE_END)
                channel->end = end;
        return true;
}

const GateEnd *gate_channel_end(const GateChannel *channel) {
        return channel->end.type == GATE_END ? &channel->end : NULL;
}

void gate_channel_dismiss(GateChannel *channel) {
        if (channel->init_fd >= 0)
                (void)close(channel->init_fd);
        channel->init_fd = -1;
}

void gate_channel_take_back(GateChannel *channel, uint32_t unapplied) {
        channel->hello.unapplied &= ~unapplied;
}

void gate_channel_leave_former(GateChannel *channel) {
        if (channel->former_fd >= 0)
                (void)close(channel->former_fd);
        channel->former_fd = -1;
}

void gate_channel_close(GateChannel *channel) {
        gate_channel_leave_former(channel);
        if (channel->fd >= 0)
                (void)close(channel->fd);
        channel->fd = -1;
}

void gate_channel_hang_up(GateChannel *channel) {
        gate_channel_drop_child_end(channel);
        gate_channel_close(channel);
        gate_channel_dismiss(channel);
}

void gate_channel_go(GateChannel *channel) {
        char type = GATE_GO;

        /* A gate that is gone is noticed by its end of file, not here. */
        (void)send(channel->fd, &type, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}
