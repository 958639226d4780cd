#include "proto/base/flags.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"

enum { NAME_BYTES = 64, MOST_FLAGS = 128, HELP_COLUMN = 30 };

const struct flag *flags_find(const struct flag table[], const char *name,
                              size_t len)
{
    for (const struct flag *flag = table; flag->name != NULL; flag++)
        if (strlen(flag->name) == len && strncmp(flag->name, name, len) == 0)
            return flag;
    return NULL;
}

static bool is_allowed(const struct flags_parser *parser,
                       const struct flag *flag)
{
    return flag->everywhere || words_has(parser->allowed, flag->name);
}

/* --- values --- */

static bool read_number(const char *text, int64_t least, int64_t most,
                        int64_t *value)
{
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < least ||
        number > most)
        return false;
    *value = number;
    return true;
}

bool flags_read_count(const char *text, bool more, int64_t *value)
{
    const bool adds = more && text[0] == '+';
    const char *digits = text + adds;
    int64_t number;
    if (!isdigit((unsigned char)digits[0]) ||
        !read_number(digits, adds, adds ? INT64_MAX + FLAG_MORE : INT64_MAX,
                     &number))
        return false;
    *value = adds ? FLAG_MORE - number : number;
    return true;
}

static enum ht_status store_number(const struct flags_parser *parser,
                                   const struct flag *flag, const char *value,
                                   struct ht_error *err)
{
    int64_t *number =
        (int64_t *)(void *)((char *)parser->target + flag->offset);
    const int least = flag->kind == FLAG_POSITIVE ? 1 : 0;
    if (flag->kind == FLAG_DURATION) {
        return clock_read_duration(value, number)
                   ? HT_OK
                   : ht_fail(err, HT_INVALID,
                             "--%s needs a time such as 90s or 2h, not \"%s\"",
                             flag->name, value);
    }
    if (flag->kind == FLAG_WHOLE)
        return flags_read_count(value, words_has(parser->allowed, "+"), number)
                   ? HT_OK
                   : ht_fail(err, HT_INVALID,
                             "--%s needs a whole number from 0, not \"%s\"",
                             flag->name, value);
    return read_number(value, least, FLAG_MOST_COUNT, number)
               ? HT_OK
               : ht_fail(err, HT_INVALID,
                         "--%s: \"%s\" is not a number from %d to %d",
                         flag->name, value, least, FLAG_MOST_COUNT);
}

static enum ht_status store(const struct flags_parser *parser,
                            const struct flag *flag, const char *value,
                            struct ht_error *err)
{
    void *member = (char *)parser->target + flag->offset;
    switch (flag->kind) {
    case FLAG_TRUE:
    case FLAG_SWITCH:
    case FLAG_ORDER:
        *(bool *)member = strcmp(value, "0") != 0;
        return HT_OK;
    case FLAG_TEXT:
        *(const char **)member = value;
        return HT_OK;
    case FLAG_LIST:
        words_add(parser->arena, member, value);
        return HT_OK;
    case FLAG_WHOLE:
    case FLAG_COUNT:
    case FLAG_POSITIVE:
    case FLAG_DURATION:
        return store_number(parser, flag, value, err);
    }
    return HT_OK;
}

/* --- one argument --- */

/* `name` is what follows the dashes; its first `len` bytes name no flag. */
static enum ht_status refuse_name(const struct flags_parser *parser,
                                  const char *name, size_t len,
                                  struct ht_error *err)
{
    const char *names[MOST_FLAGS + 1];
    size_t n = 0;
    for (const struct flag *flag = parser->table; flag->name != NULL; flag++)
        if (is_allowed(parser, flag) && n < MOST_FLAGS)
            names[n++] = arena_printf(parser->arena, "--%s", flag->name);
    names[n] = NULL;
    char *wrong = arena_strndup(parser->arena, name, len);
    if (words_has(parser->allowed, "*"))
        return ht_fail(err, HT_INVALID,
                       "%s has no option --%s; a value is --%s=VALUE",
                       parser->command, wrong, wrong);
    return ht_fail(err, HT_INVALID, "%s has no option --%.60s%s",
                   parser->command, wrong,
                   words_hint(parser->arena, wrong, names));
}

static const struct flag *find_long(const struct flags_parser *parser,
                                    const char *name, size_t len)
{
    const struct flag *flag = flags_find(parser->table, name, len);
    return flag != NULL && is_allowed(parser, flag) ? flag : NULL;
}

static const struct flag *find_letter(const struct flags_parser *parser,
                                      char letter, struct ht_error *err)
{
    for (const struct flag *flag = parser->table; flag->name != NULL; flag++)
        if (flag->letter == letter && is_allowed(parser, flag))
            return flag;
    ht_fail(err, HT_INVALID, "%s has no option -%c", parser->command, letter);
    return NULL;
}

/* Reads the long flag argv[*at]; moves *at over a value taken from the next
 * argument. */
static enum ht_status read_long(const struct flags_parser *parser, int argc,
                                char *const argv[], int *at,
                                struct ht_error *err)
{
    const char *name = argv[*at] + 2;
    const size_t len = strcspn(name, "=");
    const struct flag *flag = find_long(parser, name, len);
    if (flag == NULL)
        return refuse_name(parser, name, len, err);
    if (flag->kind == FLAG_TRUE && name[len] == '=')
        return ht_fail(err, HT_INVALID, "--%s takes no value", flag->name);
    if (name[len] == '=')
        return store(parser, flag, name + len + 1, err);
    if (flag->value == NULL)
        return store(parser, flag, "1", err);
    if (*at + 1 < argc)
        return store(parser, flag, argv[++*at], err);
    return ht_fail(err, HT_INVALID, "--%s needs a value: --%s %s", flag->name,
                   flag->name, flag->value);
}

static enum ht_status read_letters(const struct flags_parser *parser, int argc,
                                   char *const argv[], int *at,
                                   struct ht_error *err)
{
    for (const char *letter = argv[*at] + 1; *letter != '\0'; letter++) {
        const struct flag *flag = find_letter(parser, *letter, err);
        if (flag == NULL)
            return HT_INVALID;
        if (flag->value == NULL) {
            store(parser, flag, "1", err);
            continue;
        }
        if (letter[1] != '\0')
            return store(parser, flag, letter + 1, err);
        if (*at + 1 >= argc)
            return ht_fail(err, HT_INVALID, "-%c needs a value: -%c %s",
                           *letter, *letter, flag->value);
        return store(parser, flag, argv[++*at], err);
    }
    return HT_OK;
}

/* --- the command --- */

static bool is_flag(const char *argument)
{
    return argument[0] == '-' && argument[1] != '\0';
}

/* The word that an argument is, NULL when it is a flag. */
static const char *word_of(const struct flags_parser *parser,
                           const char *argument)
{
    if (!is_flag(argument))
        return argument;
    if (strncmp(argument, "--", 2) != 0 || !words_has(parser->allowed, "*"))
        return NULL;
    size_t len = strcspn(argument + 2, "=");
    bool is_value = len > 0 && argument[2 + len] == '=' &&
                    find_long(parser, argument + 2, len) == NULL;
    return is_value ? argument + 2 : NULL;
}

static enum ht_status read_flag(const struct flags_parser *parser, int argc,
                                char *const argv[], int *at,
                                struct ht_error *err)
{
    return argv[*at][1] == '-' ? read_long(parser, argc, argv, at, err)
                               : read_letters(parser, argc, argv, at, err);
}

enum ht_status flags_parse(const struct flags_parser *parser, int argc,
                           char *const argv[], struct flags_result *result,
                           struct ht_error *err)
{
    struct flags_result read = {0};
    int at = 0;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
        const char *word = word_of(parser, argv[at]);
        if (word != NULL) {
            words_add(parser->arena, &read.words, word);
            continue;
        }
        enum ht_status status = read_flag(parser, argc, argv, &at, err);
        if (status != HT_OK)
            return status;
    }
    read.has_rest = at < argc;
    for (at++; at < argc; at++)
        words_add(parser->arena, &read.rest, argv[at]);
    *result = read;
    return HT_OK;
}

enum ht_status flags_parse_leading(const struct flags_parser *parser, int argc,
                                   char *const argv[], int *used,
                                   struct ht_error *err)
{
    int at = 0;
    for (; at < argc && is_flag(argv[at]); at++) {
        enum ht_status status = read_flag(parser, argc, argv, &at, err);
        if (status != HT_OK)
            return status;
    }
    *used = at;
    return HT_OK;
}

/* --- help --- */

static void add_name(const struct flag *flag, bool letters, struct text *out)
{
    if (letters && flag->letter != 0)
        text_printf(out, "-%c, ", flag->letter);
    else if (letters)
        text_puts(out, "    ");
    text_printf(out, "--%s%s%s", flag->name, flag->value != NULL ? " " : "",
                flag->value != NULL ? flag->value : "");
}

/* The command's help has letters and one line for each flag. */
static void add_line(const struct flag *flag, bool letters, size_t column,
                     struct text *out)
{
    const size_t start = out->len;
    text_puts(out, "  ");
    add_name(flag, letters, out);
    const size_t width = out->len - start;
    text_printf(out, "%*s", width + 2 <= column ? (int)(column - width) : 2,
                "");
    if (letters)
        text_printf(out, "%s\n", flag->help);
    else
        text_wrap(out, flag->help, column);
}

void flags_help(const struct flag table[], const char *allowed, bool everywhere,
                struct text *out)
{
    for (const struct flag *flag = table; flag->name != NULL; flag++)
        if (everywhere ? flag->everywhere
                       : !flag->everywhere && words_has(allowed, flag->name))
            add_line(flag, true, HELP_COLUMN, out);
}

/* --- a server program --- */

static void name_variable(const struct flags *flags, const struct flag *flag,
                          char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "%s%s", flags->prefix, flag->name);
    for (char *at = name; *at != '\0'; at++)
        *at = (char)(*at == '-' ? '_' : toupper((unsigned char)*at));
}

static void add_server_help(const struct flags *flags, struct text *out)
{
    static const struct flag shown[] = {
        FLAG("help", NULL, FLAG_TRUE, 0, "show this"),
        FLAG("version", NULL, FLAG_TRUE, 0, "show the version"),
        {.name = NULL}};
    size_t width = 0;
    for (const struct flag *flag = flags->table; flag->name != NULL; flag++) {
        struct text name = {0};
        add_name(flag, false, &name);
        width = name.len > width ? name.len : width;
        text_free(&name);
    }
    text_printf(out, "usage: %s %s\n\n%s\n\n", flags->program, flags->usage,
                flags->about);
    for (const struct flag *flag = flags->table; flag->name != NULL; flag++) {
        char name[NAME_BYTES];
        name_variable(flags, flag, name);
        add_line(flag, false, width + 4, out);
        if (flag->kind != FLAG_ORDER)
            text_printf(out, "%*s  or %s\n", (int)width + 4, "", name);
    }
    for (const struct flag *flag = shown; flag->name != NULL; flag++)
        add_line(flag, false, width + 4, out);
}

bool flags_show(const struct flags *flags, const struct flags_source *source,
                struct text *shown)
{
    for (int i = 1; i < source->argc; i++) {
        const char *word = source->argv[i];
        if (strcmp(word, "--version") == 0) {
            text_printf(shown, "%s " HT_VERSION "\n", flags->program);
            return true;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            add_server_help(flags, shown);
            return true;
        }
    }
    return false;
}

static enum ht_status read_environment(const struct flags *flags,
                                       const struct flags_parser *parser,
                                       char *(*lookup)(const char *name),
                                       struct ht_error *err)
{
    for (const struct flag *flag = flags->table; flag->name != NULL; flag++) {
        char name[NAME_BYTES];
        name_variable(flags, flag, name);
        const char *value = flag->kind != FLAG_ORDER ? lookup(name) : NULL;
        if (value == NULL || value[0] == '\0')
            continue;
        const enum ht_status status = store(parser, flag, value, err);
        if (status != HT_OK)
            return ht_wrap(err, status, "%s", name);
    }
    return HT_OK;
}

enum ht_status flags_read(const struct flags *flags,
                          const struct flags_source *source, void *options,
                          struct ht_error *err)
{
    struct arena *arena = arena_new(); /* of messages; no flag is a list */
    const struct flags_parser parser = {.arena = arena,
                                        .table = flags->table,
                                        .target = options,
                                        .allowed = "",
                                        .command = flags->program};
    enum ht_status status =
        read_environment(flags, &parser, source->lookup, err);
    for (int i = 1; status == HT_OK && i < source->argc; i++)
        status = strncmp(source->argv[i], "--", 2) == 0
                     ? read_long(&parser, source->argc, source->argv, &i, err)
                     : ht_fail(err, HT_INVALID, "unexpected argument \"%s\"",
                               source->argv[i]);
    arena_free(arena);
    return status;
}
