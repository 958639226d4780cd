/* params.c - `params` and `should-stop` inside a trial. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/hypertune.h"
#include "hypertune/lib/reporter.h"
#include "hypertune/trial/commands.h"
#include "hypertune/trial/trial.h"
#include "proto/base/number.h"
#include "proto/base/quote.h"
#include "proto/base/text.h"

const char trial_help_should_stop[] =
    "usage: hypertune should-stop\n"
    "\n"
    "Inside a trial: exits 0 when the trial should end now, 1 when it should\n"
    "continue, 6 when that is not known because this is no trial.\n";

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

typedef void params_printer(size_t n, const struct param params[],
                            struct text *out);

static void print_args(size_t n, const struct param params[], struct text *out)
{
    for (size_t i = 0; i < n; i++) {
        text_printf(out, "%s--%s=", i > 0 ? " " : "", params[i].name);
        text_shell_word(out, params[i].value);
    }
    text_puts(out, "\n");
}

/* A shell's variable has letters, digits and underscores only. */
static void print_env(size_t n, const struct param params[], struct text *out)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    for (size_t i = 0; i < n; i++) {
        if (params[i].name[0] >= '0' && params[i].name[0] <= '9')
            text_puts(out, "_");
        for (const char *c = params[i].name; *c != '\0'; c++)
            text_append(out, strchr(allowed, *c) != NULL ? c : "_", 1);
        text_puts(out, "=");
        text_shell_word(out, params[i].value);
        text_puts(out, "\n");
    }
}

static void print_json(size_t n, const struct param params[], struct text *out)
{
    text_puts(out, "{");
    for (size_t i = 0; i < n; i++) {
        text_puts(out, i == 0 ? "" : ", ");
        quote_json(out, params[i].name);
        text_puts(out, ": ");
        if (number_is_json(params[i].value))
            text_puts(out, params[i].value);
        else
            quote_json(out, params[i].value);
    }
    text_puts(out, "}\n");
}

static void print_table(size_t n, const struct param params[], struct text *out)
{
    size_t width = sizeof "NAME" - 1;
    for (size_t i = 0; i < n; i++)
        if (strlen(params[i].name) > width)
            width = strlen(params[i].name);
    text_printf(out, "%-*s  VALUE\n", (int)width, "NAME");
    for (size_t i = 0; i < n; i++) {
        text_printf(out, "%-*s  ", (int)width, params[i].name);
        text_escape(out, params[i].value);
        text_puts(out, "\n");
    }
}

/* The value of one alone. */
static void print_value(size_t n, const struct param params[], struct text *out)
{
    for (size_t i = 0; i < n; i++)
        text_printf(out, "%s\n", params[i].value);
}

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

/* The parameter of that name alone, or all of them. */
static int choose(struct params *params, const char *name)
{
    for (size_t i = 0; name != NULL && i < params->n; i++) {
        if (strcmp(params->items[i].name, name) != 0)
            continue;
        params->items[0] = params->items[i];
        params->n = 1;
        return TRIAL_EXIT_OK;
    }
    if (name == NULL)
        return TRIAL_EXIT_OK;
    fprintf(stderr, "hypertune: params: this trial has no parameter \"%s\"\n",
            name);
    return TRIAL_EXIT_NOT_FOUND;
}

static int print_params(const char *name, params_printer *print)
{
    struct params params = {.n = 0};
    struct text out = {0};
    int code = read_params(&params);
    if (code == TRIAL_EXIT_OK)
        code = choose(&params, name);
    if (print == NULL)
        print = name != NULL ? print_value : print_table;
    if (code == TRIAL_EXIT_OK) {
        print(params.n, params.items, &out);
        fputs(out.data, stdout);
    }
    text_free(&out);
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
