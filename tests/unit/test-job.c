/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* JSON → options: what is refused, with its path and words in front; what is accepted, and what it becomes; and that
 * the command line wins. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/job.h"
#include "launcher/json.h"
#include "launcher/kernel/error.h"
#include "launcher/layers.h"

#define SIZE_WORDS "accepted: a number with B, K, M, G or T (1024-based), or infinity"
#define DURATION_WORDS \
        "accepted: seconds, or numbers with ms, s, m (min), h, d such as 1m30s or 250ms, or infinity"

/* clang-format off */
static const struct {
        const char *code, *message, *text;
} refused[] = {
        /* not JSON */
        { "bad-job", "$: there is nothing to read (line 1, column 1)", "" },
        { "bad-job", "$: expected a value, here is the end of the text (line 2, column 2)", " \n " },
        { "bad-job", "$: a byte order mark is not accepted (line 1, column 1)", "\xef\xbb\xbf{}" },
        { "bad-job", "$: these bytes are not UTF-8 (line 1, column 8)", "{\"id\":\"\xff\"}" },
        { "bad-job", "$: these bytes are not UTF-8 (line 1, column 8)", "{\"id\":\"\xed\xa0\x80\"}" },
        { "bad-job", "$: these bytes are not UTF-8 (line 1, column 8)", "{\"id\":\"\xc0\x80\"}" },
        { "bad-job", "$: these bytes are not UTF-8 (line 1, column 3)", "{}\xc3" },
        { "bad-job", "$: expected the end of the text, here is { (line 1, column 3)", "{}{}" },
        { "bad-job", "$: expected the end of the text, here is x (line 2, column 1)", "{}\nx" },
        { "bad-job", "$: expected a key in quotes, here is } (line 1, column 11)", "{\"id\":\"a\",}" },
        { "bad-job", "$: expected a key in quotes, here is i (line 1, column 2)", "{id:\"a\"}" },
        { "bad-job", "$: expected a key in quotes, here is ' (line 1, column 2)", "{'id':\"a\"}" },
        { "bad-job", "$.id: expected \":\", here is = (line 1, column 6)", "{\"id\"=1}" },
        { "bad-job", "$: expected \",\" or \"}\", here is the end of the text (line 1, column 10)", "{\"id\":\"a\"" },
        { "bad-job", "$.id: expected the string's closing quote, here is the end of the text (line 1, column 9)", "{\"id\":\"a" },
        { "bad-job", "$.id: expected the string's closing quote, here is \\x0a (line 1, column 9)", "{\"id\":\"a\n\"}" },
        { "bad-job", "$.id: expected the string's closing quote, here is \\x09 (line 1, column 8)", "{\"id\":\"\t\"}" },
        { "bad-job", "$.command[1]: expected a value, here is ] (line 1, column 17)", "{\"command\":[\"a\",]}" },
        { "bad-job", "$.command: expected \",\" or \"]\", here is \" (line 1, column 17)", "{\"command\":[\"a\" \"b\"]}" },
        { "bad-job", "$.id: expected a value, here is N (line 1, column 7)", "{\"id\":NaN}" },
        { "bad-job", "$.id: expected a value, here is I (line 1, column 7)", "{\"id\":Infinity}" },
        { "bad-job", "$.id: expected a value, here is t (line 1, column 7)", "{\"id\":tru}" },
        { "bad-job", "$: expected a value, here is / (line 1, column 1)", "/* a job */ {}" },
        { "bad-job", "$.id: a string cannot hold \\u0000 (line 1, column 15)", "{\"id\":\"a\\u0000b\"}" },
        { "bad-job", "$.id: half a surrogate pair (line 1, column 14)", "{\"id\":\"\\ud800\"}" },
        { "bad-job", "$.id: half a surrogate pair (line 1, column 14)", "{\"id\":\"\\udc00\"}" },
        { "bad-job", "$.id: half a surrogate pair (line 1, column 20)", "{\"id\":\"\\ud800\\u0041\"}" },
        { "bad-job", "$.id: half a surrogate pair (line 1, column 20)", "{\"id\":\"\\ud83d\\ud83d\"}" },
        { "bad-job", "$.id: expected four hex digits, here is g (line 1, column 10)", "{\"id\":\"\\ug\"}" },
        { "bad-job", "$.id: expected four hex digits, here is \" (line 1, column 13)", "{\"id\":\"\\u123\"}" },
        { "bad-job", "$.id: expected one of \" \\ / b f n r t u behind the backslash, here is x (line 1, column 9)", "{\"id\":\"\\x41\"}" },
        { "bad-job", "$.id: the key is there twice (line 1, column 15)", "{\"id\":\"a\",\"id\":\"a\"}" },
        { "bad-job", "$.id: the key is there twice (line 1, column 20)", "{\"id\":\"a\",\"\\u0069d\":\"a\"}" },
        { "bad-job", "$.limits.cpu: the key is there twice (line 1, column 25)", "{\"limits\":{\"cpu\":1,\"cpu\":1}}" },
        { "bad-job", "$.x[0].y: the key is there twice (line 1, column 17)", "{\"x\":[{\"y\":1,\"y\":2}]}" },
        { "bad-job", "$.limits.cpu: a number does not begin with 0 (line 1, column 19)", "{\"limits\":{\"cpu\":01}}" },
        { "bad-job", "$.limits.cpu: expected a digit, here is } (line 1, column 20)", "{\"limits\":{\"cpu\":1.}}" },
        { "bad-job", "$.limits.cpu: expected a digit, here is } (line 1, column 20)", "{\"limits\":{\"cpu\":1e}}" },
        { "bad-job", "$.limits.cpu: expected a digit, here is } (line 1, column 19)", "{\"limits\":{\"cpu\":-}}" },
        { "bad-job", "$.limits.cpu: expected a value, here is + (line 1, column 18)", "{\"limits\":{\"cpu\":+1}}" },
        { "bad-job", "$.limits.cpu: expected a value, here is . (line 1, column 18)", "{\"limits\":{\"cpu\":.5}}" },
        { "bad-job", "$.limits: expected \",\" or \"}\", here is x (line 1, column 19)", "{\"limits\":{\"cpu\":0x10}}" },

        /* not a job */
        { "bad-job", "$: an object is needed, here is an array", "[]" },
        { "bad-job", "$: an object is needed, here is a string", "\"true\"" },
        { "bad-job", "$: an object is needed, here is null", "null" },
        { "bad-job", "$.comand: unknown key (did you mean \"command\"?)", "{\"comand\":[\"a\"]}" },
        { "bad-job", "$.Id: unknown key (did you mean \"id\"?)", "{\"Id\":\"a\"}" },
        { "bad-job", "$.zzz: unknown key", "{\"zzz\":1}" },
        { "bad-job", "$[\"\"]: unknown key", "{\"\":1}" },
        { "bad-job", "$[\"a b\\x0a\"]: unknown key", "{\"a b\\n\":1}" },
        { "bad-job", "$.label: unknown key; use \"labels\"", "{\"label\":\"a=b\"}" },
        { "bad-job", "$.setenv: unknown key; use \"env\"", "{\"setenv\":\"a=b\"}" },
        { "bad-job", "$.memory: a limit; it belongs into \"limits\"", "{\"memory\":\"1M\"}" },
        { "bad-job", "$.job: only for the command line, not part of a job", "{\"job\":\"-\"}" },
        { "bad-job", "$.json: only for the command line, not part of a job", "{\"json\":true}" },
        { "bad-job", "$.record: only for the command line, not part of a job", "{\"record\":\"-\"}" },
        { "bad-job", "$.system: only for the command line, not part of a job", "{\"system\":true}" },
        { "bad-job", "$.help: only for the command line, not part of a job", "{\"help\":true}" },
        { "bad-job", "$.command: an array of strings is needed, here is a string", "{\"command\":\"true\"}" },
        { "bad-job", "$.command: at least one word is needed", "{\"command\":[]}" },
        { "bad-job", "$.command[1]: a string is needed, here is a number", "{\"command\":[\"a\",1]}" },
        { "bad-job", "$.command[0]: a string is needed, here is null", "{\"command\":[null]}" },
        { "bad-job", "$.command[0]: a string is needed, here is an array", "{\"command\":[[\"a\"]]}" },
        { "bad-job", "$.env: an object of strings is needed, here is an array", "{\"env\":[\"A=1\"]}" },
        { "bad-job", "$.env.A: a string is needed, here is a boolean", "{\"env\":{\"A\":true}}" },
        { "bad-job", "$.env[\"A=B\"]: a name is not empty and has no \"=\" in it", "{\"env\":{\"A=B\":\"1\"}}" },
        { "bad-job", "$.env[\"\"]: a name is not empty and has no \"=\" in it", "{\"env\":{\"\":\"1\"}}" },
        { "bad-job", "$.labels: an object of strings is needed, here is null", "{\"labels\":null}" },
        { "bad-job", "$.labels.a: a string is needed, here is a number", "{\"labels\":{\"a\":1}}" },
        { "bad-job", "$.labels[\"a=\"]: a name is not empty and has no \"=\" in it", "{\"labels\":{\"a=\":\"1\"}}" },
        { "bad-job", "$.directory: a string is needed, here is an object", "{\"directory\":{}}" },
        { "bad-value", "$.stdin: a file or \"null\" is needed", "{\"stdin\":\"\"}" },
        { "bad-value", "$.id: \"-a\" is not an id; accepted: letters, digits, '_', '.' and '-', beginning with a letter or digit, at most 64 characters", "{\"id\":\"-a\"}" },
        { "bad-job", "$.capture: true or false is needed, here is a string", "{\"capture\":\"yes\"}" },
        { "bad-job", "$.capture: true or false is needed, here is a number", "{\"capture\":1}" },
        { "bad-value", "$.max-parallel: \"1.5\" is not accepted; accepted: a whole number, 1 to 100000", "{\"max-parallel\":1.5}" },
        { "bad-value", "$.max-parallel: \"-1\" is not accepted; accepted: a whole number, 1 to 100000", "{\"max-parallel\":-1}" },
        { "bad-job", "$.max-parallel: a string is needed, here is a boolean", "{\"max-parallel\":true}" },
        { "bad-value", "$.on-full: \"x\" is not accepted; accepted: wait, fail", "{\"on-full\":\"x\"}" },
        { "bad-job", "$.pool-memory: a limit; it belongs into \"limits\"", "{\"pool-memory\":\"1G\"}" },
        { "bad-value", "$.on-output: \"x\" is not accepted; accepted: truncate, kill", "{\"on-output\":\"x\"}" },
        { "bad-value", "$.net: \"x\" is not accepted; accepted: host, none, allow=LIST", "{\"net\":\"x\"}" },
        { "bad-job", "$.private-tmp: true or false is needed, here is a string", "{\"private-tmp\":\"yes\"}" },
        { "bad-value", "$.ro[1]: \"\" is not accepted; accepted: a path", "{\"ro\":[\"/a\",\"\"]}" },
        { "bad-job", "$.fs: a string is needed, here is an array", "{\"fs\":[\"strict\"]}" },
        { "bad-job", "$.on-output: a string is needed, here is an array", "{\"on-output\":[\"kill\"]}" },

        /* limits */
        { "bad-job", "$.limits: an object is needed, here is an array", "{\"limits\":[]}" },
        { "bad-job", "$.limits.memroy: unknown key (did you mean \"memory\"?)", "{\"limits\":{\"memroy\":\"1M\"}}" },
        { "bad-job", "$.limits.memory: a string or a number is needed, here is null", "{\"limits\":{\"memory\":null}}" },
        { "bad-job", "$.limits.memory: a string or a number is needed, here is an object", "{\"limits\":{\"memory\":{}}}" },
        { "bad-value", "$.limits.memory: \"12Q\" is not a size; " SIZE_WORDS, "{\"limits\":{\"memory\":\"12Q\"}}" },
        { "bad-value", "$.limits.memory: \"\" is not a size; " SIZE_WORDS, "{\"limits\":{\"memory\":\"\"}}" },
        { "bad-value", "$.limits.memory: \"-1\" is not a size; " SIZE_WORDS, "{\"limits\":{\"memory\":-1}}" },
        { "bad-value", "$.limits.timeout: \"-0\" is not a duration; " DURATION_WORDS, "{\"limits\":{\"timeout\":-0}}" },
        { "bad-value", "$.limits.timeout: \"-0.0e5\" is not a duration; " DURATION_WORDS, "{\"limits\":{\"timeout\":-0.0e5}}" },
        { "bad-value", "$.limits.tasks: \"1.5\" is not a count; accepted: a whole number, or infinity", "{\"limits\":{\"tasks\":1.5}}" },
        { "bad-value", "$.limits.tasks: \"1.5\" is not a count; accepted: a whole number, or infinity", "{\"limits\":{\"tasks\":15e-1}}" },
        { "bad-value", "$.limits.tasks: \"18446744073709551616\" is out of range; accepted: 1 to 4194304, or infinity", "{\"limits\":{\"tasks\":18446744073709551616}}" },
        { "bad-value", "$.limits.tasks: \"0\" is out of range; accepted: 1 to 4194304, or infinity", "{\"limits\":{\"tasks\":0}}" },
        { "bad-job", "$.limits.tasks: 1e999 does not fit into a number", "{\"limits\":{\"tasks\":1e999}}" },
        { "bad-job", "$.limits.timeout: 1e-999 does not fit into a number", "{\"limits\":{\"timeout\":1e-999}}" },
        { "bad-value", "$.limits.memory: \"9007199254740993\" is out of range; accepted: 4M to 8192T, or infinity", "{\"limits\":{\"memory\":9007199254740993}}" },
};

static const struct {
        const char *text, *options;
} accepted[] = {
        { "{}", "" },
        { " \t\r\n{ \"command\" : [ \"a\" , \"\" ] } \n", "command='a' '' " },
        { "{\"command\":[\"\\u00e9\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\\u001f\\u007f\"]}", "command='\xc3\xa9\xf0\x9f\x98\x80\"\\/\b\f\n\r\t\x1f\x7f' " },
        { "{\"command\":[\"$A %n '\"]}", "command='$A %n '' " },
        { "{\"env\":{\"A\":\"1\",\"B b\":\"=\\n=\",\"C\":\"\"}}", "E='A=1' E='B b==\n=' E='C=' " },
        { "{\"labels\":{\"k\":\"v=w\"}}", "k:v=w " },
        { "{\"directory\":\"/d\",\"stdin\":\"null\",\"id\":\"my-run\"}", "id=my-run directory=/d stdin=null " },
        { "{\"capture\":true,\"on-output\":\"kill\",\"best-effort\":true,\"clean-env\":true}", "clean capture kill best-effort " },
        { "{\"pty\":true}", "pty " },
        { "{\"pty\":false}", "no-pty " },
        { "{\"private-tmp\":true,\"net\":\"none\",\"fs\":\"strict\"}", "+private-tmp +net +fs " },
        { "{\"private-tmp\":false,\"net\":\"host\",\"fs\":\"host\"}", "" },
        { "{\"ro\":[\"/a\",\"/b\"],\"hide\":\"/c\",\"scratch\":[\"/d:1K\"]}", "+ro +hide +scratch /a /b /c /d:1024 " },
        { "{\"capture\":false,\"on-output\":\"truncate\",\"clean-env\":false}", "" },
        { "{\"uid\":\"alice\",\"gid\":\"staff\"}", "user=alice group=staff " },
        { "{\"pool\":\"build\",\"max-parallel\":3,\"on-full\":\"fail\"}", "pool=build on-full fail max-parallel=3 " },
        { "{\"max-parallel\":\"3\",\"on-full\":\"wait\",\"limits\":{\"pool-memory\":\"1G\",\"pool-tasks\":9}}",
          "on-full max-parallel=3 pool-memory=1G pool-tasks=9 " },
        { "{\"limits\":{}}", "" },
        { "{\"limits\":{\"memory\":\"256M\",\"timeout\":\"1m30s\",\"cpu\":\"150%\",\"cpus\":\"0,2-3\"}}", "timeout=1m30s memory=256M cpu=150% cpus=0,2-3 " },
        { "{\"limits\":{\"memory\":268435456,\"timeout\":0.5,\"cpu\":1.5,\"tasks\":64,\"swap\":0}}", "timeout=500ms memory=256M swap=0 cpu=150% tasks=64 " },
        { "{\"limits\":{\"tasks\":1e2,\"timeout\":25E-1,\"swap\":0e5,\"grace\":0.0}}", "timeout=2.5s grace=0s swap=0 tasks=100 " },
        { "{\"limits\":{\"memory\":\"infinity\",\"fsize\":9007199254740991}}", "memory=infinity fsize=9007199254740991B " },
};
/* clang-format on */

static char *show(const Options *options) {
        GString *out = g_string_new(NULL);
        const struct {
                const char *word;
                bool is_set;
        } flags[] = { { "clean", options->is_clean_environment },
                      { "capture", options->is_capture },
                      { "kill", options->is_kill_on_output },
                      { "pty", options->pty == PTY_YES },
                      { "no-pty", options->pty == PTY_NO },
                      { "best-effort", options->is_best_effort },
                      { "on-full", options->has_on_full },
                      { "fail", options->is_refused_on_full } };
        const struct {
                const char *word, *text;
        } texts[] = { { "id", options->id },       { "directory", options->directory },
                      { "stdin", options->input }, { "user", options->user },
                      { "group", options->group }, { "record", options->record },
                      { "pool", options->pool } };
        char *const *command = options->command ? options->command : options->job_command;
        GHashTableIter iter;
        gpointer key, value;

        if (command && *command)
                g_string_append(out, "command=");
        for (; command && *command; command++)
                g_string_append_printf(out, "'%s' ", *command);
        for (guint i = 0; i < options->variables->len; i++)
                g_string_append_printf(out, "E='%s' ",
                                       (char *)g_ptr_array_index(options->variables, i));
        g_hash_table_iter_init(&iter, options->labels);
        while (g_hash_table_iter_next(&iter, &key, &value))
                g_string_append_printf(out, "%s:%s ", (char *)key, (char *)value);
        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
                if (texts[i].text)
                        g_string_append_printf(out, "%s=%s ", texts[i].word, texts[i].text);
        for (size_t i = 0; i < G_N_ELEMENTS(flags); i++)
                if (flags[i].is_set)
                        g_string_append_printf(out, "%s ", flags[i].word);
        if (options->max_parallel > 0)
                g_string_append_printf(out, "max-parallel=%" G_GUINT64_FORMAT " ",
                                       options->max_parallel);
        for (int i = 0; i < _LIMIT_MAX; i++)
                if (options->limits.is_set[i]) {
                        g_autofree char *text = limit_set_format(&options->limits, (Limit)i);

                        g_string_append_printf(out, "%s=%s ", limit_info((Limit)i)->key, text);
                }
        for (int i = 0; i < _ISOLATION_MAX; i++)
                if (isolation_is_asked(&options->isolation, (Isolation)i))
                        g_string_append_printf(out, "+%s ", isolation_info((Isolation)i)->key);
        for (guint i = 0; options->isolation.rules && i < options->isolation.rules->len; i++) {
                const PathRule *rule = g_ptr_array_index(options->isolation.rules, i);
                g_autofree char *text = isolation_rule_text(rule);

                g_string_append_printf(out, "%s ", text);
        }
        return g_string_free(out, FALSE);
}

static void test_refused(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_auto(Options) options;
                g_autoptr(GError) error = NULL;
                const char *text = refused[i].text;

                options_init(&options);
                ok(!job_parse(text, strlen(text), &options, &error), "refused: %s", text);
                is(error ? error->message : NULL, refused[i].message, "in words: %s", text);
                is(error ? launcher_error_word(error) : NULL, refused[i].code, "as what: %s", text);
        }
}

static void test_accepted(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(accepted); i++) {
                g_auto(Options) options;
                g_autoptr(GError) error = NULL;
                const char *text = accepted[i].text;
                bool parsed;

                options_init(&options);
                parsed = job_parse(text, strlen(text), &options, &error);

                g_autofree char *shown = show(&options);

                ok(parsed, "accepted: %s", text);
                is(error ? error->message : NULL, NULL, "without a word: %s", text);
                is(shown, accepted[i].options, "becomes: %s", text);
        }
}

/* What a C string cannot hold. */
static void test_sizes(void) {
        static const char with_nul[] = "{\"id\":\"a\0b\"}";
        g_auto(Options) options;
        g_autoptr(GError) error = NULL;

        options_init(&options);
        ok(!job_parse(with_nul, sizeof(with_nul) - 1, &options, &error), "a NUL byte is refused");
        is(error ? error->message : NULL, "$: a NUL byte (line 1, column 9)", "and named");
        ok(job_parse("{}{}", 2, &options, NULL), "nothing is read behind the size");
        ok(!job_parse("{}", 1, &options, NULL), "nor is there anything");
}

static char *nested(int depth, bool is_object) {
        GString *out = g_string_new("{\"x\":");

        for (int i = 1; i < depth; i++)
                g_string_append(out, is_object ? "{\"x\":" : "[");
        g_string_append(out, "1");
        for (int i = 1; i < depth; i++)
                g_string_append_c(out, is_object ? '}' : ']');
        return g_string_free(g_string_append_c(out, '}'), FALSE);
}

static void test_depth(void) {
        for (int is_object = 0; is_object < 2; is_object++) {
                g_autofree char *good = nested(64, is_object), *bad = nested(65, is_object);
                g_autofree char *endless = g_strnfill(1 << 20, '[');
                g_autoptr(JsonValue) value = json_read(good, strlen(good), NULL);
                g_autoptr(GError) error = NULL;

                ok(value, "64 levels are read");
                ok(!json_read(bad, strlen(bad), &error), "65 levels are refused");
                like(error ? error->message : "",
                     "^\\$\\.x.*: more than 64 levels of nesting \\(line 1, column [0-9]+\\)$",
                     "and named");
                ok(!json_read(endless, strlen(endless), NULL), "a megabyte of levels as well");
        }
}

static void test_many(void) {
        g_autoptr(GString) text = g_string_new("{");
        g_autoptr(JsonValue) value = NULL;

        for (int i = 0; i < 100000; i++)
                g_string_append_printf(text, "%s\"k%d\":[]", i > 0 ? "," : "", i);
        g_string_append_c(text, '}');
        value = json_read(text->str, text->len, NULL);
        cmp_ok(value ? value->items->len : 0, "==", 100000, "a hundred thousand keys are read");
}

/* Each row is a key of a job or says why not: a new option cannot be forgotten here. */
static void test_every_option(void) {
        for (size_t i = 0; option_at(i); i++) {
                const OptionInfo *info = option_at(i);
                g_autofree char *text = g_strdup_printf("{\"%s\":null}", info->name);
                bool is_key = info->group != OPTION_GROUP_LIMITS &&
                              !(info->flags & OPTION_NOT_IN_JOB);
                g_auto(Options) options;
                g_autoptr(GError) error = NULL;

                options_init(&options);
                ok(!job_parse(text, strlen(text), &options, &error), "%s is refused", text);
                ok(error && (strstr(error->message, "is needed, here is null") != NULL) == is_key,
                   "because of its %s", is_key ? "value" : "key");
                ok(is_key || info->group == OPTION_GROUP_LIMITS || info->help[0] != '\0',
                   "--%s has its help", info->name);
        }
}

/* A job in a descriptor, as --job takes it. */
static char *job_place(const char *text) {
        int fd = memfd_create("job", 0);

        if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
                BAIL_OUT("no memfd");
        return g_strdup_printf("/proc/self/fd/%d", fd);
}

/* clang-format off */
static const struct {
        const char *what, *job;
        const char *argv[8]; /* behind --job FILE */
        const char *options;
} layers[] = {
        { "a job is enough", "{\"command\":[\"a\"],\"id\":\"x\"}", { NULL }, "command='a' id=x " },
        { "the command line's command wins", "{\"command\":[\"a\",\"b\"]}", { "--", "c" }, "command='c' " },
        { "limits win one by one", "{\"limits\":{\"memory\":\"1G\",\"tasks\":5}}", { "--memory=2G", "c" }, "command='c' memory=2G tasks=5 " },
        { "a variable of the command line comes later", "{\"env\":{\"A\":\"1\"}}", { "-EA=2", "-E", "B=3", "c" }, "command='c' E='A=1' E='A=2' E='B=3' " },
        { "labels win one by one", "{\"labels\":{\"a\":\"1\"}}", { "--label", "a=2", "c" }, "command='c' a:2 " },
        { "texts are replaced", "{\"id\":\"x\",\"directory\":\"/x\",\"on-output\":\"kill\"}", { "--id=y", "-C/y", "--on-output=truncate", "c" }, "command='c' id=y directory=/y " },
        { "paths grow, words are replaced", "{\"ro\":[\"/a\"],\"net\":\"none\"}", { "--ro=/b", "--net=host", "c" }, "command='c' +ro /a /b " },
        { "what a job cannot say is said besides", "{\"command\":[\"a\"]}", { "--json" }, "command='a' record=- capture " },
};
/* clang-format on */

static void test_layers(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(layers); i++) {
                g_autofree char *place = job_place(layers[i].job);
                char *argv[16] = { (char *)"--job", place };
                g_auto(Options) options;
                g_autoptr(GError) error = NULL;

                for (size_t j = 0; layers[i].argv[j]; j++)
                        argv[2 + j] = (char *)layers[i].argv[j];
                options_init(&options);
                ok(layers_parse(&options, argv, &error), "%s", layers[i].what);

                g_autofree char *shown = show(&options);

                is(shown, layers[i].options, "%s: the options", layers[i].what);
                if (error)
                        diag("%s", error->message);
        }
}

/* Where the record goes is known even when the job cannot be read. */
static void test_failures(void) {
        const char *bad = "{\"id\":1}";
        g_autofree char *place = job_place(bad);
        char *missing[] = { (char *)"--record=fd:9", (char *)"--job=/nowhere/x", (char *)"c",
                            NULL };
        char *wrong[] = { (char *)"--job", place, (char *)"--record=fd:9", (char *)"c", NULL };
        char **const argvs[] = { missing, wrong };
        const char *const messages[] = {
                "--job: cannot open \"/nowhere/x\": No such file or directory",
                "--job: $.id: a string is needed, here is a number",
        };

        for (int i = 0; i < 2; i++) {
                g_auto(Options) options;
                g_autoptr(GError) error = NULL;

                options_init(&options);
                ok(!layers_parse(&options, argvs[i], &error), "refused: %s", messages[i]);
                is(error ? error->message : NULL, messages[i], "in words");
                is(error ? launcher_error_word(error) : NULL, "bad-job", "as what");
                is(options.record, "fd:9", "the record still has its place");
                is(options.command[0], "c", "and a command to speak of");
        }
}

/* Nobody is told of an option that he has not given. */
static void test_said_as(void) {
        static const struct {
                const char *argv[4]; /* behind --job FILE */
                const char *message, *said;
        } messages[] = {
                { { NULL }, "--stdin: cannot open it", "--job: $.stdin: cannot open it" },
                { { NULL }, "-C: cannot use it", "--job: $.directory: cannot use it" },
                { { NULL }, "--cpus is not in force", "--job: $.limits.cpus is not in force" },
                { { NULL }, "-p: not this", "--job: $.property: not this" },
                { { NULL }, "--uid: nobody", "--uid: nobody" },
                { { NULL }, "--memory is not in force", "--memory is not in force" },
                { { NULL }, "--stdinx: no", "--stdinx: no" },
                { { NULL }, "the stdin: --stdin", "the stdin: --stdin" },
                { { NULL }, "- -C", "- -C" },
                { { NULL }, "", "" },
                { { "--stdin=/x" }, "--stdin: cannot open it", "--stdin: cannot open it" },
                { { "-C/x" }, "-C: cannot use it", "-C: cannot use it" },
                { { "--directory", "/x" }, "-C: cannot use it", "-C: cannot use it" },
                { { "--cpus=1" }, "--cpus is not in force", "--cpus is not in force" },
                { { "-C/x" }, "--stdin: cannot open it", "--job: $.stdin: cannot open it" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(messages); i++) {
                g_autofree char *place = job_place(
                        "{\"stdin\":\"/no\",\"directory\":\"/no\",\"capture\":false,"
                        "\"property\":[\"Nice=1\"],\"limits\":{\"cpus\":\"0\"}}");
                char *argv[8] = { (char *)"--job", place };
                g_auto(Options) options;

                for (size_t j = 0; messages[i].argv[j]; j++)
                        argv[2 + j] = (char *)messages[i].argv[j];
                options_init(&options);
                ok(layers_parse(&options, argv, NULL), "a job and %s",
                   messages[i].argv[0] ?: "nothing else");

                g_autofree char *said = options_say(&options, messages[i].message);

                is(said, messages[i].said, "to whom gave it: %s", messages[i].message);
        }
}

static void test_two_jobs(void) {
        g_autofree char *place = job_place("{}");
        char *argv[] = { (char *)"--job", place, (char *)"--job", place, (char *)"--record=fd:9",
                         (char *)"c",     NULL };
        g_auto(Options) options;
        g_autoptr(GError) error = NULL;

        options_init(&options);
        ok(!layers_parse(&options, argv, &error), "two jobs are refused");
        is(error ? error->message : NULL, "--job is given twice: one run has one job", "in words");
        is(error ? launcher_error_word(error) : NULL, "usage", "as what");
        is(options.record, "fd:9", "the record still has its place");
}

static void test_standard_input(void) {
        static const struct {
                const char *job, *option, *input;
        } inputs[] = {
                { "{}", NULL, "null" },
                { "{}", "--stdin=/x", "/x" },
                { "{\"stdin\":\"/y\"}", NULL, "/y" },
                { "{\"stdin\":\"/y\"}", "--stdin=/x", "/x" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(inputs); i++) {
                g_autofree char *place = job_place(inputs[i].job);
                char *argv[] = { (char *)"--job=-", (char *)inputs[i].option, NULL };
                g_auto(Options) options;

                if (!freopen(place, "r", stdin))
                        BAIL_OUT("no standard input");
                options_init(&options);
                ok(layers_parse(&options, argv, NULL), "%s comes over standard input",
                   inputs[i].job);
                is(options.input, inputs[i].input, "so the program's is %s", inputs[i].input);
        }
}

int main(void) {
        plan(NO_PLAN);
        test_refused();
        test_accepted();
        test_sizes();
        test_depth();
        test_many();
        test_every_option();
        test_layers();
        test_failures();
        test_said_as();
        test_two_jobs();
        test_standard_input();
        done_testing();
}
