/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A program that is small as a file and large in memory. */

static volatile char large[700 << 20];

int main(int argc, char *argv[]) {
        (void)argv;
        large[argc] = 1;
        return large[argc] - 1;
}
