/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two processes: one becomes who it is to be and is the launcher, its child is the gate. */

#include "enclosed.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/gate/channel.h"
#include "launcher/gate/child.h"
#include "launcher/walls.h"
#include "units/extra.h"
#include "units/permit.h"

#define NOBODY           65534
#define PATIENCE_MS      60000
#define SYSTEMD_MAJOR    257
#define ALL_CAPABILITIES 64
#define DEVICE_BITS      (1ULL << CAP_SYS_RAWIO | 1ULL << CAP_MKNOD)

#define PRELUDE                                                                      \
        "can() { if (\"$@\") >/dev/null 2>&1; then printf +; else printf -; fi; }\n" \
        "w() { can sh -c 'echo x >>\"$1\"' sh \"$1\"; }\n"

static void need(bool is_well, const char *what) {
        if (!is_well)
                BAIL_OUT("%s: %s", what, strerror(errno));
}

/* Who and where */

static void lose(int capability) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct data[2];

        need(prctl(PR_CAPBSET_DROP, capability) == 0, "capability");
        need(syscall(SYS_capget, &header, data) == 0, "capget");
        data[CAP_TO_INDEX(capability)].effective &= ~CAP_TO_MASK(capability);
        data[CAP_TO_INDEX(capability)].permitted &= ~CAP_TO_MASK(capability);
        need(syscall(SYS_capset, &header, data) == 0, "capset");
}

static void become(const EnclosedCase *this_case) {
        if (this_case->lacks & ENCLOSED_WITHOUT_ROOT_MAP)
                lose(CAP_SETFCAP);
        if (this_case->who == ENCLOSED_BARE_ROOT)
                lose(CAP_SYS_ADMIN);
        if (this_case->who != ENCLOSED_NOBODY)
                return;
        need(setgroups(1, &(gid_t){ ENCLOSED_GROUP }) == 0 && setgid(NOBODY) == 0 &&
                     setuid(NOBODY) == 0,
             "setuid");
        need(prctl(PR_SET_DUMPABLE, 1) == 0, "dumpable"); /* as a program is that began as nobody */
}

static void forbid(long call, int error_number) {
        struct sock_filter steps[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error_number),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = { .len = G_N_ELEMENTS(steps), .filter = steps };

        need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
             "seccomp");
}

static void forbid_all(unsigned lacks) {
        static const struct {
                unsigned lack;
                long call;
                int error_number;
        } calls[] = {
                { ENCLOSED_WITHOUT_MOUNT_CALLS, SYS_openat2, ENOSYS },
                { ENCLOSED_WITHOUT_MOUNT_CALLS, SYS_mount_setattr, ENOSYS },
                { ENCLOSED_WITHOUT_NAMESPACES, SYS_unshare, ENOSPC },
                { ENCLOSED_WITHOUT_MOUNTS, SYS_mount, EACCES },
                { ENCLOSED_WITHOUT_LANDLOCK, SYS_landlock_create_ruleset, EOPNOTSUPP },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
                if (lacks & calls[i].lack)
                        forbid(calls[i].call, calls[i].error_number);
}

/* What is asked */

static void read_word(IsolationSet *set, const char *option, const char *value) {
        g_autoptr(GError) error = NULL;
        Isolation isolation = 0;
        struct stat st;

        if (g_str_equal(option, "workspace")) {
                set->workspace = g_strdup(value);
                return;
        }
        while (!g_str_equal(isolation_info(isolation)->key, option))
                isolation++;
        if (!isolation_set_parse(set, isolation, value, &error))
                BAIL_OUT("%s", error->message);
        if (isolation == ISOLATION_HIDE)
                ((PathRule *)g_ptr_array_index(set->rules, set->rules->len - 1))
                        ->is_file = stat(value, &st) == 0 && !S_ISDIR(st.st_mode);
}

static void read_words(const EnclosedCase *this_case, const char *base, IsolationSet *set) {
        for (const char *const *word = this_case->words; *word; word += 2) {
                g_auto(GStrv) parts = g_strsplit(word[1], "@", -1);
                g_autofree char *value = g_strjoinv(base, parts);

                read_word(set, word[0], value);
        }
}

static Enclosure *make_plan(const EnclosedCase *this_case, const char *base,
                            const IsolationSet *set, GError **ret_no_permits, GError **error) {
        g_autoptr(PropertyList) unit = property_list_new();
        bool is_privileged = caller_is_privileged();
        Enclosure *enclosure;

        isolation_compose(set,
                          &(IsolationContext){ .is_unprivileged = !is_privileged,
                                               .systemd_major = SYSTEMD_MAJOR },
                          unit);
        if (this_case->property) {
                g_auto(GStrv) parts = g_strsplit(this_case->property, "@", -1);
                g_autofree char *property = g_strjoinv(base, parts);

                if (!extra_parse(property, unit, error))
                        return NULL;
        }
        enclosure = enclosure_plan(unit,
                                   &(EnclosureContext){ .is_privileged = is_privileged,
                                                        .uid = geteuid(),
                                                        .gid = getegid() },
                                   error);
        if (enclosure) /* what cannot be permitted is seen where it is needed */
                (void)!permit_plan(set, unit, enclosure, ret_no_permits);
        return enclosure;
}

/* Seen from outside */

typedef struct {
        pid_t pid;
        const EnclosedCase *this_case;
        const IsolationSet *set;
        const GateHello *hello;
        const Caller *caller;
        const Enclosure *enclosure;
        const GError *no_permits;
} Sight;

static char *read_proc(pid_t pid, const char *name) {
        g_autofree char *path = g_strdup_printf("/proc/%d/%s", (int)pid, name);
        char *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) ? text : g_strdup("");
}

static guint64 status_of(pid_t pid, const char *name, guint base) {
        g_autofree char *status = read_proc(pid, "status");
        g_autofree char *key = g_strconcat("\n", name, ":", NULL);
        const char *line = strstr(status, key);

        return line ? g_ascii_strtoull(line + strlen(key), NULL, base) : UINT64_MAX;
}

static bool knows_one_user(const Sight *sight) {
        g_autofree char *groups = g_strstrip(read_proc(sight->pid, "setgroups"));

        return g_str_equal(groups, "deny");
}

static const char *check_capabilities(const Sight *sight) {
        static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb" };
        bool has_own_users = knows_one_user(sight);
        guint64 dropped = sight->set->has_strict_fs && sight->this_case->who == ENCLOSED_ROOT
                                  ? DEVICE_BITS
                                  : 0;

        for (size_t i = 0; i < G_N_ELEMENTS(sets); i++) {
                guint64 wanted = has_own_users ? 0 : status_of(getpid(), sets[i], 16) & ~dropped;

                if (status_of(sight->pid, sets[i], 16) != wanted)
                        return sets[i];
        }
        return NULL;
}

static const char *check_privileges(const Sight *sight) {
        bool is_closed = knows_one_user(sight) || sight->this_case->lacks != 0;

        if (status_of(sight->pid, "NoNewPrivs", 10) != is_closed)
                return "NoNewPrivs";
        return check_capabilities(sight);
}

static const char *check_users(const Sight *sight) {
        g_autofree char *map = g_strstrip(read_proc(sight->pid, "uid_map"));
        g_autofree char *uid = g_strdup_printf("%u ", geteuid());

        if (sight->this_case->who == ENCLOSED_ROOT)
                return knows_one_user(sight) ? "it has a namespace of users" : NULL;
        if (!knows_one_user(sight) || strchr(map, '\n'))
                return "it knows more users";
        return g_str_has_prefix(map, uid) && g_str_has_suffix(map, " 1") ? NULL
                                                                         : "its user is another";
}

static const char *check_network_devices(const Sight *sight) {
        g_autofree char *devices = read_proc(sight->pid, "net/dev");
        const char *colon = strchr(devices, ':');

        if (!sight->set->has_no_network)
                return NULL;
        return colon && !strchr(colon + 1, ':') && strstr(devices, "lo:") ? NULL : "net/dev";
}

static const char *check_namespaces(const Sight *sight) {
        g_autofree char *mounts = read_proc(sight->pid, "mountinfo");

        if (isolation_any_mount(sight->set) && strstr(mounts, " shared:"))
                return "its mounts reach the machine";
        return check_users(sight) ?: check_network_devices(sight);
}

static char *look(const Sight *sight) {
        g_autoptr(GError) error = NULL;
        WallsContext context = { .pid = sight->pid,
                                 .caller = sight->caller,
                                 .hello = sight->hello };
        Readback readback = { 0 };
        const char *wrong = sight->hello->unapplied ? "something of the caller's is not as it was"
                                                    : check_privileges(sight);

        if (!wrong && sight->hello->enclosure == GATE_ENCLOSURE_NAMESPACES)
                wrong = check_namespaces(sight);
        if (!wrong && !walls_check(sight->set, &context, &readback, &error))
                wrong = error->message;
        return g_strdup(wrong ?: "");
}

/* The run */

static char *failure_text(const GateFailure *failure, const Sight *sight) {
        g_autoptr(GError) error = NULL;

        if (failure->stage != GATE_AT_ENCLOSURE)
                return g_strdup_printf("stage %u: %s", failure->stage,
                                       strerror(failure->error_number));
        walls_explain_step(sight->set, sight->enclosure, sight->no_permits, failure, &error);
        return g_strdup(error->message);
}

static pid_t fork_gate(GateChannel *channel, int out, int unused) {
        pid_t child = fork();

        need(child >= 0, "fork");
        if (child == 0) {
                (void)close(unused);
                (void)signal(SIGCHLD, SIG_IGN); /* as a caller may */
                _exit(gate_child_run(gate_channel_child_end(channel)));
        }
        gate_channel_drop_child_end(channel);
        (void)close(out);
        return child;
}

static char *read_all(int fd) {
        GString *text = g_string_new(NULL);
        char buffer[4096];
        ssize_t n;

        while ((n = read(fd, buffer, sizeof buffer)) > 0)
                g_string_append_len(text, buffer, n);
        return g_string_free(text, FALSE);
}

static GateNews await_news(GateChannel *channel) {
        struct pollfd wait = { .fd = gate_channel_fd(channel), .events = POLLIN };

        need(poll(&wait, 1, PATIENCE_MS) == 1, "the gate says nothing");
        return gate_channel_read(channel);
}

/* Three lines or more: the enclosure, what is wrong, what was said. */
static char *converse(GateChannel *channel, pid_t child, int from, Sight *sight) {
        g_autofree char *wrong = NULL, *output = NULL;

        switch (await_news(channel)) {
        case GATE_NEWS_HELLO:
                sight->pid = child;
                sight->hello = gate_channel_hello(channel);
                wrong = look(sight);
                gate_channel_go(channel);
                break;
        case GATE_NEWS_FAILURE:
                wrong = failure_text(gate_channel_failure(channel), sight);
                break;
        default:
                wrong = g_strdup("the gate ended");
        }
        output = read_all(from);
        need(waitpid(child, NULL, 0) == child, "waitpid");
        return g_strdup_printf("%u\n%s\n%s", gate_channel_hello(channel)->enclosure, wrong, output);
}

static char *run_planned(Sight *sight, const char *base) {
        g_autofree char *script = g_strconcat(PRELUDE, sight->this_case->script, NULL);
        const char *command[] = { "sh", "-c", script, "sh", base, NULL };
        const char *environment[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
        GateOrder order = { .command = (char *const *)command,
                            .environment = (char *const *)environment,
                            .caller = sight->caller,
                            .enclosure = sight->enclosure,
                            .stdio = { -1, -1, STDERR_FILENO },
                            .is_directory_another = isolation_hides(sight->set, "/") };
        int ends[2];

        need(pipe(ends) == 0, "pipe");
        order.stdio[1] = ends[1];

        g_autoptr(GateChannel) channel = gate_channel_new(&order, NULL);

        need(channel, "channel");

        pid_t child = fork_gate(channel, ends[1], ends[0]);
        char *told = converse(channel, child, ends[0], sight);

        (void)close(ends[0]);
        return told;
}

/* As the launcher has one that watches a disk. */
static gpointer stay(gpointer unused) {
        while (unused == NULL)
                (void)pause();
        return NULL;
}

static char *launch(const EnclosedCase *this_case, const char *base) {
        g_autoptr(GError) error = NULL, no_permits = NULL;
        g_auto(Caller) caller = { 0 };
        IsolationSet set = { 0 };
        Sight sight = { .this_case = this_case, .set = &set, .caller = &caller };

        become(this_case);
        forbid_all(this_case->lacks);
        g_thread_unref(g_thread_new("stays", stay, NULL));
        caller_read(&caller);
        need(caller_read_place(&caller, "/", NULL), "caller");
        read_words(this_case, base, &set);

        g_autoptr(Enclosure) enclosure = make_plan(this_case, base, &set, &no_permits, &error);
        sight.enclosure = enclosure;
        sight.no_permits = no_permits;

        char *told = enclosure ? run_planned(&sight, base)
                               : g_strdup_printf("0\n%s\n", error->message);

        isolation_set_clear(&set);
        return told;
}

static void tell(int fd, const char *text) {
        for (size_t rest = strlen(text); rest > 0;) {
                ssize_t n = write(fd, text, rest);

                need(n > 0, "write");
                text += n;
                rest -= (size_t)n;
        }
}

EnclosedResult enclosed_run(const EnclosedCase *this_case, const char *base) {
        int ends[2];
        pid_t child;

        need(pipe(ends) == 0, "pipe");
        child = fork();
        need(child >= 0, "fork");
        if (child == 0) {
                g_autofree char *told = launch(this_case, base);

                tell(ends[1], told);
                _exit(0);
        }
        (void)close(ends[1]);

        g_autofree char *told = read_all(ends[0]);
        g_auto(GStrv) lines = g_strsplit(told, "\n", 3);

        (void)close(ends[0]);
        need(waitpid(child, NULL, 0) == child, "waitpid");
        if (g_strv_length(lines) != 3)
                return (EnclosedResult){ .wrong = g_strdup("the launcher ended"),
                                         .output = g_strdup("") };
        return (EnclosedResult){ .enclosure = (GateEnclosure)g_ascii_strtoull(lines[0], NULL, 10),
                                 .wrong = g_strdup(lines[1]),
                                 .output = g_strdup(lines[2]) };
}

void enclosed_result_clear(EnclosedResult *result) {
        g_clear_pointer(&result->wrong, g_free);
        g_clear_pointer(&result->output, g_free);
}
