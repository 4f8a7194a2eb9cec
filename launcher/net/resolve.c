/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* getaddrinfo(3) cannot be told to give up, so it is a child that calls it, for all names at the same time, and tells one
 * name after the other. */

#include "resolve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "answer.h"
#include "launcher/kernel/error.h"

#define PATIENCE_USEC (10 * G_USEC_PER_SEC)
#define ADDRESSES_MAX 64 /* of a name */

/* What the child tells: a head for each name, in order, and count addresses behind it. */
typedef struct {
        int32_t status, error_number;
        uint32_t count;
} Head;

static void tell(int fd, const void *data, size_t size) {
        const char *next = data;

        while (size > 0) {
                ssize_t n = write(fd, next, size);

                if (n < 0 && errno != EINTR)
                        _exit(1);
                if (n > 0) {
                        next += n;
                        size -= (size_t)n;
                }
        }
}

static bool take_address(const struct addrinfo *info, AllowNetwork *ret_address) {
        const struct sockaddr *address = info->ai_addr;

        *ret_address = (AllowNetwork){ .family = info->ai_family };
        if (info->ai_family == AF_INET) {
                struct sockaddr_in in;

                memcpy(&in, address, sizeof in);
                memcpy(ret_address->bytes, &in.sin_addr, sizeof in.sin_addr);
                ret_address->length = 32;
                return true;
        }
        if (info->ai_family == AF_INET6) {
                struct sockaddr_in6 in6;

                memcpy(&in6, address, sizeof in6);
                memcpy(ret_address->bytes, &in6.sin6_addr, sizeof in6.sin6_addr);
                ret_address->length = 128;
                return !IN6_IS_ADDR_V4MAPPED(&in6.sin6_addr);
        }
        return false;
}

static void tell_result(int fd, int status, const struct addrinfo *result) {
        Head head = { .status = status, .error_number = errno };
        AllowNetwork addresses[ADDRESSES_MAX];

        for (; status == 0 && result && head.count < ADDRESSES_MAX; result = result->ai_next)
                if (take_address(result, &addresses[head.count]))
                        head.count++;
        tell(fd, &head, sizeof head);
        tell(fd, addresses, head.count * sizeof addresses[0]);
}

/* In the child */
static void be_resolver(int fd, const void *what) {
        const GPtrArray *names = what;
        const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
        g_autofree struct gaicb *requests = g_new0(struct gaicb, names->len);
        g_autofree struct gaicb **list = g_new0(struct gaicb *, names->len);

        for (guint i = 0; i < names->len; i++) {
                requests[i] = (struct gaicb){ .ar_name = names->pdata[i], .ar_request = &hints };
                list[i] = &requests[i];
        }
        if (getaddrinfo_a(GAI_NOWAIT, list, (int)names->len, NULL) != 0)
                _exit(1);
        for (guint i = 0; i < names->len; i++) {
                const struct gaicb *const one[] = { list[i] };
                int status;

                while ((status = gai_error(list[i])) == EAI_INPROGRESS)
                        (void)gai_suspend(one, 1, NULL);
                tell_result(fd, status, list[i]->ar_result);
        }
        _exit(0);
}

static bool fail(GError **error, const char *name, const char *why) {
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "--net: \"%s\" does not resolve: %s", name, why);
        return false;
}

static bool is_ours(const char *name) {
        return g_ascii_strcasecmp(name, "localhost") == 0 || g_str_has_suffix(name, ".localhost");
}

/* Whoever answers for a name would open the machine's own services otherwise. */
static bool fail_near(GError **error, const char *name, const AllowNetwork *address) {
        char text[INET6_ADDRSTRLEN] = "";

        (void)inet_ntop(address->family, address->bytes, text, sizeof text);
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "--net: \"%s\" resolves to %s, which is this machine or its link; list the "
                    "address itself where it is meant",
                    name, text);
        return false;
}

static bool take_name(Allow *allow, const char *name, const Head *head, const uint8_t *data,
                      GError **error) {
        if (head->status == EAI_SYSTEM)
                return fail(error, name, g_strerror(head->error_number));
        if (head->status != 0)
                return fail(error, name, gai_strerror(head->status));
        if (head->count == 0)
                return fail(error, name, "it has no address");
        for (uint32_t i = 0; i < head->count; i++) {
                AllowNetwork address;

                memcpy(&address, data + i * sizeof address, sizeof address);
                if (allow_is_near(&address) && !is_ours(name))
                        return fail_near(error, name, &address);
                allow_pin(allow, name, &address);
                if (!allow_open(allow, &address, error))
                        return false;
        }
        return true;
}

static bool take_answer(Allow *allow, const GPtrArray *names, const Answer *answer,
                        GError **error) {
        const uint8_t *next = answer->bytes->data;
        size_t left = answer->bytes->len;

        for (guint i = 0; i < names->len; i++) {
                Head head;

                if (left < sizeof head)
                        return fail(error, names->pdata[i],
                                    answer->is_late ? "no answer within 10s" : "no answer");
                memcpy(&head, next, sizeof head);
                next += sizeof head;
                left -= sizeof head;

                size_t size = head.count * sizeof(AllowNetwork);

                if (head.count > ADDRESSES_MAX || left < size)
                        return fail(error, names->pdata[i], "no answer");
                if (!take_name(allow, names->pdata[i], &head, next, error))
                        return false;
                next += size;
                left -= size;
        }
        return true;
}

bool resolve_hosts(Allow *allow, GError **error) {
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        for (guint i = 0; i < allow->entries->len; i++) {
                const AllowEntry *entry = allow->entries->pdata[i];

                if (entry->kind == ALLOW_HOST)
                        g_ptr_array_add(names, entry->name);
        }
        if (names->len == 0)
                return true;

        g_auto(Answer) answer = answer_to(be_resolver, names, PATIENCE_USEC);

        return take_answer(allow, names, &answer, error);
}
