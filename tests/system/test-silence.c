/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What managers are known to drop without a word, asked of them by -p: each time it either holds, as the program inside
 * sees it, or the run is refused and says why. It never runs as if nothing had been asked. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "leftover.h"

static char *mark; /* a file in /tmp */
static char *port; /* somebody listens there */
static int listener;

typedef struct {
        const char *name;
        const char *const *options;
        const char *probe; /* for bash: ends with 0 when it is as if nothing had been asked */
        bool may_be_refused;
} Row;

#define REACHES "timeout 3 bash -c 'exec 3<>/dev/tcp/127.0.0.1/'$PORT 2>/dev/null"
#define SEES    "test -e $MARK"
#define WRITES  "touch $MARK 2>/dev/null"

/* clang-format off */
static const Row rows[] = {
        { "IPAddressDeny", WORDS("-p", "IPAddressDeny=any"), REACHES, true },
        { "PrivateTmp", WORDS("-p", "PrivateTmp=yes"), SEES, true },
        { "PrivateNetwork", WORDS("-p", "PrivateNetwork=yes"), REACHES, true },
        { "ProtectSystem", WORDS("-p", "ProtectSystem=strict"), WRITES, true },
        { "IPAddressDeny with users", WORDS("-p", "IPAddressDeny=any", "-p", "PrivateUsers=yes"), REACHES, true },
        { "PrivateTmp with users", WORDS("-p", "PrivateTmp=yes", "-p", "PrivateUsers=yes"), SEES, true },
        { "PrivateNetwork with users", WORDS("-p", "PrivateNetwork=yes", "-p", "PrivateUsers=yes"), REACHES },
        { "ProtectSystem with users", WORDS("-p", "ProtectSystem=strict", "-p", "PrivateUsers=yes"), WRITES },
        { "our own words for it: /tmp", WORDS("--private-tmp"), SEES },
        { "our own words for it: network", WORDS("--net", "none"), REACHES },
};
/* clang-format on */

static void make_mark(void) {
        g_autofree char *path = g_strdup("/tmp/cordon-silence-XXXXXX");
        int fd = g_mkstemp(path);

        if (fd < 0)
                BAIL_OUT("cannot make a file: %s", strerror(errno));
        (void)close(fd);
        mark = g_strconcat("MARK=", path, NULL);
}

static KitRun *probe(const Row *row, const char *const *options) {
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        g_autofree char *script = g_strconcat(row->probe, " && echo unbound || echo bound", NULL);
        const char *const before[] = { "-C", "/", "-E", mark, "-E", port };

        for (size_t i = 0; i < G_N_ELEMENTS(before); i++)
                g_ptr_array_add(words, (char *)before[i]);
        for (; options && *options; options++)
                g_ptr_array_add(words, (char *)*options);
        g_ptr_array_add(words, NULL);

        KitOrder order = { .options = (const char *const *)words->pdata,
                           .command = WORDS("bash", "-c", script) };

        return kit_run(&order);
}

static void test_row(const Row *row) {
        g_autoptr(KitRun) plain = probe(row, NULL);
        g_autoptr(KitRun) asked = probe(row, row->options);
        bool is_refused = asked->status == 125 && asked->output->len == 0 &&
                          g_str_equal(record_text(asked, "outcome"), "refused");
        bool is_bound = asked->status == 0 && g_str_equal(asked->output->str, "bound\n");

        is(plain->output->str, "unbound\n", "%s: the probe can tell", row->name);
        if (!ok(is_bound || (row->may_be_refused && is_refused), "%s: it holds, or is refused",
                row->name))
                diag("status %d, stdout %s, stderr %s", asked->status, asked->output->str,
                     asked->errors->str);
        else
                diag("%s: %s", row->name, is_bound ? "it holds" : asked->errors->str);
        leftover_check(asked, row->name);
}

int main(void) {
        unsigned number;

        kit_init();
        make_mark();
        listener = kit_listen(&number);
        port = g_strdup_printf("PORT=%u", number);
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
                test_row(&rows[i]);
        (void)unlink(strchr(mark, '=') + 1);
        (void)close(listener);
        leftover_check_guard("all runs are over");
        g_free(mark);
        g_free(port);
        kit_clear();
        done_testing();
}
