/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Ids and the unit names made of them. An id is what a user sees ("my-run"); a dash nests slices in systemd, so it is
 * escaped in unit names ("cordon-my\x2drun.slice"). A pool is a slice around the slices of its runs, and there the dash is
 * meant to nest. */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define NAME_PREFIX     "cordon-"
#define NAME_ROOT_SLICE "cordon.slice"
#define NAME_POOL_ROOT  "cordon-pool.slice" /* around all pools */
#define NAME_ID_MAX     64

/* Letters, digits, '_', '.', '-'; begins with a letter or digit; at most NAME_ID_MAX bytes; not "pool".
 * (And not so many dashes that the escaped unit name would outgrow what systemd takes.) */
bool name_id_check(const char *id, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for the name of a pool, where "pool" is one. */
bool name_pool_check(const char *pool, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* The same for the name of a profile, which is that of a file. */
bool name_profile_check(const char *profile, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* Each may be good and both together too long for the name of a slice. */
bool name_check_both(const char *pool, const char *id, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/* For who wanted one that somebody else has. */
char *name_in_use(const char *id);

/* Six characters of [a-z2-9 without look-alikes], the first a letter, from 64 random bits given by the caller. */
char *name_id_from_random(uint64_t random);

char *name_escape(const char *id);
char *name_slice(const char *pool,
                 const char *id);         /* cordon-ID.slice, in a pool cordon-pool-POOL-ID.slice */
char *name_slice_pattern(const char *id); /* the latter, of any pool, as ListUnits takes it */
char *name_pool_slice(const char *pool);  /* cordon-pool-POOL.slice */
char *name_service(const char *id);       /* cordon-ID.service */
char *name_scope(const char *id);         /* cordon-ID.scope */

/* Where a slice is below cordon.slice: the slices that it nests in, and itself. */
char *name_slice_path(const char *slice);

/* Of the program's unit. */
char *name_unit(const char *id, bool is_scope);

/* The other way round: NULL when the unit is not a run's slice, service or scope (cordon.slice, pools, guards, foreign). */
char *name_id_from_unit(const char *unit);
char *name_pool_from_unit(const char *unit); /* NULL: not the slice of a pool */

/* What a slice says of itself: for people, and so that a sweep can tell whose it is ("PID:STARTTIME"). */
char *name_description_with_owner(const char *id, const char *owner);
char *name_owner_from_description(const char *description); /* NULL: not one of ours */
