/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The manager would find out too, but only after it has made the unit, and it says so with a number. */

#include "account.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <unistd.h>

#include "error.h"

static bool number_of(const char *text, uint32_t *ret_number) {
        guint64 number = 0;

        if (!g_ascii_string_to_unsigned(text, 10, 0, UINT32_MAX - 1, &number, NULL))
                return false;
        *ret_number = (uint32_t)number;
        return true;
}

bool account_find(const char *user, Account *ret_account, GError **error) {
        uint32_t uid = 0;
        const struct passwd *entry = number_of(user, &uid) ? getpwuid(uid) : getpwnam(user);

        if (!entry) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_ACCOUNT,
                            "--uid: there is no user \"%s\"", user);
                return false;
        }
        *ret_account = (Account){
                .uid = entry->pw_uid,
                .gid = entry->pw_gid,
                .name = g_strdup(entry->pw_name),
                .home = g_strdup(entry->pw_dir),
                .shell = g_strdup(entry->pw_shell),
        };
        return true;
}

void account_clear(Account *account) {
        g_clear_pointer(&account->name, g_free);
        g_clear_pointer(&account->home, g_free);
        g_clear_pointer(&account->shell, g_free);
        g_clear_pointer(&account->groups, g_free);
}

bool account_find_group(const char *group, gid_t *ret_gid, GError **error) {
        uint32_t gid = 0;
        const struct group *entry = number_of(group, &gid) ? getgrgid(gid) : getgrnam(group);

        if (!entry) {
                g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_ACCOUNT,
                            "--gid: there is no group \"%s\"", group);
                return false;
        }
        *ret_gid = entry->gr_gid;
        return true;
}

static void find_groups(Account *account) {
        int count = 0;

        (void)getgrouplist(account->name, account->gid, NULL, &count);
        account->groups = g_new0(gid_t, MAX(count, 1));
        account->group_count = (uint32_t)MAX(getgrouplist(account->name, account->gid,
                                                          account->groups, &count),
                                             0);
}

static void take_own(Account *account) {
        int count = getgroups(0, NULL);

        account->uid = geteuid();
        account->gid = getegid();
        account->groups = g_new0(gid_t, MAX(count, 1));
        account->group_count = (uint32_t)MAX(getgroups(count, account->groups), 0);
}

bool account_find_both(const char *user, const char *group, Account *ret_account, GError **error) {
        g_auto(Account) account = { 0 };

        if (user && !account_find(user, &account, error))
                return false;
        if (user)
                find_groups(&account);
        else
                take_own(&account);
        if (group && !account_find_group(group, &account.gid, error))
                return false;
        *ret_account = account;
        account = (Account){ 0 };
        return true;
}
