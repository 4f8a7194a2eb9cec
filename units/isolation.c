/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The one hard thing is what lies above what: systemd mounts by path, the shorter first, so an exception may lie below
 * what hides it. Directories are hidden by an empty file system for that reason; InaccessiblePaths= would take the
 * exceptions below it along, and needs nodes that private managers have not. */

#include "isolation.h"

#include <string.h>

#include "error.h"
#include "extra.h"
#include "nearest.h"
#include "parse.h"
#include "text.h"
#include "untrusted.h"

#define PATH_SHOWN 80

#define BIND_LOG_SOCKETS_SINCE 257

/* clang-format off */
static const IsolationInfo table[_ISOLATION_MAX] = {
        [ISOLATION_UNTRUSTED] =   { "untrusted",   "SystemCallFilter",    "user",    "a program that wants out is held by all there is" },
        [ISOLATION_PRIVATE_TMP] = { "private-tmp", "PrivateTmp",          "mount",   "own /tmp and /var/tmp, empty, gone afterwards" },
        [ISOLATION_NET] =         { "net",         "PrivateNetwork",      "network", "no network at all" },
        [ISOLATION_FS] =          { "fs",          "TemporaryFileSystem", "mount",   "it writes its workspace, reads the system, and sees no more" },
        [ISOLATION_RO] =          { "ro",          "BindReadOnlyPaths",   "mount",   "shown, and read-only" },
        [ISOLATION_RW] =          { "rw",          "BindPaths",           "mount",   "shown, and writable" },
        [ISOLATION_HIDE] =        { "hide",        "TemporaryFileSystem", "mount",   "not to be seen" },
        [ISOLATION_SCRATCH] =     { "scratch",     "TemporaryFileSystem", "mount",   "an empty tmpfs there" },
};

/* What of the system --fs strict shows, where it is there at all. */
static const char *const system_directories[] = {
        "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc",
};

/* What a program of root's could change of the machine there. ProtectKernelTunables= has more, but needs what private
 * managers have not: the nodes of InaccessiblePaths=. */
static const char *const kernel_paths[] = {
        "/sys", "-/proc/sys", "-/proc/sysrq-trigger", "-/proc/irq", "-/proc/bus", "-/proc/acpi",
};
/* clang-format on */

const IsolationInfo *isolation_info(Isolation isolation) {
        g_assert(isolation < _ISOLATION_MAX);
        return &table[isolation];
}

/* The set */

static PathRule *path_rule_new(Isolation kind, const char *path) {
        PathRule *rule = g_new0(PathRule, 1);

        rule->kind = kind;
        rule->path = g_strdup(path);
        rule->size_bytes = UINT64_MAX;
        return rule;
}

static void path_rule_free(gpointer data) {
        PathRule *rule = data;

        g_free(rule->path);
        g_free(rule);
}

char *isolation_rule_text(const PathRule *rule) {
        if (rule->size_bytes == UINT64_MAX)
                return g_strdup(rule->path);
        return g_strdup_printf("%s:%" G_GUINT64_FORMAT, rule->path, rule->size_bytes);
}

void isolation_set_clear(IsolationSet *set) {
        allow_free(set->allow);
        g_free(set->workspace);
        g_clear_pointer(&set->rules, g_ptr_array_unref);
        *set = (IsolationSet){ 0 };
}

static void add_rule(IsolationSet *set, PathRule *rule) {
        if (!set->rules)
                set->rules = g_ptr_array_new_with_free_func(path_rule_free);
        g_ptr_array_add(set->rules, rule);
}

static guint rule_count(const IsolationSet *set) {
        return set->rules ? set->rules->len : 0;
}

static PathRule *rule_at(const IsolationSet *set, guint index) {
        return g_ptr_array_index(set->rules, index);
}

void isolation_set_copy(const IsolationSet *from, IsolationSet *ret_set) {
        *ret_set = *from;
        ret_set->allow = allow_copy(from->allow);
        ret_set->workspace = g_strdup(from->workspace);
        ret_set->rules = NULL;
        for (guint i = 0; i < rule_count(from); i++) {
                PathRule *rule = path_rule_new(rule_at(from, i)->kind, rule_at(from, i)->path);

                rule->size_bytes = rule_at(from, i)->size_bytes;
                rule->is_file = rule_at(from, i)->is_file;
                add_rule(ret_set, rule);
        }
}

static bool bad_word(GError **error, const char *option, const char *text, const char *const *words,
                     const char *accepted) {
        g_autofree char *shown = text_printable(text, PATH_SHOWN);
        g_autofree char *meant = nearest_of(text, words);

        g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_VALUE,
                    "--%s: \"%s\" is not accepted%s; accepted: %s", option, shown, meant, accepted);
        return false;
}

static bool bad_value(GError **error, const char *option, const char *text, const char *accepted) {
        return bad_word(error, option, text, NULL, accepted);
}

/* A bus carries UTF-8, and a manager writes what it carries into lines. From 257 on, what it starts reads it from such a
 * line: with quotes gone, and what is to be a tmpfs parted at colons (seen there). */
#define PATH_NOT_CARRIED "\"'\\"

bool isolation_check_path(Isolation isolation, const char *option, const char *path,
                          GError **error) {
        bool is_tmpfs = isolation == ISOLATION_HIDE || isolation == ISOLATION_SCRATCH;
        bool is_carried = g_utf8_validate(path, -1, NULL) && !strpbrk(path, PATH_NOT_CARRIED) &&
                          !(is_tmpfs && strchr(path, ':'));

        for (const char *c = path; *c; c++)
                is_carried = is_carried && !g_ascii_iscntrl(*c);
        return is_carried ||
               bad_value(error, option, path,
                         is_tmpfs ? "a path in UTF-8 without control characters, quotes, "
                                    "backslashes and colons"
                                  : "a path in UTF-8 without control characters, quotes and "
                                    "backslashes");
}

char *isolation_path(Isolation isolation, const char *option, const char *text, GError **error) {
        g_autofree char *path = NULL;

        if (text[0] == '\0') {
                (void)bad_value(error, option, text, "a path");
                return NULL;
        }
        path = g_canonicalize_filename(text, NULL);
        return isolation_check_path(isolation, option, path, error) ? g_steal_pointer(&path) : NULL;
}

static bool parse_word(Isolation isolation, const char *text, const char *word, bool *ret_is_word,
                       GError **error) {
        const char *const words[] = { "host", word, NULL };
        g_autofree char *accepted = g_strjoinv(", ", (char **)words);

        *ret_is_word = strcmp(text, word) == 0;
        return *ret_is_word || strcmp(text, "host") == 0 ||
               bad_word(error, table[isolation].key, text, words, accepted);
}

/* Of what is before a "=", if there is one: a list is not mistaken for a word. */
static bool bad_net(const char *text, GError **error) {
        static const char *const words[] = { "host", "none", NULL };
        static const char *const lists[] = { "allow=LIST", NULL };
        const char *equals = strchr(text, '=');
        g_autofree char *begun = equals ? g_strdup_printf("%.*s=LIST", (int)(equals - text), text)
                                        : NULL;
        g_autofree char *shown = text_printable(text, PATH_SHOWN);
        g_autofree char *meant = nearest_of(begun ?: text, begun ? lists : words);

        g_set_error(error, UNITS_ERROR, UNITS_ERROR_BAD_VALUE,
                    "--net: \"%s\" is not accepted%s; accepted: host, none, allow=LIST", shown,
                    meant);
        return false;
}

static bool parse_net(IsolationSet *set, const char *text, GError **error) {
        bool is_none = strcmp(text, "none") == 0;
        g_autoptr(Allow) allow = NULL;

        if (g_str_has_prefix(text, "allow=")) {
                allow = allow_parse(text + strlen("allow="), error);
                if (!allow)
                        return false;
        } else if (!is_none && strcmp(text, "host") != 0) {
                return bad_net(text, error);
        }
        set->has_no_network = is_none;
        allow_free(set->allow);
        set->allow = g_steal_pointer(&allow);
        return true;
}

static bool parse_scratch(const char *text, PathRule *rule, GError **error) {
        const char *key = table[ISOLATION_SCRATCH].key, *colon = strrchr(text, ':');
        g_autofree char *path = g_strndup(text, colon ? (gsize)(colon - text) : strlen(text));

        if (colon && (parse_size(colon + 1, &rule->size_bytes) != PARSE_OK ||
                      rule->size_bytes == 0 || rule->size_bytes == UINT64_MAX))
                return bad_value(error, key, text, "PATH:SIZE, such as /scratch:64M");
        g_free(rule->path);
        rule->path = isolation_path(ISOLATION_SCRATCH, key, path, error);
        return rule->path;
}

static bool parse_rule(IsolationSet *set, Isolation isolation, const char *text, GError **error) {
        PathRule *rule = path_rule_new(isolation, NULL);
        bool is_read;

        if (isolation == ISOLATION_SCRATCH)
                is_read = parse_scratch(text, rule, error);
        else
                is_read = (rule->path = isolation_path(isolation, table[isolation].key, text,
                                                       error));
        if (is_read && strcmp(rule->path, "/") == 0)
                is_read = bad_value(error, table[isolation].key, text, "a path below /");
        if (is_read)
                add_rule(set, rule);
        else
                path_rule_free(rule);
        return is_read;
}

bool isolation_set_parse(IsolationSet *set, Isolation isolation, const char *text, GError **error) {
        switch (isolation) {
        case ISOLATION_UNTRUSTED:
                set->is_untrusted = true;
                return true;
        case ISOLATION_PRIVATE_TMP:
                set->has_private_tmp = true;
                return true;
        case ISOLATION_NET:
                set->is_net_said = true;
                return parse_net(set, text, error);
        case ISOLATION_FS:
                set->is_fs_said = true;
                return parse_word(isolation, text, "strict", &set->has_strict_fs, error);
        default:
                return parse_rule(set, isolation, text, error);
        }
}

void isolation_set_settle(IsolationSet *set) {
        if (!set->is_untrusted)
                return;
        set->has_private_tmp = true;
        set->has_no_network = set->has_no_network || !set->is_net_said;
        set->has_strict_fs = set->has_strict_fs || !set->is_fs_said;
}

bool isolation_is_asked(const IsolationSet *set, Isolation isolation) {
        switch (isolation) {
        case ISOLATION_UNTRUSTED:
                return set->is_untrusted;
        case ISOLATION_PRIVATE_TMP:
                return set->has_private_tmp;
        case ISOLATION_NET:
                return set->has_no_network || set->allow;
        case ISOLATION_FS:
                return set->has_strict_fs;
        default:
                for (guint i = 0; i < rule_count(set); i++)
                        if (rule_at(set, i)->kind == isolation)
                                return true;
                return false;
        }
}

static void drop_rules(IsolationSet *set, Isolation kind) {
        for (guint i = rule_count(set); i > 0; i--)
                if (rule_at(set, i - 1)->kind == kind)
                        g_ptr_array_remove_index(set->rules, i - 1);
}

void isolation_set_drop(IsolationSet *set, Isolation isolation) {
        switch (isolation) {
        case ISOLATION_UNTRUSTED:
                set->is_untrusted = false;
                return;
        case ISOLATION_PRIVATE_TMP:
                set->has_private_tmp = false;
                return;
        case ISOLATION_NET:
                set->has_no_network = false;
                g_clear_pointer(&set->allow, allow_free);
                return;
        case ISOLATION_FS:
                set->has_strict_fs = false;
                return;
        default:
                drop_rules(set, isolation);
        }
}

const char *isolation_meaning(const IsolationSet *set, Isolation isolation) {
        return isolation == ISOLATION_NET && set->allow
                       ? "no network but what is listed, looked up when it starts"
                       : table[isolation].words;
}

const char *isolation_by(const IsolationSet *set, Isolation isolation) {
        return isolation == ISOLATION_NET && set->allow ? "IPAddressDeny" : table[isolation].by;
}

bool isolation_any_mount(const IsolationSet *set) {
        return set->has_private_tmp || set->has_strict_fs || set->allow || rule_count(set) > 0;
}

bool isolation_any(const IsolationSet *set) {
        return set->is_untrusted || set->has_no_network || isolation_any_mount(set);
}

unsigned isolation_own_namespaces(const IsolationSet *set) {
        unsigned own = isolation_any(set) ? EXTRA_OWN_MOUNT | EXTRA_OWN_USER : 0;

        if (set->is_untrusted)
                own |= EXTRA_OWN_IPC | EXTRA_OWN_UTS | EXTRA_OWN_PID;
        return set->has_no_network ? own | EXTRA_OWN_NETWORK : own;
}

bool isolation_is_within(const char *path, const char *directory) {
        size_t length = strlen(directory);

        return strncmp(path, directory, length) == 0 && (path[length] == '/' || !path[length]);
}

bool isolation_is_system(const char *path) {
        for (size_t i = 0; i < G_N_ELEMENTS(system_directories); i++)
                if (isolation_is_within(path, system_directories[i]))
                        return true;
        return false;
}

bool isolation_is_own_place(const char *path) {
        static const char *const others[] = { "/",    "/tmp",  "/var/tmp", "/run",
                                              "/dev", "/proc", "/sys" };

        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                if (strcmp(path, others[i]) == 0)
                        return true;
        for (size_t i = 0; i < G_N_ELEMENTS(system_directories); i++)
                if (strcmp(path, system_directories[i]) == 0)
                        return true;
        return false;
}

/* The longest of all that lie above it decides. */
static void offer(const char *path, const char *directory, const char *hidden_by, size_t *longest,
                  const char **decided) {
        if (!isolation_is_within(path, directory) || strlen(directory) < *longest)
                return;
        *longest = strlen(directory);
        *decided = hidden_by;
}

const char *isolation_hides(const IsolationSet *set, const char *path) {
        const char *decided = set->has_strict_fs ? table[ISOLATION_FS].key : NULL;
        size_t longest = 0;

        for (size_t i = 0; set->has_strict_fs && i < G_N_ELEMENTS(system_directories); i++)
                offer(path, system_directories[i], NULL, &longest, &decided);
        if (set->has_private_tmp || set->has_strict_fs) {
                const char *key = table[set->has_private_tmp ? ISOLATION_PRIVATE_TMP : ISOLATION_FS]
                                          .key;

                offer(path, "/tmp", key, &longest, &decided);
                offer(path, "/var/tmp", key, &longest, &decided);
        }
        if (set->has_strict_fs && set->workspace)
                offer(path, set->workspace, NULL, &longest, &decided);
        for (guint i = 0; i < rule_count(set); i++) {
                const PathRule *rule = rule_at(set, i);
                bool hides = rule->kind == ISOLATION_HIDE || rule->kind == ISOLATION_SCRATCH;

                offer(path, rule->path, hides ? table[rule->kind].key : NULL, &longest, &decided);
        }
        return decided;
}

/* Properties */

#define MOUNT_RECURSIVE UINT64_C(16384) /* MS_REC */

static void add_bind(PropertyList *list, const char *name, const char *source, const char *path,
                     bool is_optional) {
        GVariant *const one[] = { g_variant_new("(ssbt)", source, path, is_optional,
                                                MOUNT_RECURSIVE) };

        property_list_extend(list, name, g_variant_new_array(G_VARIANT_TYPE("(ssbt)"), one, 1));
}

static void add_tmpfs(PropertyList *list, const char *path, const char *options) {
        GVariant *const one[] = { g_variant_new("(ss)", path, options) };

        property_list_extend(list, "TemporaryFileSystem",
                             g_variant_new_array(G_VARIANT_TYPE("(ss)"), one, 1));
}

static void add_scratch(PropertyList *list, const PathRule *rule) {
        g_autofree char *options = NULL;

        if (rule->size_bytes == UINT64_MAX)
                options = g_strdup("mode=1777");
        else
                options = g_strdup_printf("mode=1777,size=%" G_GUINT64_FORMAT, rule->size_bytes);
        add_tmpfs(list, rule->path, options);
}

static void add_path(PropertyList *list, const PathRule *rule) {
        if (rule->kind == ISOLATION_SCRATCH)
                add_scratch(list, rule);
        else if (rule->kind != ISOLATION_HIDE)
                add_bind(list, table[rule->kind].by, rule->path, rule->path, false);
        else if (rule->is_file)
                add_bind(list, "BindReadOnlyPaths", "/dev/null", rule->path, false);
        else
                add_tmpfs(list, rule->path, "ro");
}

/* A root with nothing in it but what is put there. The manager would bind the machine's /dev/shm into its own /dev. */
static void add_strict_fs(PropertyList *list, const IsolationSet *set, const char *empty_root) {
        if (empty_root)
                add_bind(list, "BindReadOnlyPaths", empty_root, "/", false);
        else
                add_tmpfs(list, "/", "ro");
        for (size_t i = 0; i < G_N_ELEMENTS(system_directories); i++)
                add_bind(list, "BindReadOnlyPaths", system_directories[i], system_directories[i],
                         true);
        property_list_set_bool(list, "MountAPIVFS", true);
        property_list_set_bool(list, "PrivateDevices", true);
        property_list_extend(list, "ReadOnlyPaths",
                             g_variant_new_strv(kernel_paths, G_N_ELEMENTS(kernel_paths)));
        property_list_set_bool(list, "ProtectControlGroups", true);
        add_tmpfs(list, "/dev/shm", "mode=1777");
        property_list_set_bool(list, "PrivateTmp", true);
        if (set->workspace)
                add_bind(list, "BindPaths", set->workspace, set->workspace, false);
}

/* Where /etc/resolv.conf leads to on many machines. */
static void add_resolver(PropertyList *list) {
        static const char *const paths[] = {
                "/run/systemd/resolve/stub-resolv.conf",
                "/run/systemd/resolve/resolv.conf",
                "/run/NetworkManager/resolv.conf",
                "/run/resolvconf/resolv.conf",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
                add_bind(list, "BindReadOnlyPaths", paths[i], paths[i], true);
}

/* Sockets of managers, buses and container engines are there. */
static void add_bare_run(PropertyList *list) {
        add_tmpfs(list, "/run", "ro");
        add_resolver(list);
}

static void compose_asked(const IsolationSet *set, const char *empty_root, PropertyList *list) {
        if (set->is_untrusted && !set->has_strict_fs)
                add_bare_run(list);
        if (set->has_strict_fs)
                add_strict_fs(list, set, empty_root);
        if (set->has_strict_fs && !set->has_no_network && !set->allow)
                add_resolver(list);
        if (set->has_private_tmp)
                property_list_set_bool(list, "PrivateTmp", true);
        if (set->has_no_network)
                property_list_set_bool(list, "PrivateNetwork", true);
        if (set->allow)
                allow_compose(set->allow, list);
        for (guint i = 0; i < rule_count(set); i++)
                add_path(list, rule_at(set, i));
}

/* In directories of the machine's nothing would bound what is written there; in a tmpfs it is memory of the program's. A
 * user that is made up has PrivateTmp=, which only newer managers can make of tmpfs. */
static void bound_tmp(const IsolationContext *context, PropertyList *unit) {
        bool is_made_up = context->is_system && !context->is_another_user;

        if (is_made_up && context->systemd_major < UNTRUSTED_TMPFS_SINCE)
                return;
        (void)property_list_remove(unit, "PrivateTmp");
        if (is_made_up) {
                property_list_set_string(unit, "PrivateTmpEx", "disconnected");
                return;
        }
        add_tmpfs(unit, "/tmp", "mode=1777");
        add_tmpfs(unit, "/var/tmp", "mode=1777");
}

static void compose_untrusted(const IsolationSet *set, const IsolationContext *context,
                              PropertyList *unit) {
        untrusted_compose(&(UntrustedContext){ .is_booted = context->is_booted,
                                               .is_system = context->is_system,
                                               .is_privileged = !context->is_unprivileged,
                                               .has_network = !set->has_no_network,
                                               .has_own_files = set->has_strict_fs,
                                               .is_another_user = context->is_another_user,
                                               .systemd_major = context->systemd_major },
                          unit);
}

void isolation_compose(const IsolationSet *set, const IsolationContext *context,
                       PropertyList *unit) {
        if (!isolation_any(set))
                return;
        /* Without it 252 leaves out the others, and does not say so. */
        if (context->is_unprivileged && !extra_has(context->extra, "PrivateUsers") &&
            !extra_has(context->extra, "PrivateUsersEx"))
                property_list_set_bool(unit, "PrivateUsers", true);
        if (set->is_untrusted) /* first: --net allow= leaves its filter as it is */
                compose_untrusted(set, context, unit);
        compose_asked(set, context->empty_root, unit);
        if (set->is_untrusted)
                bound_tmp(context, unit);
        /* Else the journal's sockets are put into an empty /run. */
        if ((set->is_untrusted || set->has_strict_fs) &&
            context->systemd_major >= BIND_LOG_SOCKETS_SINCE)
                property_list_set_bool(unit, "BindLogSockets", false);
        if (context->gate_path && isolation_hides(set, context->gate_path))
                add_bind(unit, "BindReadOnlyPaths", context->gate_path, context->gate_path, false);
}

static bool check_untrusted_extra(const PropertyList *extra, GError **error) {
        for (size_t i = 0; extra && i < property_list_length(extra); i++) {
                const char *name = property_list_at(extra, i)->name;

                if (!untrusted_owns(name))
                        continue;
                g_set_error(error, UNITS_ERROR, UNITS_ERROR_RESERVED,
                            "-p: \"%s\" is what --untrusted sets already: give one of them", name);
                return false;
        }
        return true;
}

/* Lists are joined; of two other values only one would hold. */
bool isolation_check_extra(const IsolationSet *set, const PropertyList *extra, GError **error) {
        if (set->is_untrusted && !check_untrusted_extra(extra, error))
                return false;

        g_autoptr(PropertyList) asked = property_list_new();

        compose_asked(set, NULL, asked);
        for (size_t i = 0; i < property_list_length(asked); i++) {
                const Property *property = property_list_at(asked, i);
                g_autofree char *extended = g_strconcat(property->name, "Ex", NULL);

                bool is_of_allow = set->allow && allow_owns(property->name);

                if ((g_variant_is_container(property->value) && !is_of_allow) ||
                    (!extra_has(extra, property->name) && !extra_has(extra, extended)))
                        continue;
                g_set_error(error, UNITS_ERROR, UNITS_ERROR_RESERVED,
                            "-p: \"%s\" is what --%s sets already: give one of them",
                            property->name,
                            is_of_allow                                     ? "net allow"
                            : g_str_equal(property->name, "PrivateNetwork") ? "net none"
                            : set->has_strict_fs                            ? "fs strict"
                            : g_str_equal(property->name, "PrivateTmp")     ? "private-tmp"
                                                                            : "net allow");
                return false;
        }
        return true;
}
