/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* --net allow=: what is listed is reached and nothing else, shown by servers of ours on the loopback that hear of the one
 * and not of the other; names without DNS; lists and registries; what goes round it, and who cannot have it. */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

#define PACKET "17" /* AF_PACKET */
#define VSOCK  "40" /* AF_VSOCK */

/* Places that a program may reach, each with somebody who listens. */
typedef struct {
        const char *address;
        int family, tcp, udp;
        unsigned port;
        bool is_there;
} Target;

static Target targets[] = {
        { "127.0.0.2", AF_INET, -1, -1, 0, false },
        { "127.0.0.3", AF_INET, -1, -1, 0, false },
        { "127.0.0.1", AF_INET, -1, -1, 0, false },
        { "::1", AF_INET6, -1, -1, 0, false },
};

typedef union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
} Address;

static char *home, *tools; /* of the caller, while a test has its own */

static bool bind_there(Target *target, int type, int *ret_fd) {
        Address address = { 0 };
        socklen_t size = target->family == AF_INET ? sizeof address.in : sizeof address.in6;
        int fd = socket(target->family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        address.any.sa_family = (sa_family_t)target->family;
        address.in.sin_port = htons((in_port_t)target->port); /* at the same place in both */
        (void)inet_pton(target->family, target->address,
                        target->family == AF_INET ? (void *)&address.in.sin_addr
                                                  : (void *)&address.in6.sin6_addr);
        *ret_fd = fd;
        if (fd < 0 || bind(fd, &address.any, size) < 0 ||
            (type == SOCK_STREAM && listen(fd, 64) < 0) || getsockname(fd, &address.any, &size) < 0)
                return false;
        target->port = ntohs(address.in.sin_port);
        return true;
}

static void listen_everywhere(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(targets); i++) {
                Target *target = &targets[i];

                target->is_there = bind_there(target, SOCK_STREAM, &target->tcp) &&
                                   bind_there(target, SOCK_DGRAM, &target->udp);
                if (!target->is_there && target->family == AF_INET)
                        BAIL_OUT("cannot listen at %s: %s", target->address, strerror(errno));
        }
}

/* How often it was called since the last time. */
static int count_calls(const Target *target, bool is_tcp) {
        char byte;
        int count = 0;

        for (;; count++) {
                int fd = is_tcp ? accept(target->tcp, NULL, NULL) : -1;

                if (is_tcp ? fd < 0 : recv(target->udp, &byte, 1, MSG_DONTWAIT) < 0)
                        return count;
                if (fd >= 0)
                        (void)close(fd);
        }
}

static char **reach_argv(const char *program) {
        GPtrArray *words = g_ptr_array_new();

        g_ptr_array_add(words, g_strdup(program));
        for (size_t i = 0; i < G_N_ELEMENTS(targets); i++) {
                static const char *const protocols[] = { "tcp", "udp", "icmp" };

                for (size_t j = 0; targets[i].is_there && j < G_N_ELEMENTS(protocols); j++) {
                        g_ptr_array_add(words, g_strdup(protocols[j]));
                        g_ptr_array_add(words, g_strdup(targets[i].address));
                        if (j < 2)
                                g_ptr_array_add(words, g_strdup_printf("%u", targets[i].port));
                }
        }
        for (const char *const *word = WORDS("family", PACKET, "family", VSOCK, "uring", "4");
             *word; word++)
                g_ptr_array_add(words, g_strdup(*word));
        g_ptr_array_add(words, NULL);
        return (char **)g_ptr_array_free(words, FALSE);
}

static void own_world(void) {
        (void)setenv("HOME", home, 1);
        (void)unsetenv("XDG_CONFIG_HOME");
        (void)setenv("XDG_CONFIG_DIRS", home, 1);
        (void)setenv("PATH", tools, 1);
        for (char **name = (char *[]){ "GOPROXY", "GOSUMDB", "GOENV", "CARGO_HOME", "PIP_INDEX_URL",
                                       "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE",
                                       "npm_config_registry", NULL };
             *name; name++)
                (void)unsetenv(*name);
}

static void check_no_pins(const char *name) {
        static const char *const patterns[] = { "/run/cordon/net-*",
                                                "/run/cordon/private-*/cordon/net-*",
                                                "/run/user/*/cordon/net-*",
                                                "/run/user/*/cordon/private-*/cordon/net-*" };
        glob_t found = { 0 };

        for (size_t i = 0; i < G_N_ELEMENTS(patterns); i++)
                (void)glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
        if (!cmp_ok((int)found.gl_pathc, "==", 0, "%s: no files of names are left", name))
                for (size_t i = 0; i < found.gl_pathc; i++)
                        diag("%s", found.gl_pathv[i]);
        globfree(&found);
}

/* What is reached */

typedef struct {
        const char *name;
        const char *list; /* NULL: no --net */
        const char *open; /* addresses, with blanks between; NULL: those of localhost */
        const char *const *more;
} Row;

static const Row rows[] = {
        { "no --net", NULL, "127.0.0.1 127.0.0.2 127.0.0.3 ::1", NULL },
        { "an address", "127.0.0.2", "127.0.0.2", NULL },
        { "an IPv6 address", "::1", "::1", NULL },
        { "with all else", "127.0.0.3", "127.0.0.3",
          WORDS("--fs", "strict", "--private-tmp", "--memory", "64M") },
        { "another user", "127.0.0.3", "127.0.0.3", WORDS("--uid", "65534", "--gid", "65534") },
        { "a network", "127.0.0.2/31", "127.0.0.2 127.0.0.3", NULL },
        { "all of IPv4", "0.0.0.0/0", "127.0.0.1 127.0.0.2 127.0.0.3", NULL },
        { "elsewhere", "192.0.2.7,2001:db8::/32", "", NULL },
        { "a name", "localhost", NULL, NULL },
};

/* What a name stands for is the machine's business. */
static const char *open_of(const Row *row) {
        static const struct addrinfo hints = { .ai_family = AF_INET6, .ai_socktype = SOCK_STREAM };
        struct addrinfo *found = NULL;
        bool has_ipv6;

        if (row->open)
                return row->open;
        has_ipv6 = getaddrinfo("localhost", NULL, &hints, &found) == 0;
        if (found)
                freeaddrinfo(found);
        return has_ipv6 ? "127.0.0.1 ::1" : "127.0.0.1";
}

static bool is_in(const char *words, const char *word) {
        g_auto(GStrv) list = g_strsplit(words, " ", -1);

        return g_strv_contains((const char *const *)list, word);
}

static bool is_other_user(const Row *row) {
        return row->more && g_str_equal(row->more[0], "--uid");
}

static void check_said(const Row *row, const KitRun *run, const char *protocol, const char *address,
                       const char *wanted) {
        g_autofree char *what = g_strdup_printf("%s %s", protocol, address);
        g_autofree char *said = kit_said(run, what);

        is(said, wanted, "%s: %s is %s", row->name, what, wanted);
}

/* Where a manager of root's that is not the system's makes a user namespace for what keeps control groups read-only (257),
 * root in there is nobody who may. */
static bool may_ping(const KitRun *run, const Target *target) {
        g_autofree char *what = g_strdup_printf("icmp %s", target->address);
        g_autofree char *said = kit_said(run, what);

        return g_str_equal(kit_manager(), "system") || g_strcmp0(said, "EACCES") != 0;
}

static void check_target(const Row *row, const KitRun *run, const Target *target) {
        bool is_open = is_in(open_of(row), target->address);

        check_said(row, run, "tcp", target->address, is_open ? "connected" : "nothing");
        check_said(row, run, "udp", target->address, is_open ? "sent" : "EPERM");
        if (!is_other_user(row) && may_ping(run, target))
                check_said(row, run, "icmp", target->address, is_open ? "sent" : "EPERM");
        cmp_ok(count_calls(target, true), "==", is_open, "%s: what %s heard by TCP", row->name,
               target->address);
        cmp_ok(count_calls(target, false), "==", is_open, "%s: what %s heard by UDP", row->name,
               target->address);
}

static void check_record(const Row *row, const KitRun *run) {
        g_autofree char *wanted = g_strconcat("allow=", row->list, NULL);

        ok(record_is_true(run, "isolation.net.enforced"), "%s: the record has it as enforced",
           row->name);
        is(record_text(run, "isolation.net.requested"), wanted, "%s: the record has the list",
           row->name);
        is(record_text(run, "isolation.net.by"), "IPAddressDeny", "%s: and the property",
           row->name);
        ok(cJSON_GetArraySize(record_at(run, "isolation.net.addresses")) > 0,
           "%s: and the addresses", row->name);
}

static KitRun *reach(const Row *row) {
        g_autofree char *program = kit_program("victim-net");
        g_autofree char *list = g_strconcat("allow=", row->list, NULL);
        g_autofree char *directory = g_path_get_dirname(program);
        g_auto(GStrv) command = reach_argv(program);
        g_autoptr(GPtrArray) options = g_ptr_array_new();

        for (const char *const *word = row->more; word && *word; word++)
                g_ptr_array_add(options, (char *)*word);
        if (row->list) {
                g_ptr_array_add(options, "--net");
                g_ptr_array_add(options, list);
                g_ptr_array_add(options, "--ro");
                g_ptr_array_add(options, directory);
        }
        g_ptr_array_add(options, NULL);

        KitOrder order = { .options = (const char *const *)options->pdata,
                           .command = (const char *const *)command,
                           .directory = is_other_user(row) ? "/" : NULL };

        return kit_run(&order);
}

static void test_row(const Row *row) {
        g_autoptr(KitRun) run = reach(row);

        if (!cmp_ok(run->status, "==", 0, "%s: it runs", row->name))
                diag("%s%s", run->errors->str, run->record_text->str);
        for (size_t i = 0; i < G_N_ELEMENTS(targets); i++)
                if (targets[i].is_there)
                        check_target(row, run, &targets[i]);
        if (row->list) {
                check_said(row, run, "family", PACKET, "EAFNOSUPPORT");
                check_said(row, run, "family", VSOCK, "EAFNOSUPPORT");
                check_said(row, run, "uring", "4", "ENOSYS");
                check_record(row, run);
        }
        leftover_check(run, row->name);
        check_no_pins(row->name);
}

/* Names */

typedef struct {
        const char *name;
        const char *const *options;
        const char *script, *said;
} Script;

#define NSSWITCH \
        "grep -v '^#' /etc/hosts; grep -c . /etc/resolv.conf; grep '^hosts' /etc/nsswitch.conf\n"

/* clang-format off */
static const Script scripts[] = {
        { "a name that is pinned", WORDS("--net", "allow=localhost"),
          "getent ahostsv4 localhost | head -n 1 | tr -s ' '\n", "127.0.0.1 STREAM localhost\n" },
        { "no other name", WORDS("--net", "allow=127.0.0.2"),
          "getent hosts localhost || echo unknown\ngetent hosts other.example || echo unknown\n", "unknown\nunknown\n" },
        { "users as ever", WORDS("--net", "allow=127.0.0.2"), "getent passwd 0 | cut -d: -f1\n", "root\n" },
        { "the files", WORDS("--net", "allow=127.0.0.2"), NSSWITCH, "3\nhosts: files\n" },
        { "the files below --fs strict", WORDS("--net", "allow=127.0.0.2", "--fs", "strict"), NSSWITCH, "3\nhosts: files\n" },
        { "files that cannot be written", WORDS("--net", "allow=127.0.0.2"),
          "for file in hosts resolv.conf nsswitch.conf; do (: >>/etc/$file) 2>/dev/null && echo wrote $file; done; echo done\n", "done\n" },
        { "another cgroup", WORDS("--net", "allow=127.0.0.2"),
          "find /sys/fs/cgroup -name cgroup.procs | while read -r file; do (echo $$ >$file) 2>/dev/null && echo left to $file; done; echo done\n", "done\n" },
        { "no resolvers", WORDS("--net", "allow=127.0.0.2"), "find /run/nscd /run/systemd/resolve -type s 2>/dev/null; echo done\n", "done\n" },
};
/* clang-format on */

static void test_script(const Script *script) {
        KitOrder order = { .options = script->options,
                           .command = WORDS("sh", "-c", script->script) };
        g_autoptr(KitRun) run = kit_run(&order);

        if (!is(run->output->str, script->said, "%s", script->name))
                diag("%s", run->errors->str);
        is(run->errors->str, "", "%s: nothing to say", script->name);
        ok(kit_is_slow() || record_number(run, "usage.wall_usec") < (int64_t)(4 * KIT_SEC),
           "%s: at once", script->name);
        leftover_check(run, script->name);
}

/* Lists and registries */

static void put(const char *name, const char *text, mode_t mode) {
        g_autofree char *path = g_build_filename(home, name, NULL);
        g_autofree char *directory = g_path_get_dirname(path);

        if (g_mkdir_with_parents(directory, 0755) < 0 ||
            !g_file_set_contents(path, text, -1, NULL) || chmod(path, mode) < 0)
                BAIL_OUT("cannot write %s", path);
}

static char *addresses_of(const KitRun *run) {
        const cJSON *list = record_at(run, "isolation.net.addresses"), *one;
        GString *text = g_string_new(NULL);

        cJSON_ArrayForEach(one, list)
                g_string_append_printf(text, "%s%s", text->len > 0 ? " " : "", one->valuestring);
        return g_string_free(text, FALSE);
}

static void test_opens(const char *name, const char *list, const char *directory,
                       const char *wanted) {
        KitOrder order = { .options = WORDS("--net", list),
                           .command = WORDS("/bin/true"),
                           .directory = directory,
                           .prepare = own_world };
        g_autoptr(KitRun) run = kit_run(&order);
        g_autofree char *opened = addresses_of(run);

        if (!is(opened, wanted, "%s: what opens", name))
                diag("%s", run->errors->str);
        cmp_ok(run->status, "==", 0, "%s: it runs", name);
}

static void test_refused(const char *name, const char *const *options, const char *code,
                         const char *pattern) {
        KitOrder order = { .options = options,
                           .command = VICTIM("say", "it ran"),
                           .prepare = own_world };
        g_autoptr(KitRun) run = kit_run(&order);
        Expected expected = { .outcome = "refused",
                              .status = 125,
                              .exit_code = ABSENT,
                              .error = code,
                              .message = "*",
                              .words = pattern };

        expect(run, &expected, name);
        check_no_pins(name);
}

static void test_lists(void) {
        put(".config/cordon/net.d/mine", "# ours\n127.0.0.2 # one\n\n@more\n", 0644);
        put(".config/cordon/net.d/more", "127.0.0.4/30\n@mine\n", 0600);
        put(".config/cordon/net.d/open", "127.0.0.2\n", 0666);
        put(".config/cordon/net.d/bad", "127.0.0.2\n127.0.0.3:80\n", 0644);
        test_opens("lists that name each other", "allow=@mine,::1", NULL,
                   "::1 127.0.0.2 127.0.0.4/30");
        test_refused(
                "a list that others can write", WORDS("--net", "allow=@open"), "bad-value",
                "cordon: --net: */net.d/open: not trusted: others can write it (chmod go-w); see cordon run --help\n");
        test_refused("a list with a mistake", WORDS("--net", "allow=@bad"), "bad-value",
                     "cordon: --net: */net.d/bad, line 2: \"127.0.0.3:80\" is not accepted; *\n");
        test_refused(
                "a list that is not there", WORDS("--net", "allow=@none"), "bad-value",
                "cordon: --net: \"@none\": there is no such list, neither */.config/cordon/net.d/none nor /etc/cordon/net.d/none; see cordon run --help\n");
        if (geteuid() == 0) {
                g_autofree char *path = g_build_filename(home, ".config/cordon/net.d/mine", NULL);

                ok(chown(path, 65534, 65534) == 0, "a list becomes somebody else's");
                test_refused(
                        "somebody else's list", WORDS("--net", "allow=@mine"), "bad-value",
                        "cordon: --net: */net.d/mine: not trusted: it is neither root's nor yours; see cordon run --help\n");
        }
}

static void test_registries(void) {
        test_refused(
                "no registries", WORDS("--net", "allow=@registries"), "bad-value",
                "cordon: --net: \"@registries\": npm, pip, cargo and go here are not set up to use any; see cordon run --help\n");
        put("bin/npm",
            "#!/bin/sh\n[ \"$*\" = 'config get registry' ] && echo https://127.0.0.5:8/npm/\n",
            0755);
        put("bin/go", "#!/bin/sh\nprintf 'https://user:secret@127.0.0.6/go,direct\\noff\\n'\n",
            0755);
        test_opens("tools that are asked", "allow=@registries", "/", "127.0.0.5 127.0.0.6");
        test_refused("tools below the working directory", WORDS("--net", "allow=@registries"),
                     "bad-value",
                     "cordon: --net: \"@registries\": npm, pip, cargo and go here *\n");
        put(".npmrc", "; mine\n@co:registry = http://127.0.0.7/\nregistry=http://127.0.0.8:4873/\n",
            0600);
        put("pip/pip.conf",
            "[global]\nindex-url = http://127.0.0.9/simple\n[install]\nextra-index-url =\n    http://127.0.0.10/a\n    http://127.0.0.11/b\n",
            0644);
        put(".cargo/config.toml",
            "[source.mirror]\nregistry = \"sparse+http://127.0.0.12/index/\" # in house\n[registries.own]\nindex = \"git@127.0.0.13:x/y\"\n[net]\nregistry = \"http://127.0.0.99/\"\n",
            0644);
        test_opens(
                "what is configured", "allow=@registries", "/",
                "127.0.0.7 127.0.0.8 127.0.0.9 127.0.0.10 127.0.0.11 127.0.0.12 127.0.0.13 127.0.0.6");
        put("bin/npm", "#!/bin/sh\necho hidden\n", 0755);
        put(".npmrc", "registry=http://127.0.0.8/\n", 0620);
        test_refused(
                "a configuration that others can write", WORDS("--net", "allow=@registries"),
                "bad-value",
                "cordon: --net: */.npmrc: not trusted: others can write it (chmod go-w); see cordon run --help\n");
}

/* Whoever is asked may never answer, and a signal does not wait for it. */
static bool has_no_asker(const void *data) {
        return access(data, F_OK) < 0 || kit_is_slow();
}

static void test_interrupted(void) {
        g_autofree char *fifo = g_build_filename(home, "fifo", NULL);
        g_autofree char *script = g_strdup_printf("#!/bin/sh\nexec 3<%s\nexec /bin/cat <&3\n",
                                                  fifo);
        int fd, tries = 0;

        put("bin/npm", script, 0755);
        put(".npmrc", "", 0600);
        if (mkfifo(fifo, 0600) < 0)
                BAIL_OUT("no FIFO");

        KitOrder order = { .options = WORDS("--net", "allow=@registries"),
                           .command = VICTIM("say", "it ran"),
                           .directory = "/",
                           .prepare = own_world };
        g_autoptr(KitRun) run = kit_start(&order);

        fd = open(fifo, O_WRONLY | O_CLOEXEC); /* it has its reader: the tool runs */
        kit_signal(run, SIGTERM);
        kit_finish(run);
        cmp_ok(run->status, "==", 128 + SIGTERM, "a signal while a tool is asked ends it");
        is(record_text(run, "outcome"), "cancelled", "and is recorded");
        is(run->output->str, "", "and nothing runs");
        (void)signal(SIGPIPE, SIG_IGN);
        while (write(fd, "x", 1) == 1 && ++tries < 1000)
                (void)kit_wait_until(has_no_asker, fifo, 5 * KIT_MSEC);
        cmp_ok(errno, "==", EPIPE, "and the tool is gone");
        (void)close(fd);
}

/* What goes round it */

static void test_stdio(void) {
        Address address = { .in = { .sin_family = AF_INET,
                                    .sin_port = htons((in_port_t)targets[0].port) } };
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), pair[2];
        const char *const *ways[] = { WORDS("--net", "none"), WORDS("--net", "allow=127.0.0.2") };

        (void)inet_pton(AF_INET, targets[0].address, &address.in.sin_addr);
        if (connect(fd, &address.any, sizeof address.in) < 0 ||
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                BAIL_OUT("no socket: %s", strerror(errno));
        for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
                KitOrder order = { .options = ways[i],
                                   .command = VICTIM("say", "it ran"),
                                   .input_fd = fd };
                g_autoptr(KitRun) run = kit_run(&order);
                Expected refused = {
                        .outcome = "refused",
                        .status = 125,
                        .exit_code = ABSENT,
                        .error = "unenforceable",
                        .words = "cordon: --net *: standard input is a network socket, which would go round it; put a pipe or a file there\n"
                };

                expect(run, &refused, "a network socket");
                order.input_fd = pair[0];

                if (i > 0 && geteuid() != 0)
                        continue; /* cannot be had */

                g_autoptr(KitRun) local = kit_run(&order);

                is(local->output->str, "it ran\n", "a socket of the machine alone is no network");
        }
        (void)count_calls(&targets[0], true);
        (void)close(fd);
        (void)close(pair[0]);
        (void)close(pair[1]);
}

/* A launcher that is killed at any moment of its start. The guard may not know it yet: then the next one clears up. */
static void test_killed(void) {
        KitOrder order = { .options = WORDS("--net", "allow=127.0.0.2"),
                           .command = VICTIM("pause") };
        KitOrder last = { .options = WORDS("--net", "allow=127.0.0.2"), .command = VICTIM("end") };

        for (int i = 0; i < kit_rounds(12, 3); i++) {
                g_autoptr(KitRun) run = kit_start(&order);

                (void)kit_wait_process(run->pidfd, (uint64_t)i * 4 * KIT_MSEC);
                kit_signal(run, SIGKILL);
                kit_finish(run);
                leftover_check(run, "killed");
        }

        g_autoptr(KitRun) run = kit_run(&last);

        cmp_ok(run->status, "==", 0, "the next one runs");
        check_no_pins("killed");
}

/* Who cannot have it */

static void test_unprivileged(void) {
        KitOrder order = { .options = WORDS("--net", "allow=127.0.0.2"),
                           .command = VICTIM("say", "it ran") };
        g_autoptr(KitRun) run = kit_run(&order);
        Expected refused = {
                .outcome = "refused",
                .status = 125,
                .exit_code = ABSENT,
                .error = "unenforceable",
                .words = "cordon: --net allow cannot be enforced here: a * manager without privileges has no filter for addresses (BPF); use --system, or --net none\n"
        };

        expect(run, &refused, "a manager without privileges");
        check_no_pins("a manager without privileges");
}

/* A manager of 262 without libseccomp leaves families of sockets open, and does not say so. */
static bool can_be_had(void) {
        KitOrder order = { .options = WORDS("--net", "allow=127.0.0.2"), .command = VICTIM("end") };
        g_autoptr(KitRun) run = kit_run(&order);

        if (!strstr(run->errors->str, "RestrictAddressFamilies (seccomp)"))
                return true;
        is(record_text(run, "error.code"), "unenforceable", "without seccomp it is refused");
        is(g_getenv("CORDON_TEST_VM") ?: "", "262", "and it may be missing here");
        check_no_pins("without seccomp");
        return false;
}

int main(void) {
        kit_init();
        home = g_build_filename(kit_directory(), "home", NULL);
        tools = g_build_filename(home, "bin", NULL);
        put("bin/nothing", "", 0644);
        listen_everywhere();
        if (geteuid() != 0) {
                test_unprivileged();
                test_stdio();
        } else if (!can_be_had()) {
                skip(1, 1, "n/a: the manager has no seccomp");
                end_skip;
        } else {
                for (size_t i = 0; i < (kit_is_brief() ? 3 : G_N_ELEMENTS(rows)); i++)
                        test_row(&rows[i]);
                for (size_t i = 0; i < (kit_is_brief() ? 2 : G_N_ELEMENTS(scripts)); i++)
                        test_script(&scripts[i]);
                if (!kit_is_brief()) {
                        test_lists();
                        test_registries();
                        test_interrupted();
                }
                test_stdio();
                test_killed();
        }
        leftover_check_guard("all runs are over");
        g_free(home);
        g_free(tools);
        kit_clear();
        done_testing();
}
