#include "hypertune/cli/frame/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"

enum { MAX_OPTIONS = 128, HELP_COLUMN = 30 };

static bool is_allowed(const struct options_parser *parser,
                       const struct option_spec *option)
{
    return option->everywhere || words_has(parser->allowed, option->name);
}

static void refuse_name(const struct options_parser *parser, const char *name,
                        size_t len, struct ht_error *err)
{
    const char *names[MAX_OPTIONS + 1];
    size_t n = 0;
    for (const struct option_spec *o = parser->table; o->name != NULL; o++) {
        if (is_allowed(parser, o) && n < MAX_OPTIONS)
            names[n++] = o->name;
    }
    names[n] = NULL;
    char *wrong = arena_strndup(parser->arena, name, len);
    const char *near = words_nearest(wrong, names);
    if (words_has(parser->allowed, "*"))
        ht_fail(err, HT_INVALID, "%s has no option --%s; a value is --%s=VALUE",
                parser->command, wrong, wrong);
    else if (near != NULL)
        ht_fail(err, HT_INVALID, "%s has no option --%s (did you mean --%s?)",
                parser->command, wrong, near);
    else
        ht_fail(err, HT_INVALID, "%s has no option --%s", parser->command,
                wrong);
}

const struct option_spec *cli_options_find(const struct option_spec table[],
                                           const char *name, size_t len)
{
    for (const struct option_spec *o = table; o->name != NULL; o++) {
        if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
            return o;
    }
    return NULL;
}

static const struct option_spec *find_long(const struct options_parser *parser,
                                           const char *name, size_t len)
{
    const struct option_spec *option =
        cli_options_find(parser->table, name, len);
    return option != NULL && is_allowed(parser, option) ? option : NULL;
}

static const struct option_spec *
find_letter(const struct options_parser *parser, char letter,
            struct ht_error *err)
{
    for (const struct option_spec *o = parser->table; o->name != NULL; o++) {
        if (o->letter == letter && is_allowed(parser, o))
            return o;
    }
    ht_fail(err, HT_INVALID, "%s has no option -%c", parser->command, letter);
    return NULL;
}

bool cli_options_count(const char *text, bool more, int64_t *value)
{
    const bool adds = more && text[0] == '+';
    const char *digits = text + (adds ? 1 : 0);
    char *end;
    errno = 0;
    long long number = strtoll(digits, &end, 10);
    if (digits[0] < '0' || digits[0] > '9' || *end != '\0' || errno != 0)
        return false;
    if (adds && (number == 0 || number > INT64_MAX + OPTION_MORE))
        return false;
    *value = adds ? OPTION_MORE - number : number;
    return true;
}

static enum ht_status store(const struct options_parser *parser,
                            const struct option_spec *option, const char *value,
                            struct ht_error *err)
{
    void *field = (char *)parser->target + option->offset;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return HT_OK;
    case OPTION_TEXT:
        *(const char **)field = value;
        return HT_OK;
    case OPTION_LIST:
        words_add(parser->arena, field, value);
        return HT_OK;
    case OPTION_WHOLE:
        if (!cli_options_count(value, words_has(parser->allowed, "+"), field))
            return ht_fail(err, HT_INVALID,
                           "--%s needs a whole number from 0, not \"%s\"",
                           option->name, value);
        return HT_OK;
    case OPTION_SPAN:
        if (!clock_read_duration(value, field))
            return ht_fail(err, HT_INVALID,
                           "--%s needs a time such as 90s or 2h, not \"%s\"",
                           option->name, value);
        return HT_OK;
    }
    return HT_OK;
}

/* Reads the long option argv[*at]; moves *at over a value taken from the next
 * argument. */
static enum ht_status read_long(const struct options_parser *parser, int argc,
                                char *const argv[], int *at,
                                struct ht_error *err)
{
    const char *name = argv[*at] + 2;
    size_t len = strcspn(name, "=");
    const struct option_spec *option = find_long(parser, name, len);
    if (option == NULL) {
        refuse_name(parser, name, len, err);
        return HT_INVALID;
    }
    if (option->kind == OPTION_FLAG && name[len] == '=')
        return ht_fail(err, HT_INVALID, "--%s takes no value", option->name);
    if (option->kind == OPTION_FLAG)
        return store(parser, option, NULL, err);
    if (name[len] == '=')
        return store(parser, option, name + len + 1, err);
    if (*at + 1 >= argc)
        return ht_fail(err, HT_INVALID, "--%s needs a value: --%s %s",
                       option->name, option->name, option->value);
    return store(parser, option, argv[++*at], err);
}

static enum ht_status read_letters(const struct options_parser *parser,
                                   int argc, char *const argv[], int *at,
                                   struct ht_error *err)
{
    for (const char *letter = argv[*at] + 1; *letter != '\0'; letter++) {
        const struct option_spec *option = find_letter(parser, *letter, err);
        if (option == NULL)
            return HT_INVALID;
        if (option->kind == OPTION_FLAG) {
            store(parser, option, NULL, err);
            continue;
        }
        if (letter[1] != '\0')
            return store(parser, option, letter + 1, err);
        if (*at + 1 >= argc)
            return ht_fail(err, HT_INVALID, "-%c needs a value: -%c %s",
                           *letter, *letter, option->value);
        return store(parser, option, argv[++*at], err);
    }
    return HT_OK;
}

static bool is_option(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0';
}

/* The word that an argument is, NULL when it is an option. */
static const char *word_of(const struct options_parser *parser,
                           const char *argument)
{
    if (!is_option(argument))
        return argument;
    if (strncmp(argument, "--", 2) != 0 || !words_has(parser->allowed, "*"))
        return NULL;
    size_t len = strcspn(argument + 2, "=");
    bool is_value = len > 0 && argument[2 + len] == '=' &&
                    find_long(parser, argument + 2, len) == NULL;
    return is_value ? argument + 2 : NULL;
}

static enum ht_status read_option(const struct options_parser *parser, int argc,
                                  char *const argv[], int *at,
                                  struct ht_error *err)
{
    return argv[*at][1] == '-' ? read_long(parser, argc, argv, at, err)
                               : read_letters(parser, argc, argv, at, err);
}

enum ht_status cli_options_parse(const struct options_parser *parser, int argc,
                                 char *const argv[],
                                 struct option_result *result,
                                 struct ht_error *err)
{
    struct option_result read = {0};
    int at = 0;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        const char *word = word_of(parser, argv[at]);
        if (word != NULL) {
            words_add(parser->arena, &read.words, word);
            continue;
        }
        enum ht_status status = read_option(parser, argc, argv, &at, err);
        if (status != HT_OK)
            return status;
    }
    read.has_rest = at < argc;
    for (at++; at < argc; at++)
        words_add(parser->arena, &read.rest, argv[at]);
    *result = read;
    return HT_OK;
}

enum ht_status cli_options_parse_leading(const struct options_parser *parser,
                                         int argc, char *const argv[],
                                         int *used, struct ht_error *err)
{
    int at = 0;
    for (; at < argc && is_option(argv[at]); at++) {
        enum ht_status status = read_option(parser, argc, argv, &at, err);
        if (status != HT_OK)
            return status;
    }
    *used = at;
    return HT_OK;
}

static void help_line(const struct option_spec *option, struct text *out)
{
    size_t start = out->len;
    if (option->letter != 0)
        text_printf(out, "  -%c, --%s", option->letter, option->name);
    else
        text_printf(out, "      --%s", option->name);
    if (option->value != NULL)
        text_printf(out, " %s", option->value);
    size_t width = out->len - start;
    size_t pad = width + 2 <= HELP_COLUMN ? HELP_COLUMN - width : 2;
    text_printf(out, "%*s%s\n", (int)pad, "", option->help);
}

void cli_options_help(const struct option_spec table[], const char *allowed,
                      bool global, struct text *out)
{
    for (const struct option_spec *option = table; option->name != NULL;
         option++) {
        bool shown =
            global ? option->everywhere
                   : !option->everywhere && words_has(allowed, option->name);
        if (shown)
            help_line(option, out);
    }
}
