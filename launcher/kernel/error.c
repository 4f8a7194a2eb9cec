/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every code of every room that can reach a record, and its word. A code without a row is a mistake of ours. */

#include "error.h"

#include "dbus/error.h"
#include "launcher/manager/error.h"
#include "units/error.h"

G_DEFINE_QUARK(cordon - launcher - error - quark, launcher_error)

typedef struct {
        int code;
        const char *word;
} Word;

static const Word launcher_words[] = {
        { LAUNCHER_ERROR_USAGE, "usage" },
        { LAUNCHER_ERROR_JOB, "bad-job" },
        { LAUNCHER_ERROR_PROFILE, "bad-profile" },
        { LAUNCHER_ERROR_BAD_VALUE, "bad-value" },
        { LAUNCHER_ERROR_DIRECTORY, "directory" },
        { LAUNCHER_ERROR_ACCOUNT, "no-such-account" },
        { LAUNCHER_ERROR_NAMESPACE, "namespace" },
        { LAUNCHER_ERROR_UNENFORCEABLE, "unenforceable" },
        { LAUNCHER_ERROR_CAPACITY, "capacity" },
        { LAUNCHER_ERROR_GATE, "gate" },
        { LAUNCHER_ERROR_GUARD, "guard" },
        { LAUNCHER_ERROR_SYSTEM, "system" },
};

static const Word units_words[] = {
        { UNITS_ERROR_BAD_VALUE, "bad-value" },         { UNITS_ERROR_OUT_OF_RANGE, "bad-value" },
        { UNITS_ERROR_BAD_NAME, "bad-value" },          { UNITS_ERROR_RESERVED, "bad-value" },
        { UNITS_ERROR_UNENFORCEABLE, "unenforceable" },
};

static const Word dbus_words[] = {
        { DBUS_ERROR_UNREACHABLE, "manager-unreachable" },
        { DBUS_ERROR_NO_ANSWER, "manager-unreachable" },
        { DBUS_ERROR_DISCONNECTED, "manager-unreachable" },
        { DBUS_ERROR_ACCESS, "permission-denied" },
        { DBUS_ERROR_EXISTS, "id-in-use" },
        { DBUS_ERROR_NO_SUCH_UNIT, "manager-refused" },
        { DBUS_ERROR_UNKNOWN_PROPERTY, "unenforceable" },
        { DBUS_ERROR_FAILED, "manager-refused" },
};

static const char *word_in(const Word *words, size_t count, int code) {
        for (size_t i = 0; i < count; i++)
                if (words[i].code == code)
                        return words[i].word;
        return "internal";
}

const char *launcher_error_word(const GError *error) {
        if (error->domain == LAUNCHER_ERROR)
                return word_in(launcher_words, G_N_ELEMENTS(launcher_words), error->code);
        if (error->domain == UNITS_ERROR)
                return word_in(units_words, G_N_ELEMENTS(units_words), error->code);
        if (error->domain == DBUS_ERROR)
                return word_in(dbus_words, G_N_ELEMENTS(dbus_words), error->code);
        if (error->domain == MANAGER_ERROR)
                return "manager-unreachable";
        return "internal";
}

bool launcher_error_is_mistake(const GError *error) {
        static const LauncherError mistakes[] = { LAUNCHER_ERROR_USAGE, LAUNCHER_ERROR_BAD_VALUE,
                                                  LAUNCHER_ERROR_DIRECTORY, LAUNCHER_ERROR_ACCOUNT,
                                                  LAUNCHER_ERROR_JOB };

        for (size_t i = 0; i < G_N_ELEMENTS(mistakes); i++)
                if (g_error_matches(error, LAUNCHER_ERROR, (int)mistakes[i]))
                        return true;
        return error->domain == UNITS_ERROR && error->code != UNITS_ERROR_UNENFORCEABLE;
}
