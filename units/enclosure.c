/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* All of it is built on top of the old root, from sources in the old root, and becomes / in the end: so what hides a
 * directory does not hide it from an exception below. What is made of an empty file system is sealed last, when all the
 * directories for what is mounted in it are there. */

#include "enclosure.h"

#include <string.h>

#include "layout.h"
#include "text.h"

#define PATH_SHOWN 80

#define PTMX        "/dev/ptmx"
#define DEV_OPTIONS "mode=755,size=4m,nr_inodes=64k"

/* Those that could reach devices past a /dev that has none. */
#define CAPABILITY_SYS_RAWIO 17
#define CAPABILITY_MKNOD     27

/* What a /dev needs besides devices. */
static const struct {
        const char *target, *says;
} links[] = {
        { "/dev/fd", "/proc/self/fd" },
        { "/dev/stdin", "/proc/self/fd/0" },
        { "/dev/stdout", "/proc/self/fd/1" },
        { "/dev/stderr", "/proc/self/fd/2" },
};

static const char *const directories[] = { "/dev/shm", "/dev/mqueue", "/dev/hugepages" };

const char *const *enclosure_devices(void) {
        static const char *const devices[] = { "/dev/null",    "/dev/zero",
                                               "/dev/full",    "/dev/random",
                                               "/dev/urandom", "/dev/tty",
                                               PTMX,           NULL };

        return devices;
}

static uint32_t add_text(Enclosure *enclosure, const char *text) {
        guint at = enclosure->texts->len;

        if (!text)
                return STEP_NO_TEXT;
        g_byte_array_append(enclosure->texts, (const guint8 *)text, (guint)strlen(text) + 1);
        return at;
}

void enclosure_add(Enclosure *enclosure, Step step, const char *source, const char *target,
                   const char *options) {
        step.source = add_text(enclosure, source);
        step.target = add_text(enclosure, target);
        step.options = add_text(enclosure, options);
        g_array_append_val(enclosure->steps, step);
}

static void add_plain(Enclosure *enclosure, StepKind kind, uint32_t flags, uint64_t amount) {
        enclosure_add(enclosure, (Step){ .kind = kind, .flags = flags, .amount = amount }, NULL,
                      NULL, NULL);
}

static void add_place(Enclosure *enclosure, StepKind kind, const LayoutPlace *place,
                      uint32_t flags) {
        enclosure_add(enclosure, (Step){ .kind = kind, .flags = place->flags | flags },
                      place->source, place->path, place->options);
}

static void add_bind(Enclosure *enclosure, const char *path, uint32_t flags) {
        enclosure_add(enclosure, (Step){ .kind = STEP_BIND, .flags = flags }, path, path, NULL);
}

/* In a file system of our own a missing target is made; elsewhere it would be made on the machine. */
static uint32_t making(const Layout *layout, const LayoutPlace *place) {
        const LayoutPlace *above = layout_above(layout, place->path);

        if (!above)
                return 0;
        switch (above->kind) {
        case LAYOUT_TMPFS:
        case LAYOUT_PRIVATE_TMP:
        case LAYOUT_PRIVATE_DEVICES:
                return STEP_MAKES_TARGET;
        case LAYOUT_READ_ONLY:
                return making(layout, above);
        default:
                return 0;
        }
}

static void add_devices(Enclosure *enclosure, const LayoutPlace *place, uint32_t flags) {
        const char *const *devices = enclosure_devices();
        uint32_t bind = STEP_MAKES_TARGET | STEP_IS_OPTIONAL;

        enclosure_add(enclosure, (Step){ .kind = STEP_TMPFS, .flags = place->flags | flags }, NULL,
                      place->path, DEV_OPTIONS);
        for (; *devices; devices++)
                if (!g_str_equal(*devices, PTMX))
                        add_bind(enclosure, *devices, bind);
        enclosure_add(enclosure,
                      (Step){ .kind = STEP_TERMINALS, .flags = bind | STEP_IS_RECURSIVE }, PTMX,
                      "/dev/pts", NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                add_bind(enclosure, directories[i], bind | STEP_IS_RECURSIVE);
        for (size_t i = 0; i < G_N_ELEMENTS(links); i++)
                enclosure_add(enclosure, (Step){ .kind = STEP_LINK }, links[i].says,
                              links[i].target, NULL);
}

static void add_step(Enclosure *enclosure, const Layout *layout, const LayoutPlace *place) {
        uint32_t flags = making(layout, place);

        switch (place->kind) {
        case LAYOUT_BIND:
        case LAYOUT_KERNEL:
                add_place(enclosure, STEP_BIND, place, flags);
                break;
        case LAYOUT_READ_ONLY:
                add_place(enclosure, STEP_READ_ONLY, place, 0);
                break;
        case LAYOUT_PRIVATE_DEVICES:
                add_devices(enclosure, place, flags);
                break;
        default:
                add_place(enclosure, STEP_TMPFS, place, flags);
        }
}

static bool is_sealed(const LayoutPlace *place) {
        bool is_tmpfs = place->kind == LAYOUT_TMPFS || place->kind == LAYOUT_PRIVATE_TMP;

        return place->kind == LAYOUT_PRIVATE_DEVICES ||
               (is_tmpfs && (place->flags & STEP_IS_READ_ONLY));
}

static bool is_root_made(const Layout *layout) {
        const LayoutPlace *first = layout_at(layout, 0);

        return first->path[1] == '\0' && first->kind != LAYOUT_READ_ONLY;
}

static void add_mounts(Enclosure *enclosure, const Layout *layout) {
        add_plain(enclosure, STEP_SLAVE, 0, 0);
        if (!is_root_made(layout))
                add_bind(enclosure, "/", STEP_IS_RECURSIVE);
        for (guint i = 0; i < layout->places->len; i++)
                add_step(enclosure, layout, layout_at(layout, i));
        for (guint i = layout->places->len; i-- > 0;)
                if (is_sealed(layout_at(layout, i)))
                        enclosure_add(enclosure,
                                      (Step){ .kind = STEP_SEAL,
                                              .flags = layout_at(layout, i)->flags &
                                                       STEP_IS_OPTIONAL },
                                      NULL, layout_at(layout, i)->path, NULL);
        add_plain(enclosure, STEP_ROOT, 0, 0);
}

static uint64_t dropped(const Layout *layout, bool has_own_users) {
        if (has_own_users)
                return UINT64_MAX;
        for (guint i = 0; i < layout->places->len; i++)
                if (layout_at(layout, i)->kind == LAYOUT_PRIVATE_DEVICES)
                        return UINT64_C(1) << CAPABILITY_SYS_RAWIO | UINT64_C(1)
                                                                             << CAPABILITY_MKNOD;
        return 0;
}

static void add_steps(Enclosure *enclosure, const Layout *layout, const EnclosureContext *context) {
        bool has_mounts = layout->places->len > 0;
        bool has_any = has_mounts || layout->has_no_network || layout->has_own_users;
        bool has_own_users = has_any && (layout->has_own_users || !context->is_privileged);
        uint64_t capabilities = dropped(layout, has_own_users);

        if (has_any)
                add_plain(enclosure, STEP_UNSHARE,
                          (has_own_users ? STEP_OWN_USERS : 0) |
                                  (has_mounts ? STEP_OWN_MOUNTS : 0) |
                                  (layout->has_no_network ? STEP_OWN_NETWORK : 0),
                          0);
        if (has_own_users)
                add_plain(enclosure, STEP_IDENTITY, 0, (uint64_t)context->gid << 32 | context->uid);
        if (layout->has_no_network)
                add_plain(enclosure, STEP_LOOPBACK, 0, 0);
        if (has_mounts)
                add_mounts(enclosure, layout);
        if (has_own_users || layout->has_no_new_privileges)
                add_plain(enclosure, STEP_NO_NEW_PRIVILEGES, 0, 0);
        if (capabilities)
                add_plain(enclosure, STEP_DROP, 0, capabilities);
}

Enclosure *enclosure_plan(const PropertyList *unit, const EnclosureContext *context,
                          GError **error) {
        g_autoptr(Layout) layout = layout_read(unit, error);
        Enclosure *enclosure;

        if (!layout)
                return NULL;
        enclosure = g_new0(Enclosure, 1);
        enclosure->steps = g_array_new(FALSE, FALSE, sizeof(Step));
        enclosure->texts = g_byte_array_new();
        add_steps(enclosure, layout, context);
        return enclosure;
}

void enclosure_free(Enclosure *enclosure) {
        if (!enclosure)
                return;
        g_array_unref(enclosure->steps);
        g_byte_array_unref(enclosure->texts);
        g_free(enclosure);
}

guint enclosure_step_count(const Enclosure *enclosure) {
        return enclosure->steps->len - enclosure->permit_count;
}

/* Words: %s is the source, then the target, then the flags. */
static const char *const words[_STEP_MAX] = {
        [STEP_UNSHARE] = "making namespaces of its own",
        [STEP_IDENTITY] = "mapping its user into a namespace of its own",
        [STEP_SLAVE] = "keeping its mounts from the machine",
        [STEP_TMPFS] = "mounting an empty file system at",
        [STEP_BIND] = "mounting",
        [STEP_READ_ONLY] = "making read-only",
        [STEP_SEAL] = "making read-only",
        [STEP_LINK] = "making a link at",
        [STEP_TERMINALS] = "mounting terminals at",
        [STEP_ROOT] = "leaving the old root directory",
        [STEP_LOOPBACK] = "setting up the loopback interface",
        [STEP_NO_NEW_PRIVILEGES] = "forbidding new privileges",
        [STEP_DROP] = "dropping capabilities",
        [STEP_PERMIT] = "permitting",
};

static void add_quoted(GString *text, const Enclosure *enclosure, const char *before,
                       uint32_t offset) {
        g_autofree char *shown = text_printable((const char *)enclosure->texts->data + offset,
                                                PATH_SHOWN);

        g_string_append_printf(text, "%s \"%s\"", before, shown);
}

char *enclosure_step_text(const Enclosure *enclosure, guint index) {
        const Step *step;
        GString *text;

        if (index >= enclosure->steps->len)
                return g_strdup("nothing that was planned");
        step = &g_array_index(enclosure->steps, Step, index);
        text = g_string_new(words[step->kind]);
        if (step->kind == STEP_BIND) {
                add_quoted(text, enclosure, "", step->source);
                if (step->flags & STEP_IS_READ_ONLY)
                        g_string_append(text, " read-only");
                add_quoted(text, enclosure, " at", step->target);
        } else if (step->target != STEP_NO_TEXT) {
                add_quoted(text, enclosure, "", step->target);
        }
        if (step->flags & STEP_IS_WRITABLE && step->kind == STEP_PERMIT)
                g_string_append(text, " to be written");
        return g_string_free(text, FALSE);
}
