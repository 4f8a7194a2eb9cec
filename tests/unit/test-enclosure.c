/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What steps come of the properties of a unit, in which order, and which properties nobody can carry that way; what of
 * it Landlock can express. */

#include <string.h>
#include <tap.h>

#include "units/enclosure.h"
#include "units/error.h"
#include "units/extra.h"
#include "units/isolation.h"
#include "units/permit.h"

#define UID 1000
#define GID 100

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* One line a step: its kind, its flags, source > target, options or amount. */
static const char *const kinds[_STEP_MAX] = {
        [STEP_UNSHARE] = "unshare", [STEP_IDENTITY] = "identity", [STEP_SLAVE] = "slave",
        [STEP_TMPFS] = "tmpfs",     [STEP_BIND] = "bind",         [STEP_READ_ONLY] = "read-only",
        [STEP_SEAL] = "seal",       [STEP_LINK] = "link",         [STEP_TERMINALS] = "terminals",
        [STEP_ROOT] = "root",       [STEP_LOOPBACK] = "loopback", [STEP_NO_NEW_PRIVILEGES] = "nnp",
        [STEP_DROP] = "drop",       [STEP_PERMIT] = "permit",
};

static const char flag_letters[] = "?Rrmsdxw"; /* by bit */

static void append_flags(GString *text, const Step *step) {
        static const char *const namespaces[] = { " users", " mounts", " network" };

        if (step->kind != STEP_UNSHARE && step->flags != 0)
                g_string_append_c(text, ' ');
        for (size_t i = 0; i < strlen(flag_letters); i++) {
                if (!(step->flags & (1U << i)))
                        continue;
                if (step->kind == STEP_UNSHARE)
                        g_string_append(text, namespaces[i]);
                else
                        g_string_append_c(text, flag_letters[i]);
        }
}

static void append_text(GString *text, const Enclosure *enclosure, const char *before,
                        uint32_t offset) {
        if (offset != STEP_NO_TEXT)
                g_string_append_printf(text, "%s%s", before,
                                       (const char *)enclosure->texts->data + offset);
}

static char *text_of(const Enclosure *enclosure) {
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < enclosure->steps->len; i++) {
                const Step *step = &g_array_index(enclosure->steps, Step, i);

                g_string_append(text, kinds[step->kind]);
                append_flags(text, step);
                append_text(text, enclosure, " ", step->source);
                append_text(text, enclosure, " > ", step->target);
                append_text(text, enclosure, " ", step->options);
                if (step->amount)
                        g_string_append_printf(text, " %" G_GINT64_MODIFIER "x", step->amount);
                g_string_append_c(text, '\n');
        }
        return g_string_free(text, FALSE);
}

/* Options by their keys, "workspace", or "-p". */
static void read_words(const char *const *words, IsolationSet *set, PropertyList *extra) {
        for (; *words; words += 2) {
                g_autoptr(GError) error = NULL;
                Isolation isolation = 0;
                bool is_read;

                if (g_str_equal(words[0], "workspace")) {
                        set->workspace = g_strdup(words[1]);
                        continue;
                }
                while (!g_str_equal(words[0], "-p") &&
                       !g_str_equal(isolation_info(isolation)->key, words[0]))
                        isolation++;
                is_read = g_str_equal(words[0], "-p")
                                  ? extra_parse(words[1], extra, &error)
                                  : isolation_set_parse(set, isolation, words[1], &error);
                if (!is_read)
                        BAIL_OUT("%s", error->message);
        }
}

static PropertyList *compose(const char *const *words, bool is_privileged, IsolationSet *set) {
        g_autoptr(PropertyList) extra = property_list_new();
        PropertyList *unit = property_list_new();

        read_words(words, set, extra);
        isolation_set_settle(set);
        isolation_compose(set,
                          &(IsolationContext){ .is_unprivileged = !is_privileged,
                                               .systemd_major = 257 },
                          unit);
        for (size_t i = 0; i < property_list_length(extra); i++)
                property_list_extend(unit, property_list_at(extra, i)->name,
                                     property_list_at(extra, i)->value);
        return unit;
}

static Enclosure *plan_of(const PropertyList *unit, bool is_privileged, GError **error) {
        return enclosure_plan(unit,
                              &(EnclosureContext){
                                      .is_privileged = is_privileged, .uid = UID, .gid = GID },
                              error);
}

#define TMPFS  " mode=0755,size=10%,nr_inodes=400k"
#define TMP    " mode=1777,size=50%,nr_inodes=1m\n"
#define BEGIN  "unshare mounts\nslave\nbind R / > /\n"
#define NO_TMP "tmpfs ?sd > /tmp" TMP "tmpfs ?sd > /var/tmp" TMP

/* clang-format off */
static const struct {
        const char *const *words;
        bool is_privileged;
        const char *steps;
} plans[] = {
        { WORDS("net", "host"), true, "" },
        { WORDS("net", "host"), false, "" },
        { WORDS("private-tmp", ""), true, BEGIN NO_TMP "root\n" },
        { WORDS("private-tmp", ""), false,
          "unshare users mounts\nidentity 64000003e8\nslave\nbind R / > /\n" NO_TMP "root\nnnp\ndrop ffffffffffffffff\n" },
        { WORDS("net", "none"), true, "unshare network\nloopback\n" },
        { WORDS("net", "none"), false,
          "unshare users network\nidentity 64000003e8\nloopback\nnnp\ndrop ffffffffffffffff\n" },
        { WORDS("rw", "/a/b", "hide", "/a", "ro", "/a-b", "ro", "/a/b/c"), true,
          BEGIN "tmpfs rd > /a" TMPFS "\nbind Rm /a/b > /a/b\nbind Rr /a/b/c > /a/b/c\nbind Rr /a-b > /a-b\nseal > /a\nroot\n" },
        { WORDS("scratch", "/s:1M", "scratch", "/s/t"), true,
          BEGIN "tmpfs d > /s" TMPFS ",mode=1777,size=1048576\ntmpfs md > /s/t" TMPFS ",mode=1777\nroot\n" },
        { WORDS("private-tmp", "", "rw", "/tmp/w"), true,
          BEGIN "tmpfs ?sd > /tmp" TMP "bind Rm /tmp/w > /tmp/w\ntmpfs ?sd > /var/tmp" TMP "root\n" },
        /* What is bound at a path wins, and stays read-only where anybody asked for that. */
        { WORDS("private-tmp", "", "rw", "/tmp", "-p", "ReadOnlyPaths=/tmp"), true,
          BEGIN "bind Rr /tmp > /tmp\ntmpfs ?sd > /var/tmp" TMP "root\n" },
        { WORDS("-p", "ReadOnlyPaths=-/a", "-p", "ReadOnlyPaths=/b"), true, BEGIN "read-only ? > /a\nread-only > /b\nroot\n" },
        { WORDS("-p", "ProtectControlGroups=yes"), true, BEGIN "read-only > /sys/fs/cgroup\nroot\n" },
        { WORDS("-p", "MountAPIVFS=yes"), true, "" },
        { WORDS("-p", "NoNewPrivileges=yes"), true, "nnp\n" },
        { WORDS("-p", "NoNewPrivileges=no"), false, "" },
        { WORDS("-p", "PrivateUsers=yes"), true, "unshare users\nidentity 64000003e8\nnnp\ndrop ffffffffffffffff\n" },
        { WORDS("-p", "BindPaths=-/a:/b:norbind"), true, BEGIN "bind ? /a > /b\nroot\n" },
        { WORDS("-p", "TemporaryFileSystem=/a:ro,noexec,nosuid,dev,mode=700"), true,
          BEGIN "tmpfs rsx > /a" TMPFS ",mode=700\nseal > /a\nroot\n" },
        { WORDS("-p", "PrivateDevices=yes"), true,
          BEGIN "tmpfs sx > /dev mode=755,size=4m,nr_inodes=64k\n"
          "bind ?m /dev/null > /dev/null\nbind ?m /dev/zero > /dev/zero\nbind ?m /dev/full > /dev/full\n"
          "bind ?m /dev/random > /dev/random\nbind ?m /dev/urandom > /dev/urandom\nbind ?m /dev/tty > /dev/tty\n"
          "terminals ?Rm /dev/ptmx > /dev/pts\n"
          "bind ?Rm /dev/shm > /dev/shm\nbind ?Rm /dev/mqueue > /dev/mqueue\nbind ?Rm /dev/hugepages > /dev/hugepages\n"
          "link /proc/self/fd > /dev/fd\nlink /proc/self/fd/0 > /dev/stdin\nlink /proc/self/fd/1 > /dev/stdout\n"
          "link /proc/self/fd/2 > /dev/stderr\nseal > /dev\nroot\ndrop 8020000\n" },
};

/* Of --fs strict, in this order. */
static const char *const strict_steps[] = {
        "unshare mounts\nslave\ntmpfs rd > /" TMPFS "\nbind ?Rrm /bin > /bin\n",
        "tmpfs msx > /dev mode=755",
        "tmpfs md > /dev/shm" TMPFS ",mode=1777\n",
        "bind ?Rrm /etc > /etc\n",
        "bind Rm /proc > /proc\nread-only ? > /proc/acpi\n",
        "read-only ? > /proc/sys\n",
        "tmpfs msd > /run mode=0755",
        "bind ?Rrm /run/systemd/resolve/stub-resolv.conf > /run/systemd/resolve/stub-resolv.conf\n",
        "bind Rrm /sys > /sys\nread-only > /sys/fs/cgroup\n",
        "tmpfs ?msd > /tmp" TMP,
        "bind Rm /tmp/w > /tmp/w\n",
        "bind ?Rrm /usr > /usr\n",
        "tmpfs ?msd > /var/tmp" TMP,
        "seal > /dev\nseal > /\nroot\ndrop 8020000\n",
};

static const struct {
        const char *property;
        const char *message;
} refused[] = {
        { "IPAddressDeny=any", "IPAddressDeny=" },
        { "ProtectHome=yes", "ProtectHome=" },
        { "InaccessiblePaths=/a", "InaccessiblePaths=" },
        { "SystemCallFilter=@default", "SystemCallFilter=" },
        { "BindLogSockets=yes", "BindLogSockets=" },
        { "Nice=5", "Nice=" },
};

static const struct {
        const char *const *words;
        const char *message; /* NULL: it can */
        const char *permits;
} permits[] = {
        { WORDS("rw", "/a"), NULL, "" },
        { WORDS("fs", "strict", "workspace", "/w", "ro", "/r", "rw", "/r/x"), NULL,
          "permit ? > /bin\npermit ?w > /dev/null\npermit ?w > /dev/zero\npermit ?w > /dev/full\npermit ?w > /dev/random\n"
          "permit ?w > /dev/urandom\npermit ?w > /dev/tty\npermit ?w > /dev/ptmx\npermit ?w > /dev/pts\npermit ? > /etc\n"
          "permit ? > /lib\npermit ? > /lib32\npermit ? > /lib64\npermit ? > /libx32\npermit ? > /proc\npermit > /r\n"
          "permit w > /r/x\npermit ? > /run/NetworkManager/resolv.conf\npermit ? > /run/resolvconf/resolv.conf\n"
          "permit ? > /run/systemd/resolve/resolv.conf\npermit ? > /run/systemd/resolve/stub-resolv.conf\n"
          "permit ? > /sbin\npermit ? > /sys\npermit ? > /usr\npermit w > /w\n" },
        { WORDS("private-tmp", ""), "--private-tmp: Landlock makes no directory", "" },
        { WORDS("net", "none"), "--net none: Landlock closes but a part of the network", "" },
        { WORDS("hide", "/a"), "--hide /a: Landlock hides nothing", "" },
        { WORDS("fs", "strict", "workspace", "/w", "hide", "/usr/a"), "--hide /usr/a: Landlock hides nothing", "" },
        { WORDS("fs", "strict", "workspace", "/w", "scratch", "/s"), "--scratch /s: Landlock makes no directory", "" },
        { WORDS("ro", "/a"), "--ro /a: Landlock can only do it with --fs strict", "" },
        { WORDS("fs", "strict", "workspace", "/w", "ro", "/w/a"), "--ro /w/a: Landlock cannot do it below what is writable", "" },
        { WORDS("fs", "strict", "workspace", "/w", "ro", "/v/a", "rw", "/v"), "--ro /v/a: Landlock cannot do it below what is writable", "" },
        { WORDS("-p", "ReadOnlyPaths=/a"), "ReadOnlyPaths=/a: Landlock cannot do it", "" },
        { WORDS("fs", "strict", "workspace", "/w", "-p", "ReadOnlyPaths=/w/a"), "ReadOnlyPaths=/w/a: Landlock cannot do it", "" },
        { WORDS("fs", "strict", "workspace", "/w", "-p", "BindPaths=/a:/b"), "BindPaths=/b: Landlock cannot do it", "" },
        { WORDS("fs", "strict", "workspace", "/w", "-p", "BindReadOnlyPaths=/w/b"), "BindReadOnlyPaths=/w/b: Landlock cannot do it", "" },
        { WORDS("fs", "strict", "workspace", "/w", "-p", "TemporaryFileSystem=/a"), "TemporaryFileSystem=/a: Landlock cannot do it", "" },
        { WORDS("-p", "PrivateTmp=yes"), "PrivateTmp=/tmp: Landlock cannot do it", "" },
        { WORDS("-p", "PrivateNetwork=yes"), "PrivateNetwork=: Landlock closes but a part of the network", "" },
        { WORDS("-p", "PrivateDevices=yes"), "PrivateDevices=/dev: Landlock cannot do it", "" },
};
/* clang-format on */

static void test_plans(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(plans); i++) {
                IsolationSet set = { 0 };
                g_autoptr(PropertyList)
                        unit = compose(plans[i].words, plans[i].is_privileged, &set);
                g_autoptr(GError) error = NULL;
                g_autoptr(Enclosure) enclosure = plan_of(unit, plans[i].is_privileged, &error);
                g_autofree char *steps = enclosure ? text_of(enclosure) : g_strdup(error->message);

                is(steps, plans[i].steps, "%s %s: steps", plans[i].words[0], plans[i].words[1]);
                isolation_set_clear(&set);
        }
}

static void test_strict(void) {
        IsolationSet set = { 0 };
        g_autoptr(PropertyList)
                unit = compose(WORDS("fs", "strict", "workspace", "/tmp/w"), true, &set);
        g_autoptr(Enclosure) enclosure = plan_of(unit, true, NULL);
        g_autofree char *steps = text_of(enclosure);
        const char *rest = steps;

        for (size_t i = 0; i < G_N_ELEMENTS(strict_steps); i++) {
                const char *found = strstr(rest, strict_steps[i]);
                g_autofree char *first = g_strndup(strict_steps[i], strcspn(strict_steps[i], "\n"));

                ok(found, "fs strict has, in order: %s", first);
                rest = found ? found + strlen(strict_steps[i]) : rest;
        }
        is(rest, "", "and nothing after that");
        isolation_set_clear(&set);
}

static void test_refused(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_autoptr(PropertyList) unit = property_list_new();
                g_autoptr(GError) error = NULL;
                g_autofree char *message = g_strconcat(
                        refused[i].message,
                        " needs a service: in a scope there is only what a process can do by itself",
                        NULL);

                if (!extra_parse(refused[i].property, unit, NULL))
                        property_list_set_bool(unit, "BindLogSockets", true);
                ok(!plan_of(unit, true, &error), "%s is refused", refused[i].property);
                is(error->message, message, "it is named");
                cmp_ok(error->code, "==", UNITS_ERROR_UNENFORCEABLE, "as what cannot be enforced");
        }
}

static void test_untrusted(void) {
        IsolationSet set = { 0 };
        g_autoptr(PropertyList)
                unit = compose(WORDS("untrusted", "", "workspace", "/w"), false, &set);
        g_autoptr(GError) error = NULL;

        ok(!plan_of(unit, false, &error), "--untrusted is refused");
        ok(strstr(error->message, "= needs a service"), "by what it is made of");
        isolation_set_clear(&set);
}

static void test_permits(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(permits); i++) {
                IsolationSet set = { 0 };
                g_autoptr(PropertyList) unit = compose(permits[i].words, false, &set);
                g_autoptr(GError) error = NULL;
                g_autoptr(Enclosure) enclosure = plan_of(unit, false, NULL);
                g_autofree char *steps = text_of(enclosure), *all = NULL, *wanted = NULL;
                bool can = permit_plan(&set, unit, enclosure, &error);

                all = text_of(enclosure);
                wanted = g_strconcat(steps, permits[i].permits, NULL);
                is(can ? NULL : error->message, permits[i].message, "%s %s: what is said",
                   permits[i].words[0], permits[i].words[1]);
                is(all, wanted, "… and the permits");
                ok(enclosure->has_permits == can, "… will do or not");
                isolation_set_clear(&set);
        }
}

static void test_words(void) {
        IsolationSet set = { 0 };
        g_autoptr(PropertyList) unit = compose(WORDS("fs", "strict", "workspace", "/w", "net",
                                                     "none", "ro", "/a b"),
                                               false, &set);
        g_autoptr(Enclosure) enclosure = plan_of(unit, false, NULL);
        g_autofree char *beyond = enclosure_step_text(enclosure, 1000);

        for (guint i = 0; i < enclosure->steps->len; i++) {
                g_autofree char *text = enclosure_step_text(enclosure, i);

                ok(strlen(text) > 5, "a step has words: %s", text);
        }
        is(beyond, "nothing that was planned", "one that is not there has, too");
        isolation_set_clear(&set);
}

int main(void) {
        plan(NO_PLAN);
        test_plans();
        test_strict();
        test_refused();
        test_untrusted();
        test_permits();
        test_words();
        done_testing();
}
