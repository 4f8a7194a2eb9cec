/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* --net allow=LIST: what is asked for (host names, addresses, networks, @lists), and what came of it once the launcher has
 * read the lists and resolved the names: the networks that open, and the names that are pinned inside. Pure: who
 * resolves and who reads files is launcher/net. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "property.h"

#define ALLOW_REGISTRIES "registries" /* the list that is derived, not read */

typedef enum {
        ALLOW_HOST,
        ALLOW_NETWORK,
        ALLOW_LIST,
} AllowKind;

typedef struct {
        int family; /* AF_INET or AF_INET6 */
        uint8_t bytes[16];
        unsigned length; /* of the prefix, in bits */
} AllowNetwork;

typedef struct {
        AllowKind kind;
        char *name; /* of a host, in lower case, or of a list without its @; NULL: a network */
        AllowNetwork network;
} AllowEntry;

/* A name, and where it leads inside. */
typedef struct {
        char *name;
        GArray *addresses; /* of AllowNetwork, whole */
} AllowPin;

/* A file of ours that lies over one of the machine's. */
typedef struct {
        char *source, *place;
} AllowCover;

typedef struct {
        char *text;         /* as it was given */
        GPtrArray *entries; /* of AllowEntry*: what was asked, and what the lists in it say */
        GArray *networks;   /* of AllowNetwork: what opens; here and below, empty until settled */
        GPtrArray *pins;    /* of AllowPin* */
        GPtrArray *covers;  /* of AllowCover* */
        GPtrArray *hidden;  /* directories that are empty inside */
        GPtrArray *notes;   /* lines for people who want to know more */
} Allow;

/* "a.example,10.0.0.0/8,@list" */
Allow *allow_parse(const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The request alone, not what came of it. */
Allow *allow_copy(const Allow *allow);
void allow_free(Allow *allow);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Allow, allow_free)

/* One more entry; `where` it was found stands in front of the text in a message, "" is the option itself. */
bool allow_add(Allow *allow, const char *where, const char *word,
               GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* The text of a list file: one entry a line, comments behind #. */
bool allow_add_file(Allow *allow, const char *path, const char *text,
                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
void allow_add_note(Allow *allow, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* What is contained in another already is not added. False: there are too many. */
bool allow_open(Allow *allow, const AllowNetwork *network,
                GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* A name and one of its addresses. */
void allow_pin(Allow *allow, const char *name, const AllowNetwork *address);
void allow_cover(Allow *allow, const char *source, const char *place);

bool allow_is_open(const Allow *allow, const AllowNetwork *network);
/* An address to try that is not open, one of the machine itself where there is one. False: all are open. */
bool allow_find_closed(const Allow *allow, int family, AllowNetwork *ret_address);

/* "10.0.0.0/8", "::1" */
char *allow_network_text(const AllowNetwork *network);

/* The files of names: those that are pinned; the machine's nsswitch.conf, but for hosts; nobody to ask. */
char *allow_hosts_text(const Allow *allow);
char *allow_nsswitch_text(const char *original);
char *allow_resolver_text(void);

/* The host of an URL, or of GIT@HOST:PATH, in lower case; NULL: it has none that could be opened. */
char *allow_host_of_url(const char *url);

/* This machine, this link, or nobody in particular: what no name of somebody else's should stand for. */
bool allow_is_near(const AllowNetwork *address);

void allow_compose(const Allow *allow, PropertyList *unit);
/* Is this property, by its name on the bus, ours while --net allow= is asked for? */
bool allow_owns(const char *property);
