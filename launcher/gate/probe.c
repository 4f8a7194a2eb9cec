/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One datagram to the discard port of an address that is closed. The kernel tells the sender of a datagram, and of no
 * other packet, that a filter took it. */

#include "probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DISCARD_PORT 9

typedef union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
} Address;

static socklen_t address_of(const GateProbe *probe, Address *ret_address) {
        *ret_address = (Address){ 0 };
        if (probe->family == AF_INET) {
                ret_address->in.sin_family = AF_INET;
                ret_address->in.sin_port = htons(DISCARD_PORT);
                memcpy(&ret_address->in.sin_addr, probe->address, sizeof ret_address->in.sin_addr);
                return sizeof ret_address->in;
        }
        ret_address->in6.sin6_family = AF_INET6;
        ret_address->in6.sin6_port = htons(DISCARD_PORT);
        memcpy(&ret_address->in6.sin6_addr, probe->address, sizeof ret_address->in6.sin6_addr);
        return sizeof ret_address->in6;
}

static GateProbeResult judge(int error_number) {
        switch (error_number) {
        case EPERM:
                return GATE_PROBE_DENIED;
        case EAFNOSUPPORT:
        case EADDRNOTAVAIL:
        case ENETUNREACH:
        case EHOSTUNREACH:
        case ENETDOWN:
                return GATE_PROBE_NO_WAY;
        default:
                return GATE_PROBE_PASSED; /* not shown to be denied */
        }
}

static GateProbeResult try_address(const GateProbe *probe) {
        GateProbeResult result = GATE_PROBE_PASSED;
        Address address;
        socklen_t size;
        int fd;

        if (probe->family == 0)
                return GATE_PROBE_NONE;
        fd = socket((int)probe->family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return judge(errno);
        size = address_of(probe, &address);
        if (sendto(fd, "", 1, MSG_NOSIGNAL, &address.any, size) < 0)
                result = judge(errno);
        (void)close(fd);
        return result;
}

/* It makes sockets that socket(2) would not. */
static bool has_uring(void) {
        return syscall(SYS_io_uring_setup, 0, NULL) >= 0 || (errno != ENOSYS && errno != EPERM);
}

/* Where it is not forbidden, who has no right to it is told so. */
static bool has_packets(void) {
        int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

        if (fd < 0)
                return errno != EAFNOSUPPORT;
        (void)close(fd);
        return true;
}

void probe_network(const GateRequest *request, GateHello *hello) {
        if (!request->with_probes)
                return;
        for (int i = 0; i < GATE_PROBES; i++)
                hello->probes[i] = try_address(&request->probes[i]);
        hello->has_packets = has_packets() || has_uring();
}
