/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The network: with the caller's, with none, and without trust. Who is reached counts his visitors. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "stage.h"

static int tcp = -1, tcp6 = -1, udp = -1, named = -1;

static bool accepts(int listener) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0)
                (void)close(fd);
        return fd >= 0;
}

static bool is_reached(const KitRun *run, const char *verdict) {
        return accepts(tcp);
}

static bool is_reached_by_6(const KitRun *run, const char *verdict) {
        return accepts(tcp6);
}

static bool is_reached_by_name(const KitRun *run, const char *verdict) {
        return accepts(named);
}

static bool has_got_datagrams(const KitRun *run, const char *verdict) {
        char byte;
        bool has_got = false;

        while (recv(udp, &byte, 1, MSG_DONTWAIT) > 0)
                has_got = true;
        return has_got;
}

/* clang-format off */
static const Trial trials[] = {
        { "tcp",             { "@tcp" },      is_reached },
        { "udp",             { "@udp" },      has_got_datagrams },
        { "tcp6",            { "@tcp6" },     is_reached_by_6 },
        { "abstract-socket", { "@abstract" }, is_reached_by_name },
        { "interfaces",      { NULL },        NULL },
        { "device-events",   { NULL },        NULL },
        { "packet",          { NULL },        NULL },
        { "raw-ip",          { NULL },        NULL },
        { "vsock",           { "1234" },      NULL },
        { "odd-families",    { NULL },        NULL },
};
/* clang-format on */

static int open_listener(int family, int type, const struct sockaddr *address, socklen_t size) {
        int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0 || bind(fd, address, size) < 0 || (type == SOCK_STREAM && listen(fd, 16) < 0)) {
                if (fd >= 0)
                        (void)close(fd);
                return -1;
        }
        return fd;
}

static unsigned port_of(int fd) {
        struct sockaddr_in6 address = { 0 };
        socklen_t size = sizeof address;

        /* the port is at the same place in both kinds */
        if (fd < 0 || getsockname(fd, (struct sockaddr *)&address, &size) < 0)
                return 0;
        return ntohs(address.sin6_port);
}

static void open_all(void) {
        struct sockaddr_in four = { .sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
        struct sockaddr_un name = { .sun_family = AF_UNIX };
        g_autofree char *text = g_strdup_printf("escape-%d", (int)getpid());

        memcpy(name.sun_path + 1, text, strlen(text));
        tcp = open_listener(AF_INET, SOCK_STREAM, (const struct sockaddr *)&four, sizeof four);
        udp = open_listener(AF_INET, SOCK_DGRAM, (const struct sockaddr *)&four, sizeof four);
        tcp6 = open_listener(AF_INET6, SOCK_STREAM, (const struct sockaddr *)&six, sizeof six);
        named = open_listener(AF_UNIX, SOCK_STREAM, (const struct sockaddr *)&name,
                              (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                                          strlen(text)));
        if (tcp < 0 || udp < 0 || named < 0)
                BAIL_OUT("cannot listen");
        stage_know("tcp", "%u", port_of(tcp));
        stage_know("udp", "%u", port_of(udp));
        stage_know("tcp6", "%u", port_of(tcp6));
        stage_know("abstract", "%s", text);
}

int main(void) {
        static const Stage stages[] = { STAGE_PLAIN, STAGE_NO_NETWORK, STAGE_UNTRUSTED };

        stage_begin();
        open_all();
        for (size_t i = 0; i < G_N_ELEMENTS(stages); i++)
                stage_try(stages[i], "network", trials, G_N_ELEMENTS(trials));
        stage_covers("network", trials, G_N_ELEMENTS(trials));
        stage_end();
        done_testing();
}
