/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Paths inside are looked up below /proc/PID/root: none of them leads through a symbolic link where the caller sees it,
 * and where it is another directory nobody has had time to put one. */

#include "walls.h"

#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/kernel/user-namespace.h"
#include "launcher/shackles.h"
#include "units/text.h"
#include "units/untrusted.h"

#define PATH_SHOWN 80

typedef struct {
        const IsolationSet *set;
        const WallsContext *context;
        char *proc;     /* /proc/PID */
        char *writable; /* the mount that should not be */
        bool has_open_directory;
} View;

/* What is at a path inside. */
typedef struct {
        bool is_there, is_same, is_tmpfs, is_read_only;
        uint64_t size_bytes; /* of the file system */
} Place;

static Place look(const View *view, const char *path) {
        g_autofree char *inside = g_strconcat(view->proc, "/root", path, NULL);
        Place place = { 0 };
        struct stat in, out;
        struct statfs fs;

        if (stat(inside, &in) < 0 || statfs(inside, &fs) < 0)
                return place;
        place.is_there = true;
        place.is_same = stat(path, &out) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
        place.is_tmpfs = fs.f_type == TMPFS_MAGIC;
        place.is_read_only = fs.f_flags & ST_RDONLY;
        place.size_bytes = (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize;
        return place;
}

/* The rule that decides about a path: the longest above it. */
static const PathRule *rule_of(const IsolationSet *set, const char *path) {
        const PathRule *longest = NULL;

        for (guint i = 0; set->rules && i < set->rules->len; i++) {
                const PathRule *rule = g_ptr_array_index(set->rules, i);

                if (isolation_is_within(path, rule->path) &&
                    (!longest || strlen(rule->path) > strlen(longest->path)))
                        longest = rule;
        }
        return longest;
}

/* From 254 on a unit may watch its own memory pressure, where all other cgroup files are read-only. */
static bool is_pressure_file(const char *point) {
        return isolation_is_within(point, "/sys/fs/cgroup") &&
               g_str_has_suffix(point, ".service/memory.pressure");
}

/* Is a mount at the path or below it writable that nothing else that was asked made so? A line is
 * "ID PARENT DEVICE ROOT POINT OPTIONS …"; others may lie on top of a mount, so its point is looked at. */
static bool has_writable_mount(View *view, const char *path) {
        g_autofree char *file = g_strconcat(view->proc, "/mountinfo", NULL);
        g_autofree char *table = NULL;
        bool found = !g_file_get_contents(file, &table, NULL, NULL);
        g_auto(GStrv) lines = g_strsplit(table ?: "", "\n", -1);

        for (char **line = lines; *line && !found; line++) {
                g_auto(GStrv) words = g_strsplit(*line, " ", 7);
                g_autofree char *point = g_strv_length(words) == 7 ? g_strcompress(words[4]) : NULL;
                const PathRule *rule = point ? rule_of(view->set, point) : NULL;
                const char *workspace = view->set->workspace;

                if (!point || !isolation_is_within(point, path) || is_pressure_file(point))
                        continue;

                Place place = look(view, point);

                if (!place.is_there || place.is_read_only) /* who cannot see it cannot write it */
                        continue;
                found = !(rule && strlen(rule->path) > strlen(path)) &&
                        !(workspace && isolation_is_within(point, workspace));
                if (found)
                        text_replace(&view->writable, point);
        }
        return found;
}

/* Each of these answers with what is wrong, or with NULL. */

static const char *check_private_tmp(const View *view) {
        static const char *const paths[] = { "/tmp", "/var/tmp" };

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                Place place = look(view, paths[i]);

                if (!place.is_there && access(paths[i], F_OK) == 0)
                        return "there is no temporary directory inside";
                if (place.is_same)
                        return "the caller's temporary directories are seen inside";
                if (place.is_read_only)
                        return "the temporary directories inside are read-only";
        }
        return NULL;
}

/* IPv4 has a line of headings; IPv6 has routes that lead to lo. */
static bool leads_out(const View *view) {
        g_autofree char *path = g_strconcat(view->proc, "/net/route", NULL);
        g_autofree char *path6 = g_strconcat(view->proc, "/net/ipv6_route", NULL);
        g_autofree char *routes = NULL, *routes6 = NULL;
        const char *line;

        if (!g_file_get_contents(path, &routes, NULL, NULL))
                return true;
        line = strchr(routes, '\n');
        if (line && line[1] != '\0')
                return true;
        if (!g_file_get_contents(path6, &routes6, NULL, NULL))
                return access("/proc/net/ipv6_route", F_OK) == 0;

        g_auto(GStrv) lines = g_strsplit(routes6, "\n", -1);

        for (char **one = lines; *one; one++)
                if (**one && !g_str_has_suffix(g_strchomp(*one), " lo"))
                        return true;
        return false;
}

static const char *check_network(const View *view) {
        g_autofree char *path = g_strconcat(view->proc, "/ns/net", NULL);
        struct stat st;

        if (stat(path, &st) < 0)
                return "its network namespace cannot be seen";
        if (st.st_ino == view->context->caller->world.namespaces[GATE_NS_NET])
                return "it is in the caller's network";
        return leads_out(view) ? "its network has routes that lead out" : NULL;
}

static bool is_first_of(const char *path, const char *name) {
        size_t length = strlen(name);

        return path && strncmp(path + 1, name, length) == 0 &&
               (path[1 + length] == '/' || path[1 + length] == '\0');
}

static bool is_expected(const View *view, const char *name) {
        static const char *const always[] = { "bin",   "dev",    "etc",  "home", "lib", "lib32",
                                              "lib64", "libx32", "proc", "root", "run", "sbin",
                                              "sys",   "tmp",    "usr",  "var",  NULL };
        const IsolationSet *set = view->set;

        if (g_strv_contains(always, name) || is_first_of(set->workspace, name) ||
            is_first_of(view->context->gate_path, name))
                return true;
        for (guint i = 0; set->rules && i < set->rules->len; i++)
                if (is_first_of(((PathRule *)g_ptr_array_index(set->rules, i))->path, name))
                        return true;
        return false;
}

static bool has_other_entries(const View *view) {
        g_autofree char *root = g_strconcat(view->proc, "/root/", NULL);
        GDir *entries = g_dir_open(root, 0, NULL);
        const char *name;
        bool found = !entries;

        while (entries && !found && (name = g_dir_read_name(entries)))
                found = !is_expected(view, name);
        if (entries)
                g_dir_close(entries);
        return found;
}

static const char *check_strict_fs(View *view) {
        Place root = look(view, "/"), workspace = look(view, view->set->workspace);
        Place run = look(view, "/run"), shm = look(view, "/dev/shm");

        if (root.is_same || !root.is_tmpfs || has_other_entries(view))
                return "more of / is seen inside than was to be";
        if (!root.is_read_only || has_writable_mount(view, "/usr") ||
            has_writable_mount(view, "/etc") || has_writable_mount(view, "/sys"))
                return "the system's directories are writable inside";
        if (run.is_same || shm.is_same)
                return "the machine's /run or /dev/shm is seen inside";
        if (!workspace.is_same)
                return "the workspace is not there inside";
        return workspace.is_read_only && access(view->set->workspace, W_OK) == 0
                       ? "the workspace is read-only inside"
                       : check_private_tmp(view);
}

static uint64_t whole_pages(uint64_t size) {
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

        return size / page * page + (size % page ? page : 0);
}

static const char *check_rule(View *view, const PathRule *rule) {
        Place place = look(view, rule->path);

        if (!place.is_there)
                return rule->kind == ISOLATION_HIDE ? NULL : "it is not there inside";
        switch (rule->kind) {
        case ISOLATION_RO:
                if (!place.is_same)
                        return "something else is there inside";
                return !place.is_read_only || has_writable_mount(view, rule->path)
                               ? "it is writable inside"
                               : NULL;
        case ISOLATION_RW:
                if (!place.is_same)
                        return "something else is there inside";
                return place.is_read_only && access(rule->path, W_OK) == 0
                               ? "it is read-only inside"
                               : NULL;
        case ISOLATION_HIDE:
                return place.is_same || (!rule->is_file && !place.is_tmpfs) ? "it is seen inside"
                                                                            : NULL;
        default:
                if (place.is_same || !place.is_tmpfs)
                        return "it is not a file system of its own inside";
                if (place.is_read_only)
                        return "it is read-only inside";
                return rule->size_bytes != UINT64_MAX &&
                                       (place.size_bytes == 0 ||
                                        place.size_bytes > whole_pages(rule->size_bytes))
                               ? "it is larger inside"
                               : NULL;
        }
}

static bool is_own(const View *view, GateNamespace kind) {
        uint64_t inside = view->context->hello->world.namespaces[kind];

        return inside != 0 && inside != view->context->caller->world.namespaces[kind];
}

static const char *check_untrusted(View *view) {
        const char *wrong = shackles_check(view->context->pid);

        if (wrong)
                return wrong;
        if (!view->context->hello->is_filtered)
                return "no system call filter holds (is systemd without libseccomp?)";
        if (!is_own(view, GATE_NS_USER) || !is_own(view, GATE_NS_IPC))
                return "it is in the caller's user or IPC namespace";
        if (has_writable_mount(view, "/sys/fs/cgroup") ||
            (view->set->workspace && isolation_is_within(view->set->workspace, "/sys")))
                return "control groups are writable inside";
        return look(view, "/run").is_same ? "the machine's /run is seen inside" : NULL;
}

/* A mount of /proc that shows but processes of its user; the last one wins. */
static bool hides_processes(const View *view) {
        g_autofree char *file = g_strconcat(view->proc, "/mountinfo", NULL);
        g_autofree char *table = NULL;
        const char *line = NULL;

        if (g_file_get_contents(file, &table, NULL, NULL))
                line = g_strrstr(table, " /proc ");
        return line && memmem(line, strcspn(line, "\n"), "hidepid=", strlen("hidepid="));
}

/* What is not closed: named, not refused. */
static unsigned residuals_of(const View *view) {
        bool has_own_processes = is_own(view, GATE_NS_PID);
        bool signals_stay = view->context->hello->is_scoped || view->context->is_own_user ||
                            has_own_processes;
        unsigned residuals = signals_stay ? 0 : 1U << RESIDUAL_SIGNALS;

        if (!has_own_processes && !hides_processes(view))
                residuals |= 1U << RESIDUAL_PROCESSES;
        if (!view->context->hello->is_scoped && !is_own(view, GATE_NS_NET))
                residuals |= 1U << RESIDUAL_SOCKETS;
        if (!look(view, "/tmp").is_tmpfs || !look(view, "/var/tmp").is_tmpfs)
                residuals |= 1U << RESIDUAL_TMP;
        if (!view->set->has_strict_fs && view->context->is_caller)
                residuals |= 1U << RESIDUAL_FILES;
        return residuals;
}

/* What it has inherited leads out of any root: to what lies below it, and by ".." to all the rest. */
static bool has_open_directory(const View *view) {
        g_autofree char *path = g_strconcat(view->proc, "/fd", NULL);
        g_autoptr(GDir) descriptors = g_dir_open(path, 0, NULL);
        const char *name;

        while (descriptors && (name = g_dir_read_name(descriptors))) {
                g_autofree char *file = g_build_filename(path, name, NULL);

                if (g_file_test(file, G_FILE_TEST_IS_DIR))
                        return true;
        }
        return false;
}

/* Of what is somewhere else inside, or cannot be written there. */
static bool is_passed_by(Isolation isolation) {
        return isolation == ISOLATION_UNTRUSTED || isolation == ISOLATION_PRIVATE_TMP ||
               isolation == ISOLATION_FS || isolation == ISOLATION_RO ||
               isolation == ISOLATION_HIDE;
}

/* Nobody outside can see it: the gate has tried it. What is writable must still be so. */
static bool is_landlocked(const View *view, Isolation isolation) {
        return view->context->hello->enclosure == GATE_ENCLOSURE_LANDLOCK &&
               (isolation == ISOLATION_FS || isolation == ISOLATION_RO);
}

/* The words behind the option, and what is wrong. */
static const char *check_one(View *view, Isolation isolation, char **ret_what) {
        const IsolationSet *set = view->set;
        const char *wrong = NULL;

        if (is_landlocked(view, isolation))
                return NULL;
        if (view->has_open_directory && is_passed_by(isolation))
                return "the program has inherited an open directory, which leads past it";
        switch (isolation) {
        case ISOLATION_UNTRUSTED:
                return check_untrusted(view);
        case ISOLATION_PRIVATE_TMP:
                return check_private_tmp(view);
        case ISOLATION_NET:
                if (set->allow)
                        return NULL; /* launcher/net/filter */
                *ret_what = g_strdup(" none");
                return check_network(view);
        case ISOLATION_FS:
                *ret_what = g_strdup(" strict");
                return check_strict_fs(view);
        default:
                for (guint i = 0; !wrong && i < set->rules->len; i++) {
                        const PathRule *rule = g_ptr_array_index(set->rules, i);

                        if (rule->kind != isolation || !(wrong = check_rule(view, rule)))
                                continue;
                        *ret_what = g_strconcat(" ", rule->path, NULL);
                }
                return wrong;
        }
}

bool walls_check(const IsolationSet *set, const WallsContext *context, Readback *readback,
                 GError **error) {
        g_autofree char *proc = g_strdup_printf("/proc/%d", (int)context->pid);
        View view = { .set = set, .context = context, .proc = proc };
        bool all = true;

        view.has_open_directory = isolation_any_mount(set) && has_open_directory(&view);
        readback->is_landlock = context->hello->enclosure == GATE_ENCLOSURE_LANDLOCK;
        for (int i = 0; i < _ISOLATION_MAX; i++) {
                const IsolationInfo *info = isolation_info((Isolation)i);
                g_autofree char *what = NULL;
                const char *wrong;

                if (!isolation_is_asked(set, (Isolation)i))
                        continue;
                wrong = check_one(&view, (Isolation)i, &what);
                readback->isolation[i] = !wrong;
                if (i == ISOLATION_UNTRUSTED)
                        readback->residuals = residuals_of(&view);
                if (!wrong || !all)
                        continue;
                all = false;

                g_autofree char *shown = text_printable(what ?: "", PATH_SHOWN);

                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                            "--%s%s is not in force: %s was set, but %s%s%s", info->key, shown,
                            info->by, wrong, view.writable ? ": " : "", view.writable ?: "");
        }
        g_free(view.writable);
        return all;
}

static Isolation first_asked(const IsolationSet *set) {
        Isolation first = 0;

        while (first < _ISOLATION_MAX && !isolation_is_asked(set, first))
                first++;
        return first;
}

void walls_explain(const IsolationSet *set, bool is_unprivileged, int status, GError **error) {
        g_autofree char *remedy = is_unprivileged ? user_namespace_remedy() : NULL;
        Isolation first = first_asked(set);

        if (!remedy)
                remedy = g_strdup(is_unprivileged
                                          ? "use --system, or give --best-effort"
                                          : "is every path one that the manager can reach?");
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                    "--%s cannot be enforced here: the manager could not set up the program's "
                    "namespaces (status %d); %s",
                    isolation_info(first)->key, status, remedy);
}

/* The option that names what the step is about, else the first; -p may have asked for it alone. */
static char *asker_of(const IsolationSet *set, const char *target) {
        Isolation first = first_asked(set);
        g_autofree char *shown = target ? text_printable(target, PATH_SHOWN) : NULL;

        for (guint i = 0; target && set->rules && i < set->rules->len; i++) {
                const PathRule *rule = g_ptr_array_index(set->rules, i);

                if (g_str_equal(rule->path, target))
                        return g_strdup_printf("--%s %s", isolation_info(rule->kind)->key, shown);
        }
        return first == _ISOLATION_MAX ? g_strdup("-p")
                                       : g_strconcat("--", isolation_info(first)->key, NULL);
}

/* Without namespaces: what kept Landlock from standing in, and what would give them back. */
static char *no_namespaces_text(const GError *no_permits, const GateFailure *failure) {
        g_autofree char *remedy = user_namespace_remedy();
        GString *text = g_string_new(NULL);

        if (failure->landlock_error)
                g_string_append_printf(text, "; nor is there Landlock: %s",
                                       g_strerror(failure->landlock_error));
        else if (no_permits)
                g_string_append_printf(text, "; %s", no_permits->message);
        if (remedy)
                g_string_append_printf(text, "; %s", remedy);
        return g_string_free(text, FALSE);
}

void walls_explain_step(const IsolationSet *set, const Enclosure *enclosure,
                        const GError *no_permits, const GateFailure *failure, GError **error) {
        g_autofree char *what = enclosure_step_text(enclosure, failure->step), *more = NULL;
        const Step *step = failure->step < enclosure->steps->len
                                   ? &g_array_index(enclosure->steps, Step, failure->step)
                                   : NULL;
        const char *target = step && step->target != STEP_NO_TEXT
                                     ? (const char *)enclosure->texts->data + step->target
                                     : NULL;
        g_autofree char *asker = asker_of(set, target);

        if (step && (step->kind == STEP_UNSHARE || step->kind == STEP_SLAVE))
                more = no_namespaces_text(no_permits, failure);
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_UNENFORCEABLE,
                    "%s cannot be enforced here: %s: %s%s", asker, what,
                    g_strerror(failure->error_number), more ?: "");
}
