/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A fresh connection for each question: the manager may have re-executed since the last one, or have gone. */

#include "manager.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "kit.h"

#define SERVICE   "org.freedesktop.systemd1"
#define PATH      "/org/freedesktop/systemd1"
#define MANAGER   SERVICE ".Manager"
#define COMEBACK  (20 * KIT_SEC)
#define ROOT_BASE "/run/cordon"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus, sd_bus_close_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)

#define PRIVATE "private-"

/* The name of the private manager that is ours; NULL: not known, then all of them are. */
static char *home;

void manager_learn(const char *control_group) {
        g_autoptr(GRegex) name = g_regex_new("/cordon-(" PRIVATE "[0-9a-f]{16})", 0, 0, NULL);
        g_autoptr(GMatchInfo) match = NULL;

        if (g_str_equal(kit_manager(), "private") && g_regex_match(name, control_group, 0, &match))
                home = g_match_info_fetch(match, 1);
}

void manager_forget(void) {
        g_clear_pointer(&home, g_free);
}

static void add_private(GPtrArray *dirs, const char *base) {
        g_autoptr(GDir) directory = g_dir_open(base, 0, NULL);

        for (const char *name; directory && (name = g_dir_read_name(directory));)
                if (g_str_has_prefix(name, PRIVATE) && (!home || g_str_equal(name, home)))
                        g_ptr_array_add(dirs, g_build_filename(base, name, NULL));
}

GPtrArray *manager_runtime_dirs(void) {
        GPtrArray *dirs = g_ptr_array_new_with_free_func(g_free);
        const char *session = g_getenv("XDG_RUNTIME_DIR");
        g_autofree char *below = session ? g_build_filename(session, "cordon", NULL) : NULL;
        g_autofree char *fallback = g_strdup_printf("/tmp/cordon-%u", (unsigned)geteuid());

        if (g_str_equal(kit_manager(), "system")) {
                g_ptr_array_add(dirs, g_strdup("/run"));
        } else if (g_str_equal(kit_manager(), "user")) {
                g_ptr_array_add(dirs, g_strdup(session ?: "/run/user/0"));
        } else {
                add_private(dirs, ROOT_BASE);
                add_private(dirs, fallback);
                if (below)
                        add_private(dirs, below);
        }
        return dirs;
}

static sd_bus *open_bus(const char *runtime_dir) {
        g_autoptr(sd_bus) bus = NULL;
        g_autofree char *address = g_strdup_printf("unix:path=%s/systemd/private", runtime_dir);

        if (sd_bus_new(&bus) < 0 || sd_bus_set_address(bus, address) < 0 || sd_bus_start(bus) < 0)
                return NULL;
        return g_steal_pointer(&bus);
}

static int list_units(sd_bus *bus, const char *const *patterns, sd_bus_message **ret_reply) {
        g_autoptr(sd_bus_message) call = NULL;
        int r = sd_bus_message_new_method_call(bus, &call, SERVICE, PATH, MANAGER,
                                               "ListUnitsByPatterns");

        if (r >= 0)
                r = sd_bus_message_append_strv(call, NULL);
        if (r >= 0)
                r = sd_bus_message_append_strv(call, (char **)patterns);
        return r < 0 ? r : sd_bus_call(bus, call, 0, NULL, ret_reply);
}

static void add_units(GPtrArray *units, sd_bus *bus, const char *const *patterns) {
        g_autoptr(sd_bus_message) reply = NULL;
        const char *name;

        if (list_units(bus, patterns, &reply) < 0 ||
            sd_bus_message_enter_container(reply, 'a', "(ssssssouso)") < 0)
                return;
        while (sd_bus_message_enter_container(reply, 'r', "ssssssouso") > 0) {
                if (sd_bus_message_read(reply, "s", &name) > 0)
                        g_ptr_array_add(units, g_strdup(name));
                (void)sd_bus_message_skip(reply, "sssssouso");
                (void)sd_bus_message_exit_container(reply);
        }
}

GPtrArray *manager_units(const char *const *patterns) {
        g_autoptr(GPtrArray) dirs = manager_runtime_dirs();
        GPtrArray *units = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < dirs->len; i++) {
                g_autoptr(sd_bus) bus = open_bus(g_ptr_array_index(dirs, i));

                if (bus)
                        add_units(units, bus, patterns);
        }
        return units;
}

/* The object of a unit at the manager that has it. */
static char *unit_path(const char *unit, sd_bus **ret_bus) {
        g_autoptr(GPtrArray) dirs = manager_runtime_dirs();

        for (guint i = 0; i < dirs->len; i++) {
                g_autoptr(sd_bus) bus = open_bus(g_ptr_array_index(dirs, i));
                g_autoptr(sd_bus_message) reply = NULL;
                const char *path;

                if (!bus || sd_bus_call_method(bus, SERVICE, PATH, MANAGER, "GetUnit", NULL, &reply,
                                               "s", unit) < 0)
                        continue;
                if (sd_bus_message_read(reply, "o", &path) < 0)
                        continue;
                *ret_bus = g_steal_pointer(&bus);
                return g_strdup(path);
        }
        return NULL;
}

/* 0: nobody is there. */
static pid_t listener(sd_bus *bus) {
        struct ucred creds = { 0 };
        socklen_t size = sizeof creds;

        if (!bus || getsockopt(sd_bus_get_fd(bus), SOL_SOCKET, SO_PEERCRED, &creds, &size) < 0)
                return 0;
        return creds.pid;
}

pid_t manager_pid(const char *unit) {
        g_autoptr(sd_bus) bus = NULL;
        g_autofree char *path = unit_path(unit, &bus);

        return path ? listener(bus) : 0;
}

GPtrArray *manager_transient_dirs(void) {
        GPtrArray *dirs = manager_runtime_dirs();

        for (guint i = 0; i < dirs->len; i++) {
                g_autofree char *runtime = g_ptr_array_index(dirs, i);
                g_autoptr(sd_bus) bus = open_bus(runtime);
                pid_t pid = listener(bus);
                g_autofree char *root = g_strdup_printf("/proc/%d/root", (int)pid);
                g_autofree char *inside = g_build_filename(root, runtime, "systemd/transient",
                                                           NULL);

                /* A user's manager does not let its user look, and has nothing of its own there. */
                dirs->pdata[i] = access(inside, F_OK) == 0
                                         ? g_steal_pointer(&inside)
                                         : g_build_filename(runtime, "systemd/transient", NULL);
        }
        return dirs;
}

/* A scope has no main process: it is the oldest. */
static pid_t first_process(const char *unit) {
        g_autoptr(sd_bus) bus = NULL;
        g_autofree char *path = unit_path(unit, &bus);
        g_autoptr(sd_bus_message) reply = NULL;
        uint32_t pid = 0, first = 0;

        if (!path ||
            sd_bus_call_method(bus, SERVICE, PATH, MANAGER, "GetUnitProcesses", NULL, &reply, "s",
                               unit) < 0 ||
            sd_bus_message_enter_container(reply, 'a', "(sus)") < 0)
                return 0;
        while (sd_bus_message_read(reply, "(sus)", NULL, &pid, NULL) > 0)
                first = first == 0 ? pid : MIN(first, pid);
        return (pid_t)first;
}

pid_t manager_main_pid(const char *unit) {
        if (g_str_has_suffix(unit, ".scope"))
                return first_process(unit);

        g_autoptr(sd_bus) bus = NULL;
        g_autofree char *path = unit_path(unit, &bus);
        uint32_t pid = 0;

        if (path)
                (void)sd_bus_get_property_trivial(bus, SERVICE, path, SERVICE ".Service", "MainPID",
                                                  NULL, 'u', &pid);
        return (pid_t)pid;
}

char *manager_control_group(const char *unit) {
        g_autoptr(sd_bus) bus = NULL;
        g_autofree char *path = unit_path(unit, &bus);
        char *group = NULL;

        if (path)
                (void)sd_bus_get_property_string(bus, SERVICE, path,
                                                 g_str_has_suffix(unit, ".slice") ? SERVICE ".Slice"
                                                                                  : SERVICE
                                                         ".Service",
                                                 "ControlGroup", NULL, &group);
        return group;
}

bool manager_stop_unit(const char *unit) {
        g_autoptr(sd_bus) bus = NULL;
        g_autofree char *path = unit_path(unit, &bus);

        return path && sd_bus_call_method(bus, SERVICE, PATH, MANAGER, "StopUnit", NULL, NULL, "ss",
                                          unit, "replace") >= 0;
}

char *manager_unit_dir(void) {
        g_autoptr(GPtrArray) dirs = manager_runtime_dirs();
        const char *below = g_str_equal(kit_manager(), "system") ? "systemd/system"
                            : g_str_equal(kit_manager(), "user") ? "systemd/user"
                                                                 : "units";

        return dirs->len == 1 ? g_build_filename(g_ptr_array_index(dirs, 0), below, NULL) : NULL;
}

bool manager_kill_unit(const char *unit, int signal) {
        g_autoptr(sd_bus) bus = NULL;
        g_autofree char *path = unit_path(unit, &bus);

        return path && sd_bus_call_method(bus, SERVICE, PATH, MANAGER, "KillUnit", NULL, NULL,
                                          "ssi", unit, "all", signal) >= 0;
}

/* As "systemctl set-property --runtime" does it. */
bool manager_limit_memory(const char *slice, uint64_t bytes) {
        g_autoptr(sd_bus) bus = NULL;
        g_autofree char *path = unit_path(slice, &bus);

        return path && sd_bus_call_method(bus, SERVICE, PATH, MANAGER, "SetUnitProperties", NULL,
                                          NULL, "sba(sv)", slice, 1, 2, "MemoryMax", "t", bytes,
                                          "MemorySwapMax", "t", UINT64_C(0)) >= 0;
}

/* Asks every manager that is meant; at least one must be there. */
static bool tell(const char *method, bool is_answered) {
        g_autoptr(GPtrArray) dirs = manager_runtime_dirs();
        bool told = false;

        for (guint i = 0; i < dirs->len; i++) {
                g_autoptr(sd_bus) bus = open_bus(g_ptr_array_index(dirs, i));
                int r = bus ? sd_bus_call_method(bus, SERVICE, PATH, MANAGER, method, NULL, NULL,
                                                 NULL)
                            : -ENOTCONN;

                /* Who re-executes hangs up instead. */
                told = told || r >= 0 || (bus && !is_answered);
        }
        return told;
}

bool manager_reload(void) {
        return tell("Reload", true);
}

static bool answers(const void *unused) {
        g_autoptr(GPtrArray) units = manager_units(WORDS("-.slice"));

        return units->len > 0;
}

bool manager_reexecute(void) {
        return tell("Reexecute", false) && kit_wait_until(answers, NULL, kit_patience(COMEBACK));
}

const char *manager_cannot_reexecute(void) {
        if (g_str_equal(kit_manager(), "private") &&
            !g_file_test("/run/systemd/system", G_FILE_TEST_IS_DIR))
                return "n/a: a private manager on a machine not booted with systemd cannot";
        return NULL;
}
