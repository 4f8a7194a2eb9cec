/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The network where there should be none, and the doors beside it. */

#include "attempt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_socket(int family, int type, int protocol) {
        int fd = socket(family, type | SOCK_CLOEXEC, protocol);

        if (fd < 0)
                held();
        return fd;
}

static in_port_t port_of(const char *text) {
        return htons((uint16_t)strtoul(text, NULL, 10));
}

static void tcp(char **arguments) {
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_port = port_of(arguments[0]),
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        int fd = open_socket(AF_INET, SOCK_STREAM, 0);

        if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
                held();
        escaped("connected");
}

static void udp(char **arguments) {
        struct sockaddr_in address = { .sin_family = AF_INET,
                                       .sin_port = port_of(arguments[0]),
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        int fd = open_socket(AF_INET, SOCK_DGRAM, 0);

        /* where nobody listens, the first says nothing and the second that it is refused */
        if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
            send(fd, "x", 1, 0) < 0 || send(fd, "x", 1, 0) < 0)
                held();
        escaped("sent");
}

static void tcp6(char **arguments) {
        struct sockaddr_in6 address = { .sin6_family = AF_INET6,
                                        .sin6_port = port_of(arguments[0]),
                                        .sin6_addr = IN6ADDR_LOOPBACK_INIT };
        int fd;

        if (address.sin6_port == 0)
                untried("n/a: the machine has no IPv6");
        fd = open_socket(AF_INET6, SOCK_STREAM, 0);
        if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0)
                held();
        escaped("connected");
}

static void abstract_socket(char **arguments) {
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = open_socket(AF_UNIX, SOCK_STREAM, 0);
        size_t length = strlen(arguments[0]);

        memcpy(address.sun_path + 1, arguments[0], length);
        if (connect(fd, (const struct sockaddr *)&address,
                    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) < 0)
                held();
        escaped("connected");
}

static void interfaces(char **arguments) {
        struct if_nameindex *all = if_nameindex();

        if (!all)
                held();
        for (const struct if_nameindex *one = all; one->if_name; one++)
                if (strcmp(one->if_name, "lo") != 0)
                        escaped("%s", one->if_name);
        held_by("only lo");
}

/* Kernel and udev tell every listener in the machine's own network about devices. */
static void device_events(char **arguments) {
        struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = 1 };
        int fd = open_socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT);
        struct timeval patience = { .tv_usec = 300000 };
        char text[4096];
        ssize_t n;

        if (bind(fd, (const struct sockaddr *)&address, sizeof address) < 0)
                held();
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        /* the test makes one happen where it can */
        (void)write_text("/sys/class/net/lo/uevent", "change");
        n = recv(fd, text, sizeof text - 1, 0);
        if (n <= 0)
                held();
        text[n] = '\0';
        escaped("%s", text);
}

static void packet(char **arguments) {
        (void)open_socket(AF_PACKET, SOCK_RAW, htons(3));
        escaped("AF_PACKET");
}

static void raw_ip(char **arguments) {
        (void)open_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
        escaped("SOCK_RAW");
}

/* Of the machine, whatever the network namespace. */
static void vsock(char **arguments) {
        static const unsigned peers[] = { VMADDR_CID_LOCAL, VMADDR_CID_HOST };
        struct sockaddr_vm address = { .svm_family = AF_VSOCK };
        struct timeval patience = { .tv_sec = 1 };
        int fd = open_socket(AF_VSOCK, SOCK_STREAM, 0);

        address.svm_port = (unsigned)strtoul(arguments[0], NULL, 10);
        (void)setsockopt(fd, AF_VSOCK, SO_VM_SOCKETS_CONNECT_TIMEOUT, &patience, sizeof patience);
        for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
                address.svm_cid = peers[i];
                if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 ||
                    errno == ECONNRESET)
                        escaped("there is somebody at %u", peers[i]);
        }
        escaped("a socket");
}

/* Each is a piece of kernel that a program without a network has no use for. */
static void odd_families(char **arguments) {
        static const struct {
                const char *name;
                int family, type;
        } families[] = {
                { "AF_ALG", 38, SOCK_SEQPACKET },    { "AF_BLUETOOTH", 31, SOCK_RAW },
                { "AF_CAN", 29, SOCK_RAW },          { "AF_TIPC", 30, SOCK_RDM },
                { "AF_KEY", 15, SOCK_RAW },          { "AF_XDP", 44, SOCK_RAW },
                { "AF_RDS", 21, SOCK_SEQPACKET },    { "AF_QIPCRTR", 42, SOCK_DGRAM },
                { "AF_IEEE802154", 36, SOCK_DGRAM }, { "AF_NFC", 39, SOCK_SEQPACKET },
        };

        errno = EAFNOSUPPORT;
        for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
                if (socket(families[i].family, families[i].type | SOCK_CLOEXEC, 0) >= 0)
                        escaped("%s", families[i].name);
        held();
}

const Attempt network_attempts[] = {
        { "tcp", 1, tcp },
        { "udp", 1, udp },
        { "tcp6", 1, tcp6 },
        { "abstract-socket", 1, abstract_socket },
        { "interfaces", 0, interfaces },
        { "device-events", 0, device_events },
        { "packet", 0, packet },
        { "raw-ip", 0, raw_ip },
        { "vsock", 1, vsock },
        { "odd-families", 0, odd_families },
        { 0 },
};
