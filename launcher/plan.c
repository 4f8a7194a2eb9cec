/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The bus and unit files spell some properties differently (microseconds, rlimits in halves, CPU quota, CPU bitmaps);
 * the table below turns the one into the other, so that systemd-run and systemctl take what we print. */

#include "plan.h"

#include <cjson/cJSON.h>
#include <string.h>
#include <sys/resource.h>

#include "units/compose.h"
#include "units/extra.h"
#include "units/name.h"

/* Ours alone, or said by systemd-run's own options. */
static const char *const left_out[] = {
        "Description",    "ExecStart",        "StandardInputFileDescriptor",
        "StandardOutput", "StandardError",    "Slice",
        "PIDs",           "StopWhenUnneeded", "DefaultDependencies",
};

static bool is_left_out(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(left_out); i++)
                if (strcmp(left_out[i], name) == 0)
                        return true;
        return false;
}

static char *number_text(uint64_t number) {
        return number == UINT64_MAX ? g_strdup("infinity")
                                    : g_strdup_printf("%" G_GUINT64_FORMAT, number);
}

/* RuntimeMaxUSec=30000000 → RuntimeMaxSec=30000000us */
static char *time_setting(const char *name, uint64_t usec) {
        g_autofree char *stem = g_strndup(name, strlen(name) - strlen("USec"));
        g_autofree char *number = number_text(usec);

        return g_strdup_printf("%sSec=%s%s", stem, number, usec == UINT64_MAX ? "" : "us");
}

/* LimitNOFILE and LimitNOFILESoft → LimitNOFILE=soft:hard */
static char *rlimit_setting(const PropertyList *list, const Property *hard) {
        g_autofree char *soft_name = g_strconcat(hard->name, "Soft", NULL);
        const Property *soft = property_list_find(list, soft_name);
        g_autofree char *hard_text = number_text(g_variant_get_uint64(hard->value));
        g_autofree char *soft_text = soft ? number_text(g_variant_get_uint64(soft->value))
                                          : g_strdup(hard_text);

        return g_strdup_printf("%s=%s:%s", hard->name, soft_text, hard_text);
}

static char *cpus_setting(const Property *property) {
        gsize size = 0;
        const uint8_t *bytes = g_variant_get_fixed_array(property->value, &size, 1);
        g_autofree char *list = cpu_list_format(
                &(CpuList){ .bytes = (uint8_t *)bytes, .size = size });

        return g_strdup_printf("%s=%s", property->name, list);
}

/* In percent, to a hundredth: as exact as systemd takes it. */
static char *cpu_quota_setting(uint64_t usec_per_sec) {
        return g_strdup_printf("CPUQuota=%" G_GUINT64_FORMAT ".%02" G_GUINT64_FORMAT "%%",
                               usec_per_sec / 10000, usec_per_sec % 10000 / 100);
}

/* A word of a list: what would part it, or be taken for a quote, has a backslash. */
static void append_word(GString *text, const char *word) {
        for (; *word; word++) {
                if (strchr(" :\\\"'", *word))
                        g_string_append_c(text, '\\');
                g_string_append_c(text, *word);
        }
}

/* SOURCE:DESTINATION, a - in front where it need not be there; PATH:OPTIONS; plain words. */
static void append_item(GString *text, GVariant *item) {
        const char *word, *rest;
        gboolean is_optional;
        guint64 flags;

        if (text->len > 0)
                g_string_append_c(text, ' ');
        if (g_variant_is_of_type(item, G_VARIANT_TYPE_STRING)) {
                append_word(text, g_variant_get_string(item, NULL));
                return;
        }
        if (g_variant_is_of_type(item, G_VARIANT_TYPE("(ssbt)"))) {
                g_variant_get(item, "(&s&sbt)", &word, &rest, &is_optional, &flags);
                g_string_append(text, is_optional ? "-" : "");
        } else {
                g_variant_get(item, "(&s&s)", &word, &rest);
        }
        append_word(text, word);
        if (*rest) {
                g_string_append_c(text, ':');
                append_word(text, rest);
        }
}

/* FAMILY, BYTES, LENGTH → "10.0.0.0/8" */
static char *addresses_setting(const Property *property) {
        g_autoptr(GString) text = g_string_new(NULL);

        for (size_t i = 0; i < g_variant_n_children(property->value); i++) {
                g_autoptr(GVariant) item = g_variant_get_child_value(property->value, i);
                g_autoptr(GVariant) bytes = g_variant_get_child_value(item, 1);
                AllowNetwork network = { 0 };
                gsize size = 0;
                const void *data = g_variant_get_fixed_array(bytes, &size, 1);
                g_autofree char *word = NULL;

                g_variant_get_child(item, 0, "i", &network.family);
                g_variant_get_child(item, 2, "u", &network.length);
                memcpy(network.bytes, data, MIN(size, sizeof network.bytes));
                word = allow_network_text(&network);
                g_string_append_printf(text, "%s%s", text->len > 0 ? " " : "", word);
        }
        return g_strdup_printf("%s=%s", property->name, text->str);
}

/* "~" in front of what is forbidden. */
static char *filter_setting(const Property *property) {
        g_autoptr(GVariant) words = g_variant_get_child_value(property->value, 1);
        g_autofree const char **list = g_variant_get_strv(words, NULL);
        g_autofree char *text = g_strjoinv(" ", (char **)list);
        gboolean allows = FALSE;

        g_variant_get_child(property->value, 0, "b", &allows);
        return g_strdup_printf("%s=%s%s", property->name, allows ? "" : "~", text);
}

static bool is_list_of_paths(const Property *property) {
        const char *type = g_variant_get_type_string(property->value);

        return strcmp(type, "as") == 0 || strcmp(type, "a(ssbt)") == 0 ||
               strcmp(property->name, "TemporaryFileSystem") == 0;
}

static char *list_setting(const Property *property) {
        g_autoptr(GString) text = g_string_new(NULL);

        for (size_t i = 0; i < g_variant_n_children(property->value); i++) {
                g_autoptr(GVariant) item = g_variant_get_child_value(property->value, i);

                append_item(text, item);
        }
        return g_strdup_printf("%s=%s", property->name, text->str);
}

static char *plain_setting(const Property *property) {
        g_autoptr(PropertyList) one = property_list_new();

        if (is_list_of_paths(property))
                return list_setting(property);
        if (g_variant_is_of_type(property->value, G_VARIANT_TYPE("a(iayu)")))
                return addresses_setting(property);
        if (g_variant_is_of_type(property->value, G_VARIANT_TYPE("(bas)")))
                return filter_setting(property);
        property_list_set(one, property->name, property->value);
        return g_strchomp(property_list_to_text(one));
}

/* What an empty mask is in a unit file. */
static const struct {
        const char *name, *text;
} empty_masks[] = {
        { "AmbientCapabilities", "" },
        { "CapabilityBoundingSet", "" },
        { "RestrictNamespaces", "yes" },
};

static const char *empty_mask_text(const Property *property) {
        for (size_t i = 0; i < G_N_ELEMENTS(empty_masks); i++)
                if (strcmp(property->name, empty_masks[i].name) == 0 &&
                    g_variant_get_uint64(property->value) == 0)
                        return empty_masks[i].text;
        return NULL;
}

char *plan_setting(const PropertyList *list, const Property *property) {
        const char *name = property->name;

        if (g_str_has_prefix(name, "Limit") && g_str_has_suffix(name, "Soft"))
                return NULL;
        if (strcmp(name, "CPUQuotaPerSecUSec") == 0)
                return cpu_quota_setting(g_variant_get_uint64(property->value));
        if (empty_mask_text(property))
                return g_strconcat(name, "=", empty_mask_text(property), NULL);
        if (g_str_has_suffix(name, "USec"))
                return time_setting(name, g_variant_get_uint64(property->value));
        if (g_str_has_prefix(name, "Limit"))
                return rlimit_setting(list, property);
        if (g_variant_is_of_type(property->value, G_VARIANT_TYPE_BYTESTRING))
                return cpus_setting(property);
        return plain_setting(property);
}

static void append_settings(GString *text, const PropertyList *list, const char *before) {
        for (size_t i = 0; i < property_list_length(list); i++) {
                const Property *property = property_list_at(list, i);
                g_autofree char *one = is_left_out(property->name) ? NULL
                                                                   : plan_setting(list, property);
                g_autofree char *quoted = one ? g_shell_quote(one) : NULL;

                if (quoted)
                        g_string_append_printf(text, " \\\n    %s%s", before, quoted);
        }
}

static void append_quoted(GString *text, const char *before, const char *word) {
        g_autofree char *quoted = g_shell_quote(word);

        g_string_append_printf(text, "%s%s", before, quoted);
}

static void append_world(GString *text, const PlanWorld *world, bool is_scope) {
        if (world->directory && !is_scope)
                append_quoted(text, " --working-directory=", world->directory);
        else if (!is_scope)
                g_string_append(text, " --same-dir");
        for (guint i = 0; i < world->variables->len; i++)
                append_quoted(text, " --setenv=", g_ptr_array_index(world->variables, i));
}

/* Of these the manager knows nothing, or only a backstop. */
static bool is_kept_by_us(const Spec *spec, Limit limit) {
        return limit_info(limit)->carrier == LIMIT_ON_US &&
               limit_set_is_limited(&spec->limits, limit);
}

/* What a scope's program makes of itself before it is executed, and no unit says: "--uid nobody", "--fs strict". */
static GPtrArray *own_doings(const Spec *spec) {
        const IsolationSet *set = &spec->isolation;
        GPtrArray *doings = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(PropertyList) own = property_list_new();

        if (!spec->is_scope)
                return doings;
        extra_compose_own(spec->extra, own);
        if (spec->user)
                g_ptr_array_add(doings, g_strdup_printf("--uid %s", spec->user));
        if (spec->group)
                g_ptr_array_add(doings, g_strdup_printf("--gid %s", spec->group));
        if (set->has_private_tmp)
                g_ptr_array_add(doings, g_strdup("--private-tmp"));
        if (set->has_no_network)
                g_ptr_array_add(doings, g_strdup("--net none"));
        if (set->has_strict_fs)
                g_ptr_array_add(doings, g_strdup("--fs strict"));
        if (set->has_strict_fs && set->workspace)
                g_ptr_array_add(doings, g_strdup_printf("--workspace %s", set->workspace));
        for (guint i = 0; set->rules && i < set->rules->len; i++) {
                const PathRule *rule = set->rules->pdata[i];
                g_autofree char *path = isolation_rule_text(rule);

                g_ptr_array_add(doings,
                                g_strdup_printf("--%s %s", isolation_info(rule->kind)->key, path));
        }
        for (size_t i = 0; i < property_list_length(own); i++) {
                g_autofree char *text = plain_setting(property_list_at(own, i));

                g_ptr_array_add(doings, g_strconcat("-p ", text, NULL));
        }
        return doings;
}

static void append_doings(GString *text, const Spec *spec) {
        g_autoptr(GPtrArray) doings = own_doings(spec);

        for (guint i = 0; i < doings->len; i++)
                g_string_append_printf(text, "%s%s", i > 0 ? ", " : "# the program makes itself: ",
                                       (const char *)doings->pdata[i]);
        if (doings->len > 0)
                g_string_append_c(text, '\n');
}

static void append_kept(GString *text, const Spec *spec) {
        const char *before = "# cordon itself keeps: ";

        for (int i = 0; i < _LIMIT_MAX; i++) {
                g_autofree char *value = NULL;

                if (!is_kept_by_us(spec, (Limit)i))
                        continue;
                value = limit_set_format(&spec->limits, (Limit)i);
                g_string_append_printf(text, "%s%s=%s", before, limit_info((Limit)i)->key, value);
                before = ", ";
        }
        if (before[0] == ',')
                g_string_append_c(text, '\n');
}

/* "20:20"; NULL: it is none of those that a scope's program gets before it is executed. */
static char *own_rlimit(const Spec *spec, Limit limit) {
        uint64_t soft, hard;

        if (!spec->is_scope || limit_rlimit(limit) < 0 ||
            !limit_set_is_limited(&spec->limits, limit))
                return NULL;
        limit_set_rlimit(&spec->limits, limit, &soft, &hard);
        return g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, soft, hard);
}

static void append_gate(GString *text, const Spec *spec, const PlanWorld *world) {
        static const char *const names[] = {
                [RLIMIT_AS] = "as",       [RLIMIT_CORE] = "core",     [RLIMIT_CPU] = "cpu",
                [RLIMIT_FSIZE] = "fsize", [RLIMIT_NOFILE] = "nofile", [RLIMIT_STACK] = "stack",
        };

        if (world->directory)
                append_quoted(text, " env --chdir=", world->directory);
        if (limit_set_rlimits(&spec->limits) != 0)
                g_string_append(text, " prlimit");
        for (int i = 0; i < _LIMIT_MAX; i++) {
                g_autofree char *values = own_rlimit(spec, (Limit)i);

                if (values)
                        g_string_append_printf(text, " --%s=%s", names[limit_rlimit((Limit)i)],
                                               values);
        }
}

static void add_gate(cJSON *plan, const Spec *spec) {
        cJSON *object = cJSON_AddObjectToObject(plan, "program");
        g_autoptr(GPtrArray) doings = own_doings(spec);
        cJSON *options = doings->len > 0 ? cJSON_AddArrayToObject(object, "options") : NULL;

        for (guint i = 0; i < doings->len; i++)
                cJSON_AddItemToArray(options, cJSON_CreateString(doings->pdata[i]));
        for (int i = 0; i < _LIMIT_MAX; i++) {
                g_autofree char *values = own_rlimit(spec, (Limit)i);

                if (values)
                        cJSON_AddStringToObject(object, limit_info((Limit)i)->property, values);
        }
}

static void append_slice(GString *text, const char *what, const char *manager, const char *name,
                         const PropertyList *properties) {
        g_string_append_printf(text, "# %s\nsystemctl%s set-property --runtime", what, manager);
        append_quoted(text, " ", name);
        append_settings(text, properties, "");
        g_string_append_c(text, '\n');
}

static void append_pool(GString *text, const char *manager, const Spec *spec) {
        g_autofree char *name = spec->pool ? name_pool_slice(spec->pool) : NULL;
        g_autoptr(PropertyList) pool = spec->pool ? compose_pool(spec) : NULL;

        if (pool)
                append_slice(text, "the slice of its pool: limits of all runs in it", manager, name,
                             pool);
}

char *plan_to_text(const Spec *spec, const PlanWorld *world, const PropertyList *slice,
                   const PropertyList *unit) {
        g_autofree char *slice_name = name_slice(spec->pool, spec->id);
        g_autofree char *unit_name = name_unit(spec->id, spec->is_scope);
        const char *manager = g_strcmp0(world->manager, "user") == 0 ? " --user" : "";
        GString *text = g_string_new(NULL);

        if (g_strcmp0(world->manager, "private") == 0)
                g_string_append(
                        text,
                        "# a private manager takes this over its own socket: not to be pasted\n");
        append_kept(text, spec);
        append_doings(text, spec);
        if (world->max_parallel > 0)
                g_string_append_printf(text,
                                       "# cordon itself starts it when fewer than %" G_GUINT64_FORMAT
                                       " runs of this user are in pool %s\n",
                                       world->max_parallel, spec->pool);
        if (spec->isolation.allow)
                g_string_append(text,
                                "# --net allow: the files that name its hosts inside are made "
                                "for the run, and are not here\n");
        append_pool(text, manager, spec);
        append_slice(text, "the slice: limits of the whole tree", manager, slice_name, slice);
        g_string_append_printf(text, "# the program inside it%s\nsystemd-run%s%s",
                               spec->is_login ? ": cordon gives it a name with a dash in front"
                                              : "",
                               manager,
                               spec->is_scope        ? " --scope"
                               : world->has_terminal ? " --wait --pty"
                                                     : " --wait --pipe");
        append_world(text, world, spec->is_scope);
        append_quoted(text, " --unit=", unit_name);
        append_quoted(text, " --slice=", slice_name);
        append_settings(text, unit, "-p ");
        g_string_append(text, " \\\n    --");
        if (spec->is_scope)
                append_gate(text, spec, world);
        for (char **argument = spec->command; *argument; argument++)
                append_quoted(text, " ", *argument);
        g_string_append_c(text, '\n');
        return g_string_free(text, FALSE);
}

static cJSON *properties_to_json(const PropertyList *list) {
        cJSON *object = cJSON_CreateObject();

        for (size_t i = 0; i < property_list_length(list); i++) {
                const Property *property = property_list_at(list, i);
                g_autofree char *text = plain_setting(property);

                if (strcmp(property->name, "PIDs") == 0) /* there is none yet */
                        continue;
                cJSON_AddStringToObject(object, property->name, strchr(text, '=') + 1);
        }
        return object;
}

static void add_pool(cJSON *plan, const Spec *spec) {
        g_autofree char *name = spec->pool ? name_pool_slice(spec->pool) : NULL;
        g_autoptr(PropertyList) properties = spec->pool ? compose_pool(spec) : NULL;
        cJSON *object = spec->pool ? cJSON_AddObjectToObject(plan, "pool") : NULL;

        if (!object)
                return;
        cJSON_AddStringToObject(object, "name", name);
        cJSON_AddItemToObject(object, "properties", properties_to_json(properties));
}

char *plan_to_json(const Spec *spec, const PlanWorld *world, const PropertyList *slice,
                   const PropertyList *unit) {
        cJSON *plan = cJSON_CreateObject();
        g_autofree char *slice_name = name_slice(spec->pool, spec->id);
        g_autofree char *unit_name = name_unit(spec->id, spec->is_scope);
        cJSON *units[] = { cJSON_AddObjectToObject(plan, "slice"),
                           cJSON_AddObjectToObject(plan, "unit") };
        cJSON *kept = cJSON_AddObjectToObject(plan, "kept_by_cordon");
        char *text, *copy;

        for (int i = 0; i < _LIMIT_MAX; i++)
                if (is_kept_by_us(spec, (Limit)i))
                        cJSON_AddNumberToObject(kept, limit_info((Limit)i)->key,
                                                (double)spec->limits.value[i]);
        if (world->max_parallel > 0)
                cJSON_AddNumberToObject(kept, "max-parallel", (double)world->max_parallel);
        add_pool(plan, spec);
        cJSON_AddStringToObject(units[0], "name", slice_name);
        cJSON_AddItemToObject(units[0], "properties", properties_to_json(slice));
        cJSON_AddStringToObject(units[1], "name", unit_name);
        cJSON_AddItemToObject(units[1], "properties", properties_to_json(unit));
        if (spec->is_scope)
                add_gate(plan, spec);
        if (spec->is_login)
                cJSON_AddBoolToObject(plan, "login", true);
        text = cJSON_Print(plan);
        copy = g_strconcat(text, "\n", NULL);
        cJSON_free(text);
        cJSON_Delete(plan);
        return copy;
}
