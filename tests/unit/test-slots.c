/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The semaphore of a pool, by processes that are killed and that race: who waits is woken, never more are inside than may
 * be, and no file is left. The files are where they are in earnest, under a name that nobody else has. */

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/pool.h"
#include "launcher/slots.h"

#define RACERS 12
#define LAPS   25
#define PLACES 3

typedef struct {
        sd_event *event;
        unsigned held, refused;
        bool is_leaving; /* on the first answer */
} World;

static char *pool_name;

static void on_answer(PoolSlot *slot, const GError *error, void *userdata) {
        World *world = userdata;

        if (!error)
                world->held++;
        else
                world->refused += g_error_matches(error, LAUNCHER_ERROR, LAUNCHER_ERROR_CAPACITY);
        if (world->is_leaving)
                (void)sd_event_exit(world->event, 0);
}

static void world_open(World *world) {
        *world = (World){ .is_leaving = true };
        if (sd_event_new(&world->event) < 0)
                BAIL_OUT("no event loop");
}

/* Enters alone; NULL: it was refused. */
static PoolSlot *enter(uint64_t max, bool is_refused) {
        return pool_enter(&(PoolSettings){ .name = pool_name, .max = max, .is_refused = is_refused },
                          -1, NULL);
}

static bool nothing_is_left(void) {
        g_auto(SlotDir) dir = SLOT_DIR_INIT;
        g_autoptr(GHashTable) names = NULL;

        slots_sweep();
        if (slot_dir_open(pool_name, &dir, NULL) != SLOTS_OK)
                return false;
        names = slot_dir_list(&dir);
        (void)rmdir(dir.path);
        slots_sweep();
        return g_hash_table_size(names) == 0 && access(dir.path, F_OK) < 0;
}

static pid_t start(void (*child)(int end), int *ret_fd) {
        int ends[2];
        pid_t pid;

        if (pipe2(ends, O_CLOEXEC) < 0)
                BAIL_OUT("no pipe");
        pid = fork();
        if (pid < 0)
                BAIL_OUT("no process");
        if (pid == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void)close(ends[0]);
                child(ends[1]);
                _exit(0);
        }
        (void)close(ends[1]);
        *ret_fd = ends[0];
        return pid;
}

static bool says(int fd, char expected) {
        char word = '\0';

        return read(fd, &word, 1) == 1 && word == expected;
}

static void kill_hard(pid_t pid) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
}

static int teller; /* of a child */

static void on_full(const char *pool) {
        (void)!write(teller, "w", 1);
}

static void hold_for_ever(int end) {
        PoolSettings settings = { .name = pool_name, .max = 1, .full = on_full };
        PoolSlot *slot;

        teller = end;
        slot = pool_enter(&settings, -1, NULL);

        (void)!write(end, slot ? "h" : "r", 1);
        for (;;)
                (void)pause();
}

/* Whatever it said before. */
static bool holds(int fd) {
        char word = '\0';

        while (read(fd, &word, 1) == 1 && word == 'w')
                ;
        return word == 'h';
}

/* One holds, one waits, the holder is killed: now the other one holds. The file of the dead is there or not, the slot is
 * free either way. Two of three are known to wait; the third may be anywhere on its way to that. */
static void test_killed(void) {
        unsigned woken = 0, free_at_once = 0;
        int fds[2];
        pid_t holder = start(hold_for_ever, &fds[0]);

        ok(holds(fds[0]), "the first one holds the only slot");
        for (int i = 0; i < 300; i++) {
                pid_t next = start(hold_for_ever, &fds[1]);

                if (i % 3 != 0)
                        (void)says(fds[1], 'w');
                for (int j = 0; i % 3 == 0 && j < i; j++)
                        (void)sched_yield();
                kill_hard(holder);
                woken += holds(fds[1]);
                (void)close(fds[0]);
                holder = next;
                fds[0] = fds[1];
        }
        cmp_ok(woken, "==", 300, "who waits for one that is killed gets its slot");
        ok(!enter(1, true), "and it is a slot like any other");
        for (int i = 0; i < 300; i++) {
                PoolSlot *slot;

                kill_hard(holder);
                (void)close(fds[0]);
                slot = enter(1, true);
                free_at_once += slot != NULL;
                pool_release(slot);
                holder = start(hold_for_ever, &fds[0]);
                (void)holds(fds[0]);
        }
        cmp_ok(free_at_once, "==", 300, "the slot of a process that is dead is free");
        kill_hard(holder);
        (void)close(fds[0]);
        ok(nothing_is_left(), "what the dead have left is swept");
}

/* Each token is a directory, so two cannot have the same. */
static char *tokens;

static bool take_token(int *ret_number) {
        for (int i = 0; i < PLACES; i++) {
                g_autofree char *path = g_strdup_printf("%s/%d", tokens, i);

                if (mkdir(path, 0700) == 0) {
                        *ret_number = i;
                        return true;
                }
        }
        return false;
}

static void drop_token(int number) {
        g_autofree char *path = g_strdup_printf("%s/%d", tokens, number);

        (void)rmdir(path);
}

static void race(int end) {
        for (int i = 0; i < LAPS; i++) {
                PoolSlot *slot = enter(PLACES, false);
                int token;

                if (!slot || !take_token(&token)) {
                        (void)!write(end, "x", 1);
                        return;
                }
                (void)sched_yield();
                drop_token(token);
                pool_release(slot);
        }
        (void)!write(end, ".", 1);
}

static void test_race(void) {
        pid_t racers[RACERS];
        int fds[RACERS];
        unsigned finished = 0;

        tokens = g_dir_make_tmp("slots-XXXXXX", NULL);
        for (int i = 0; i < RACERS; i++)
                racers[i] = start(race, &fds[i]);
        for (int i = 0; i < RACERS; i++) {
                finished += says(fds[i], '.');
                (void)close(fds[i]);
                (void)waitpid(racers[i], NULL, 0);
        }
        cmp_ok(finished, "==", RACERS, "never more than three were inside, and all got their turn");
        ok(nothing_is_left(), "nothing of the race is left");
        (void)rmdir(tokens);
        g_free(tokens);
}

/* One process, many slots. */
static void test_many(void) {
        World world;
        PoolSlot *slots[5];
        g_autoptr(Pool) pool = NULL;

        world_open(&world);
        world.is_leaving = false;
        pool = pool_new(&(PoolSettings){ .event = world.event, .name = pool_name, .max = 3 });
        for (int i = 0; i < 5; i++)
                slots[i] = pool_acquire(pool, on_answer, &world);
        while (world.held < 3)
                (void)sd_event_run(world.event, UINT64_MAX);
        while (sd_event_run(world.event, 0) > 0)
                ;
        cmp_ok(world.held, "==", 3, "three of five are held");
        pool_release(slots[1]);
        while (world.held < 4)
                (void)sd_event_run(world.event, UINT64_MAX);
        ok(true, "one that is released goes to who waits");
        pool_release(slots[4]); /* waits still */
        pool_release(slots[0]);
        while (sd_event_run(world.event, 0) > 0)
                ;
        cmp_ok(world.held, "==", 4, "who does not wait any more gets none");
        pool_release(slots[2]);
        pool_release(slots[3]);
        g_clear_pointer(&pool, pool_free);
        sd_event_unref(world.event);
        ok(nothing_is_left(), "nothing of many is left");
}

/* Each counts all that are taken with its own number. */
static void test_numbers(void) {
        PoolSlot *a = enter(2, true), *b = enter(2, true), *c, *d;

        ok(a && b && !enter(2, true) && !enter(1, true), "two of two are taken");
        c = enter(3, true);
        ok(c, "a third one has room for three");
        pool_release(a);
        ok(!enter(2, true), "two are taken still, whoever has them");
        pool_release(b);
        d = enter(2, true);
        ok(d && !enter(1, true), "then there is room again");
        pool_release(c);
        pool_release(d);
        ok(nothing_is_left(), "nothing of them is left");
}

static void test_refused(void) {
        PoolSlot *slot = enter(1, true);
        g_autoptr(GError) error = NULL;

        ok(slot && !pool_enter(&(PoolSettings){ .name = pool_name, .max = 1, .is_refused = true },
                               -1, &error),
           "a full pool refuses");
        ok(g_error_matches(error, LAUNCHER_ERROR, LAUNCHER_ERROR_CAPACITY), "with its code");
        pool_release(slot);
        ok(nothing_is_left(), "nothing of it is left");
}

int main(void) {
        plan(NO_PLAN);
        pool_name = g_strdup_printf("test-slots-%d", (int)getpid());
        test_refused();
        test_numbers();
        test_many();
        test_killed();
        test_race();
        g_free(pool_name);
        done_testing();
}
