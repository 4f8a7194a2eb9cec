/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The two tables. Error names and words are those of systemd 252 to 262 and, for polkit and for limits, of the bus
 * daemon; they were taken from real answers. */

#include "fault.h"

#include <signal.h>

#define DBUS_NAME(name)    "org.freedesktop.DBus.Error." name
#define SYSTEMD_NAME(name) "org.freedesktop.systemd1." name

/* clang-format off */
const Program programs[_PROGRAM_MAX] = {
        [PROGRAM_EXITS_0]      = { true,  true,  false, CLD_EXITED, 0,       "exits with 0" },
        [PROGRAM_EXITS_3]      = { true,  true,  true,  CLD_EXITED, 3,       "exits with 3" },
        [PROGRAM_KILLED_9]     = { true,  true,  true,  CLD_KILLED, SIGKILL, "is killed by SIGKILL" },
        [PROGRAM_KILLED_15]    = { true,  true,  false, CLD_KILLED, SIGTERM, "is ended by SIGTERM" },
        [PROGRAM_NOT_EXECUTED] = { false, true,  true,  CLD_EXITED, 203,     "cannot be executed" },
        [PROGRAM_NEVER_ENDS]   = { true,  false, true,  CLD_KILLED, SIGKILL, "never ends until it is killed" },
        [PROGRAM_HANGS]        = { false, false, true,  CLD_KILLED, SIGKILL, "hangs before its exec until it is killed" },
};

const Fault faults[_FAULT_MAX] = {
        [FAULT_NONE] = { .text = "nothing goes wrong" },

        [FAULT_REFUSE_ACCESS] = {
                .refused_method = "StartTransientUnit", .error_name = DBUS_NAME("AccessDenied"),
                .error_words = "Permission denied", .text = "the start is denied",
        },
        [FAULT_REFUSE_POLKIT] = {
                .refused_method = "StartTransientUnit", .error_name = DBUS_NAME("InteractiveAuthorizationRequired"),
                .error_words = "Interactive authentication required.", .text = "the start wants a password",
        },
        [FAULT_REFUSE_EXISTS] = {
                .refused_method = "StartTransientUnit", .error_name = SYSTEMD_NAME("UnitExists"),
                .error_words = "Unit cordon-x.service was already loaded or has a fragment file.",
                .text = "a unit of that name exists",
        },
        [FAULT_REFUSE_PROPERTY] = {
                .refused_method = "StartTransientUnit", .error_name = DBUS_NAME("PropertyReadOnly"),
                .error_words = "Cannot set property ExitType, or unknown property.",
                .text = "a property is not known to this systemd",
        },
        [FAULT_REFUSE_UNKNOWN_PROPERTY] = {
                .refused_method = "StartTransientUnit", .error_name = DBUS_NAME("UnknownProperty"),
                .error_words = "Unknown property or interface.", .text = "a property is unknown",
        },
        [FAULT_REFUSE_SETTING] = {
                .refused_method = "StartTransientUnit", .error_name = SYSTEMD_NAME("BadUnitSetting"),
                .error_words = "Unit cordon-x.service has a bad unit file setting.",
                .text = "the settings do not make a unit",
        },
        [FAULT_REFUSE_LIMITS] = {
                .refused_method = "StartTransientUnit", .error_name = DBUS_NAME("LimitsExceeded"),
                .error_words = "The maximum number of pending replies per connection has been reached",
                .text = "the bus daemon has had enough",
        },
        [FAULT_REFUSE_SLICE] = {
                .refused_method = "StartTransientUnit", .error_name = SYSTEMD_NAME("NoSuchUnit"),
                .error_words = "Unit cordon.slice not found.", .text = "cordon.slice is not to be had",
        },
        [FAULT_REFUSE_SLICE_TWICE] = {
                .refused_method = "StartTransientUnit", .error_name = SYSTEMD_NAME("NoSuchUnit"),
                .error_words = "Unit cordon.slice not found.", .refusals = 2,
                .text = "cordon.slice is gone for a moment",
        },

        [FAULT_END_BEFORE_REPLY] = { .is_early = true, .text = "all is over before the start is answered" },

        [FAULT_JOB_FAILED] = { .job_result = "failed", .text = "the start job fails" },
        [FAULT_JOB_TIMEOUT] = { .job_result = "timeout", .text = "the start job times out" },
        [FAULT_JOB_CANCELED] = { .job_result = "canceled", .text = "the start job is cancelled" },
        [FAULT_JOB_DEPENDENCY] = { .job_result = "dependency", .text = "the slice cannot be started" },
        [FAULT_JOB_SKIPPED] = { .job_result = "skipped", .text = "the start job is skipped" },

        [FAULT_SILENT_START] = { .silent_method = "StartTransientUnit", .text = "the start is never answered" },
        [FAULT_SILENT_KILL] = { .silent_method = "KillUnit", .text = "a kill is never answered" },
        [FAULT_SILENT_STOP] = { .silent_method = "StopUnit", .text = "a stop is never answered" },
        [FAULT_SILENT_RESET] = { .silent_method = "ResetFailedUnit", .text = "clearing is never answered" },
        [FAULT_SILENT_GET_ALL] = {
                .silent_method = "GetAll", .turn = TURN_REEXEC_RUNNING,
                .text = "after a re-exec, reading is never answered",
        },

        [FAULT_REEXEC_RUNNING] = { .turn = TURN_REEXEC_RUNNING, .text = "re-exec, the program runs on" },
        [FAULT_REEXEC_TWICE] = { .turn = TURN_REEXEC_TWICE, .text = "re-exec, and once more" },
        [FAULT_REEXEC_ENDED] = { .turn = TURN_REEXEC_ENDED, .text = "re-exec, the program ends meanwhile" },
        [FAULT_REEXEC_GONE] = { .turn = TURN_REEXEC_GONE, .text = "re-exec, the unit is gone after it" },
        [FAULT_REEXEC_GONE_AFTER_END] = {
                .turn = TURN_REEXEC_GONE_AFTER_END, .text = "the end is told, then re-exec, the unit is gone after it",
        },
        [FAULT_RELOAD] = { .turn = TURN_RELOAD, .text = "the manager reloads in mid-run" },
        [FAULT_RELOAD_EARLY] = { .reloads_at_start = true, .text = "the manager reloads while it starts the unit" },
        [FAULT_RELOAD_ENDED] = { .turn = TURN_RELOAD_ENDED, .text = "the program ends while the manager reloads" },
        [FAULT_RELOAD_SILENT] = {
                .silent_method = "GetAll", .turn = TURN_RELOAD,
                .text = "the manager reloads in mid-run, reading is never answered",
        },
        [FAULT_REMOVED] = { .turn = TURN_REMOVED, .text = "the unit goes without a word about its end" },

        [FAULT_ODD_TYPES] = { .has_odd_types = true, .text = "signals with unexpected types in them" },
        [FAULT_KILL_NO_UNIT] = {
                .refused_method = "KillUnit", .error_name = SYSTEMD_NAME("NoSuchUnit"),
                .error_words = "Unit cordon-x.slice not loaded.", .text = "a kill finds no unit, though it kills",
        },
        [FAULT_STOP_NO_UNIT] = {
                .refused_method = "StopUnit", .error_name = SYSTEMD_NAME("NoSuchUnit"),
                .error_words = "Unit cordon-x.slice not loaded.", .text = "a stop finds no unit",
        },
        [FAULT_STOP_REFUSED] = {
                .refused_method = "StopUnit", .error_name = DBUS_NAME("AccessDenied"),
                .error_words = "Permission denied", .text = "a stop is denied",
        },
        [FAULT_FOREIGN] = { .has_foreign = true, .text = "signals of other units in between" },
        [FAULT_TWICE] = { .is_twice = true, .text = "every signal comes twice" },
        [FAULT_LATE_FOREIGN_JOB] = { .has_late_jobs = true, .text = "a second job of the unit ends otherwise" },
};
/* clang-format on */
