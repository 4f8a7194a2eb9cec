/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cordon: picks the verb. */

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "launcher/options.h"
#include "launcher/verbs/verbs.h"
#include "units/nearest.h"
#include "units/text.h"

#define STATUS_FAILURE 125
#define TEXT_SHOWN     40

typedef enum {
        VERB_GROUP_RUN,
        VERB_GROUP_LOOK,
        _VERB_GROUP_MAX,
} VerbGroup;

static const char *const group_titles[_VERB_GROUP_MAX] = {
        [VERB_GROUP_RUN] = "Running commands",
        [VERB_GROUP_LOOK] = "Looking",
};

static const struct {
        const char *name;
        int (*run)(char **argv);
        const char *usage;
        const char *help;
        VerbGroup group;
} verbs[] = {
        { "run", verb_run, "run [OPTIONS] [--] COMMAND [ARG...]", "run one command under limits" },
        { "shell", verb_shell, "shell [OPTIONS]", "a login shell under limits" },
        { "batch", verb_batch, "batch [OPTIONS] [FILE]", "run many, one JSON job a line" },
        { "profile", verb_profile, "profile [OPTIONS] [NAME]", "what goes by a name: --profile",
          VERB_GROUP_LOOK },
        { "doctor", verb_doctor, "doctor [OPTIONS]", "what can be enforced here", VERB_GROUP_LOOK },
        { "--list-options", verb_list_options, NULL, NULL }, /* hidden: shell completions ask */
        { "--list-values", verb_list_values, NULL, NULL },   /* likewise */
        { "--list-profiles", verb_list_profiles, NULL, NULL },
};

static const char *const own_options[] = { "--help", "--version" };

static void print_usage(const char *usage, const char *help) {
        printf("  cordon %-36s %s\n", usage, help);
}

static void print_group(VerbGroup group) {
        printf("%s:\n", group_titles[group]);
        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                if (verbs[i].usage && verbs[i].group == group)
                        print_usage(verbs[i].usage, verbs[i].help);
        putchar('\n');
}

static int print_help(void) {
        printf("cordon runs commands inside systemd units with hard resource limits.\n\n");
        for (int group = 0; group < _VERB_GROUP_MAX; group++)
                print_group((VerbGroup)group);
        printf("General:\n");
        print_usage("--version", "print the version");
        print_usage("--help", "this text");
        printf("\nFor example:\n"
               "    cordon run --memory 64M --timeout 10s -- python3 -c 'x=bytearray(200<<20)'\n");
        printf("\nEvery verb answers --help with its options. The manual: cordon(1).\n");
        return 0;
}

/* Hidden, for shell completions: a verb a line, its help behind a tab. */
static int list_verbs(void) {
        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                if (verbs[i].usage)
                        printf("%s\t%s\n", verbs[i].name, verbs[i].help);
        return 0;
}

/* A descriptor of ours must never land where a stream is expected: not the record's on standard output, nor a socket where
 * we print words. What was closed stays closed for the program: /dev/null is close-on-exec here, and that is the mark. */
static void keep_stream_numbers(void) {
        int fd;

        do
                fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        while (fd >= 0 && fd <= STDERR_FILENO);
        if (fd >= 0)
                (void)close(fd);
}

/* What was asked for is said, or it failed. */
static int finish(int status) {
        if (status == STATUS_FAILURE || (fflush(stdout) == 0 && !ferror(stdout)))
                return status;
        fprintf(stderr, "cordon: cannot write to standard output: %s\n", g_strerror(errno));
        return STATUS_FAILURE;
}

static int refuse(const char *word) {
        Nearest nearest = nearest_to(word);
        g_autofree char *shown = text_printable(word, TEXT_SHOWN);

        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                if (verbs[i].usage)
                        nearest_offer(&nearest, verbs[i].name);
        for (size_t i = 0; i < G_N_ELEMENTS(own_options); i++) {
                nearest_offer(&nearest, own_options[i]);
                if (strcmp(word, own_options[i] + strlen("--")) == 0) /* as if it were a verb */
                        nearest.best = own_options[i];
        }
        if (option_of_word(word))
                fprintf(stderr, "cordon: \"%s\" stands behind the verb: cordon run %s", shown,
                        shown);
        else
                fprintf(stderr, "cordon: unknown %s \"%s\"", word[0] == '-' ? "option" : "verb",
                        shown);
        if (nearest.best)
                fprintf(stderr, " (did you mean %s?)", nearest.best);
        fprintf(stderr, "; see cordon --help\n");
        return STATUS_FAILURE;
}

int main(int argc, char *argv[]) {
        const char *word = argc > 1 ? argv[1] : "";

        keep_stream_numbers();
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
                return finish(print_help());
        if (strcmp(word, "--version") == 0) {
                printf("cordon %s\n", CORDON_VERSION);
                return finish(0);
        }
        if (strcmp(word, "--list-verbs") == 0)
                return finish(list_verbs());
        for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
                if (strcmp(word, verbs[i].name) == 0)
                        return finish(verbs[i].run(argv + 2));

        if (argc > 1)
                return refuse(word);
        fprintf(stderr, "cordon: no verb given; see cordon --help\n");
        return STATUS_FAILURE;
}
