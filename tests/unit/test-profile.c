/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A profile's text: every row of the tables is a key of one section or says why not, what is wrong is told with file,
 * line and what is accepted, and what counts of several texts. */

#include <string.h>
#include <tap.h>

#include "launcher/kernel/error.h"
#include "launcher/profile/profile.h"

/* What is refused: one file, "f". */
/* clang-format off */
static const struct {
        const char *text, *message;
} refused[] = {
        { "word\n", "f:1: \"word\" is not accepted; accepted: KEY=VALUE, [SECTION], and comments behind # or ;" },
        { "[Limits\n", "f:1: \"[Limits\" has no ] at its end" },
        { "memory=1G\n", "f:1: memory: stands in no section; accepted: [Profile], [Limits], [Isolation], [Run]" },
        { "\n[Limit]\n", "f:2: unknown section [Limit]; accepted: [Profile], [Limits], [Isolation], [Run]" },
        { "[limits]\n", "f:1: unknown section [limits]; accepted: [Profile], [Limits], [Isolation], [Run]" },
        { "[]\n", "f:1: unknown section []; accepted: [Profile], [Limits], [Isolation], [Run]" },
        { "[Limits]\nmemroy=1G\n", "f:2: unknown key \"memroy\" (did you mean \"memory\"?)" },
        { "[Limits]\nMemory=1G\n", "f:2: unknown key \"Memory\" (did you mean \"memory\"?)" },
        { "[Isolation]\nzzzzzz=1\n", "f:2: unknown key \"zzzzzz\" in [Isolation]; accepted: untrusted, private-tmp, net, fs, workspace, ro, rw, hide, scratch" },
        { "[Isolation]\nmemory=1G\n", "f:2: memory: belongs into the section [Limits]" },
        { "[Limits]\nnet=none\n", "f:2: net: belongs into the section [Isolation]" },
        { "[Profile]\nlabel=a=b\n", "f:2: label: belongs into the section [Run]" },
        { "[Run]\nid=a\n", "f:2: id: only for the command line or a job, not part of a profile" },
        { "[Run]\nprofile=a\n", "f:2: profile: only for the command line or a job, not part of a profile" },
        { "[Run]\njson=yes\n", "f:2: json: only for the command line, not part of a profile" },
        { "[Run]\nrecord=-\n", "f:2: record: only for the command line, not part of a profile" },
        { "[Run]\nparallel=4\n", "f:2: parallel: only for the command line, not part of a profile" },
        { "[Run]\nprivate=yes\n", "f:2: private: only for the command line, not part of a profile" },
        { "[Profile]\nInherits=a\n", "f:2: unknown key \"Inherits\" (did you mean \"Inherit\"?)" },
        { "[Profile]\nName=a\n", "f:2: unknown key \"Name\" in [Profile]; accepted: Description, Inherit" },
        { "[Profile]\nInherit=../x\n", "f:2: Inherit: \"../x\" is not the name of a profile; accepted: letters, digits, '_', '.' and '-', beginning with a letter or digit, at most 64 characters" },
        { "[Profile]\nInherit=a b\n", "f:2: Inherit: \"a b\" is not the name of a profile; accepted: letters, digits, '_', '.' and '-', beginning with a letter or digit, at most 64 characters" },
        { "[Limits]\nmemory=12Q\n", "f:2: memory: \"12Q\" is not a size; accepted: a number with B, K, M, G or T (1024-based), or infinity" },
        { "[Limits]\ntasks=0\n", "f:2: tasks: \"0\" is out of range; accepted: 1 to 4194304, or infinity" },
        { "[Limits]\nmemory=12Q\nmemory=1G\n", "f:2: memory: \"12Q\" is not a size; accepted: a number with B, K, M, G or T (1024-based), or infinity" },
        { "[Limits]\ntimeout=1\\\n0s\n", "f:2: timeout: \"1 0s\" is not a duration; accepted: seconds, or numbers with ms, s, m (min), h, d such as 1m30s or 250ms, or infinity" },
        { "[Isolation]\nnet=some\n", "f:2: net: \"some\" is not accepted; accepted: host, none, allow=LIST" },
        { "[Isolation]\nprivate-tmp=maybe\n", "f:2: private-tmp: \"maybe\" is not accepted; accepted: yes, no" },
        { "[Isolation]\nscratch=/a:0\n", "f:2: scratch: \"/a:0\" is not accepted; accepted: PATH:SIZE, such as /scratch:64M" },
        { "[Run]\non-output=eat\n", "f:2: on-output: \"eat\" is not accepted; accepted: truncate, kill" },
        { "[Run]\nlabel=a\n", "f:2: label: \"a\" is not KEY=VALUE" },
        { "[Run]\nsetenv==b\n", "f:2: setenv: \"=b\" is not NAME or NAME=VALUE" },
        { "[Run]\nmax-parallel=0\n", "f:2: max-parallel: \"0\" is not accepted; accepted: a whole number, 1 to 100000" },
};

/* What counts of a parent's text and a text of one's own. */
static const struct {
        const char *name, *parent, *own, *settings;
} counting[] = {
        { "nothing", "", "", "" },
        { "sections without keys", "", "[Profile]\n[Limits]\n[Isolation]\n[Run]\n", "" },
        { "the last of a key", "", "[Limits]\nmemory=1G\nmemory=2G\n", "memory=2G p:3" },
        { "what is inherited", "[Limits]\nmemory=1G\n", "[Limits]\ntasks=5\n", "memory=1G q:2, tasks=5 p:2" },
        { "one's own before it", "[Limits]\nmemory=1G\ntasks=5\n", "[Limits]\nmemory=2G\n", "tasks=5 q:3, memory=2G p:2" },
        { "infinity is a value", "[Limits]\nmemory=1G\n", "[Limits]\nmemory=infinity\n", "memory=infinity p:2" },
        { "an empty value forgets", "[Limits]\nmemory=1G\ntasks=5\n", "[Limits]\nmemory=\n", "tasks=5 q:3" },
        { "and what comes later counts", "[Limits]\nmemory=1G\n", "[Limits]\nmemory=\nmemory=2G\n", "memory=2G p:3" },
        { "paths grow", "[Isolation]\nro=/a\n", "[Isolation]\nro=/b\nro=/c\n", "ro=/a q:2, ro=/b p:2, ro=/c p:3" },
        { "and are forgotten together", "[Isolation]\nro=/a\nrw=/x\n", "[Isolation]\nro=\nro=/c\n", "rw=/x q:3, ro=/c p:3" },
        { "variables and labels grow", "[Run]\nsetenv=A=1\nlabel=a=b\n", "[Run]\nsetenv=A\nlabel=c=d e\n", "setenv=A=1 q:2, label=a=b q:3, setenv=A p:2, label=c=d e p:3" },
        { "flags", "[Isolation]\nprivate-tmp=yes\n", "[Isolation]\nprivate-tmp=no\n", "private-tmp=no p:2" },
        { "all kinds of flags", "", "[Run]\nscope=ON\nclean-env=1\nbest-effort=t\npty=False\n", "scope=ON p:2, clean-env=1 p:3, best-effort=t p:4, pty=False p:5" },
};

/* What is applied to the options of which verb, and whom they name for it. */
static const struct {
        const char *text, *verb, *key, *said;
} applied[] = {
        { "[Limits]\nmemory=1G\n", NULL, "memory", "f:2: memory" },
        { "[Limits]\noutput=1K\n", NULL, "output", "f:2: output" },
        { "[Limits]\noutput=1K\n", "shell", "output", "--output" },
        { "[Limits]\noutput=1K\n", "batch", "output", "f:2: output" },
        { "[Run]\nstdin=null\n", NULL, "stdin", "f:2: stdin" },
        { "[Run]\nstdin=null\n", "shell", "stdin", "--stdin" },
        { "[Run]\npty=yes\n", "shell", "pty", "f:2: pty" },
        { "[Run]\npty=yes\n", "batch", "pty", "--pty" },
        { "[Run]\ndetach=yes\n", "batch", "detach", "--detach" },
        { "[Run]\ncapture=yes\n", "batch", "capture", "f:2: capture" },
        { "[Isolation]\nnet=none\n", NULL, "fs", "--fs" },
};
/* clang-format on */

static void test_refused(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
                g_autoptr(Profile) profile = profile_new("p");
                g_autoptr(GError) error = NULL;
                g_autofree char *name = g_strescape(refused[i].text, NULL);

                ok(!profile_read(profile, "f", refused[i].text, &error), "refused: %s", name);
                is(error ? error->message : NULL, refused[i].message, "… in words");
                is(error ? launcher_error_word(error) : NULL, "bad-profile", "… as what");
        }
}

static char *show(const Profile *profile) {
        g_autoptr(GString) shown = g_string_new(NULL);

        for (guint i = 0; i < profile->settings->len; i++) {
                const ProfileSetting *setting = g_ptr_array_index(profile->settings, i);

                g_string_append_printf(shown, "%s%s=%s %s:%u", i > 0 ? ", " : "",
                                       setting->option->name, setting->value, setting->file,
                                       setting->line);
        }
        return g_string_free(g_steal_pointer(&shown), FALSE);
}

static void test_counting(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(counting); i++) {
                g_autoptr(Profile) parent = profile_new("q"), own = profile_new("p");
                g_autofree char *shown = NULL;

                ok(profile_read(parent, "q", counting[i].parent, NULL) &&
                           profile_read(own, "p", counting[i].own, NULL),
                   "%s", counting[i].name);
                profile_inherit(own, parent);
                profile_settle(own);
                shown = show(own);
                is(shown, counting[i].settings, "… is what counts");
        }
}

static void test_own_words(void) {
        g_autoptr(Profile) profile = profile_new("p");

        ok(profile_read(profile, "f", "[Profile]\nDescription= a, b \nInherit=x\n", NULL) &&
                   profile_read(profile, "g", "[Profile]\nInherit=y.z-1\n", NULL),
           "a profile speaks of itself");
        is(profile->description, "a, b", "it has its description");
        is(profile->inherit, "y.z-1", "the last one to inherit from");
        is(profile->inherit_place, "g:2", "and the place where that is said");
        cmp_ok(profile->files->len, "==", 2, "and both files");
        ok(profile_read(profile, "h", "[Profile]\nInherit=\nDescription=\n", NULL),
           "and may take it back");
        is(profile->inherit, NULL, "nothing is inherited then");
        is(profile->description, NULL, "and nothing described");
}

static void test_applied(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(applied); i++) {
                g_autoptr(Profile) profile = profile_new("p");
                g_auto(Options) options;
                g_autofree char *said = NULL, *name = g_strescape(applied[i].text, NULL);

                options_init(&options);
                options.verb = applied[i].verb;
                ok(profile_read(profile, "f", applied[i].text, NULL), "read: %s", name);
                profile_settle(profile);
                ok(profile_apply(profile, &options, NULL), "… applied for %s",
                   applied[i].verb ?: "run");
                said = options_said_as(&options, applied[i].key);
                is(said, applied[i].said, "… and %s is said to be", applied[i].key);
        }
}

/* What is refused late is told as the profile has it. */
static void test_said(void) {
        g_autoptr(Profile) profile = profile_new("p");
        g_auto(Options) options;
        g_autofree char *said = NULL, *later = NULL;
        char *argv[] = { (char *)"--cpus=0", NULL };

        options_init(&options);
        ok(profile_read(profile, "f", "[Limits]\ncpus=0\n[Run]\ncapture=yes\n", NULL) &&
                   profile_apply(profile, &options, NULL),
           "a profile is applied");
        said = options_say(&options, "--cpus is not in force: no cpuset");
        is(said, "f:2: cpus is not in force: no cpuset", "a profile's value is told as its own");
        ok(options_parse(&options, argv, NULL), "the command line says it, too");
        later = options_say(&options, "--cpus is not in force: no cpuset");
        is(later, "--cpus is not in force: no cpuset", "and then it is the command line's");
}

/* A value that every row of the table takes. */
static const struct {
        const char *name, *value;
} values[] = {
        { "net", "none" },   { "fs", "strict" },       { "workspace", "/a" },   { "ro", "/a" },
        { "rw", "/a" },      { "hide", "/a" },         { "scratch", "/a:1M" },  { "wait", "tree" },
        { "pool", "a" },     { "max-parallel", "3" },  { "on-full", "fail" },   { "label", "a=b" },
        { "setenv", "A=b" }, { "directory", "/a" },    { "uid", "root" },       { "gid", "root" },
        { "stdin", "null" }, { "property", "Nice=1" }, { "on-output", "kill" },
};

static const char *value_of(const OptionInfo *option) {
        Limit limit;

        for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
                if (strcmp(values[i].name, option->name) == 0)
                        return values[i].value;
        if (limit_from_key(option->name, &limit))
                return "infinity";
        return option->value_name ? NULL : "yes";
}

/* A new option cannot be forgotten here: it is a key of one section, or only for the command line. */
static void test_every_option(void) {
        unsigned keys = 0;

        for (size_t i = 0; option_at(i); i++) {
                const OptionInfo *option = option_at(i);
                const char *section = profile_section_of(option), *value = value_of(option);
                g_autoptr(Profile) profile = profile_new("p");
                g_autoptr(GError) error = NULL;
                g_autofree char *text = g_strdup_printf("[%s]\n%s=%s\n", section ?: "Run",
                                                        option->name, value ?: "x");
                bool is_read = profile_read(profile, "f", text, &error);

                ok(is_read == (section != NULL), "%s is %s", option->name,
                   section ? "a key" : "none");
                ok(section || strstr(error->message, "not part of a profile"), "… and says so");
                ok(!section == (option->group == OPTION_GROUP_MANAGER ||
                                option->group == OPTION_GROUP_GENERAL ||
                                option->flags & (OPTION_NOT_IN_PROFILE | OPTION_BATCH_ALONE) ||
                                (option->flags & OPTION_NOT_IN_JOB &&
                                 !(option->flags & OPTION_IN_PROFILE))),
                   "… as the table has it");
                keys += section != NULL;
        }
        cmp_ok(keys, ">=", 40, "most of them are keys");
}

/* Hundreds of thousands of lines are read in a moment. */
static void test_many(void) {
        g_autoptr(GString) text = g_string_new("[Isolation]\n");
        g_autoptr(Profile) profile = profile_new("p");

        for (int i = 0; i < 50000; i++)
                g_string_append(text, "ro=/a\n");
        ok(profile_read(profile, "f", text->str, NULL), "fifty thousand lines are read");
        profile_settle(profile);
        cmp_ok(profile->settings->len, "==", 50000, "and all of them count");
}

int main(void) {
        plan(NO_PLAN);
        test_refused();
        test_counting();
        test_own_words();
        test_applied();
        test_said();
        test_every_option();
        test_many();
        done_testing();
}
