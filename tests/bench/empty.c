/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* bench-empty: a program that does nothing, linked statically. Nothing starts faster. */

int main(void) {
        return 0;
}
