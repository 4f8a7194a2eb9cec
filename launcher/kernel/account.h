/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Users and groups by name or number, as --uid and --gid take them. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
        uid_t uid;
        gid_t gid;
        gid_t *groups; /* supplementary */
        uint32_t group_count;
        char *name;
        char *home;
        char *shell;
} Account;

void account_clear(Account *account);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Account, account_clear)

bool account_find(const char *user, Account *ret_account, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Who a process of ours is to be that becomes this user, this group, or both; groups included. NULL: as we are. */
bool account_find_both(const char *user, const char *group, Account *ret_account,
                       GError **error) G_GNUC_WARN_UNUSED_RESULT;
bool account_find_group(const char *group, gid_t *ret_gid,
                        GError **error) G_GNUC_WARN_UNUSED_RESULT;
