/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Spec → properties. What every run has stands in two tables; what was asked comes from the limit table, one small
 * function for each encoding; so a new limit changes nothing here. The hard thing is what is left out: a limit that is
 * lifted sets nothing, because then the caller's own rlimits hold, which the gate applies. */

#include <signal.h>
#include <string.h>

#include "compose.h"
#include "error.h"
#include "extra.h"
#include "name.h"
#include "pool.h"
#include "text.h"

#define USEC_PER_SEC    UINT64_C(1000000)
#define DESCRIPTION_MAX 80

typedef struct {
        const char *name;
        const char *text; /* a string property, or */
        bool yes, no;     /* a boolean one, or */
        uint64_t number;  /* a number */
        const char *why;
} FixedProperty;

/* clang-format off */
static const FixedProperty accounting[] = {
        { .name = "MemoryAccounting", .yes = true, .why = "usage and causes are read from the slice's counters" },
        { .name = "CPUAccounting",    .yes = true, .why = "likewise" },
        { .name = "TasksAccounting",  .yes = true, .why = "likewise" },
        { .name = "IOAccounting",     .yes = true, .why = "likewise" },
};

static const FixedProperty network_accounting[] = {
        { .name = "IPAccounting",     .yes = true, .why = "likewise; a user manager has no data, and others load BPF programs" },
};

static const FixedProperty unit_fixed[] = {
        { .name = "Type",             .text = "simple",   .why = "the gate says itself that it is there, and one event less is told" },
        { .name = "ExitType",         .text = "cgroup",   .why = "the unit ends with its last process: stragglers are counted" },
        { .name = "CollectMode",      .text = "inactive", .why = "how it failed is there until we have read it; for the rest see set_keeper()" },
        { .name = "OOMPolicy",        .text = "kill",     .why = "out of memory ends all at once" },
        { .name = "TasksMax",         .number = UINT64_MAX, .why = "DefaultTasksMax must not undercut the slice" },
        { .name = "IgnoreSIGPIPE",    .no = true,         .why = "SIGPIPE as a shell has it" },
        { .name = "StandardOutput",   .text = "null",     .why = "the gate gets the real ones over its socket; keeps the journal out" },
        { .name = "StandardError",    .text = "null",     .why = "likewise" },
        { .name = "SyslogIdentifier", .text = "cordon",   .why = "what it sends to syslog itself has a name" },
};

static const FixedProperty scope_fixed[] = {
        { .name = "CollectMode",      .text = "inactive",   .why = "what failed says so until we have read it" },
        { .name = "TasksMax",         .number = UINT64_MAX, .why = "DefaultTasksMax must not undercut the slice" },
};

/* Other properties that make a sandbox one, so -p may not set them; and those that have an option of ours. Names as on
 * the bus and as in unit files. The fixed ones above and the limits kept on the unit are owned too. */
static const struct {
        const char *name;
        const char *option; /* what to use instead, NULL: nothing */
} owned[] = {
        { "Slice", NULL },              { "KillMode", NULL },            { "KillSignal", "--grace" },
        { "FinalKillSignal", NULL },    { "SendSIGKILL", NULL },         { "SendSIGHUP", NULL },
        { "RestartKillSignal", NULL },  { "Restart", NULL },             { "RestartSec", NULL },
        { "RestartUSec", NULL },        { "RemainAfterExit", NULL },
        { "Delegate", NULL },           { "DelegateControllers", NULL },
        { "DelegateSubgroup", NULL },   { "DefaultDependencies", NULL }, { "Description", NULL },
        { "ExecStart", NULL },          { "ExecStartEx", NULL },         { "ExecStartPre", NULL },
        { "ExecStartPreEx", NULL },     { "ExecStartPost", NULL },       { "ExecStartPostEx", NULL },
        { "ExecCondition", NULL },      { "ExecConditionEx", NULL },     { "ExecReload", NULL },
        { "ExecReloadEx", NULL },       { "ExecStop", NULL },            { "ExecStopEx", NULL },
        { "ExecStopPost", NULL },       { "ExecStopPostEx", NULL },      { "PIDFile", NULL },
        { "BusName", NULL },            { "GuessMainPID", NULL },        { "RootDirectoryStartOnly", NULL },
        { "StandardInput", "--stdin" }, { "StandardInputFileDescriptor", "--stdin" },
        { "StandardInputData", "--stdin" }, { "StandardInputText", "--stdin" },
        { "StandardOutputFileDescriptor", "--capture" }, { "StandardErrorFileDescriptor", "--capture" },
        { "TTYPath", "--pty" },         { "WatchdogUSec", NULL },        { "WatchdogSec", NULL },
        { "TimeoutStartUSec", NULL },
        { "TimeoutStartSec", NULL },    { "TimeoutAbortUSec", NULL },    { "TimeoutAbortSec", NULL },
        { "TimeoutSec", "--grace" },    { "TimeoutStopSec", "--grace" }, { "RuntimeMaxSec", "--timeout" },
        { "RuntimeRandomizedExtraUSec", NULL }, { "RuntimeRandomizedExtraSec", NULL },
        { "User", "--uid" },            { "Group", "--gid" },            { "DynamicUser", NULL },
        { "MemoryMax", "--memory" },    { "MemoryHigh", "--memory-high" }, { "MemorySwapMax", "--swap" },
        { "CPUQuota", "--cpu" },        { "CPUQuotaPerSecUSec", "--cpu" }, { "AllowedCPUs", "--cpus" },
        { "WorkingDirectory", "-C" },   { "Environment", "-E" },         { "EnvironmentFile", "-E" },
        { "EnvironmentFiles", "-E" },   { "PassEnvironment", "-E" },     { "UnsetEnvironment", "-E" },
};
/* clang-format on */

static void set_fixed(PropertyList *list, const FixedProperty *fixed, size_t n_fixed) {
        for (size_t i = 0; i < n_fixed; i++) {
                if (fixed[i].text)
                        property_list_set_string(list, fixed[i].name, fixed[i].text);
                else if (fixed[i].yes || fixed[i].no)
                        property_list_set_bool(list, fixed[i].name, fixed[i].yes);
                else
                        property_list_set_uint64(list, fixed[i].name, fixed[i].number);
        }
}

/* Hard first: systemd gives both the value of the first one that it meets. */
static void set_rlimit(PropertyList *list, const LimitSet *set, Limit limit) {
        const char *name = limit_info(limit)->property;
        g_autofree char *soft_name = g_strconcat(name, "Soft", NULL);
        uint64_t soft, hard;

        limit_set_rlimit(set, limit, &soft, &hard);
        property_list_set_uint64(list, name, hard);
        property_list_set_uint64(list, soft_name, soft);
}

/* A stop timeout of 0 becomes infinity after a daemon-reload, so "at once" is said by the signal instead. */
static void set_stop(PropertyList *list, const LimitInfo *info, uint64_t usec) {
        if (usec > 0) {
                property_list_set_uint64(list, info->property, usec);
                return;
        }

        property_list_set(list, "KillSignal", g_variant_new_int32(SIGKILL));
        property_list_set_uint64(list, info->property, info->default_value);
}

static void set_bitmap(PropertyList *list, const char *name, const CpuList *cpus) {
        property_list_set(list, name,
                          g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, cpus->bytes, cpus->size,
                                                    1));
}

/* The deadline is ours, and so is the grace after it; the manager counts from the fork, and up to "go" gate and guard may
 * each take half a minute (launcher/starting). It must not be the first to act, nor act in between. */
#define BACKSTOP_SLACK_USEC (60 * USEC_PER_SEC)

static uint64_t grace_of(const LimitSet *set) {
        return limit_set_is_limited(set, LIMIT_GRACE) ? set->value[LIMIT_GRACE] : 0;
}

static void set_backstop(PropertyList *list, const char *name, const LimitSet *set, uint64_t usec) {
        property_list_set_uint64(list, name, usec + grace_of(set) + BACKSTOP_SLACK_USEC);
}

static void set_limit(PropertyList *list, const LimitSet *set, Limit limit) {
        const LimitInfo *info = limit_info(limit);
        uint64_t value = set->value[limit];

        switch (info->encoding) {
        case LIMIT_ENCODING_NONE:
                return;
        case LIMIT_ENCODING_NUMBER:
                property_list_set_uint64(list, info->property, value);
                return;
        case LIMIT_ENCODING_BACKSTOP:
                set_backstop(list, info->property, set, value);
                return;
        case LIMIT_ENCODING_RLIMIT:
        case LIMIT_ENCODING_CPU_SECONDS:
                set_rlimit(list, set, limit);
                return;
        case LIMIT_ENCODING_STOP:
                set_stop(list, info, value);
                return;
        case LIMIT_ENCODING_BITMAP:
                set_bitmap(list, info->property, &set->cpus);
                return;
        }

        g_assert_not_reached();
}

/* Who gets a property. */
typedef enum {
        CARRIER_POOL,
        CARRIER_SLICE,
        CARRIER_SERVICE,
        CARRIER_SCOPE,
} Carrier;

/* What the tool keeps itself has its backstop on the unit. Grace is set even when it is lifted: the manager's own
 * default would be a limit that nobody asked for. A scope has no rlimits: there they are the gate's business. */
static bool is_carried_by(const LimitSet *set, Limit limit, Carrier carrier) {
        const LimitInfo *info = limit_info(limit);
        bool is_lifted_grace = info->encoding == LIMIT_ENCODING_STOP && set->is_set[limit];

        if (!limit_set_is_limited(set, limit) && !is_lifted_grace)
                return false;
        if (carrier == CARRIER_SCOPE && limit_rlimit(limit) >= 0)
                return false;
        return (info->carrier == LIMIT_ON_POOL) == (carrier == CARRIER_POOL) &&
               (info->carrier == LIMIT_ON_SLICE) == (carrier == CARRIER_SLICE);
}

static void set_limits(PropertyList *list, const LimitSet *set, Carrier carrier) {
        for (int i = 0; i < _LIMIT_MAX; i++)
                if (is_carried_by(set, (Limit)i, carrier))
                        set_limit(list, set, (Limit)i);
}

static void set_stand_ins(PropertyList *unit, const LimitSet *set) {
        for (int i = 0; i < _LIMIT_MAX; i++) {
                const char *name = limit_info((Limit)i)->stand_in;

                if (name && limit_set_is_limited(set, (Limit)i))
                        set_bitmap(unit, name, &set->cpus);
        }
}

void compose_accounting(PropertyList *list) {
        set_fixed(list, accounting, G_N_ELEMENTS(accounting));
}

/* In version 1 a group is made, and taken away, in each hierarchy, and counts a memory kill for itself alone. Where the unit has
 * none its program is in the slice's, which stays until it was read. With version 2 OOMPolicy= needs one of the unit's own. -p
 * may ask for them all the same; then they are there, and looked into. */
static void set_no_accounting(PropertyList *unit) {
        for (size_t i = 0; i < G_N_ELEMENTS(accounting); i++)
                property_list_set_bool(unit, accounting[i].name, false);
}

/* With a manager of our own there is nothing that has to be up before a run, and who is asked to end it still ends its
 * programs with SIGTERM (tried: its keeper gets one). What all units have to do with basic.target and shutdown.target would
 * only be looked through at each start, and told to everybody. */
static void set_dependencies(PropertyList *list, const ComposeContext *context) {
        if (!context->is_booted)
                property_list_set_bool(list, "DefaultDependencies", false);
}

/* The manager forgets what has ended well, but not what another unit names. So its exit status survives a manager that
 * re-executes, and goes with the slice. The order is that of a unit and its slice anyway. Not RemainAfterExit=: what is kept
 * by that is active, and has to be stopped, with a job of its own. */
static void set_keeper(PropertyList *slice, const Spec *spec) {
        g_autofree char *service = name_service(spec->id);
        const char *const names[] = { service };

        if (!spec->is_scope)
                property_list_set(slice, "Before", g_variant_new_strv(names, G_N_ELEMENTS(names)));
}

static PropertyList *compose_slice(const Spec *spec, const ComposeContext *context) {
        g_autoptr(PropertyList) slice = property_list_new();
        g_autofree char *description = name_description_with_owner(spec->id, context->owner);

        property_list_set_string(slice, "Description", description);
        set_dependencies(slice, context);
        set_keeper(slice, spec);
        compose_accounting(slice);
        if (context->counts_network)
                set_fixed(slice, network_accounting, G_N_ELEMENTS(network_accounting));
        set_limits(slice, &spec->limits, CARRIER_SLICE);
        return g_steal_pointer(&slice);
}

PropertyList *compose_around(const char *description) {
        PropertyList *slice = property_list_new();

        property_list_set_string(slice, "Description", description);
        compose_accounting(slice);
        property_list_set_bool(slice, "StopWhenUnneeded", true);
        /* A manager that ends stops everything else first; the guard has to be there until then. */
        property_list_set_bool(slice, "DefaultDependencies", false);
        return slice;
}

PropertyList *compose_pool(const Spec *spec) {
        g_autofree char *description = pool_describe(spec->pool, &spec->limits);
        PropertyList *slice = compose_around(description);

        set_limits(slice, &spec->limits, CARRIER_POOL);
        return slice;
}

/* Only the program's name: arguments may be nobody's business, and everybody can read a Description. */
static void set_description(PropertyList *unit, const Spec *spec) {
        char *const name[] = { spec->command[0], NULL };
        g_autofree char *command = text_command(name, DESCRIPTION_MAX);
        g_autofree char *description = g_strdup_printf("cordon %s: %s", spec->id, command);

        property_list_set_string(unit, "Description", description);
}

/* The path, the arguments and whether a failure is ignored. systemd expands $ in arguments, and neither an id nor an
 * owner can hold one; the program's own arguments go over the gate's socket. */
static void set_exec_start(PropertyList *unit, const Spec *spec, const ComposeContext *context) {
        const char *const argv[] = { "cordon-gate", spec->id, context->owner };
        g_autoptr(GVariantBuilder) builder = g_variant_builder_new(G_VARIANT_TYPE("a(sasb)"));

        g_assert(!strchr(spec->id, '$') && !strchr(context->owner, '$'));
        g_variant_builder_add(builder, "(s@asb)", context->gate_path,
                              g_variant_new_strv(argv, G_N_ELEMENTS(argv)), FALSE);
        property_list_set(unit, "ExecStart", g_variant_builder_end(builder));
}

static void add_isolation(PropertyList *unit, const Spec *spec, const ComposeContext *context) {
        if (!context->without_isolation)
                isolation_compose(&spec->isolation,
                                  &(IsolationContext){ .gate_path = context->gate_path,
                                                       .is_unprivileged = context->is_unprivileged,
                                                       .is_booted = context->is_booted,
                                                       .is_system = context->is_system,
                                                       .is_another_user = spec->user,
                                                       .systemd_major = context->systemd_major,
                                                       .empty_root = context->empty_root,
                                                       .extra = spec->extra },
                                  unit);
        if (spec->isolation.is_untrusted && context->nice > 0)
                property_list_set(unit, "Nice", g_variant_new_int32(context->nice));
}

static void compose_service(const Spec *spec, const ComposeContext *context, PropertyList *unit) {
        set_fixed(unit, unit_fixed, G_N_ELEMENTS(unit_fixed));
        property_list_set_fd(unit, "StandardInputFileDescriptor", context->gate_fd);
        set_exec_start(unit, spec, context);
        if (spec->user)
                property_list_set_string(unit, "User", spec->user);
        if (spec->group)
                property_list_set_string(unit, "Group", spec->group);
        set_limits(unit, &spec->limits, CARRIER_SERVICE);
        if (context->has_stand_ins)
                set_stand_ins(unit, &spec->limits);
        add_isolation(unit, spec, context);
}

/* Else the manager would end with SIGTERM what the kernel is just killing, whose group it is, and now and then come first. */
#define SCOPE_OOM_POLICY_SINCE 253

/* The gate is there already, and is put into it. */
static void compose_scope(const Spec *spec, const ComposeContext *context, PropertyList *unit) {
        GVariant *const pids[] = { g_variant_new_uint32((guint32)context->gate_pid) };

        set_fixed(unit, scope_fixed, G_N_ELEMENTS(scope_fixed));
        if (context->systemd_major >= SCOPE_OOM_POLICY_SINCE)
                property_list_set_string(unit, "OOMPolicy", "kill");
        property_list_set(unit, "PIDs", g_variant_new_array(G_VARIANT_TYPE_UINT32, pids, 1));
        set_limits(unit, &spec->limits, CARRIER_SCOPE);
}

static PropertyList *compose_unit(const Spec *spec, const ComposeContext *context) {
        g_autoptr(PropertyList) unit = property_list_new();
        g_autofree char *slice_name = name_slice(spec->pool, spec->id);

        set_description(unit, spec);
        property_list_set_string(unit, "Slice", slice_name);
        set_dependencies(unit, context);
        if (context->without_accounting)
                set_no_accounting(unit);
        if (spec->is_scope)
                compose_scope(spec, context, unit);
        else
                compose_service(spec, context, unit);
        if (spec->is_login) /* it ignores SIGTERM at a prompt */
                property_list_set(unit, "SendSIGHUP", g_variant_new_boolean(TRUE));
        for (size_t i = 0; spec->extra && i < property_list_length(spec->extra); i++) {
                const Property *property = property_list_at(spec->extra, i);

                if (!spec->is_scope || !extra_is_own(property->name))
                        property_list_extend(unit, property->name, property->value);
        }
        return g_steal_pointer(&unit);
}

void compose(const Spec *spec, const ComposeContext *context, PropertyList **ret_slice,
             PropertyList **ret_unit) {
        *ret_slice = compose_slice(spec, context);
        *ret_unit = compose_unit(spec, context);
}

static bool name_is_fixed(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(unit_fixed); i++)
                if (g_str_equal(unit_fixed[i].name, name))
                        return true;

        return false;
}

/* Is it a limit that the unit carries, by the property's name or its Soft half? */
static const char *option_of_limit(const char *name) {
        for (int i = 0; i < _LIMIT_MAX; i++) {
                const LimitInfo *info = limit_info((Limit)i);
                const char *rest;

                if (!info->property || info->carrier == LIMIT_ON_SLICE ||
                    info->carrier == LIMIT_ON_POOL || !g_str_has_prefix(name, info->property))
                        continue;
                rest = name + strlen(info->property);
                if (*rest == '\0' || g_str_equal(rest, "Soft"))
                        return info->key;
        }

        return NULL;
}

bool compose_check_extra(const char *name, GError **error) {
        const char *key = option_of_limit(name), *instead = NULL;
        g_autofree char *option = key ? g_strconcat("--", key, NULL) : NULL;
        bool is_owned = option || name_is_fixed(name);

        instead = option;
        for (size_t i = 0; i < G_N_ELEMENTS(owned) && !is_owned; i++)
                if (g_str_equal(owned[i].name, name)) {
                        is_owned = true;
                        instead = owned[i].option;
                }
        if (!is_owned)
                return true;

        g_set_error(error, UNITS_ERROR, UNITS_ERROR_RESERVED,
                    "-p: \"%s\" belongs to the sandbox%s%s", name, instead ? "; use " : "",
                    instead ? instead : "");
        return false;
}
