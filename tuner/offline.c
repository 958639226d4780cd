#include "tuner/offline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/backup/restore.h"
#include "tuner/backup/verify.h"
#include "tuner/datadir.h"

enum { EXIT_WRONG = 1, EXIT_USAGE = 2, EXIT_ABSENT = 3, EXIT_CONFLICT = 5 };

bool offline_is_asked(int argc, char *argv[])
{
    return argc > 1 &&
           (strcmp(argv[1], "verify") == 0 || strcmp(argv[1], "restore") == 0);
}

static enum ht_status restore(char *argv[], bool replace, const char *fail,
                              struct text *report, struct ht_error *err)
{
    struct datadir dir;
    struct failpoint failpoint;
    char *copy = realpath(argv[2], NULL);
    if (copy == NULL)
        return ht_fail(err, HT_NOT_FOUND, "there is no %s", argv[2]);
    enum ht_status status = datadir_lock(argv[3], &dir, err);
    if (status == HT_OK) {
        failpoint_arm(&failpoint, fail);
        const struct restore_order order = {.copy = copy,
                                            .folder = dir.path,
                                            .replace = replace,
                                            .failpoint = &failpoint};
        status = restore_copy(&order, report, err);
        datadir_close(&dir);
    }
    free(copy);
    return status;
}

static int exit_code(enum ht_status status)
{
    if (status == HT_OK)
        return EXIT_SUCCESS;
    if (status == HT_NOT_FOUND)
        return EXIT_ABSENT;
    return status == HT_CONFLICT ? EXIT_CONFLICT : EXIT_WRONG;
}

/* Names of folders in it may steer a terminal. */
static void print_report(const struct text *report)
{
    struct text out = {0};
    for (const char *line = text_string(report); *line != '\0';) {
        const size_t len = strcspn(line, "\n");
        char *copy = strndup(line, len);
        text_escape(&out, copy);
        text_puts(&out, "\n");
        free(copy);
        line += len + (line[len] == '\n');
    }
    fputs(text_string(&out), stdout);
    text_free(&out);
}

static void complain(const struct ht_error *err)
{
    struct text line = {0};
    text_puts(&line, "hypertune: ");
    text_escape(&line, err->text);
    text_puts(&line, "\n");
    fputs(line.data, stderr);
    text_free(&line);
}

int offline_run(int argc, char *argv[], const char *fail)
{
    struct text report = {0};
    struct ht_error err;
    enum ht_status status;
    const bool replace = argc == 5 && strcmp(argv[4], "--replace") == 0;
    if (strcmp(argv[1], "verify") == 0 && argc == 3) {
        status = verify_folder(argv[2], &report, &err);
    } else if (strcmp(argv[1], "restore") == 0 && (argc == 4 || replace)) {
        status = restore(argv, replace, fail, &report, &err);
    } else {
        fputs("usage: hypertuned verify PATH | restore COPY DIR [--replace]\n",
              stderr);
        return EXIT_USAGE;
    }
    if (status == HT_OK)
        print_report(&report);
    else
        complain(&err);
    text_free(&report);
    return exit_code(status);
}
