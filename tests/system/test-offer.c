/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a shell offers for a value and only a manager knows: pools, as long as they are there. Nobody is started for it. */

#include <signal.h>

#include "expect.h"
#include "leftover.h"

#define POOL "offered-pool"

/* `behind` are the words of the line, as far as they are typed. */
static bool is_offered(const char *const *behind) {
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        const char *const begin[] = { "--list-values", "run", "--pool", "" };
        KitOrder order = { .program = kit_cordon() };

        for (size_t i = 0; i < G_N_ELEMENTS(begin); i++)
                g_ptr_array_add(words, (char *)begin[i]);
        for (; *behind; behind++)
                g_ptr_array_add(words, (char *)*behind);
        g_ptr_array_add(words, NULL);
        order.command = (const char *const *)words->pdata;

        g_autoptr(KitRun) run = kit_run(&order);
        g_auto(GStrv) lines = g_strsplit(run->output->str, "\n", -1);

        is(run->errors->str, "", "nothing is said on stderr");
        return g_strv_contains((const char *const *)lines, POOL);
}

int main(void) {
        plan(NO_PLAN);
        kit_init();

        g_autofree char *manager = g_strconcat("--", kit_manager(), NULL);
        KitOrder order = { .options = WORDS("--pool", POOL),
                           .command = VICTIM("say", "ready", "pause") };

        ok(!is_offered(WORDS(manager)), "a pool that is not there is not offered");
        leftover_check_guard("nobody was started to say so");

        g_autoptr(KitRun) run = kit_start(&order);

        ok(kit_wait_line(run, "ready") && is_offered(WORDS(manager)), "one that is there is");
        ok(is_offered(WORDS("--memory", "5M")), "CORDON_MANAGER counts where the line names none");
        kit_signal(run, SIGTERM);
        kit_finish(run);
        leftover_check_pool(POOL, "after it was offered");
        ok(!is_offered(WORDS(manager)), "one that has gone is not");
        leftover_check_guard("offer");
        kit_clear();
        done_testing();
}
