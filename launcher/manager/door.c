/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Choosing a manager and getting to it. Each kind is one small function; what they have in common is that the result
 * is a connection, and that a manager which was asked for by name is never silently replaced by another. */

#include "door.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"
#include "dbus/connect.h"
#include "error.h"
#include "launcher/gate/protocol.h"
#include "launcher/guard/protocol.h"
#include "launcher/guard/socket.h"
#include "launcher/kernel/file.h"
#include "private.h"

#define SYSTEM_SOCKET  "/run/systemd/private"
#define ROOT_GUARD_DIR "/run/cordon"

static const char *const words[_MANAGER_MAX] = {
        [MANAGER_AUTO] = "auto",
        [MANAGER_SYSTEM] = "system",
        [MANAGER_USER] = "user",
        [MANAGER_PRIVATE] = "private",
};

bool manager_kind_from_word(const char *word, ManagerKind *ret_kind) {
        for (int i = MANAGER_SYSTEM; i < _MANAGER_MAX; i++)
                if (g_strcmp0(words[i], word) == 0) {
                        *ret_kind = (ManagerKind)i;
                        return true;
                }
        return false;
}

const char *manager_kind_word(ManagerKind kind) {
        return words[kind];
}

/* The directory of the caller's session, also where the variable is missing (sudo, ssh, cron) or is another user's. */
static char *user_runtime_dir(void) {
        const char *named = g_getenv("XDG_RUNTIME_DIR");
        struct stat st;

        if (named && g_path_is_absolute(named) && stat(named, &st) == 0 && st.st_uid == geteuid())
                return g_strdup(named);
        return g_strdup_printf("/run/user/%u", (unsigned)geteuid());
}

static char *fallback_guard_dir(void) {
        g_autofree char *runtime_dir = user_runtime_dir();

        if (g_file_test(runtime_dir, G_FILE_TEST_IS_DIR))
                return g_build_filename(runtime_dir, "cordon", NULL);
        return g_strdup_printf("/tmp/cordon-%u", (unsigned)geteuid());
}

static bool booted_with_systemd(void) {
        return g_file_test("/run/systemd/system", G_FILE_TEST_IS_DIR);
}

/* 0: in no pid namespace that we see. */
static pid_t peer_of(int fd) {
        struct ucred peer = { 0 };
        socklen_t size = sizeof peer;

        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 ? 0 : peer.pid;
}

/* To a manager a connection is dear, and the guard has one (dbus/relay). A guard that will not, or is about to go,
 * hangs up before it has said anything. */
static bool connect_by_guard(Door *door) {
        g_autofree char *path = guard_socket_path(door->guard_dir, true);
        int fd = guard_connect(path), ends[2];

        if (fd < 0)
                return false;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
                (void)close(fd);
                return false;
        }
        door->is_relayed = guard_send_fd(fd, GUARD_RELAY, ends[1]);
        (void)close(ends[1]);
        if (!door->is_relayed)
                (void)close(ends[0]);
        door->is_relayed = door->is_relayed && connect_over(ends[0], &door->bus);
        if (!door->is_relayed) {
                (void)close(fd);
                return false;
        }
        door->guard_fd = fd;
        door->relay_pid = peer_of(fd);
        return true;
}

static bool reach(Door *door, bool is_brief, GError **error) {
        return (is_brief && connect_by_guard(door)) ||
               connect_direct(door->socket_path, &door->bus, error);
}

static bool open_system(Door *door, const Caller *caller, bool is_brief, GError **error) {
        if (!booted_with_systemd()) {
                g_set_error(
                        error, MANAGER_ERROR, MANAGER_ERROR_UNREACHABLE,
                        "no system manager: this machine is not booted with systemd; try --private");
                return false;
        }
        if (geteuid() != 0) {
                door->guard_dir = fallback_guard_dir();
                return connect_system_bus(&door->bus, error);
        }

        door->socket_path = g_strdup(SYSTEM_SOCKET);
        door->guard_dir = g_strdup(ROOT_GUARD_DIR);
        return reach(door, is_brief, error);
}

static bool open_user(Door *door, const Caller *caller, bool is_brief, GError **error) {
        g_autofree char *runtime_dir = user_runtime_dir();

        door->socket_path = g_build_filename(runtime_dir, "systemd", "private", NULL);
        door->guard_dir = g_build_filename(runtime_dir, "cordon", NULL);
        if (reach(door, is_brief, error))
                return true;

        g_prefix_error(error, "no user manager (try --private): ");
        return false;
}

/* Where /run/systemd/system is missing, the manager gets mounts of its own; without privileges that needs a user namespace. */
static uint32_t own_namespaces(void) {
        if (booted_with_systemd())
                return 0;
        return (1U << GATE_NS_MNT) | (geteuid() != 0 ? 1U << GATE_NS_USER : 0);
}

static bool open_private(Door *door, const Caller *caller, bool is_brief, GError **error) {
        g_autofree char *runtime_dir = NULL;
        PrivateSettings settings = { .caller = caller, .idle_usec = PRIVATE_IDLE_DEFAULT_USEC };

        if (!private_manager_ensure(&settings, &runtime_dir, &door->hold_fd, error))
                return false;

        door->own_namespaces = own_namespaces();
        door->socket_path = g_build_filename(runtime_dir, "systemd", "private", NULL);
        door->guard_dir = g_build_filename(runtime_dir, "cordon", NULL);
        return reach(door, is_brief, error);
}

static bool (*const openers[_MANAGER_MAX])(Door *, const Caller *, bool, GError **) = {
        [MANAGER_SYSTEM] = open_system,
        [MANAGER_USER] = open_user,
        [MANAGER_PRIVATE] = open_private,
};

static Door *open_kind(ManagerKind kind, const Caller *caller, bool is_brief, GError **error) {
        g_autoptr(Door) door = g_new0(Door, 1);

        door->kind = kind;
        door->hold_fd = door->guard_fd = -1;
        return openers[kind](door, caller, is_brief, error) ? g_steal_pointer(&door) : NULL;
}

/* Of a process, as many numbers as there are pid namespaces from ours down to its own. */
static unsigned count_numbers(const char *status) {
        const char *line = caller_find_status(status, "\nNSpid:") ?: "";
        unsigned count = 0;

        for (; *line && *line != '\n'; line++)
                count += *line == '\t';
        return count;
}

/* Who listens on the socket is the manager, the bus that it is on, or the guard, which it has started. */
bool door_counts_as_we_do(const Door *door, const Caller *caller) {
        pid_t peer = door->is_relayed ? door->relay_pid : peer_of(sd_bus_get_fd(door->bus));
        g_autofree char *path = NULL, *status = NULL;

        if (peer <= 0)
                return false;
        path = g_strdup_printf("/proc/%d/status", (int)peer);
        status = file_read_record(AT_FDCWD, path);
        return count_numbers(status) == count_numbers(caller->status);
}

bool door_is_unprivileged(const Door *door) {
        return door->kind != MANAGER_SYSTEM && geteuid() != 0;
}

ManagerKind door_guess(ManagerKind kind) {
        if (kind != MANAGER_AUTO)
                return kind;
        if (geteuid() != 0)
                return MANAGER_USER;
        return booted_with_systemd() ? MANAGER_SYSTEM : MANAGER_PRIVATE;
}

static Door *open_one(ManagerKind kind, const Caller *caller, bool is_brief, GError **error) {
        if (kind != MANAGER_AUTO)
                return open_kind(kind, caller, is_brief, error);
        if (geteuid() == 0 && booted_with_systemd())
                return open_kind(MANAGER_SYSTEM, caller, is_brief, error);

        Door *door = open_kind(MANAGER_USER, caller, is_brief, NULL);

        return door ?: open_kind(MANAGER_PRIVATE, caller, is_brief, error);
}

Door *door_open_for(ManagerKind kind, const Caller *caller, GError **error) {
        return open_one(kind, caller, true, error);
}

static sd_bus *peek_private(void) {
        g_autofree char *socket_path = private_manager_socket();
        sd_bus *bus = NULL;

        return socket_path && connect_direct(socket_path, &bus, NULL) ? bus : NULL;
}

sd_bus *door_peek(ManagerKind kind) {
        g_autoptr(Door) door = NULL;

        if (kind == MANAGER_PRIVATE)
                return peek_private();
        if (kind == MANAGER_AUTO && geteuid() == 0 && booted_with_systemd())
                kind = MANAGER_SYSTEM;
        door = open_kind(kind == MANAGER_AUTO ? MANAGER_USER : kind, NULL, false, NULL);
        if (door)
                return g_steal_pointer(&door->bus);
        return kind == MANAGER_AUTO ? peek_private() : NULL;
}

Door *door_open(ManagerKind kind, GError **error) {
        return open_one(kind, NULL, false, error);
}

void door_free(Door *door) {
        if (!door)
                return;
        sd_bus_close_unref(door->bus);
        if (door->hold_fd >= 0)
                (void)close(door->hold_fd);
        if (door->guard_fd >= 0)
                (void)close(door->guard_fd);
        g_free(door->socket_path);
        g_free(door->guard_dir);
        g_free(door);
}

/* Not known, it would be taken for an old one, and what newer ones can do would not be asked for. A guard that leaves just
 * now, or is stopped, says nothing: then the manager itself is asked. */
void door_learn_version(Door *door) {
        sd_bus *bus = NULL;

        door->systemd_major = connect_manager_version(door->bus);
        if (door->systemd_major > 0 || !door->is_relayed ||
            !connect_direct(door->socket_path, &bus, NULL))
                return;
        sd_bus_close_unref(door->bus);
        door->bus = bus;
        door->is_relayed = false;
        door->systemd_major = connect_manager_version(door->bus);
}

bool door_is_open(const Door *door) {
        return door->bus && sd_bus_is_open(door->bus) > 0;
}

bool door_reopen(Door *door, sd_event *event, GError **error) {
        int r;

        door->bus = sd_bus_close_unref(door->bus);
        door->is_relayed = false;
        if (door->socket_path ? !connect_direct(door->socket_path, &door->bus, error)
                              : !connect_system_bus(&door->bus, error))
                return false;
        r = sd_bus_attach_event(door->bus, event, SD_EVENT_PRIORITY_NORMAL);
        if (r < 0)
                g_set_error(error, MANAGER_ERROR, MANAGER_ERROR_UNREACHABLE,
                            "cannot watch the manager: %s", g_strerror(-r));
        return r >= 0;
}

char *door_program_path(const char *name) {
        g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
        g_autofree char *directory = self ? g_path_get_dirname(self) : g_strdup("");
        char *candidates[] = {
                g_build_filename(directory, name, NULL),
                g_build_filename(directory, "..", "libexec", "cordon", name, NULL),
                g_build_filename(CORDON_LIBEXEC_DIR, name, NULL),
        };
        char *found = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(candidates); i++) {
                if (!found && g_file_test(candidates[i], G_FILE_TEST_IS_EXECUTABLE))
                        found = g_canonicalize_filename(candidates[i], NULL);
                g_free(candidates[i]);
        }
        return found ?: g_build_filename(CORDON_LIBEXEC_DIR, name, NULL);
}
