/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Spec → properties: golden lists, one line for each limit, and what -p may not set. */

#include <string.h>
#include <tap.h>

#include "units/compose.h"
#include "units/error.h"

static const ComposeContext context = { .gate_path = "/x/cordon-gate",
                                        .owner = "4711:99",
                                        .is_booted = true,
                                        .counts_network = true,
                                        .gate_fd = 5 };

static Spec *sample(void) {
        static const char *const command[] = { "python3", "train.py", NULL };
        Spec *spec = spec_new();

        spec->id = g_strdup("my-run");
        spec->command = g_strdupv((char **)command);
        return spec;
}

static void compose_text_in(const ComposeContext *where, const Spec *spec, char **ret_slice,
                            char **ret_unit) {
        g_autoptr(PropertyList) slice = NULL;
        g_autoptr(PropertyList) unit = NULL;

        compose(spec, where, &slice, &unit);
        *ret_slice = property_list_to_text(slice);
        *ret_unit = property_list_to_text(unit);
}

static void compose_text(const Spec *spec, char **ret_slice, char **ret_unit) {
        compose_text_in(&context, spec, ret_slice, ret_unit);
}

static const char slice_always[] = "Description=cordon my-run: limits (launcher 4711:99)\n"
                                   "Before=['cordon-my\\\\x2drun.service']\n"
                                   "MemoryAccounting=yes\n"
                                   "CPUAccounting=yes\n"
                                   "TasksAccounting=yes\n"
                                   "IOAccounting=yes\n"
                                   "IPAccounting=yes\n";

static const char unit_always[] =
        "Description=cordon my-run: python3\n"
        "Slice=cordon-my\\x2drun.slice\n"
        "Type=simple\n"
        "ExitType=cgroup\n"
        "CollectMode=inactive\n"
        "OOMPolicy=kill\n"
        "TasksMax=infinity\n"
        "IgnoreSIGPIPE=no\n"
        "StandardOutput=null\n"
        "StandardError=null\n"
        "SyslogIdentifier=cordon\n"
        "StandardInputFileDescriptor=0\n"
        "ExecStart=[('/x/cordon-gate', ['cordon-gate', 'my-run', '4711:99'], false)]\n";

static void test_golden(void) {
        g_autoptr(Spec) spec = sample();
        g_autofree char *slice = NULL, *unit = NULL;

        compose_text(spec, &slice, &unit);
        is(slice, slice_always, "without limits, the slice has what every slice has");
        is(unit, unit_always, "without limits, the unit has what every unit has");
}

/* A property that an old manager does not know is refused by it. */
static void test_scope_versions(void) {
        static const struct {
                unsigned major;
                bool has_policy;
        } rows[] = { { 0, false }, { 252, false }, { 253, true }, { 262, true } };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                ComposeContext of = context;
                g_autoptr(Spec) spec = sample();
                g_autoptr(PropertyList) slice = NULL;
                g_autoptr(PropertyList) unit = NULL;
                g_autofree char *text = NULL;

                of.systemd_major = rows[i].major;
                spec->is_scope = true;
                compose(spec, &of, &slice, &unit);
                text = property_list_to_text(unit);
                ok(!!strstr(text, "OOMPolicy=kill\n") == rows[i].has_policy,
                   "a scope of systemd %u has %s OOMPolicy", rows[i].major,
                   rows[i].has_policy ? "an" : "no");
        }
}

/* Nothing is to be up before them there. */
static void test_own_manager(void) {
        static const char line[] = "DefaultDependencies=no\n";
        ComposeContext own = context;
        g_autoptr(Spec) spec = sample();
        g_autofree char *slice = NULL, *unit = NULL;

        own.is_booted = false;
        compose_text_in(&own, spec, &slice, &unit);
        ok(strstr(slice, line), "with a manager of our own the slice depends on nothing");
        ok(strstr(unit, line), "… nor does the unit");
        ok(!strstr(slice_always, line) && !strstr(unit_always, line), "… with others they do");
}

static void test_no_accounting(void) {
        static const char lines[] = "MemoryAccounting=no\nCPUAccounting=no\n"
                                    "TasksAccounting=no\nIOAccounting=no\n";
        ComposeContext bare = context;
        g_autoptr(Spec) spec = sample();

        bare.without_accounting = true;
        for (int is_scope = 0; is_scope < 2; is_scope++) {
                g_autofree char *slice = NULL, *unit = NULL;

                spec->is_scope = is_scope;
                compose_text_in(&bare, spec, &slice, &unit);
                ok(g_str_has_suffix(slice, strstr(slice_always, "MemoryAccounting=")),
                   "the slice counts all, whoever else does");
                ok(!strstr(slice, "Before=") == spec->is_scope,
                   "… and names what it keeps, if that can be kept");
                ok(strstr(unit, lines), "… and the %s in it none of its own",
                   is_scope ? "scope" : "service");
        }
        ok(!strstr(unit_always, "Accounting="), "… elsewhere it has what the manager gives");
}

/* clang-format off */
static const struct {
        Limit limit;
        const char *text;
        const char *slice; /* what comes on top */
        const char *unit;
        const char *pool; /* NULL: nothing */
} limits[] = {
        { LIMIT_TIMEOUT, "30s", "", "RuntimeMaxUSec=90000000\n" },
        { LIMIT_GRACE, "3s", "", "TimeoutStopUSec=3000000\n" },
        { LIMIT_GRACE, "0", "", "KillSignal=9\nTimeoutStopUSec=5000000\n" },
        { LIMIT_GRACE, "infinity", "", "TimeoutStopUSec=infinity\n" },
        { LIMIT_MEMORY, "256M", "MemoryMax=268435456\n", "" },
        { LIMIT_SWAP, "0", "MemorySwapMax=0\n", "" },
        { LIMIT_MEMORY_HIGH, "200M", "MemoryHigh=209715200\n", "" },
        { LIMIT_ADDRESS_SPACE, "1G", "", "LimitAS=1073741824\nLimitASSoft=1073741824\n" },
        { LIMIT_CPU, "150%", "CPUQuotaPerSecUSec=1500000\n", "" },
        { LIMIT_CPU_TIME, "10s", "", "LimitCPU=12\nLimitCPUSoft=11\n" },
        { LIMIT_CPU_TIME, "10.5s", "", "LimitCPU=12\nLimitCPUSoft=11\n" },
        { LIMIT_CPU_TIME, "100ms", "", "LimitCPU=2\nLimitCPUSoft=1\n" },
        { LIMIT_TASKS, "64", "TasksMax=64\n", "" },
        { LIMIT_FSIZE, "50M", "", "LimitFSIZE=52428800\nLimitFSIZESoft=52428800\n" },
        { LIMIT_NOFILE, "64", "", "LimitNOFILE=64\nLimitNOFILESoft=64\n" },
        { LIMIT_STACK, "8M", "", "LimitSTACK=8388608\nLimitSTACKSoft=8388608\n" },
        { LIMIT_CORE, "0", "", "LimitCORE=0\nLimitCORESoft=0\n" },
        { LIMIT_CPUS, "0,2-3,8", "AllowedCPUs=[0x0d, 0x01]\n", "" },
        { LIMIT_DISK, "1G", "", "" },
        { LIMIT_OUTPUT, "1M", "", "" },
        { LIMIT_POOL_MEMORY, "256M", "", "", "MemoryMax=268435456\n" },
        { LIMIT_POOL_SWAP, "0", "", "", "MemorySwapMax=0\n" },
        { LIMIT_POOL_CPU, "150%", "", "", "CPUQuotaPerSecUSec=1500000\n" },
        { LIMIT_POOL_TASKS, "64", "", "", "TasksMax=64\n" },
        /* lifted: nothing, so that the caller's own hold */
        { LIMIT_TIMEOUT, "infinity", "", "" }, { LIMIT_MEMORY, "infinity", "", "" },
        { LIMIT_CORE, "infinity", "", "" }, { LIMIT_CPUS, "infinity", "", "" },
        { LIMIT_CPU_TIME, "infinity", "", "" }, { LIMIT_TASKS, "infinity", "", "" },
};
/* clang-format on */

/* Behind what it says of itself. */
static void check_pool(Spec *spec, const char *expected, const char *key) {
        g_autoptr(PropertyList) list = NULL;
        g_autofree char *text = NULL;
        const char *behind;

        spec->pool = g_strdup("my-pool");
        list = compose_pool(spec);
        text = property_list_to_text(list);
        behind = strstr(text, "DefaultDependencies=no\n");
        is(behind ? behind + strlen("DefaultDependencies=no\n") : NULL, expected ?: "",
           "%s on the pool", key);
}

static void test_limits(void) {
        bool seen[_LIMIT_MAX] = { false };

        for (size_t i = 0; i < G_N_ELEMENTS(limits); i++) {
                const char *key = limit_info(limits[i].limit)->key, *text = limits[i].text;
                g_autoptr(Spec) spec = sample();
                g_autofree char *slice = NULL, *unit = NULL;

                seen[limits[i].limit] = true;
                ok(limit_set_parse(&spec->limits, limits[i].limit, text, NULL), "%s %s", key, text);
                compose_text(spec, &slice, &unit);
                is(slice + strlen(slice_always), limits[i].slice, "%s %s on the slice", key, text);
                is(unit + strlen(unit_always), limits[i].unit, "%s %s on the unit", key, text);
                check_pool(spec, limits[i].pool, key);
        }

        for (int i = 0; i < _LIMIT_MAX; i++)
                ok(seen[i], "%s has its line here", limit_info((Limit)i)->key);
}

static void test_pool(void) {
        g_autoptr(Spec) spec = sample();
        g_autofree char *slice = NULL, *unit = NULL, *pool = NULL;
        g_autoptr(PropertyList) list = NULL;

        spec->pool = g_strdup("my-pool");
        ok(limit_set_parse(&spec->limits, LIMIT_POOL_MEMORY, "1G", NULL) &&
                   limit_set_parse(&spec->limits, LIMIT_MEMORY, "64M", NULL),
           "limits of both");
        limit_set_apply_defaults(&spec->limits);
        compose_text(spec, &slice, &unit);
        list = compose_pool(spec);
        pool = property_list_to_text(list);
        is(slice + strlen(slice_always), "MemoryMax=67108864\nMemorySwapMax=0\n",
           "the run's slice has its own");
        ok(strstr(unit, "\nSlice=cordon-pool-my\\x2dpool-my\\x2drun.slice\n"),
           "which lies in the pool's");
        is(pool,
           "Description=Pool my-pool of cordon [pool-memory=1G, pool-swap=0]\n"
           "MemoryAccounting=yes\nCPUAccounting=yes\nTasksAccounting=yes\nIOAccounting=yes\n"
           "StopWhenUnneeded=yes\nDefaultDependencies=no\nMemoryMax=1073741824\nMemorySwapMax=0\n",
           "the pool's has those of all");
}

/* Two BPF programs and their maps, for a number that nobody asks for. */
static void test_network_uncounted(void) {
        g_autoptr(Spec) spec = sample();
        g_autoptr(PropertyList) slice = NULL;
        g_autoptr(PropertyList) unit = NULL;
        ComposeContext uncounted = context;
        g_autofree char *text = NULL;

        uncounted.counts_network = false;
        compose(spec, &uncounted, &slice, &unit);
        text = property_list_to_text(slice);
        ok(!strstr(text, "IPAccounting") && strstr(text, "IOAccounting=yes"),
           "where nobody reads its bytes the network is not counted");
}

static void test_types(void) {
        static const struct {
                const char *type, *name;
        } types[] = {
                { "a(sasb)", "ExecStart" }, { "h", "StandardInputFileDescriptor" },
                { "i", "KillSignal" },      { "t", "TimeoutStopUSec" },
                { "t", "LimitFSIZESoft" },  { "s", "User" },
                { "b", "IgnoreSIGPIPE" },
        };
        g_autoptr(Spec) spec = sample();
        g_autoptr(PropertyList) slice = NULL;
        g_autoptr(PropertyList) unit = NULL;

        spec->user = g_strdup("nobody");
        ok(limit_set_parse(&spec->limits, LIMIT_GRACE, "0", NULL) &&
                   limit_set_parse(&spec->limits, LIMIT_FSIZE, "1", NULL) &&
                   limit_set_parse(&spec->limits, LIMIT_CPUS, "1", NULL),
           "limits are set");
        compose(spec, &context, &slice, &unit);

        for (size_t i = 0; i < G_N_ELEMENTS(types); i++) {
                const Property *property = property_list_find(unit, types[i].name);

                ok(property, "%s is there", types[i].name);
                is(property ? g_variant_get_type_string(property->value) : NULL, types[i].type,
                   "%s has the type that systemd reads", types[i].name);
        }
        is(g_variant_get_type_string(property_list_find(slice, "AllowedCPUs")->value), "ay",
           "AllowedCPUs has the type that systemd reads");
        cmp_ok(g_array_index(unit->fds, int, 0), "==", 5, "the gate's descriptor is handed on");
}

/* Only where it was asked for: without --best-effort it would be a limit of another kind than was promised. */
static void test_stand_ins(void) {
        ComposeContext with = context;
        g_autoptr(Spec) spec = sample();
        g_autoptr(PropertyList) slice = NULL;
        g_autoptr(PropertyList) unit = NULL;
        g_autoptr(PropertyList) none = NULL;
        g_autoptr(PropertyList) bare = NULL;
        g_autofree char *text = NULL;

        with.has_stand_ins = true;
        compose(spec, &with, &slice, &unit);
        ok(!property_list_find(unit, "CPUAffinity"), "without a limit there is no stand-in");
        g_clear_pointer(&slice, property_list_free);
        g_clear_pointer(&unit, property_list_free);

        ok(limit_set_parse(&spec->limits, LIMIT_CPUS, "0,9", NULL), "a limit is set");
        compose(spec, &with, &slice, &unit);
        text = property_list_to_text(unit);
        ok(strstr(text, "\nCPUAffinity=[0x01, 0x02]\n"), "the stand-in is on the unit: %s", text);
        ok(property_list_find(slice, "AllowedCPUs"), "and the limit is on the slice all the same");
        compose(spec, &context, &none, &bare);
        ok(!property_list_find(bare, "CPUAffinity"), "nobody asked for stand-ins: there are none");
}

static void test_user_and_extra(void) {
        g_autoptr(Spec) spec = sample();
        g_autofree char *slice = NULL, *unit = NULL;

        spec->user = g_strdup("alice");
        spec->group = g_strdup("staff");
        spec->extra = property_list_new();
        property_list_set_bool(spec->extra, "NoNewPrivileges", true);
        compose_text(spec, &slice, &unit);
        is(unit + strlen(unit_always), "User=alice\nGroup=staff\nNoNewPrivileges=yes\n",
           "user, group and -p come on top");
        is(slice, slice_always, "and not on the slice");
}

/* By the gate. */
static void test_own(void) {
        g_autoptr(Spec) spec = sample();
        g_autofree char *slice = NULL, *unit = NULL;

        spec->is_scope = true;
        spec->extra = property_list_new();
        property_list_set_bool(spec->extra, "NoNewPrivileges", true);
        property_list_set_bool(spec->extra, "IOAccounting", true);
        compose_text(spec, &slice, &unit);
        ok(!strstr(unit, "NoNewPrivileges"), "what a scope's program does itself is not on it");
        ok(strstr(unit, "\nIOAccounting=yes\n"), "what it can have is");
}

static const char *description(Spec *spec, char **command, char **ret_text) {
        g_autoptr(PropertyList) slice = NULL;
        g_autoptr(PropertyList) unit = NULL;

        g_strfreev(spec->command);
        spec->command = g_strdupv(command);
        compose(spec, &context, &slice, &unit);
        *ret_text = g_variant_dup_string(property_list_find(unit, "Description")->value, NULL);
        return *ret_text;
}

static void test_login(void) {
        g_autoptr(Spec) spec = sample();
        g_autofree char *slice = NULL, *unit = NULL;

        spec->is_login = true;
        compose_text(spec, &slice, &unit);
        ok(strstr(unit, "SendSIGHUP=yes\n"), "whoever stops a login shell sends SIGHUP, too");
}

static void test_description(void) {
        g_autoptr(Spec) spec = sample();
        g_autofree char *filler = g_strnfill(500, 'x');
        g_autofree char *odd = NULL, *cut = NULL;

        is(description(spec, (char *[]){ "a\xff\n", "secret", NULL }, &odd),
           "cordon my-run: a\\xff\\x0a",
           "a description is text, whatever the program is called, and tells no argument");
        ok(g_utf8_strlen(description(spec, (char *[]){ filler, NULL }, &cut), -1) <= 100,
           "and no longer than a line");
}

/* clang-format off */
static const struct {
        const char *message; /* NULL: free */
        const char *name;
} extras[] = {
        { NULL, "NoNewPrivileges" }, { NULL, "MemoryLow" }, { NULL, "LimitRTPRIO" }, { NULL, "Nice" },
        { NULL, "LimitASX" }, { NULL, "" },
        { "-p: \"Slice\" belongs to the sandbox", "Slice" },
        { "-p: \"Type\" belongs to the sandbox", "Type" },
        { "-p: \"ExitType\" belongs to the sandbox", "ExitType" },
        { "-p: \"CollectMode\" belongs to the sandbox", "CollectMode" },
        { "-p: \"KillMode\" belongs to the sandbox", "KillMode" },
        { "-p: \"ExecStart\" belongs to the sandbox", "ExecStart" },
        { "-p: \"OOMPolicy\" belongs to the sandbox", "OOMPolicy" },
        { "-p: \"RuntimeMaxSec\" belongs to the sandbox; use --timeout", "RuntimeMaxSec" },
        { "-p: \"RuntimeMaxUSec\" belongs to the sandbox; use --timeout", "RuntimeMaxUSec" },
        { "-p: \"TimeoutStopUSec\" belongs to the sandbox; use --grace", "TimeoutStopUSec" },
        { "-p: \"MemoryMax\" belongs to the sandbox; use --memory", "MemoryMax" },
        { "-p: \"CPUQuota\" belongs to the sandbox; use --cpu", "CPUQuota" },
        { "-p: \"LimitFSIZE\" belongs to the sandbox; use --fsize", "LimitFSIZE" },
        { "-p: \"LimitFSIZESoft\" belongs to the sandbox; use --fsize", "LimitFSIZESoft" },
        { "-p: \"LimitCPU\" belongs to the sandbox; use --cpu-time", "LimitCPU" },
        { "-p: \"User\" belongs to the sandbox; use --uid", "User" },
};
/* clang-format on */

static void test_extras(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(extras); i++) {
                g_autoptr(GError) error = NULL;

                ok(compose_check_extra(extras[i].name, &error) == !extras[i].message,
                   "-p %s is judged", extras[i].name);
                is(error ? error->message : NULL, extras[i].message, "-p %s in words",
                   extras[i].name);
                ok(!error || g_error_matches(error, UNITS_ERROR, UNITS_ERROR_RESERVED),
                   "-p %s: the code", extras[i].name);
        }
}

/* Nothing that a unit of ours has can be changed by -p, so no table here can forget one. */
static void test_extras_cover_the_unit(void) {
        g_autoptr(Spec) spec = sample();
        g_autoptr(PropertyList) slice = NULL;
        g_autoptr(PropertyList) unit = NULL;

        spec->user = g_strdup("a");
        spec->group = g_strdup("b");
        for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
                if (!limit_set_parse(&spec->limits, limits[i].limit, "0", NULL) &&
                    !limit_set_parse(&spec->limits, limits[i].limit, "100M", NULL) &&
                    !limit_set_parse(&spec->limits, limits[i].limit, "100", NULL))
                        diag("no value for %s", limit_info(limits[i].limit)->key);

        compose(spec, &context, &slice, &unit);
        for (size_t i = 0; i < property_list_length(unit); i++)
                ok(!compose_check_extra(property_list_at(unit, i)->name, NULL), "%s is ours",
                   property_list_at(unit, i)->name);
        cmp_ok(property_list_length(unit), ">", 25, "with every limit there is much to look at");
}

int main(void) {
        plan(NO_PLAN);
        test_golden();
        test_own_manager();
        test_no_accounting();
        test_scope_versions();
        test_limits();
        test_pool();
        test_network_uncounted();
        test_types();
        test_stand_ins();
        test_user_and_extra();
        test_own();
        test_login();
        test_description();
        test_extras();
        test_extras_cover_the_unit();
        done_testing();
}
