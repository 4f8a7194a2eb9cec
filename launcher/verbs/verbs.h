/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The verbs: one file each, one row each in main's table. A verb gets the words behind its name and returns the exit
 * status of the program. */

int verb_run(char **argv);
int verb_shell(char **argv);
int verb_batch(char **argv);
int verb_profile(char **argv);
int verb_doctor(char **argv);
int verb_list_options(char **argv);
int verb_list_profiles(char **argv);
int verb_list_values(char **argv);
