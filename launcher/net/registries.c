/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* No host is named here: a tool's own default is asked of the tool, and where it cannot be asked it is left out, with a
 * note. What is configured in several places opens in all of them; only a default that was replaced does not. */

#include "registries.h"

#include <string.h>

#include "answer.h"
#include "launcher/kernel/error.h"
#include "launcher/trusted.h"
#include "units/text.h"

#define SHOWN 80

/* One tool's search. */
typedef struct {
        Allow *allow;
        const char *tool;
        bool has_default;  /* … of its own, replaced by what was found */
        const char *where; /* under way: the place that is looked at */
        const char *path;  /* … the file */
        GString *value;    /* … of pip's, whose values have several lines */
        bool is_index;     /* … which is that of the index */
        char *section;     /* … of cargo's */
        GError **error;
        bool has_failed, has_found;
} Search;

static void note(Search *search, const char *what, const char *where) {
        g_autofree char *shown = text_printable(what, SHOWN);

        allow_add_note(search->allow, "@" ALLOW_REGISTRIES ": %s: %s (%s)", search->tool, shown,
                       where);
}

/* An URL, or what go has for a data base: a bare name. */
static bool add_host(Search *search, const char *host) {
        g_autofree char *where = g_strdup_printf("@%s: %s: ", ALLOW_REGISTRIES, search->tool);

        if (!allow_add(search->allow, where, host, search->error)) {
                search->has_failed = true;
                return false;
        }
        search->has_found = true;
        note(search, host, search->where);
        return true;
}

static bool add_url(Search *search, const char *url) {
        g_autofree char *host = allow_host_of_url(url);

        if (host)
                return add_host(search, host);
        note(search, "no host that could be opened", search->where);
        return true;
}

static void add_urls(Search *search, const char *text) {
        g_auto(GStrv) urls = g_strsplit_set(text, " \t\r\n", -1);

        for (char **url = urls; *url && !search->has_failed; url++)
                if (**url)
                        (void)add_url(search, *url);
}

typedef void (*TakeLine)(Search *search, char *line);

static void read_lines(Search *search, const char *path, TakeLine take) {
        g_autofree char *text = NULL;

        if (search->has_failed || !path)
                return;
        if (!trusted_read(path, &text, search->error)) {
                g_prefix_error(search->error, "--net: ");
                search->has_failed = true;
                return;
        }

        g_auto(GStrv) lines = g_strsplit(text ?: "", "\n", -1);

        search->where = search->path = path;
        for (char **line = lines; *line && !search->has_failed; line++)
                take(search, *line);
}

static void read_own_lines(Search *search, const char *directory, const char *name, TakeLine take) {
        g_autofree char *path = g_build_filename(directory, name, NULL);

        read_lines(search, path, take);
}

/* "KEY = VALUE", with quotes around or not; NULL: it is no such line. */
static char *split_line(char *line, char **ret_value) {
        char *equals = strchr(line, '='), *value;
        size_t length;

        if (!equals)
                return NULL;
        *equals = '\0';
        value = g_strstrip(equals + 1);
        length = strlen(value);
        if (length >= 2 && (value[0] == '"' || value[0] == '\'') && value[length - 1] == value[0]) {
                value[length - 1] = '\0';
                value++;
        }
        *ret_value = value;
        return g_strstrip(line);
}

/* npm: "registry" replaces the default, "@scope:registry" stands beside it. */

static char *expand_variables(const char *text) {
        GString *expanded = g_string_new(NULL);

        while (*text) {
                const char *end = g_str_has_prefix(text, "${") ? strchr(text, '}') : NULL;

                if (!end) {
                        g_string_append_c(expanded, *text++);
                        continue;
                }

                g_autofree char *name = g_strndup(text + 2, (gsize)(end - text) - 2);

                g_string_append(expanded, g_getenv(name) ?: "");
                text = end + 1;
        }
        return g_string_free(expanded, FALSE);
}

static void take_npm(Search *search, const char *key, const char *value) {
        bool is_default = g_ascii_strcasecmp(key, "registry") == 0;
        g_autofree char *url = NULL;

        if (!is_default && !(key[0] == '@' && g_str_has_suffix(key, ":registry")))
                return;
        url = expand_variables(value);
        if (url[0] == '\0')
                return;
        search->has_default = search->has_default || is_default;
        (void)add_url(search, url);
}

static void take_npm_line(Search *search, char *line) {
        char *value, *key = split_line(line, &value);

        if (key && key[0] != '#' && key[0] != ';')
                take_npm(search, key, value);
}

static void take_npm_environment(Search *search) {
        static const char prefix[] = "npm_config_";
        g_auto(GStrv) names = g_listenv();

        search->where = "environment";
        for (char **name = names; *name && !search->has_failed; name++)
                if (g_ascii_strncasecmp(*name, prefix, strlen(prefix)) == 0)
                        take_npm(search, *name + strlen(prefix), g_getenv(*name) ?: "");
}

static void find_npm(Search *search) {
        static const char *const argv[] = { "npm", "config", "get", "registry", NULL };
        static const char *const variables[] = { "npm_config_update_notifier=false", NULL };
        const char *own = g_getenv("NPM_CONFIG_USERCONFIG") ?: g_getenv("npm_config_userconfig");
        const char *global = g_getenv("NPM_CONFIG_GLOBALCONFIG")
                                     ?: g_getenv("npm_config_globalconfig");
        g_autofree char *said = NULL;

        take_npm_environment(search);
        if (own)
                read_lines(search, own, take_npm_line);
        else
                read_own_lines(search, g_get_home_dir(), ".npmrc", take_npm_line);
        read_lines(search, global ?: "/etc/npmrc", take_npm_line);
        if (!global)
                read_lines(search, "/usr/etc/npmrc", take_npm_line);
        if (search->has_default || search->has_failed || !answer_has_tool("npm"))
                return;
        said = answer_of_tool(argv, variables);
        search->where = "npm config get registry";
        if (said)
                add_urls(search, said);
        else
                note(search, "its own registry is not known", "it did not answer");
}

/* pip: "index-url" replaces the default, "extra-index-url" stands beside it; both go on in lines that begin with a
 * blank. */

static bool is_pip_key(const char *key, bool *ret_is_index) {
        g_autofree char *plain = g_strdelimit(g_ascii_strdown(key, -1), "_", '-');

        *ret_is_index = g_str_equal(plain, "index-url");
        return *ret_is_index || g_str_equal(plain, "extra-index-url");
}

static void take_pip(Search *search, bool is_index, const char *value) {
        if (value[0] == '\0')
                return;
        search->has_default = search->has_default || is_index;
        add_urls(search, value);
}

static void take_pip_line(Search *search, char *line) {
        bool goes_on = line[0] == ' ' || line[0] == '\t';
        char *value, *key;

        if (goes_on && search->value->len > 0) {
                take_pip(search, search->is_index, g_strstrip(line));
                return;
        }
        g_string_truncate(search->value, 0);
        key = split_line(line, &value);
        if (!key || key[0] == '#' || key[0] == ';' || !is_pip_key(key, &search->is_index))
                return;
        g_string_assign(search->value, key);
        take_pip(search, search->is_index, value);
}

static void read_pip_files(Search *search) {
        const char *named = g_getenv("PIP_CONFIG_FILE");

        if (g_strcmp0(named, "/dev/null") == 0)
                return;
        read_lines(search, "/etc/pip.conf", take_pip_line);
        for (const char *const *one = g_get_system_config_dirs(); *one; one++)
                read_own_lines(search, *one, "pip/pip.conf", take_pip_line);
        read_own_lines(search, g_get_home_dir(), ".pip/pip.conf", take_pip_line);
        read_own_lines(search, g_get_user_config_dir(), "pip/pip.conf", take_pip_line);
        read_lines(search, named, take_pip_line);
}

static void find_pip(Search *search) {
        static const char *const argv[] = {
                "python3", "-I", "-c",
                "from pip._internal.models.index import PyPI as index\n"
                "print(index.simple_url, 'https://' + index.file_storage_domain)",
                NULL
        };
        static const char *const variables[] = { NULL };
        g_autofree char *said = NULL;

        search->where = "environment";
        take_pip(search, true, g_getenv("PIP_INDEX_URL") ?: "");
        take_pip(search, false, g_getenv("PIP_EXTRA_INDEX_URL") ?: "");
        read_pip_files(search);
        if (search->has_default || search->has_failed || !answer_has_tool("python3"))
                return;
        said = answer_of_tool(argv, variables);
        search->where = "pip's own";
        if (said)
                add_urls(search, said);
        else if (answer_has_tool("pip") || answer_has_tool("pip3"))
                note(search, "its own index is not known", "it did not answer");
}

/* cargo: [source.NAME] and [registries.NAME]. Its default cannot be asked for. */

static void take_cargo_line(Search *search, char *line) {
        char *value, *key;

        g_strstrip(line);
        if (line[0] == '[') {
                g_free(search->section);
                search->section = g_strndup(line + 1, strcspn(line + 1, "]"));
                return;
        }
        key = split_line(line, &value);
        if (!key || key[0] == '#' || !search->section)
                return;
        value += value[0] == '"' || value[0] == '\'';
        value[strcspn(value, "\"'")] = '\0'; /* and what is behind it */
        if (g_str_has_prefix(search->section, "source.") && g_str_equal(key, "replace-with"))
                search->has_default = true;
        if ((g_str_has_prefix(search->section, "source.") && g_str_equal(key, "registry")) ||
            (g_str_has_prefix(search->section, "registries.") && g_str_equal(key, "index")))
                (void)add_url(search, value);
}

static void take_cargo_environment(Search *search) {
        g_auto(GStrv) names = g_listenv();

        search->where = "environment";
        for (char **name = names; *name && !search->has_failed; name++)
                if (g_str_has_prefix(*name, "CARGO_REGISTRIES_") &&
                    g_str_has_suffix(*name, "_INDEX"))
                        add_urls(search, g_getenv(*name) ?: "");
}

static void find_cargo(Search *search) {
        g_autofree char *home = g_strdup(g_getenv("CARGO_HOME"));

        if (!home)
                home = g_build_filename(g_get_home_dir(), ".cargo", NULL);
        take_cargo_environment(search);
        read_own_lines(search, home, "config.toml", take_cargo_line);
        read_own_lines(search, home, "config", take_cargo_line);
        if (!search->has_default && answer_has_tool("cargo"))
                note(search, "its own registry is left out", "it cannot be asked; name it");
}

/* go: a list of proxies, with commas or bars between, and a data base of sums: "NAME[+KEY] [URL]" */

static void take_go(Search *search, bool is_sums, const char *value) {
        g_auto(GStrv) words = g_strsplit_set(value, is_sums ? " " : ",|", -1);

        if (is_sums && words[0] && !words[1]) {
                words[0][strcspn(words[0], "+")] = '\0';
                if (words[0][0] && !g_str_equal(words[0], "off"))
                        (void)add_host(search, words[0]);
                return;
        }
        for (char **word = words + is_sums; words[0] && *word && !search->has_failed; word++)
                if (strstr(g_strstrip(*word), "://"))
                        (void)add_url(search, *word);
                else if (g_str_equal(*word, "direct"))
                        note(search, "where modules themselves are is left out", "direct");
}

static void take_go_line(Search *search, char *line) {
        char *value, *key = split_line(line, &value);

        if (key && g_str_equal(key, "GOPROXY") && !g_getenv("GOPROXY"))
                take_go(search, false, value);
        else if (key && g_str_equal(key, "GOSUMDB") && !g_getenv("GOSUMDB"))
                take_go(search, true, value);
}

static void find_go(Search *search) {
        static const char *const argv[] = { "go", "env", "GOPROXY", "GOSUMDB", NULL };
        static const char *const variables[] = { "GOTOOLCHAIN=local", "GOFLAGS=", NULL };
        const char *file = g_getenv("GOENV");
        g_autofree char *said = NULL;

        /* It knows its files and the environment itself. */
        said = answer_has_tool("go") ? answer_of_tool(argv, variables) : NULL;
        if (said) {
                g_auto(GStrv) lines = g_strsplit(said, "\n", 3);

                search->where = "go env";
                take_go(search, false, lines[0]);
                take_go(search, true, lines[0] && lines[1] ? lines[1] : "");
                return;
        }
        search->where = "environment";
        take_go(search, false, g_getenv("GOPROXY") ?: "");
        take_go(search, true, g_getenv("GOSUMDB") ?: "");
        if (file && !g_str_equal(file, "off"))
                read_lines(search, file, take_go_line);
        else if (!file)
                read_own_lines(search, g_get_user_config_dir(), "go/env", take_go_line);
}

bool registries_add(Allow *allow, GError **error) {
        static const struct {
                const char *name;
                void (*find)(Search *search);
        } tools[] = {
                { "npm", find_npm },
                { "pip", find_pip },
                { "cargo", find_cargo },
                { "go", find_go },
        };
        bool has_failed = false, has_found = false;

        for (size_t i = 0; i < G_N_ELEMENTS(tools) && !has_failed; i++) {
                g_autoptr(GString) value = g_string_new(NULL);
                Search search = {
                        .allow = allow, .tool = tools[i].name, .value = value, .error = error
                };

                tools[i].find(&search);
                g_free(search.section);
                has_failed = search.has_failed;
                has_found = has_found || search.has_found;
        }
        if (has_failed || has_found)
                return !has_failed;
        g_set_error(error, LAUNCHER_ERROR, LAUNCHER_ERROR_BAD_VALUE,
                    "--net: \"@%s\": npm, pip, cargo and go here are not set up to use any",
                    ALLOW_REGISTRIES);
        return false;
}
