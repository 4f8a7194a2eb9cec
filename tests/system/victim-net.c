/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a program can reach: "tcp ADDRESS PORT", "udp ADDRESS PORT", "icmp ADDRESS", "family NUMBER" and "uring ENTRIES", one
 * after the other; each is one line: how it went. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STATUS_MISUSE  70
#define PATIENCE_MSEC  700
#define ICMPV6_REQUEST 128

typedef union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
} Address;

static socklen_t read_address(const char *text, const char *port, Address *ret_address) {
        in_port_t number = htons((in_port_t)strtol(port, NULL, 10));

        *ret_address = (Address){ 0 };
        if (inet_pton(AF_INET, text, &ret_address->in.sin_addr) == 1) {
                ret_address->in.sin_family = AF_INET;
                ret_address->in.sin_port = number;
                return sizeof ret_address->in;
        }
        if (inet_pton(AF_INET6, text, &ret_address->in6.sin6_addr) != 1)
                _exit(STATUS_MISUSE);
        ret_address->in6.sin6_family = AF_INET6;
        ret_address->in6.sin6_port = number;
        return sizeof ret_address->in6;
}

static const char *wait_connected(int fd) {
        struct pollfd wait = { .fd = fd, .events = POLLOUT };
        int error = 0;
        socklen_t size = sizeof error;

        if (poll(&wait, 1, PATIENCE_MSEC) == 0)
                return "nothing";
        (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        return error ? strerrorname_np(error) : "connected";
}

static const char *try_tcp(const Address *address, socklen_t size) {
        int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        const char *how;

        if (fd < 0)
                return strerrorname_np(errno);
        if (connect(fd, &address->any, size) < 0 && errno != EINPROGRESS)
                how = strerrorname_np(errno);
        else
                how = wait_connected(fd);
        (void)close(fd);
        return how;
}

static const char *try_send(int fd, const void *data, size_t length, const Address *address,
                            socklen_t size) {
        const char *how = "sent";

        if (fd < 0)
                return strerrorname_np(errno);
        if (sendto(fd, data, length, MSG_NOSIGNAL, &address->any, size) < 0)
                how = strerrorname_np(errno);
        (void)close(fd);
        return how;
}

static const char *try_icmp(const Address *address, socklen_t size) {
        bool is_6 = address->any.sa_family == AF_INET6;
        struct icmphdr echo = { .type = is_6 ? ICMPV6_REQUEST : ICMP_ECHO };
        int protocol = is_6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
        int fd = socket(address->any.sa_family, SOCK_RAW | SOCK_CLOEXEC, protocol);

        if (fd < 0)
                fd = socket(address->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
        echo.checksum = is_6 ? 0 : (uint16_t)~htons(ICMP_ECHO << 8);
        return try_send(fd, &echo, sizeof echo, address, size);
}

static const char *try_family(int family) {
        int fd = socket(family, (family == AF_PACKET ? SOCK_RAW : SOCK_STREAM) | SOCK_CLOEXEC, 0);

        if (fd < 0)
                return strerrorname_np(errno);
        (void)close(fd);
        return "had";
}

static const char *try_uring(long entries) {
        char parameters[512] = { 0 };
        int fd = (int)syscall(SYS_io_uring_setup, entries, parameters);

        if (fd < 0)
                return strerrorname_np(errno);
        (void)close(fd);
        return "had";
}

/* Words that stand for a number, not for an address. NULL: it is an address. */
static const char *try_number(const char *what, long number) {
        if (strcmp(what, "family") == 0)
                return try_family((int)number);
        return strcmp(what, "uring") == 0 ? try_uring(number) : NULL;
}

static const char *try_protocol(const char *protocol, const char *address_text, const char *port) {
        Address address;
        socklen_t size = read_address(address_text, port, &address);

        if (strcmp(protocol, "icmp") == 0)
                return try_icmp(&address, size);
        if (strcmp(protocol, "tcp") == 0)
                return try_tcp(&address, size);
        return try_send(socket(address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), "x", 1,
                        &address, size);
}

int main(int argc, char *argv[]) {
        for (char **word = argv + 1; word + 1 < argv + argc; word += 2) {
                bool has_port = strcmp(word[0], "tcp") == 0 || strcmp(word[0], "udp") == 0;
                const char *how = try_number(word[0], strtol(word[1], NULL, 10));

                if (!how)
                        how = try_protocol(word[0], word[1], has_port ? word[2] : "0");
                printf("%s %s %s\n", word[0], word[1], how);
                word += has_port;
        }
        return 0;
}
