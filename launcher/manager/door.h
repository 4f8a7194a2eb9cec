/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The way to a manager: which of the three it is, the open connection, and where things about it are kept. Everything
 * after this is the same for all of them. */

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-event.h>

#include "dbus/connect.h"
#include "launcher/kernel/caller.h"

typedef enum {
        MANAGER_AUTO, /* system if root and booted with systemd; else user if reachable; else private */
        MANAGER_SYSTEM,
        MANAGER_USER,
        MANAGER_PRIVATE,
        _MANAGER_MAX,
} ManagerKind;

typedef struct {
        ManagerKind kind; /* never MANAGER_AUTO */
        sd_bus *bus;
        char *socket_path;       /* of the direct connection; NULL: over the system bus */
        char *guard_dir;         /* where its guard listens; ours alone; made when needed */
        uint32_t own_namespaces; /* bit n: GateNamespace n is the manager's own, by design */
        unsigned systemd_major;  /* 0: not asked */
        int hold_fd;             /* keeps a private manager from leaving; −1 */
        bool is_relayed;         /* the connection goes by the guard */
        pid_t relay_pid;     /* … this one, as we number processes; 0: it has no number here */
        int guard_fd;        /* … to whom this one is, for whoever watches over runs; −1 */
        struct Fleet *fleet; /* the launches through it; borrowed; NULL: there are none */
} Door;

bool manager_kind_from_word(const char *word, ManagerKind *ret_kind);
const char *manager_kind_word(ManagerKind kind);

Door *door_open(ManagerKind kind, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The same for one run: by way of the guard where one is there. The caller has been read, which then need not be done once
 * more; namespaces included. */
Door *door_open_for(ManagerKind kind, const Caller *caller,
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* A connection to one that is there, in the same order: none is started. NULL: none. */
sd_bus *door_peek(ManagerKind kind);
/* Which one would be opened, as far as nobody is asked. */
ManagerKind door_guess(ManagerKind kind);

void door_free(Door *door);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Door, door_free)

/* It makes no namespace but in one of users. */
bool door_is_unprivileged(const Door *door);

/* A process has the same number to it as to us. */
bool door_counts_as_we_do(const Door *door, const Caller *caller);

/* Asks for the systemd_major, and waits. Before the door is on a loop. */
void door_learn_version(Door *door);

/* Nobody has hung up, as far as the loop has seen. */
bool door_is_open(const Door *door);

/* A fresh connection to the same manager, on the loop, in place of one that broke (it re-executed itself). */
bool door_reopen(Door *door, sd_event *event, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Where our own programs are: next to the binary in a build tree, below libexec when installed. */
char *door_program_path(const char *name);
