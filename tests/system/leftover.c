/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Looks at everything that a run can leave. A zombie that nobody has reaped yet is left over as well: its cgroup
 * cannot go. */

#include "leftover.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "manager.h"

#define CGROUP_TOP       "/sys/fs/cgroup"
#define GONE_USEC        (1 * KIT_SEC)
#define GUARD_GONE_USEC  (3 * KIT_SEC) /* it lingers for half a second */
#define POOL_GONE_USEC   (2 * KIT_SEC) /* likewise; a private manager stays longer */
#define CGROUP_DEPTH_MAX 12

static char *escape(const char *name) {
        g_auto(GStrv) parts = g_strsplit(name, "-", -1);

        return g_strjoinv("\\x2d", parts);
}

char *leftover_unit(const char *id, const char *suffix) {
        g_autofree char *escaped = escape(id);

        return g_strdup_printf("cordon-%s.%s", escaped, suffix);
}

char *leftover_program_unit(const char *id) {
        return leftover_unit(id, kit_is_scope() ? "scope" : "service");
}

char *leftover_pool_slice(const char *pool) {
        g_autofree char *escaped = escape(pool);

        return g_strdup_printf("cordon-pool-%s.slice", escaped);
}

char *leftover_slice(const char *pool, const char *id) {
        g_autofree char *around = escape(pool);
        g_autofree char *escaped = escape(id);

        return pool[0] == '\0' ? leftover_unit(id, "slice")
                               : g_strdup_printf("cordon-pool-%s-%s.slice", around, escaped);
}

/* The start of every name: "cordon-ID." */
static char *name_prefix(const char *id) {
        return leftover_unit(id, "");
}

/* The start of the name of a detached launcher's scope; its number and ".scope" follow. */
static char *launcher_prefix(const char *id) {
        g_autofree char *unit = leftover_unit(id, "");

        unit[strlen(unit) - 1] = '-';
        return g_strconcat("cordon-launcher", unit + strlen("cordon"), NULL);
}

static void note_units(GString *found, const char *const *patterns) {
        g_autoptr(GPtrArray) units = manager_units(patterns);

        for (guint i = 0; i < units->len; i++)
                g_string_append_printf(found, "unit %s\n", (char *)g_ptr_array_index(units, i));
}

/* The end of its slice's name in whatever pool: "-ID.slice". */
static char *pooled_suffix(const char *id) {
        g_autofree char *slice = leftover_unit(id, "slice");

        return g_strdup(slice + strlen("cordon"));
}

/* A name is a pattern that matches itself: the manager takes no backslash for an escape. */
static void note_units_of(GString *found, const char *id) {
        g_autofree char *suffix = pooled_suffix(id);
        g_autofree char *pooled = g_strconcat("cordon-pool-*", suffix, NULL);
        g_autofree char *slice = leftover_unit(id, "slice");
        g_autofree char *service = leftover_unit(id, "service");
        g_autofree char *scope = leftover_unit(id, "scope");
        g_autofree char *launcher = launcher_prefix(id);
        g_autofree char *launchers = g_strconcat(launcher, "*.scope", NULL);

        note_units(found, WORDS(slice, pooled, service, scope, launchers));
}

static bool has_prefix(const char *name, const char *const *prefixes) {
        for (; *prefixes; prefixes++)
                if (g_str_has_prefix(name, *prefixes))
                        return true;
        return false;
}

static bool is_pooled(const char *name, const char *suffix) {
        return suffix && g_str_has_prefix(name, "cordon-pool-") && g_str_has_suffix(name, suffix);
}

static void note_cgroups(GString *found, const char *path, const char *const *prefixes,
                         const char *pooled, int depth) {
        DIR *directory = depth < CGROUP_DEPTH_MAX ? opendir(path) : NULL;
        const struct dirent *entry;

        while (directory && (entry = readdir(directory))) {
                g_autofree char *child = NULL;

                if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
                        continue;
                child = g_build_filename(path, entry->d_name, NULL);
                if (has_prefix(entry->d_name, prefixes) || is_pooled(entry->d_name, pooled))
                        g_string_append_printf(found, "cgroup %s\n", child);
                else
                        note_cgroups(found, child, prefixes, pooled, depth + 1);
        }
        if (directory)
                (void)closedir(directory);
}

static bool file_has(const char *pid, const char *file, const char *needle) {
        g_autofree char *path = g_build_filename("/proc", pid, file, NULL);
        g_autofree char *text = NULL;
        gsize length = 0;

        return g_file_get_contents(path, &text, &length, NULL) && length > 0 &&
               memmem(text, length, needle, strlen(needle));
}

/* What is dead and process 1 has not got round to: where it does so at leisure, orphans of a scope are seen a while. */
static bool is_init_late(const char *pid) {
        g_autofree char *path = g_build_filename("/proc", pid, "stat", NULL);
        g_autofree char *text = NULL;
        const char *behind = g_file_get_contents(path, &text, NULL, NULL) ? strrchr(text, ')')
                                                                          : NULL;

        return behind && g_str_has_prefix(behind, ") Z 1 ");
}

GArray *leftover_processes(const char *id) {
        GArray *pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        g_autofree char *prefix = name_prefix(id);
        g_autofree char *group = g_strconcat("/", prefix, NULL);
        g_autofree char *mark = g_strdup_printf(KIT_MARK "=%s", id);
        g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);

        for (const char *name; proc && (name = g_dir_read_name(proc));) {
                pid_t pid = (pid_t)g_ascii_strtoll(name, NULL, 10);

                if (pid <= 0 || pid == getpid())
                        continue;
                if ((file_has(name, "cgroup", group) || file_has(name, "environ", mark)) &&
                    !is_init_late(name))
                        g_array_append_val(pids, pid);
        }
        return pids;
}

static void note_processes(GString *found, const char *id) {
        g_autoptr(GArray) pids = leftover_processes(id);

        for (guint i = 0; i < pids->len; i++) {
                g_autofree char *path = g_strdup_printf("/proc/%d/comm",
                                                        (int)g_array_index(pids, pid_t, i));
                g_autofree char *name = NULL;

                (void)g_file_get_contents(path, &name, NULL, NULL);
                g_string_append_printf(found, "process %d %s\n", (int)g_array_index(pids, pid_t, i),
                                       name ? g_strchomp(name) : "");
        }
}

static void note_files(GString *found, const char *directory, const char *prefix,
                       const char *suffix) {
        g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);

        for (const char *name; dir && (name = g_dir_read_name(dir));)
                if ((prefix && g_str_has_prefix(name, prefix)) ||
                    (suffix && g_str_has_suffix(name, suffix)))
                        g_string_append_printf(found, "file %s/%s\n", directory, name);
}

/* Transient unit files with their drop-ins, and sockets that are named for the launcher. */
static void note_all_files(GString *found, const char *id, pid_t launcher) {
        g_autoptr(GPtrArray) dirs = manager_runtime_dirs();
        g_autoptr(GPtrArray) transient = manager_transient_dirs();
        g_autofree char *prefix = name_prefix(id);
        g_autofree char *suffix = g_strdup_printf(".%d", (int)launcher);

        for (guint i = 0; i < dirs->len; i++) {
                g_autofree char *own = g_build_filename(g_ptr_array_index(dirs, i), "cordon", NULL);

                note_files(found, own, NULL, suffix);
        }
        for (guint i = 0; i < transient->len; i++)
                note_files(found, g_ptr_array_index(transient, i), prefix, NULL);
        note_files(found, "/tmp", prefix, NULL);
        note_files(found, "/var/tmp", prefix, NULL);
}

char *leftover_look(const KitRun *run) {
        g_autoptr(GString) found = g_string_new(NULL);
        g_autofree char *prefix = NULL, *launcher = NULL, *pooled = NULL;

        if (!run->id)
                return g_string_free(g_steal_pointer(&found), FALSE);
        prefix = name_prefix(run->id);
        launcher = launcher_prefix(run->id);
        pooled = pooled_suffix(run->id);
        note_units_of(found, run->id);
        note_cgroups(found, CGROUP_TOP, WORDS(prefix, launcher), pooled, 0);
        note_processes(found, run->id);
        note_all_files(found, run->id, run->pid);
        return g_string_free(g_steal_pointer(&found), FALSE);
}

static bool is_clean(const void *what) {
        g_autofree char *found = leftover_look(what);

        return found[0] == '\0';
}

bool leftover_wait(const KitRun *run, uint64_t usec) {
        g_autofree char *found = NULL;

        if (kit_wait_until(is_clean, run, kit_patience(usec)))
                return true;
        found = leftover_look(run);
        diag("%s", found);
        return false;
}

void leftover_check(const KitRun *run, const char *name) {
        ok(leftover_wait(run, GONE_USEC), "%s: nothing is left", name);
}

/* Pools */

static char *look_for_pool(const char *pool) {
        g_autoptr(GString) found = g_string_new(NULL);
        g_autoptr(GPtrArray) transient = manager_transient_dirs();
        g_autofree char *escaped = escape(pool);
        g_autofree char *prefix = g_strconcat("cordon-pool-", escaped, NULL);
        g_autofree char *units = g_strconcat(prefix, "*", NULL);
        g_autofree char *session = g_strdup_printf("/run/user/%u/cordon/pools",
                                                   (unsigned)geteuid());
        g_autofree char *fallback = g_strdup_printf("/tmp/cordon-%u/pools", (unsigned)geteuid());

        note_units(found, WORDS(units));
        note_cgroups(found, CGROUP_TOP, WORDS(prefix), NULL, 0);
        for (guint i = 0; i < transient->len; i++)
                note_files(found, g_ptr_array_index(transient, i), prefix, NULL);
        note_files(found, "/run/cordon/pools", pool, NULL);
        note_files(found, session, pool, NULL);
        note_files(found, fallback, pool, NULL);
        return g_string_free(g_steal_pointer(&found), FALSE);
}

static bool is_pool_gone(const void *pool) {
        g_autofree char *found = look_for_pool(pool);

        return found[0] == '\0';
}

void leftover_check_pool(const char *pool, const char *name) {
        bool gone = kit_wait_until(is_pool_gone, pool, kit_patience(POOL_GONE_USEC));
        g_autofree char *found = look_for_pool(pool);

        ok(gone, "%s: nothing of the pool is left", name);
        if (!gone)
                diag("%s", found);
}

/* The guard */

static char *look_for_guard(void) {
        g_autoptr(GString) found = g_string_new(NULL);
        g_autoptr(GPtrArray) dirs = manager_runtime_dirs();
        g_autofree char *runs = g_strdup_printf("cordon-test\\x2d%d\\x2d*", (int)getpid());

        note_units(found,
                   WORDS("cordon.slice", "cordon-pool*.slice", "cordon-guard-*.service", runs));
        for (guint i = 0; i < dirs->len; i++) {
                g_autofree char *own = g_build_filename(g_ptr_array_index(dirs, i), "cordon", NULL);

                note_files(found, own, "guard-", NULL);
        }
        return g_string_free(g_steal_pointer(&found), FALSE);
}

static bool is_guard_gone(const void *unused) {
        g_autofree char *found = look_for_guard();

        return found[0] == '\0';
}

void leftover_check_guard(const char *name) {
        bool gone = kit_wait_until(is_guard_gone, NULL, kit_patience(GUARD_GONE_USEC));
        g_autofree char *found = look_for_guard();

        ok(gone, "%s: the guard and its slice are gone", name);
        if (!gone)
                diag("%s", found);
}
