/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* On a bus the signals must be subscribed to and must come from the manager; on a direct connection both would be wrong
 * (FACTS). Whatever is told to all of the lines may make lines come and go, so their names are copied first. */

#include "switchboard.h"

#include "manager.h"

struct SwitchboardLine {
        Switchboard *board;
        char *unit, *path;
        const SwitchboardListener *listener;
        void *userdata;
};

typedef enum {
        MATCH_PROPERTIES,
        MATCH_JOB_REMOVED,
        MATCH_UNIT_REMOVED,
        MATCH_RELOADING,
        MATCH_CONNECTED,
        MATCH_DISCONNECTED,
        _MATCH_MAX,
} MatchSlot;

struct Switchboard {
        sd_bus *bus;
        sd_event *event;
        sd_event_source *drain; /* NULL: not on a loop */
        sd_bus_slot *filter;
        bool has_heard; /* a signal, in this turn of the loop */
        sd_bus_slot *matches[_MATCH_MAX];
        ManagerCall *subscription, *question;
        GHashTable *by_unit, *by_path; /* of SwitchboardLine*, keyed by what is in it */
        const char *version;           /* interned */
        void (*on_disconnected)(void *userdata);
        void *userdata;
        bool is_connected, is_disconnected;
        bool is_reloading; /* the manager, now */
};

typedef void (*Telling)(const SwitchboardLine *line);

static void tell_all(Switchboard *board, Telling tell) {
        g_autoptr(GPtrArray) units = g_ptr_array_new_with_free_func(g_free);
        GHashTableIter iter;
        gpointer unit;

        g_hash_table_iter_init(&iter, board->by_unit);
        while (g_hash_table_iter_next(&iter, &unit, NULL))
                g_ptr_array_add(units, g_strdup(unit));
        for (guint i = 0; i < units->len; i++) {
                const SwitchboardLine *line = g_hash_table_lookup(board->by_unit, units->pdata[i]);

                if (line)
                        tell(line);
        }
}

static int on_properties(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Switchboard *board = userdata;
        const char *path = sd_bus_message_get_path(message);
        const SwitchboardLine *line = path ? g_hash_table_lookup(board->by_path, path) : NULL;

        if (line)
                line->listener->on_properties(message, line->userdata);
        return 0;
}

static int on_job_removed(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Switchboard *board = userdata;
        const char *path = NULL, *unit = NULL, *result = NULL;
        int r = sd_bus_message_read(message, "uoss", NULL, &path, &unit, &result);
        const SwitchboardLine *line = r < 0 ? NULL : g_hash_table_lookup(board->by_unit, unit);

        if (line)
                line->listener->on_job_removed(result, line->userdata);
        return 0;
}

static int on_unit_removed(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Switchboard *board = userdata;
        const SwitchboardLine *line;
        const char *unit = NULL;

        /* A manager that reloads says of every unit that it is removed, and then that it is new. */
        if (board->is_reloading || sd_bus_message_read(message, "so", &unit, NULL) < 0)
                return 0;

        line = g_hash_table_lookup(board->by_unit, unit);
        if (line)
                line->listener->on_unit_removed(line->userdata);
        return 0;
}

static void tell_reloaded(const SwitchboardLine *line) {
        line->listener->on_reloaded(line->userdata);
}

static int on_reloading(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Switchboard *board = userdata;
        int active = 0;

        if (sd_bus_message_read(message, "b", &active) < 0)
                return 0;

        board->is_reloading = active;
        if (!active)
                tell_all(board, tell_reloaded);
        return 0;
}

static void tell_connected(const SwitchboardLine *line) {
        if (line->listener->on_connected)
                line->listener->on_connected(line->userdata);
}

static int on_connected(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Switchboard *board = userdata;

        board->is_connected = true;
        tell_all(board, tell_connected);
        return 0;
}

static void tell_disconnected(const SwitchboardLine *line) {
        line->listener->on_disconnected(line->userdata);
}

static int on_disconnected(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Switchboard *board = userdata;

        board->is_disconnected = true;
        board->is_connected = false;
        tell_all(board, tell_disconnected);
        if (board->on_disconnected)
                board->on_disconnected(board->userdata);
        return 0;
}

static const struct {
        const char *place, *path; /* a key of match rules, and its value */
        const char *interface;
        const char *member;
        sd_bus_message_handler_t handler;
        bool is_local; /* made by our own sd-bus, not sent by the manager */
} signals[_MATCH_MAX] = {
        [MATCH_PROPERTIES] = { "path_namespace", MANAGER_UNITS_PATH,
                               "org.freedesktop.DBus.Properties", "PropertiesChanged",
                               on_properties, false },
        [MATCH_JOB_REMOVED] = { "path", MANAGER_PATH, MANAGER_INTERFACE, "JobRemoved",
                                on_job_removed, false },
        [MATCH_UNIT_REMOVED] = { "path", MANAGER_PATH, MANAGER_INTERFACE, "UnitRemoved",
                                 on_unit_removed, false },
        [MATCH_RELOADING] = { "path", MANAGER_PATH, MANAGER_INTERFACE, "Reloading", on_reloading,
                              false },
        [MATCH_CONNECTED] = { "path", "/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local",
                              "Connected", on_connected, true },
        [MATCH_DISCONNECTED] = { "path", "/org/freedesktop/DBus/Local",
                                 "org.freedesktop.DBus.Local", "Disconnected", on_disconnected,
                                 true },
};

static int match(Switchboard *board, MatchSlot slot, bool is_bus) {
        const char *sender = is_bus && !signals[slot].is_local ? "sender='" MANAGER_DESTINATION "',"
                                                               : "";
        g_autofree char *rule = g_strdup_printf("type='signal',%s%s='%s',interface='%s',member='%s'",
                                                sender, signals[slot].place, signals[slot].path,
                                                signals[slot].interface, signals[slot].member);

        return sd_bus_add_match_async(board->bus, &board->matches[slot], rule,
                                      signals[slot].handler, NULL, board);
}

/* The loop gives a connection one message a turn; the manager tells dozens of things at a time. After a signal whatever else is
 * there is taken in the same turn, as long as it does not keep everybody else from theirs. */
#define DRAINED_MOST 64

static int on_any(sd_bus_message *message, void *userdata, sd_bus_error *ret_error) {
        Switchboard *board = userdata;

        board->has_heard = true;
        return 0;
}

/* What is told may take the switchboard away, or this connection from it: then the source is off. Negative: the connection
 * is of no more use. */
static int drain(sd_event_source *source, sd_bus *bus, int *ret_enabled) {
        int r = 1;

        *ret_enabled = SD_EVENT_ON;
        for (int i = 0; i < DRAINED_MOST && r > 0 && *ret_enabled != SD_EVENT_OFF; i++) {
                r = sd_bus_process(bus, NULL);
                (void)sd_event_source_get_enabled(source, ret_enabled);
        }
        return r;
}

static int on_turn(sd_event_source *source, void *userdata) {
        Switchboard *board = userdata;
        sd_bus *bus;
        int enabled, r;

        if (!board->has_heard)
                return 0;
        bus = sd_bus_ref(board->bus);
        sd_event_source_ref(source);
        r = drain(source, bus, &enabled);
        if (enabled != SD_EVENT_OFF)
                board->has_heard = false;
        if (enabled != SD_EVENT_OFF && r < 0 && !board->is_disconnected) {
                sd_bus_close(
                        bus); /* as the loop does when it finds that; but nobody says so then */
                (void)on_disconnected(NULL, board, NULL);
        }
        sd_event_source_unref(source);
        sd_bus_unref(bus);
        return 0;
}

static bool begin_draining(Switchboard *board) {
        return sd_event_add_post(board->event, &board->drain, on_turn, board) >= 0 &&
               sd_bus_add_filter(board->bus, &board->filter, on_any, board) >= 0;
}

static void stop_draining(Switchboard *board) {
        board->drain = sd_event_source_disable_unref(board->drain);
        board->filter = sd_bus_slot_unref(board->filter);
        board->has_heard = false;
}

static ManagerCaller caller(Switchboard *board, ManagerReply handler) {
        return (ManagerCaller){
                .bus = board->bus, .event = board->event, .handler = handler, .userdata = board
        };
}

static void detach(Switchboard *board) {
        for (size_t i = 0; i < _MATCH_MAX; i++)
                board->matches[i] = sd_bus_slot_unref(board->matches[i]);
        stop_draining(board);
        g_clear_pointer(&board->subscription, manager_call_free);
        g_clear_pointer(&board->question, manager_call_free);
        board->bus = sd_bus_unref(board->bus);
        board->is_reloading = false;
}

void switchboard_attach(Switchboard *board, sd_bus *bus) {
        bool is_bus = sd_bus_is_bus_client(bus) > 0;

        detach(board);
        board->bus = sd_bus_ref(bus);
        if (sd_bus_get_event(bus)) {
                sd_event_unref(board->event);
                board->event = sd_event_ref(sd_bus_get_event(bus));
        }
        board->is_connected = sd_bus_is_ready(bus) > 0;
        board->is_disconnected = sd_bus_is_open(bus) <= 0; /* then nobody will say so */
        if (sd_bus_get_event(bus) && !begin_draining(board))
                board->is_disconnected = true;
        for (MatchSlot i = 0; i < _MATCH_MAX; i++)
                if (match(board, i, is_bus) < 0)
                        board->is_disconnected = true;
        if (is_bus)
                board->subscription = manager_subscribe(caller(board, NULL));
}

Switchboard *switchboard_new(sd_bus *bus, void (*handler)(void *userdata), void *userdata) {
        Switchboard *board = g_new0(Switchboard, 1);

        board->on_disconnected = handler;
        board->userdata = userdata;
        board->by_unit = g_hash_table_new(g_str_hash, g_str_equal);
        board->by_path = g_hash_table_new(g_str_hash, g_str_equal);
        switchboard_attach(board, bus);
        return board;
}

void switchboard_free(Switchboard *board) {
        if (!board)
                return;
        g_assert(g_hash_table_size(board->by_unit) == 0);
        detach(board);
        sd_event_unref(board->event);
        g_hash_table_unref(board->by_unit);
        g_hash_table_unref(board->by_path);
        g_free(board);
}

sd_bus *switchboard_bus(const Switchboard *board) {
        return board->bus;
}

sd_event *switchboard_event(const Switchboard *board) {
        return board->event;
}

bool switchboard_is_connected(const Switchboard *board) {
        return board->is_connected && sd_bus_is_open(board->bus) > 0;
}

bool switchboard_is_disconnected(const Switchboard *board) {
        return board->is_disconnected || sd_bus_is_open(board->bus) <= 0;
}

static void on_version(sd_bus_message *reply, const GError *error, void *userdata) {
        Switchboard *board = userdata;
        const char *version = NULL;

        if (reply && sd_bus_message_read(reply, "v", "s", &version) >= 0)
                board->version = g_intern_string(version);
}

void switchboard_ask_version(Switchboard *board) {
        if (!board->question)
                board->question = manager_get(caller(board, on_version), MANAGER_PATH,
                                              MANAGER_INTERFACE, "Version");
}

const char *switchboard_version(const Switchboard *board) {
        return board->version;
}

SwitchboardLine *switchboard_listen(Switchboard *board, const char *unit,
                                    const SwitchboardListener *listener, void *userdata) {
        SwitchboardLine *line = g_new0(SwitchboardLine, 1);

        line->board = board;
        line->unit = g_strdup(unit);
        line->path = manager_unit_path(unit);
        line->listener = listener;
        line->userdata = userdata;
        g_assert(!g_hash_table_contains(board->by_unit, unit));
        g_hash_table_insert(board->by_unit, line->unit, line);
        g_hash_table_insert(board->by_path, line->path, line);
        return line;
}

void switchboard_line_free(SwitchboardLine *line) {
        if (!line)
                return;
        g_hash_table_remove(line->board->by_unit, line->unit);
        g_hash_table_remove(line->board->by_path, line->path);
        g_free(line->unit);
        g_free(line->path);
        g_free(line);
}

const char *switchboard_line_unit(const SwitchboardLine *line) {
        return line->unit;
}

const char *switchboard_line_path(const SwitchboardLine *line) {
        return line->path;
}
