/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Signals by name. */

#include <signal.h>
#include <string.h>
#include <tap.h>

#include "units/signame.h"

static void test_names(void) {
        g_autofree char *kill = signame(SIGKILL), *file = signame(SIGXFSZ), *none = signame(0);
        g_autofree char *first = signame(SIGRTMIN), *third = signame(SIGRTMIN + 3),
                        *far = signame(999);
        g_autofree char *negative = signame(-1);

        is(kill, "SIGKILL", "9 is SIGKILL");
        is(file, "SIGXFSZ", "25 is SIGXFSZ");
        is(first, "SIGRTMIN", "the first real-time signal");
        is(third, "SIGRTMIN+3", "a later one");
        is(none, "signal 0", "0 is no signal");
        is(far, "signal 999", "nor is 999");
        is(negative, "signal -1", "nor is -1");
}

/* The C library knows the same ones. */
static void test_all(void) {
        for (int number = 1; number < 32; number++) {
                g_autofree char *name = signame(number);
                const char *theirs = sigabbrev_np(number);
                int back = 0;

                if (!theirs)
                        continue;
                is(name + strlen("SIG"), strcmp(theirs, "POLL") == 0 ? "IO" : theirs,
                   "signal %d is %s", number, name);
                ok(signame_parse(name, &back) && back == number, "%s leads back to %d", name,
                   number);
        }
}

static void test_parse(void) {
        int number = 0;

        ok(signame_parse("kill", &number) && number == SIGKILL,
           "a name without SIG, in lower case");
        ok(signame_parse("15", &number) && number == SIGTERM, "a number");
        ok(!signame_parse("0", &number) && !signame_parse("65000", &number) &&
                   !signame_parse("", &number) && !signame_parse("SIG", &number) &&
                   !signame_parse("-9", &number) && !signame_parse("SIGKILLED", &number),
           "nothing else");
        cmp_ok(number, "==", SIGTERM, "what is refused leaves the result alone");
}

int main(void) {
        plan(NO_PLAN);
        test_names();
        test_all();
        test_parse();
        done_testing();
}
