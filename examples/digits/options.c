#include "examples/digits/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { KIND_REAL, KIND_WHOLE, KIND_ACTIVATION, KIND_PATH };

struct flag {
    const char *name;
    enum kind kind;
    size_t offset;   /* of the field in struct options */
    double min, max; /* of numbers, inclusive */
    const char *help;
};

#define FIELD(member) offsetof(struct options, member)
static const struct flag flags[] = {
    {"learning_rate", KIND_REAL, FIELD(learning_rate), 1e-9, 100,
     "size of a step (0.1)"},
    {"hidden_units", KIND_WHOLE, FIELD(hidden_units), 1, 4096,
     "width of the hidden layer (64)"},
    {"momentum", KIND_REAL, FIELD(momentum), 0, 0.9999,
     "share of the last step that is kept (0.5)"},
    {"weight_decay", KIND_REAL, FIELD(weight_decay), 0, 1, "penalty (1e-5)"},
    {"batch_size", KIND_WHOLE, FIELD(batch_size), 1, 1024,
     "images a step (32)"},
    {"activation", KIND_ACTIVATION, FIELD(activation), 0, 0,
     "relu, tanh or sigmoid (relu)"},
    {"epochs", KIND_WHOLE, FIELD(epochs), 1, 100000,
     "times to see every image (50)"},
    {"seed", KIND_WHOLE, FIELD(seed), 0, 9e15,
     "of split, weights and order (1)"},
    {"data", KIND_PATH, FIELD(data), 0, 0, "the images (digits.csv.gz)"},
};
enum { FLAGS = sizeof flags / sizeof *flags };

static bool read_real(const char *text, const struct flag *flag, double *value)
{
    char *end;
    errno = 0;
    double x = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(x))
        return false;
    *value = x;
    return x >= flag->min && x <= flag->max;
}

static bool read_whole(const char *text, const struct flag *flag,
                       int64_t *value)
{
    char *end;
    errno = 0;
    long long x = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0)
        return false;
    *value = x;
    return (double)x >= flag->min && (double)x <= flag->max;
}

static bool read_activation(const char *text, enum activation *value)
{
    static const char *const names[] = {"relu", "tanh", "sigmoid"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *value = (enum activation)i;
            return true;
        }
    }
    return false;
}

static int store(const struct flag *flag, const char *text,
                 struct options *options)
{
    char *field = (char *)options + flag->offset;
    const char *what = "";
    bool fits = true;
    switch (flag->kind) {
    case KIND_REAL:
        fits = read_real(text, flag, (double *)(void *)field);
        what = "a number";
        break;
    case KIND_WHOLE:
        fits = read_whole(text, flag, (int64_t *)(void *)field);
        what = "a whole number";
        break;
    case KIND_ACTIVATION:
        fits = read_activation(text, (enum activation *)(void *)field);
        break;
    case KIND_PATH:
        *(const char **)(void *)field = text;
        break;
    }
    if (fits)
        return 0;
    if (flag->kind == KIND_ACTIVATION)
        fprintf(stderr, "digits: --%s must be relu, tanh or sigmoid, not %s\n",
                flag->name, text);
    else
        fprintf(stderr, "digits: --%s must be %s from %g to %g, not %s\n",
                flag->name, what, flag->min, flag->max, text);
    return -1;
}

static void print_help(void)
{
    printf("digits - trains a small network to read handwritten digits\n\n");
    for (size_t i = 0; i < FLAGS; i++)
        printf("  --%-14s %s\n", flags[i].name, flags[i].help);
}

int options_read(int argc, char *argv[], struct options *options)
{
    *options = (struct options){
        .learning_rate = 0.1,
        .hidden_units = 64,
        .momentum = 0.5,
        .weight_decay = 1e-5,
        .batch_size = 32,
        .activation = ACTIVATION_RELU,
        .epochs = 50,
        .seed = 1,
        .data = "digits.csv.gz",
    };
    struct option table[FLAGS + 2] = {0};
    for (int i = 0; i < FLAGS; i++)
        table[i] = (struct option){flags[i].name, required_argument, NULL, i};
    table[FLAGS] = (struct option){"help", no_argument, NULL, FLAGS};
    int found;
    while ((found = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (found == FLAGS) {
            print_help();
            return 1;
        }
        if (found == '?' || store(&flags[found], optarg, options) != 0)
            return -1;
    }
    if (optind < argc) {
        fprintf(stderr, "digits: unexpected argument %s\n", argv[optind]);
        return -1;
    }
    return 0;
}
