/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A rule of Landlock holds for all that is below its path, and rules add up. So there are permits only where everything
 * else is closed (--fs strict), and nothing read-only can lie in what is writable. */

#include "permit.h"

#include "error.h"
#include "layout.h"
#include "text.h"

#define PATH_SHOWN 80
#define NO_NETWORK "Landlock closes but a part of the network"

static bool refuse(GError **error, const char *prefix, const char *name, const char *path,
                   const char *why) {
        g_autofree char *shown = text_printable(path, PATH_SHOWN);

        g_set_error(error, UNITS_ERROR, UNITS_ERROR_UNENFORCEABLE, "%s%s%s%s: %s", prefix, name,
                    path ? prefix[0] ? " " : "=" : "", shown, why);
        return false;
}

static bool refuse_option(GError **error, Isolation isolation, const char *path, const char *why) {
        return refuse(error, "--", isolation_info(isolation)->key, path, why);
}

static bool is_in_writable(const IsolationSet *set, const char *path) {
        if (set->workspace && isolation_is_within(path, set->workspace))
                return true;
        for (guint i = 0; i < set->rules->len; i++) {
                const PathRule *rule = g_ptr_array_index(set->rules, i);

                if (rule->kind == ISOLATION_RW && isolation_is_within(path, rule->path))
                        return true;
        }
        return false;
}

static bool check_rule(const IsolationSet *set, const PathRule *rule, GError **error) {
        switch (rule->kind) {
        case ISOLATION_HIDE:
                return refuse_option(error, rule->kind, rule->path, "Landlock hides nothing");
        case ISOLATION_SCRATCH:
                return refuse_option(error, rule->kind, rule->path, "Landlock makes no directory");
        case ISOLATION_RO:
                if (!set->has_strict_fs)
                        return refuse_option(error, rule->kind, rule->path,
                                             "Landlock can only do it with --fs strict");
                if (is_in_writable(set, rule->path))
                        return refuse_option(error, rule->kind, rule->path,
                                             "Landlock cannot do it below what is writable");
                return true;
        default:
                return true;
        }
}

static bool check_set(const IsolationSet *set, GError **error) {
        if (set->is_untrusted)
                return refuse_option(error, ISOLATION_UNTRUSTED, NULL,
                                     "Landlock is not enough for it");
        if (set->has_private_tmp)
                return refuse_option(error, ISOLATION_PRIVATE_TMP, NULL,
                                     "Landlock makes no directory");
        if (set->has_no_network)
                return refuse(error, "--", "net none", NULL, NO_NETWORK);
        for (guint i = 0; set->rules && i < set->rules->len; i++)
                if (!check_rule(set, g_ptr_array_index(set->rules, i), error))
                        return false;
        return true;
}

static bool is_writable(const LayoutPlace *place) {
        return (place->kind == LAYOUT_BIND || place->kind == LAYOUT_KERNEL) &&
               !(place->flags & STEP_IS_READ_ONLY);
}

static bool lies_in_writable(const Layout *layout, const LayoutPlace *place) {
        for (guint i = 0; i < layout->places->len; i++) {
                const LayoutPlace *other = layout_at(layout, i);

                if (other != place && other->kind == LAYOUT_BIND && is_writable(other) &&
                    isolation_is_within(place->path, other->path))
                        return true;
        }
        return false;
}

/* Places of --fs strict that are simply not there then. */
static bool is_left_out(const LayoutPlace *place) {
        return place->kind == LAYOUT_PRIVATE_TMP || g_str_equal(place->path, "/") ||
               g_str_equal(place->path, "/dev/shm") ||
               !g_str_equal(place->property, "TemporaryFileSystem");
}

/* With nothing closed around it, what is writable stays so, and nothing else can be had. */
static bool check_place(const IsolationSet *set, const Layout *layout, const LayoutPlace *place,
                        GError **error) {
        bool is_carried;

        switch (place->kind) {
        case LAYOUT_BIND:
                is_carried = g_str_equal(place->path, place->source) &&
                             (is_writable(place) || !lies_in_writable(layout, place));
                break;
        case LAYOUT_READ_ONLY:
                is_carried = !lies_in_writable(layout, place);
                break;
        case LAYOUT_TMPFS:
                is_carried = is_left_out(place);
                break;
        default:
                is_carried = true;
        }
        is_carried = is_carried && (set->has_strict_fs || is_writable(place));
        return is_carried ||
               refuse(error, "", place->property, place->path, "Landlock cannot do it");
}

static void add(Enclosure *enclosure, const char *path, uint32_t flags) {
        enclosure_add(enclosure, (Step){ .kind = STEP_PERMIT, .flags = flags }, NULL, path, NULL);
        enclosure->permit_count++;
}

/* Of what the kernel shows, writing is not for programs but for a few files of their own. */
static void add_place(Enclosure *enclosure, const LayoutPlace *place) {
        const char *const *devices = enclosure_devices();

        switch (place->kind) {
        case LAYOUT_BIND:
                add(enclosure, place->path,
                    (place->flags & STEP_IS_OPTIONAL) |
                            (is_writable(place) ? STEP_IS_WRITABLE : 0));
                break;
        case LAYOUT_KERNEL:
                add(enclosure, place->path,
                    STEP_IS_OPTIONAL | (g_str_equal(place->path, "/dev") ? STEP_IS_WRITABLE : 0));
                break;
        case LAYOUT_PRIVATE_DEVICES:
                for (; *devices; devices++)
                        add(enclosure, *devices, STEP_IS_OPTIONAL | STEP_IS_WRITABLE);
                add(enclosure, "/dev/pts", STEP_IS_OPTIONAL | STEP_IS_WRITABLE);
                break;
        default:
                break;
        }
}

bool permit_plan(const IsolationSet *set, const PropertyList *unit, Enclosure *enclosure,
                 GError **error) {
        g_autoptr(Layout) layout = layout_read(unit, error);

        if (!layout || !check_set(set, error))
                return false;
        if (layout->has_no_network)
                return refuse(error, "", "PrivateNetwork=", NULL, NO_NETWORK);
        for (guint i = 0; i < layout->places->len; i++)
                if (!check_place(set, layout, layout_at(layout, i), error))
                        return false;
        for (guint i = 0; set->has_strict_fs && i < layout->places->len; i++)
                add_place(enclosure, layout_at(layout, i));
        enclosure->has_permits = true;
        return true;
}
