#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/hypertune.h"
#include "hypertune/lib/reporter.h"
#include "hypertune/trial/commands.h"
#include "hypertune/trial/trial.h"

const char trial_help_should_stop[] =
    "usage: hypertune should-stop\n"
    "\n"
    "Inside a trial: exits 0 when the trial should end now, 1 when it should\n"
    "go on, 6 when that is not known because this is no trial.\n";

const char trial_help_params[] =
    "usage: hypertune params [NAME] [-o args|env|json|table]\n"
    "\n"
    "Inside a trial: prints its hyperparameters, or the value of one.\n"
    "\n"
    "  -o args   --name=value words, to paste behind a command\n"
    "  -o env    NAME=value lines for a shell's eval\n"
    "  -o json   one object\n"
    "  -o table  names and values in columns (default)\n";

enum { MAX_PARAMS = 64 };

struct param {
    const char *name, *value;
};

struct params {
    char *text; /* the whole file, cut into pieces */
    size_t n;
    struct param items[MAX_PARAMS];
};

/* ---- reading ---- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return NULL;
    char *text = NULL;
    size_t cap = 0;
    ssize_t len = getdelim(&text, &cap, '\0', file);
    fclose(file);
    return len >= 0 || text == NULL ? text : (text[0] = '\0', text);
}

static int read_params(struct params *params)
{
    const char *folder = reporter_trial_folder();
    if (folder == NULL) {
        fputs("hypertune: params: not inside a trial\n", stderr);
        return TRIAL_EXIT_NOT_FOUND;
    }
    char path[4096];
    snprintf(path, sizeof path, "%s/params", folder);
    params->text = read_file(path);
    if (params->text == NULL) {
        fprintf(stderr, "hypertune: params: cannot read %s: %s\n", path,
                strerror(errno));
        return TRIAL_EXIT_NOT_FOUND;
    }
    char *rest = NULL;
    for (char *line = strtok_r(params->text, "\n", &rest);
         line != NULL && params->n < MAX_PARAMS;
         line = strtok_r(NULL, "\n", &rest)) {
        char *equals = strchr(line, '=');
        if (equals == NULL)
            continue;
        *equals = '\0';
        params->items[params->n++] = (struct param){line, equals + 1};
    }
    return TRIAL_EXIT_OK;
}

/* ---- printing ---- */

static void print_args(size_t n, const struct param params[])
{
    for (size_t i = 0; i < n; i++) {
        printf("%s--%s=", i > 0 ? " " : "", params[i].name);
        trial_print_shell(stdout, params[i].value);
    }
    putchar('\n');
}

/* A shell's variable has letters, digits and underscores only. */
static void print_env(size_t n, const struct param params[])
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    for (size_t i = 0; i < n; i++) {
        if (params[i].name[0] >= '0' && params[i].name[0] <= '9')
            putchar('_');
        for (const char *c = params[i].name; *c != '\0'; c++)
            putchar(strchr(allowed, *c) != NULL ? *c : '_');
        putchar('=');
        trial_print_shell(stdout, params[i].value);
        putchar('\n');
    }
}

/* JSON's own grammar of numbers: no plus sign, no leading zero, digits on both
 * sides of the point. */
static bool is_json_number(const char *text)
{
    double value;
    const char *digits = text + (*text == '-');
    size_t whole = strspn(digits, "0123456789");
    return whole > 0 && (whole == 1 || digits[0] != '0') &&
           trial_read_number(text, &value);
}

static void print_json(size_t n, const struct param params[])
{
    for (size_t i = 0; i < n; i++) {
        fputs(i == 0 ? "{" : ", ", stdout);
        trial_print_json(stdout, params[i].name);
        fputs(": ", stdout);
        if (is_json_number(params[i].value))
            fputs(params[i].value, stdout);
        else
            trial_print_json(stdout, params[i].value);
    }
    puts(n == 0 ? "{}" : "}");
}

static void print_table(size_t n, const struct param params[])
{
    size_t width = sizeof "NAME" - 1;
    for (size_t i = 0; i < n; i++)
        if (strlen(params[i].name) > width)
            width = strlen(params[i].name);
    printf("%-*s  VALUE\n", (int)width, "NAME");
    for (size_t i = 0; i < n; i++) {
        printf("%-*s  ", (int)width, params[i].name);
        trial_print_plain(stdout, params[i].value);
        putchar('\n');
    }
}

typedef void params_printer(size_t n, const struct param params[]);

static params_printer *find_printer(const char *format)
{
    static const struct {
        const char *name;
        params_printer *print;
    } formats[] = {{"args", print_args},
                   {"env", print_env},
                   {"json", print_json},
                   {"table", print_table}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, format) == 0)
            return formats[i].print;
    return NULL;
}

static int print_one(const struct params *params, const char *name,
                     params_printer *print)
{
    for (size_t i = 0; i < params->n; i++) {
        if (strcmp(params->items[i].name, name) != 0)
            continue;
        if (print != NULL)
            print(1, &params->items[i]);
        else
            puts(params->items[i].value);
        return TRIAL_EXIT_OK;
    }
    fprintf(stderr, "hypertune: params: this trial has no parameter \"%s\"\n",
            name);
    return TRIAL_EXIT_NOT_FOUND;
}

static int print_params(const char *name, params_printer *print)
{
    struct params params = {.n = 0};
    int code = read_params(&params);
    if (code == TRIAL_EXIT_OK && name != NULL)
        code = print_one(&params, name, print);
    else if (code == TRIAL_EXIT_OK)
        (print != NULL ? print : print_table)(params.n, params.items);
    free(params.text);
    return code;
}

int trial_command_params(int argc, char **argv)
{
    const char *name = NULL;
    params_printer *print = NULL;
    for (int i = 1; i < argc; i++) {
        const char *format;
        if (strcmp(argv[i], "--help") == 0) {
            fputs(trial_help_params, stdout);
            return TRIAL_EXIT_OK;
        }
        if (trial_option("-o", argc, argv, &i, &format) ||
            trial_option("--output", argc, argv, &i, &format)) {
            print = format != NULL ? find_printer(format) : NULL;
            if (print == NULL)
                return trial_usage("params: -o \"%s\" is not one of args, env, "
                                   "json, table",
                                   format != NULL ? format : "");
        } else if (argv[i][0] == '-') {
            return trial_usage("params: unknown option \"%s\"", argv[i]);
        } else if (name != NULL) {
            return trial_usage("params: \"%s\": one name at most", argv[i]);
        } else {
            name = argv[i];
        }
    }
    return print_params(name, print);
}

int trial_command_should_stop(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(trial_help_should_stop, stdout);
        return TRIAL_EXIT_OK;
    }
    if (argc > 1)
        return trial_usage("should-stop: unexpected \"%s\"", argv[1]);
    if (reporter_trial_folder() == NULL)
        return TRIAL_EXIT_UNREACHABLE;
    return hypertune_should_stop() ? TRIAL_EXIT_OK : TRIAL_EXIT_GO_ON;
}
