/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where profiles lie: three directories of our own, the least first, files of all kinds in them, and what is found. And
 * in which order profile, job and command line count. */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tap.h>
#include <unistd.h>

#include "launcher/kernel/error.h"
#include "launcher/layers.h"
#include "launcher/profile/shelf.h"

static char *place;     /* everything is in here */
static char *places[3]; /* "0", "1", "config/cordon/profiles" */

static char *path_of(int directory, const char *file) {
        return g_build_filename(places[directory], file, NULL);
}

static void put(int directory, const char *file, const char *text) {
        g_autofree char *path = path_of(directory, file);
        g_autofree char *parent = g_path_get_dirname(path);

        if (g_mkdir_with_parents(parent, 0755) < 0 || !g_file_set_contents(path, text, -1, NULL) ||
            chmod(path, 0644) < 0)
                BAIL_OUT("cannot write %s", path);
}

static void clean(void) {
        const char *argv[] = { "rm", "-rf", place, NULL };

        (void)g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL,
                           NULL, NULL);
}

static void begin(void) {
        clean();
        for (int i = 0; i < 3; i++)
                if (g_mkdir_with_parents(places[i], 0755) < 0)
                        BAIL_OUT("cannot make %s", places[i]);
}

static ProfileShelf *open_shelf(void) {
        return profile_shelf_new_in(
                (const char *[]){ places[0], places[1], "relative", places[2], NULL });
}

/* "memory=1G 0/a.conf:2, …" */
static char *show(const Profile *profile) {
        g_autoptr(GString) shown = g_string_new(NULL);

        for (guint i = 0; profile && i < profile->settings->len; i++) {
                const ProfileSetting *setting = g_ptr_array_index(profile->settings, i);

                g_string_append_printf(shown, "%s%s=%s %s:%u", i > 0 ? ", " : "",
                                       setting->option->name, setting->value,
                                       setting->file + strlen(place) + 1, setting->line);
        }
        return g_string_free(g_steal_pointer(&shown), FALSE);
}

static void check(const char *name, const char *settings, const char *what) {
        g_autoptr(ProfileShelf) shelf = open_shelf();
        g_autoptr(GError) error = NULL;
        const Profile *profile = profile_shelf_find(shelf, name, &error);
        g_autofree char *shown = show(profile);

        ok(profile, "%s: it is found", what);
        is(shown, settings, "%s: these settings", what);
        ok(profile == profile_shelf_find(shelf, name, NULL), "%s: it is kept", what);
        if (error)
                diag("%s", error->message);
}

/* The place stands for "@" in the message. */
static void check_refused(const char *name, const char *code, const char *message,
                          const char *what) {
        g_autoptr(ProfileShelf) shelf = open_shelf();
        g_autoptr(GError) error = NULL;
        g_auto(GStrv) parts = g_strsplit(message, "@", -1);
        g_autofree char *expected = g_strjoinv(place, parts);

        ok(!profile_shelf_find(shelf, name, &error), "%s: it is refused", what);
        is(error ? error->message : NULL, expected, "%s: in words", what);
        is(error ? launcher_error_word(error) : NULL, code, "%s: as what", what);
}

static void test_directories(void) {
        begin();
        put(0, "a.conf", "[Limits]\nmemory=1G\ntasks=5\n");
        check("a", "memory=1G 0/a.conf:2, tasks=5 0/a.conf:3", "the program's own");
        put(1, "a.conf", "[Limits]\nmemory=2G\n");
        check("a", "memory=2G 1/a.conf:2", "the machine's is in its place");
        put(2, "a.conf", "[Limits]\nmemory=3G\n");
        check("a", "memory=3G config/cordon/profiles/a.conf:2", "the caller's is in its place");
        put(2, "a.conf", "");
        check("a", "", "an empty one, too");
        put(1, "only.conf", "[Limits]\ntasks=1\n");
        check("only", "tasks=1 1/only.conf:2", "one in a single directory");
}

static void test_drop_ins(void) {
        begin();
        put(0, "a.conf", "[Limits]\nmemory=1G\n[Isolation]\nro=/0\n");
        put(2, "a.conf.d/10-x.conf", "[Isolation]\nro=/1\n");
        put(1, "a.conf.d/20-y.conf", "[Limits]\nmemory=2G\n[Isolation]\nro=/2\n");
        check("a",
              "ro=/0 0/a.conf:4, ro=/1 config/cordon/profiles/a.conf.d/10-x.conf:2, "
              "memory=2G 1/a.conf.d/20-y.conf:2, ro=/2 1/a.conf.d/20-y.conf:4",
              "drop-ins count in the order of their names, whatever their directory");
        put(2, "a.conf.d/20-y.conf", "[Limits]\nmemory=3G\n");
        check("a",
              "ro=/0 0/a.conf:4, ro=/1 config/cordon/profiles/a.conf.d/10-x.conf:2, "
              "memory=3G config/cordon/profiles/a.conf.d/20-y.conf:2",
              "of two of a name the later directory's counts");
        put(2, "a.conf.d/20-y.conf", "");
        put(0, "a.conf.d/.hidden.conf", "nonsense");
        put(0, "a.conf.d/README", "nonsense");
        put(0, "a.conf.d/b.conf~", "nonsense");
        check("a",
              "memory=1G 0/a.conf:2, ro=/0 0/a.conf:4, "
              "ro=/1 config/cordon/profiles/a.conf.d/10-x.conf:2",
              "an empty one takes away, and other files are none");
        put(0, "b.conf.d/x.conf", "[Limits]\ntasks=1\n");
        check_refused("b", "bad-value", "there is no profile \"b\" (did you mean a?); there are: a",
                      "drop-ins alone are no profile");
}

static void test_inheriting(void) {
        begin();
        put(0, "a.conf", "[Profile]\nDescription=x\n[Limits]\nmemory=1G\ntasks=5\n");
        put(1, "b.conf", "[Profile]\nInherit=a\n[Limits]\ntasks=6\nnofile=9\n");
        put(2, "c.conf", "[Profile]\nInherit=b\n[Limits]\nnofile=\ncore=0\n");
        put(2, "a.conf.d/x.conf", "[Limits]\nmemory=2G\n");
        check("b",
              "memory=2G config/cordon/profiles/a.conf.d/x.conf:2, tasks=6 1/b.conf:4, "
              "nofile=9 1/b.conf:5",
              "a parent comes with its drop-ins");
        check("c",
              "memory=2G config/cordon/profiles/a.conf.d/x.conf:2, tasks=6 1/b.conf:4, "
              "core=0 config/cordon/profiles/c.conf:5",
              "and with what it inherits itself");

        put(2, "d.conf", "[Profile]\nInherit=none\n");
        check_refused("d", "bad-profile",
                      "@/config/cordon/profiles/d.conf:2: Inherit: there is no profile \"none\"; "
                      "there are: a, b, c, d",
                      "a parent that is not there");
        put(2, "e.conf", "\n[Profile]\nInherit=e\n");
        check_refused("e", "bad-profile",
                      "@/config/cordon/profiles/e.conf:3: Inherit: a cycle: e → e; accepted: "
                      "another profile (a file in e.conf.d adds to e)",
                      "a profile that inherits from itself");
        put(1, "f.conf", "[Profile]\nInherit=g\n");
        put(0, "g.conf", "[Profile]\nInherit=h\n");
        put(2, "h.conf", "[Profile]\nInherit=g\n");
        check_refused("f", "bad-profile",
                      "@/config/cordon/profiles/h.conf:2: Inherit: a cycle: f → g → h → g; "
                      "accepted: another profile (a file in g.conf.d adds to g)",
                      "a cycle further on");
        put(2, "i.conf", "[Profile]\nInherit=j\n");
        put(2, "j.conf", "[Limits]\nmemory=much\n");
        check_refused("i", "bad-profile",
                      "@/config/cordon/profiles/j.conf:2: memory: \"much\" is not a size; accepted: "
                      "a number with B, K, M, G or T (1024-based), or infinity",
                      "a mistake of a parent");
}

/* What is no file of text, or not to be trusted. */
static void test_files(void) {
        g_autofree char *fifo = NULL, *loop = NULL, *text = NULL, *large = NULL;
        g_autofree char *directory = NULL;

        begin();
        put(0, "a.conf", "[Limits]\ntasks=1\n");
        fifo = path_of(2, "a.conf");
        if (mkfifo(fifo, 0600) < 0)
                BAIL_OUT("cannot make %s", fifo);
        check_refused("a", "bad-profile", "@/config/cordon/profiles/a.conf: not a file", "a FIFO");
        if (unlink(fifo) < 0 || symlink("/dev/zero", fifo) < 0)
                BAIL_OUT("cannot make %s", fifo);
        check_refused("a", "bad-profile", "@/config/cordon/profiles/a.conf: not a file",
                      "a device");
        loop = path_of(2, "a.conf");
        if (unlink(loop) < 0 || symlink("a.conf", loop) < 0)
                BAIL_OUT("cannot make %s", loop);
        check_refused("a", "bad-profile",
                      "@/config/cordon/profiles/a.conf: Too many levels of symbolic links",
                      "a link to itself");
        if (unlink(loop) < 0 || symlink("nowhere", loop) < 0)
                BAIL_OUT("cannot make %s", loop);
        check_refused("a", "bad-profile",
                      "@/config/cordon/profiles/a.conf: a link to a file that is not there",
                      "a link that leads nowhere");
        if (unlink(loop) < 0 || mkdir(loop, 0755) < 0)
                BAIL_OUT("cannot make %s", loop);
        check_refused("a", "bad-profile", "@/config/cordon/profiles/a.conf: not a file",
                      "a directory");
        if (rmdir(loop) < 0)
                BAIL_OUT("cannot remove %s", loop);

        large = g_strnfill((1 << 20) + 1, '\n');
        put(2, "a.conf", large);
        check_refused("a", "bad-profile", "@/config/cordon/profiles/a.conf: too long; accepted: 1M",
                      "more than 1M");
        put(0, "own.conf", large);
        check_refused("own", "bad-profile", "@/0/own.conf: too long; accepted: 1M",
                      "more than 1M of the program's own");
        large[1 << 20] = '\0';
        put(2, "a.conf", large);
        check("a", "", "1M");
        text = path_of(2, "a.conf");
        if (!g_file_set_contents(text, "[Limits]\0\ntasks=1\n", 19, NULL))
                BAIL_OUT("cannot write %s", text);
        check_refused("a", "bad-profile",
                      "@/config/cordon/profiles/a.conf: not a text that can be read", "a NUL byte");
        put(2, "a.conf", "[Limits]\ntasks=2\n");
        if (chmod(text, 0666) < 0)
                BAIL_OUT("cannot change %s", text);
        check_refused(
                "a", "bad-profile",
                "@/config/cordon/profiles/a.conf: not trusted: others can write it (chmod go-w)",
                "one that others can write");
        if (unlink(text) < 0)
                BAIL_OUT("cannot remove %s", text);
        put(0, "a.conf", "[Limits]\ntasks=3\n");
        directory = path_of(0, "a.conf");
        if (chmod(directory, 0666) < 0)
                BAIL_OUT("cannot change %s", directory);
        check("a", "tasks=3 0/a.conf:2", "but the program's own is as it is");
}

static void test_names(void) {
        static const char *const bad[] = { "",    ".",  "..", "../a", "/a",
                                           "a/b", ".a", "-a", "a b",  "a\n" };
        g_autoptr(ProfileShelf) shelf = NULL;
        g_autoptr(GPtrArray) names = NULL;
        g_autofree char *all = NULL;

        begin();
        put(0, "a.conf", "");
        put(1, "a.conf", "");
        put(1, "B-1_x.y.conf", "");
        put(2, "broken.conf", "nonsense");
        put(2, ".hidden.conf", "");
        put(2, "sp ace.conf", "");
        put(2, "-dash.conf", "");
        put(2, "notes.txt", "");
        put(2, ".conf", "");
        put(2, "c.conf.d/x.conf", "");
        put(2, "folder.conf/x", "");
        shelf = open_shelf();
        names = profile_shelf_names(shelf);
        g_ptr_array_add(names, NULL);
        all = g_strjoinv(" ", (char **)names->pdata);
        is(all, "B-1_x.y a broken", "the names that there are");

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                g_autoptr(GError) error = NULL;
                g_autofree char *name = g_strescape(bad[i], NULL);

                ok(!profile_shelf_find(shelf, bad[i], &error), "\"%s\" is no name", name);
                like(error ? error->message : "", "is not the name of a profile; accepted: letters",
                     "… and is told what is");
        }
        begin();
        check_refused("x", "bad-value", "there is no profile \"x\"; there are: none",
                      "where there is none at all");
        for (int i = 0; i < 23; i++) {
                g_autofree char *file = g_strdup_printf("p%02d.conf", i);

                put(1, file, "");
        }
        check_refused("x", "bad-value",
                      "there is no profile \"x\"; there are: p00, p01, p02, p03, p04, p05, p06, p07, "
                      "p08, p09, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, and 3 more",
                      "where there are many");
}

/* Layers. What does not stand in a profile comes from where profiles really are: here the caller's. */

static char *job_place(const char *text) {
        int fd = memfd_create("job", 0);

        if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
                BAIL_OUT("no memfd");
        return g_strdup_printf("/proc/self/fd/%d", fd);
}

static char *show_limits(const Options *options) {
        g_autoptr(GString) shown = g_string_new(options->profile);

        for (int i = 0; i < _LIMIT_MAX; i++)
                if (options->limits.is_set[i]) {
                        g_autofree char *value = limit_set_format(&options->limits, (Limit)i);

                        g_string_append_printf(shown, " %s=%s", limit_info((Limit)i)->key, value);
                }
        g_string_append_printf(shown, "%s%s%s", options->isolation.has_no_network ? " net" : "",
                               options->isolation.has_private_tmp ? " tmp" : "",
                               options->is_capture ? " capture" : "");
        return g_string_free(g_steal_pointer(&shown), FALSE);
}

/* clang-format off */
static const struct {
        const char *what, *job; /* NULL: none */
        const char *argv[6];
        const char *limits;
} layers[] = {
        { "a profile alone", NULL, { "--profile=p" }, "p memory=1G tasks=5 net tmp" },
        { "the last of two", NULL, { "--profile=p", "--profile", "q" }, "q memory=8G" },
        { "the command line wins", NULL, { "--memory=2G", "--profile=p" }, "p memory=2G tasks=5 net tmp" },
        { "infinity lifts", NULL, { "--profile=p", "--memory=infinity" }, "p memory=infinity tasks=5 net tmp" },
        { "a word lifts", NULL, { "--profile=p", "--net=host" }, "p memory=1G tasks=5 tmp" },
        { "a job's profile", "{\"profile\":\"p\"}", { NULL }, "p memory=1G tasks=5 net tmp" },
        { "a job above its profile", "{\"profile\":\"p\",\"limits\":{\"memory\":\"3G\"},\"private-tmp\":false}", { NULL }, "p memory=3G tasks=5 net" },
        { "a job above the command line's profile", "{\"limits\":{\"memory\":\"3G\"}}", { "--profile=p" }, "p memory=3G tasks=5 net tmp" },
        { "the command line above both", "{\"profile\":\"p\",\"limits\":{\"memory\":\"3G\",\"tasks\":6}}", { "--memory=4G" }, "p memory=4G tasks=6 net tmp" },
        { "the command line's profile in place of the job's", "{\"profile\":\"p\",\"limits\":{\"tasks\":6}}", { "--profile=q" }, "q memory=8G tasks=6" },
        { "a job's infinity", "{\"profile\":\"p\",\"limits\":{\"memory\":\"infinity\"}}", { NULL }, "p memory=infinity tasks=5 net tmp" },
        { "output where it is captured", NULL, { "--profile=o", "--json" }, "o output=1K capture" },
        { "and where it is not", NULL, { "--profile=o" }, "o" },
        { "a job may take back what a profile captures", "{\"profile\":\"c\",\"capture\":false}", { NULL }, "c" },
};

static const struct {
        const char *what;
        const char *argv[6];
        const char *job, *limits;
} lines[] = {
        { "a line without a profile", { "--memory=2G" }, "{\"limits\":{\"tasks\":6}}", " memory=2G tasks=6" },
        { "a profile below all lines", { "--profile=p", "--memory=2G" }, "{\"limits\":{\"tasks\":6}}", "p memory=2G tasks=6 net tmp" },
        { "a line's own in its place, below the command line", { "--profile=p", "--tasks=7" }, "{\"profile\":\"q\"}", "q memory=8G tasks=7" },
        { "a line's infinity", { "--profile=p" }, "{\"limits\":{\"memory\":\"infinity\"}}", "p memory=infinity tasks=5 net tmp" },
};
/* clang-format on */

static void put_profiles(void) {
        begin();
        put(2, "p.conf", "[Limits]\nmemory=1G\ntasks=5\n[Isolation]\nnet=none\nprivate-tmp=yes\n");
        put(2, "q.conf", "[Limits]\nmemory=8G\n");
        put(2, "o.conf", "[Limits]\noutput=1K\n[Run]\non-output=kill\n");
        put(2, "c.conf", "[Run]\ncapture=yes\n");
        put(2, "bad.conf", "[Limits]\nmemroy=1G\n");
}

static void test_layers(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(layers); i++) {
                g_autofree char *job = layers[i].job ? job_place(layers[i].job) : NULL;
                char *argv[16] = { (char *)"--job", job };
                char **words = job ? argv : argv + 2;
                g_auto(Options) options;
                g_autoptr(GError) error = NULL;
                g_autofree char *shown = NULL;

                for (size_t j = 0; layers[i].argv[j]; j++)
                        argv[2 + j] = (char *)layers[i].argv[j];
                options_init(&options);
                ok(layers_parse(&options, words, &error), "%s", layers[i].what);
                shown = show_limits(&options);
                is(shown, layers[i].limits, "%s: the limits", layers[i].what);
                if (error)
                        diag("%s", error->message);
        }
}

static void test_lines(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                g_autoptr(ProfileShelf) shelf = profile_shelf_new();
                g_auto(Options) options;
                g_autofree char *shown = NULL;

                options_init(&options);
                options.verb = VERB_BATCH;
                ok(layers_parse_line(&options, shelf, (char **)lines[i].argv, lines[i].job,
                                     strlen(lines[i].job), NULL),
                   "%s", lines[i].what);
                shown = show_limits(&options);
                is(shown, lines[i].limits, "%s: the limits", lines[i].what);
        }
}

/* Where the record goes is known even when the profile cannot be used, and which it was. */
static void test_failures(void) {
        static const struct {
                const char *job; /* NULL: the command line has it */
                const char *name, *said;
        } rows[] = {
                { NULL, "nope", "^--profile: there is no profile \"nope\"; there are: " },
                { NULL, "bad", "^--profile: .*/bad\\.conf:2: unknown key \"memroy\"" },
                { "{\"profile\":\"nope\",\"id\":\"x\"}", "nope",
                  "^--job: \\$\\.profile: there is no profile" },
                { "{\"profile\":\"bad\",\"id\":\"x\"}", "bad",
                  "^--job: \\$\\.profile: .*/bad\\.conf:2: unknown key" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autofree char *job = rows[i].job ? job_place(rows[i].job) : NULL;
                char *argv[] = { (char *)(job ? "--job" : "--profile"), job ?: (char *)rows[i].name,
                                 (char *)"--record=fd:9", (char *)"c", NULL };
                g_auto(Options) options;
                g_autoptr(GError) error = NULL;
                g_autofree char *said = NULL;

                options_init(&options);
                ok(!layers_parse(&options, argv, &error), "refused: %s", rows[i].name);
                said = options_say(&options, error ? error->message : "");
                like(said, rows[i].said, "… in its giver's words");
                is(options.record, "fd:9", "… the record has its place");
                is(options.profile, rows[i].name, "… the profile its name");
                is(options.command[0], "c", "… and the command is known");
        }
        for (size_t i = 0; i < 2; i++) {
                g_autofree char *line = g_strdup_printf("{\"profile\":\"%s\",\"id\":\"x\"}",
                                                        rows[i].name);
                g_autoptr(ProfileShelf) shelf = profile_shelf_new();
                char *argv[] = { NULL };
                g_auto(Options) options;
                g_autoptr(GError) error = NULL;

                options_init(&options);
                options.verb = VERB_BATCH;
                ok(!layers_parse_line(&options, shelf, argv, line, strlen(line), &error),
                   "refused: %s", line);
                like(error ? error->message : "", "^\\$\\.profile: ", "… in the line's words");
                is(options.id, "x", "… and its id is known");
        }
}

int main(void) {
        g_autofree char *config = NULL;

        plan(NO_PLAN);
        place = g_dir_make_tmp("cordon-shelf-XXXXXX", NULL);
        if (!place)
                BAIL_OUT("no directory");
        config = g_build_filename(place, "config", NULL);
        if (!g_setenv("XDG_CONFIG_HOME", config, TRUE))
                BAIL_OUT("no environment");
        places[0] = g_build_filename(place, "0", NULL);
        places[1] = g_build_filename(place, "1", NULL);
        places[2] = g_build_filename(config, "cordon", "profiles", NULL);
        test_directories();
        test_drop_ins();
        test_inheriting();
        test_files();
        test_names();
        put_profiles();
        test_layers();
        test_lines();
        test_failures();
        clean();
        done_testing();
}
