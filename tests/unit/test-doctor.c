/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What doctor makes of what it found: words, JSON, remedies, its verdict; and what it tries, row by row. */

#include <string.h>
#include <tap.h>

#include "launcher/doctor/ask.h"
#include "launcher/doctor/lines.h"
#include "launcher/doctor/object.h"
#include "launcher/doctor/remedy.h"
#include "launcher/options.h"
#include "units/untrusted.h"

static char **words(const char *text) {
        return g_strsplit(text, " ", -1);
}

static Finding *add(ManagerReport *manager, const char *key, const char *by, bool is_enforced) {
        Finding *finding = report_add_finding(manager);

        finding->key = key;
        finding->by = by;
        finding->is_enforced = is_enforced;
        return finding;
}

/* A desktop: a user manager with what systemd delegates by default, a system manager that asks for a password. */
static void make_desktop(Report *report) {
        ManagerReport *system, *user;
        Finding *finding;

        report_init(report);
        report->version = "0.1.0";
        report->machine.kernel = g_strdup("6.12.0");
        report->machine.is_booted = ANSWER_YES;
        report->machine.controllers.unified = words("cpuset cpu io memory pids");
        report->machine.landlock_abi = 6;
        report->machine.has_user_namespaces = ANSWER_YES;
        report->machine.apparmor_restricts = ANSWER_NO;
        report->machine.swap_bytes = UINT64_C(8) << 30;
        report->machine.has_psi = report->machine.has_tmpfs = ANSWER_YES;
        report->machine.is_lingering = ANSWER_NO;
        report->is_oomd_active = ANSWER_YES;
        report->standard = MANAGER_USER;
        system = report_add_manager(report, MANAGER_SYSTEM);
        system->is_reachable = ANSWER_YES;
        system->is_usable = ANSWER_NO;
        system->reason = g_strdup("starting the unit: Access \033[31mdenied");
        user = report_add_manager(report, MANAGER_USER);
        user->is_reachable = user->is_usable = ANSWER_YES;
        user->version = g_strdup("257");
        user->controllers.unified = words("cpu memory pids");
        user->has_bpf = ANSWER_NO;
        user->has_user_namespaces = user->has_pid_namespaces = ANSWER_YES;
        finding = add(user, "memory", "MemoryMax", true);
        finding->is_limit = true;
        finding->in = "memory.max";
        finding->tried = words("--memory 64M");
        finding = add(user, "cpus", "AllowedCPUs", false);
        finding->is_limit = true;
        finding->tried = words("--cpus 0");
        finding->code = g_strdup("unenforceable");
        finding->reason = g_strdup("--cpus cannot be enforced here: this manager has no cgroup "
                                   "controller \"cpuset\"; use --system");
        finding->remedy = remedy_of_limit(&report->machine, user, LIMIT_CPUS);
        finding = add(user, "output", NULL, true);
        finding->is_limit = true;
        finding = add(user, "untrusted", "SystemCallFilter", true);
        finding->is_decisive = true;
        finding->residuals = 1U << RESIDUAL_SIGNALS;
        (void)add(user, "net", "PrivateNetwork", true);
        report_add_manager(report, MANAGER_PRIVATE)->reason = g_strdup("not looked at");
}

/* A container: nothing can be reached. */
static void make_container(Report *report) {
        ManagerReport *manager;

        report_init(report);
        report->version = "0.1.0";
        report->standard = MANAGER_PRIVATE;
        report->machine.is_booted = ANSWER_NO;
        report->machine.landlock_abi = 0;
        report->machine.has_user_namespaces = ANSWER_NO;
        report->machine.user_namespace_remedy = g_strdup(
                "user namespaces are forbidden by the sysctl user.max_user_namespaces=0: set it to "
                "a number of namespaces");
        report->machine.swap_bytes = 0;
        manager = report_add_manager(report, MANAGER_PRIVATE);
        manager->is_reachable = ANSWER_NO;
        manager->reason = g_strdup("no cgroup that it could root in");
}

/* clang-format off */
static const char desktop_text[] =
        "machine\n"
        "  kernel            6.12.0\n"
        "  systemd           it is booted with it\n"
        "  cgroup            v2\n"
        "  controllers       cpuset cpu io memory pids\n"
        "  user namespaces   yes\n"
        "  AppArmor          leaves user namespaces alone\n"
        "  Landlock          ABI 6\n"
        "  swap              8G\n"
        "  pressure (PSI)    yes\n"
        "  tmpfs             yes\n"
        "  systemd-oomd      runs\n"
        "  lingering         no; loginctl enable-linger keeps runs when you log out\n"
        "\n"
        "system manager\n"
        "  reachable         yes, but no unit can be started: starting the unit: Access\n"
        "                    \\x1b[31mdenied\n"
        "\n"
        "user manager (what a run takes here)\n"
        "  reachable         yes\n"
        "  systemd           257\n"
        "  controllers       cpu memory pids\n"
        "  BPF               no\n"
        "  user namespaces   yes\n"
        "  pid namespaces    yes\n"
        "  memory            enforced (MemoryMax → memory.max)\n"
        "  cpus              not enforced: this manager has no cgroup controller \"cpuset\"\n"
        "                    remedy: put the lines \"[Service]\" and \"Delegate=cpu memory\n"
        "                    pids cpuset\" into\n"
        "                    /etc/systemd/system/user@.service.d/delegate.conf, then\n"
        "                    systemctl daemon-reload, and log in anew\n"
        "  output            enforced (by cordon itself)\n"
        "  untrusted         enforced (SystemCallFilter)\n"
        "                    left open: it can send signals to other processes of its\n"
        "                    user\n"
        "  net               enforced (PrivateNetwork)\n"
        "\n"
        "private manager\n"
        "  reachable         not looked at\n"
        "\n"
        "warning: user manager without lingering: logging out ends runs\n"
        "The user manager can enforce --untrusted.\n";
static const char desktop_json[] =
        "{\"schema\":1,\"cordon_version\":\"0.1.0\",\"machine\":{\"kernel\":\"6.12.0\",\"booted_with_s"
        "ystemd\":true,\"cgroup\":\"v2\",\"controllers\":[\"cpuset\",\"cpu\",\"io\",\"memory\",\"pids\"],\""
        "user_namespaces\":true,\"apparmor_restricts_user_namespaces\":false,\"landlock_abi\":"
        "6,\"swap_bytes\":8589934592,\"psi\":true,\"tmpfs\":true,\"oomd\":true,\"lingering\":false}"
        ",\"managers\":[{\"manager\":\"system\",\"default\":false,\"reachable\":true,\"usable\":false"
        ",\"reason\":\"starting the unit: Access \\u001b[31mdenied\"},{\"manager\":\"user\",\"defau"
        "lt\":true,\"reachable\":true,\"usable\":true,\"systemd_version\":\"257\",\"controllers\":[\""
        "cpu\",\"memory\",\"pids\"],\"bpf\":false,\"user_namespaces\":true,\"pid_namespaces\":true,\""
        "limits\":{\"memory\":{\"enforced\":true,\"tried\":[\"--memory\",\"64M\"],\"by\":\"MemoryMax\",\""
        "in\":\"memory.max\"},\"cpus\":{\"enforced\":false,\"tried\":[\"--cpus\",\"0\"],\"by\":\"AllowedC"
        "PUs\",\"code\":\"unenforceable\",\"reason\":\"--cpus cannot be enforced here: this manag"
        "er has no cgroup controller \\\"cpuset\\\"; use --system\",\"remedy\":\"put the lines \\\""
        "[Service]\\\" and \\\"Delegate=cpu memory pids cpuset\\\" into /etc/systemd/system/use"
        "r@.service.d/delegate.conf, then systemctl daemon-reload, and log in anew\"},\"out"
        "put\":{\"enforced\":true}},\"isolation\":{\"untrusted\":{\"enforced\":true,\"by\":\"SystemCa"
        "llFilter\",\"residuals\":[\"signals\"]},\"net\":{\"enforced\":true,\"by\":\"PrivateNetwork\"}"
        "}},{\"manager\":\"private\",\"default\":false,\"reason\":\"not looked at\"}],\"default\":\"us"
        "er\",\"ok\":true,\"warnings\":[\"user manager without lingering: logging out ends runs"
        "\"]}\n";
static const char container_text[] =
        "machine\n"
        "  systemd           it is not booted with it\n"
        "  user namespaces   no: user namespaces are forbidden by the sysctl\n"
        "                    user.max_user_namespaces=0: set it to a number of namespaces\n"
        "  Landlock          no\n"
        "  swap              none\n"
        "\n"
        "private manager (what a run takes here)\n"
        "  reachable         no: no cgroup that it could root in\n"
        "\n"
        "The private manager cannot enforce anything.\n";
static const char container_json[] =
        "{\"schema\":1,\"cordon_version\":\"0.1.0\",\"machine\":{\"booted_with_systemd\":false,\"use"
        "r_namespaces\":false,\"user_namespaces_remedy\":\"user namespaces are forbidden by t"
        "he sysctl user.max_user_namespaces=0: set it to a number of namespaces\",\"landloc"
        "k_abi\":0,\"swap_bytes\":0},\"managers\":[{\"manager\":\"private\",\"default\":true,\"reacha"
        "ble\":false,\"reason\":\"no cgroup that it could root in\"}],\"default\":\"private\",\"ok\""
        ":false,\"warnings\":[]}\n";
/* clang-format on */

static void check_lines(const char *text, const char *name) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        bool is_narrow = true, is_plain = true;

        for (char **line = lines; *line; line++) {
                is_narrow = is_narrow && g_utf8_strlen(*line, -1) <= 80;
                is_plain = is_plain && !g_str_has_suffix(*line, " ");
                for (const char *c = *line; *c; c++)
                        is_plain = is_plain && !g_ascii_iscntrl(*c);
        }
        ok(is_narrow, "%s fits 80 columns", name);
        ok(is_plain, "%s has nothing that a terminal would obey, and no trailing space", name);
}

static void test_rendering(void) {
        static const struct {
                const char *name;
                void (*make)(Report *report);
                const char *text, *json;
                bool is_ok;
        } rows[] = {
                { "a desktop", make_desktop, desktop_text, desktop_json, true },
                { "a container", make_container, container_text, container_json, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_auto(Report) report = { 0 };
                g_autofree char *text = NULL, *json = NULL, *pretty = NULL;

                rows[i].make(&report);
                text = report_to_text(&report);
                json = report_to_json(&report, false);
                pretty = report_to_json(&report, true);
                is(text, rows[i].text, "%s in words", rows[i].name);
                is(json, rows[i].json, "%s in JSON", rows[i].name);
                ok(strchr(pretty, '\t') && g_str_has_suffix(pretty, "}\n"), "%s in JSON for people",
                   rows[i].name);
                check_lines(text, rows[i].name);
                cmp_ok(report_is_ok(&report), "==", rows[i].is_ok, "%s: the verdict", rows[i].name);
        }
}

static void test_verdict(void) {
        g_auto(Report) report = { 0 };
        ManagerReport *user;

        make_desktop(&report);
        user = g_ptr_array_index(report.managers, 1);
        add(user, "fs", "TemporaryFileSystem", false);
        ok(report_is_ok(&report), "what is not decisive may be missing");
        add(user, "hide", "TemporaryFileSystem", false)->is_decisive = true;
        ok(!report_is_ok(&report), "what is decisive may not");
        report.standard = MANAGER_PRIVATE;
        ok(!report_is_ok(&report), "a manager that was not looked at can nothing");
        report.machine.is_lingering = ANSWER_YES;
        ok(!report_warning(&report, 0), "with lingering there is no warning");
        report.machine.is_lingering = ANSWER_NO;
        user->is_reachable = ANSWER_NO;
        ok(!report_warning(&report, 0), "without a user manager neither");
}

/* Where a controller is, and what would help. */
static const struct {
        const char *machine, *legacy, *manager;
        Answer is_booted;
        Limit limit;
        const char *remedy; /* NULL: none; "*" and "?" stand for anything */
} remedies[] = {
        { "cpu cpuset memory", NULL, "cpu memory", ANSWER_YES, LIMIT_CPUS,
          "*\"Delegate=cpu memory cpuset\"*/etc/systemd/system/user@.service.d/*" },
        { "cpuset", NULL, NULL, ANSWER_YES, LIMIT_CPUS, "*\"Delegate=cpuset\"*" },
        { "cpu cpuset", NULL, "cpu", ANSWER_NO, LIMIT_CPUS, "delegate the controller \"cpuset\"*" },
        { "", "cpuset memory", "", ANSWER_NO, LIMIT_MEMORY_HIGH, "*unified_cgroup_hierarchy=1*" },
        { "cpu", NULL, "cpu", ANSWER_YES, LIMIT_TASKS, "none of this machine's * \"pids\"*" },
        { "cpu", NULL, "cpu", ANSWER_YES, LIMIT_CPU, NULL },
        { "cpu", NULL, "cpu", ANSWER_YES, LIMIT_NOFILE, NULL },
        { "cpu", NULL, "cpu", ANSWER_YES, LIMIT_TIMEOUT, NULL },
};

static void test_remedies(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(remedies); i++) {
                g_auto(Report) report = { 0 };
                ManagerReport *manager;
                g_autofree char *remedy = NULL;

                report_init(&report);
                manager = report_add_manager(&report, MANAGER_USER);
                report.machine.is_booted = remedies[i].is_booted;
                report.machine.controllers.unified = words(remedies[i].machine);
                if (remedies[i].legacy)
                        report.machine.controllers.legacy = words(remedies[i].legacy);
                if (remedies[i].manager)
                        manager->controllers.unified = words(remedies[i].manager);
                remedy = remedy_of_limit(&report.machine, manager, remedies[i].limit);
                if (!ok(remedies[i].remedy
                                ? remedy && g_pattern_match_simple(remedies[i].remedy, remedy)
                                : !remedy,
                        "row %zu: %s", i, limit_info(remedies[i].limit)->key))
                        diag("it is %s", remedy ?: "nothing");
        }
}

static void test_isolation_remedy(void) {
        Machine machine = MACHINE_INIT;
        ManagerReport manager = { .has_user_namespaces = ANSWER_NO };
        g_autofree char *with = NULL;

        ok(!remedy_of_isolation(&machine, &manager), "without a rule there is no remedy");
        machine.user_namespace_remedy = (char *)"a sysctl";
        with = remedy_of_isolation(&machine, &manager);
        is(with, "a sysctl", "with one it is named");
        manager.has_user_namespaces = ANSWER_YES;
        ok(!remedy_of_isolation(&machine, &manager), "but not to a manager that may");
}

/* Each row of the tables, as a run's parser takes it. */
static void check_asked(GPtrArray *asked, const char *key) {
        g_auto(Options) options = { 0 };
        g_autoptr(GError) error = NULL;
        g_autofree char *option = g_strconcat("--", key, NULL);

        g_ptr_array_add(asked, NULL);
        options_init(&options);
        is(g_ptr_array_index(asked, 0), option, "%s is what is tried first", key);
        if (!ok(options_parse(&options, (char **)asked->pdata, &error) && !options.command[0],
                "%s is tried with words that a run takes", key))
                diag("%s", error ? error->message : "there is a command");
}

static void test_asked(void) {
        const AskWorld world = { .cpu = "3", .pool = "doctor", .directory = "/tmp/x" };

        for (int i = 0; i < _LIMIT_MAX; i++) {
                g_autoptr(GPtrArray) asked = g_ptr_array_new_with_free_func(g_free);

                ask_limit(&world, (Limit)i, asked);
                check_asked(asked, limit_info((Limit)i)->key);
        }
        for (unsigned i = 0; i < ask_option_count(); i++) {
                g_autoptr(GPtrArray) asked = g_ptr_array_new_with_free_func(g_free);
                g_autofree char *name = g_strndup(ask_key(i), strcspn(ask_key(i), " "));

                ask_option(&world, i, asked);
                check_asked(asked, name);
        }
}

int main(void) {
        plan(NO_PLAN);
        test_rendering();
        test_verdict();
        test_remedies();
        test_isolation_remedy();
        test_asked();
        done_testing();
}
