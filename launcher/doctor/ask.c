/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A limit that holds by default is tried with its default: no swap, no core dump. */

#include "ask.h"

#include <string.h>

static const char *const values[] = {
        [LIMIT_UNIT_USEC] = "1m",        [LIMIT_UNIT_BYTES] = "64M",   [LIMIT_UNIT_COUNT] = "64",
        [LIMIT_UNIT_CPU_SHARE] = "100%", [LIMIT_UNIT_CPU_LIST] = NULL, /* the world's */
};

typedef struct {
        const char *value;     /* NULL: a flag, or */
        const char *place;     /* a directory of ours */
        const char *workspace; /* likewise, where one is needed */
        bool is_decisive;
        bool is_apart;
} Ask;

typedef struct {
        Isolation isolation;
        const char *key, *by;
        Ask ask;
} OtherAsk;

static const Ask asks[_ISOLATION_MAX] = {
        [ISOLATION_UNTRUSTED] = { .workspace = "work", .is_decisive = true, .is_apart = true },
        [ISOLATION_NET] = { .value = "none" },
        [ISOLATION_FS] = { .value = "strict", .workspace = "work" },
        [ISOLATION_RO] = { .place = "ro" },
        [ISOLATION_RW] = { .place = "rw" },
        [ISOLATION_HIDE] = { .place = "hide" },
        [ISOLATION_SCRATCH] = { .place = "scratch" },
};

static const OtherAsk others[] = {
        { ISOLATION_NET,
          "net allow",
          "IPAddressDeny",
          { .value = "allow=127.0.0.1", .is_apart = true } },
};

static const char *const places[] = { "work", "ro", "rw", "hide", "scratch" };

const char *ask_place(size_t index) {
        return index < G_N_ELEMENTS(places) ? places[index] : NULL;
}

static void add(GPtrArray *words, const char *option, char *value) {
        g_ptr_array_add(words, g_strconcat("--", option, NULL));
        if (value)
                g_ptr_array_add(words, value);
}

void ask_limit(const AskWorld *world, Limit limit, GPtrArray *words) {
        const LimitInfo *info = limit_info(limit);

        if (info->unit == LIMIT_UNIT_CPU_LIST)
                add(words, info->key, g_strdup(world->cpu));
        else if (info->default_when != LIMIT_DEFAULT_NONE)
                add(words, info->key, limit_format(limit, info->default_value));
        else
                add(words, info->key, g_strdup(values[info->unit]));
        if (info->default_when == LIMIT_DEFAULT_WHEN_CAPTURING)
                add(words, "capture", NULL);
        if (info->carrier == LIMIT_ON_POOL)
                add(words, "pool", g_strdup(world->pool));
}

unsigned ask_option_count(void) {
        return _ISOLATION_MAX + G_N_ELEMENTS(others);
}

static const OtherAsk *other(unsigned option) {
        return option < _ISOLATION_MAX ? NULL : &others[option - _ISOLATION_MAX];
}

static const Ask *ask_of(unsigned option) {
        return other(option) ? &other(option)->ask : &asks[option];
}

const char *ask_key(unsigned option) {
        return other(option) ? other(option)->key : isolation_info((Isolation)option)->key;
}

const char *ask_by(unsigned option) {
        return other(option) ? other(option)->by : isolation_info((Isolation)option)->by;
}

void ask_option(const AskWorld *world, unsigned option, GPtrArray *words) {
        const Ask *ask = ask_of(option);
        Isolation isolation = other(option) ? other(option)->isolation : (Isolation)option;
        char *value = ask->place ? g_build_filename(world->directory, ask->place, NULL)
                                 : g_strdup(ask->value);

        add(words, isolation_info(isolation)->key, value);
        if (ask->workspace)
                add(words, "workspace", g_build_filename(world->directory, ask->workspace, NULL));
}

bool ask_is_apart(unsigned option) {
        return ask_of(option)->is_apart;
}

bool ask_is_decisive(unsigned option) {
        return ask_of(option)->is_decisive;
}
