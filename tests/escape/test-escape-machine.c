/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* More for itself, and the kernel. Most of this shows in the answer of the kernel alone; a key shows in the keyring. */

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stage.h"

#define USER_KEYRING   (-4)
#define KEYCTL_UNLINK_ 9
#define KEYCTL_SEARCH_ 10

static char *left_name;

static bool is_key_left(const KitRun *run, const char *verdict) {
        long key = syscall(SYS_keyctl, KEYCTL_SEARCH_, USER_KEYRING, "user", left_name, 0);

        if (key > 0)
                (void)syscall(SYS_keyctl, KEYCTL_UNLINK_, key, USER_KEYRING);
        return key > 0;
}

/* clang-format off */
static const Trial self_trials[] = {
        { "raise-limits",       { NULL },               NULL },
        { "raise-priority",     { NULL },               NULL },
        { "oom-score",          { NULL },               NULL },
        { "new-privileges",     { NULL },               NULL },
        { "capabilities",       { NULL },               NULL },
        { "become-root",        { NULL },               NULL },
        { "become-another",     { NULL },               NULL },
        { "inherited-files",    { NULL },               NULL },
        { "caller-environment", { "ESCAPE_SECRET" },    stage_told_secret },
        { "keyring",            { "@key" },             stage_told_secret },
        { "leave-key",          { "@left-key" },        is_key_left },
};

static const Trial kernel_trials[] = {
        { "kernel-log",         { NULL },               NULL },
        { "kernel-settings",    { NULL },               NULL },
        { "sys-files",          { NULL },               NULL },
        { "kernel-secrets",     { NULL },               NULL },
        { "devices",            { NULL },               NULL },
        { "make-device",        { "/" },                NULL },
        { "load-module",        { NULL },               NULL },
        { "end-machine",        { NULL },               NULL },
        { "swap-space",         { NULL },               NULL },
        { "clock-tricks",       { NULL },               NULL },
        { "host-name",          { NULL },               NULL },
        { "open-by-handle",     { NULL },               NULL },
        { "risky-calls",        { NULL },               NULL },
};
/* clang-format on */

int main(void) {
        static const Stage stages[] = { STAGE_PLAIN, STAGE_UNTRUSTED };
        g_autofree char *name = NULL;
        long key;

        stage_begin();
        name = g_strdup_printf("escape-%d", (int)getpid());
        left_name = g_strdup_printf("escape-left-%d", (int)getpid());
        key = syscall(SYS_add_key, "user", name, stage_known("secret"),
                      strlen(stage_known("secret")), USER_KEYRING);
        stage_know("key", "%ld", MAX(key, 0));
        stage_know("left-key", "%s", left_name);
        g_setenv("ESCAPE_SECRET", stage_known("secret"), TRUE);
        for (size_t i = 0; i < G_N_ELEMENTS(stages); i++) {
                stage_try(stages[i], "self", self_trials, G_N_ELEMENTS(self_trials));
                stage_try(stages[i], "kernel", kernel_trials, G_N_ELEMENTS(kernel_trials));
        }
        stage_covers("self", self_trials, G_N_ELEMENTS(self_trials));
        stage_covers("kernel", kernel_trials, G_N_ELEMENTS(kernel_trials));
        if (key > 0)
                (void)syscall(SYS_keyctl, KEYCTL_UNLINK_, key, USER_KEYRING);
        g_free(left_name);
        stage_end();
        done_testing();
}
