#include "proto/base/flags.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/clock.h"

enum { NAME_BYTES = 64 };

static void name_variable(const struct flags *flags, const struct flag *flag,
                          char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "%s%s", flags->prefix, flag->name);
    for (char *at = name; *at != '\0'; at++)
        *at = (char)(*at == '-' ? '_' : toupper((unsigned char)*at));
}

/* --- help --- */

static void name_flag(const struct flag *flag, char name[NAME_BYTES])
{
    (void)snprintf(name, NAME_BYTES, "--%s%s%s", flag->name,
                   flag->argument != NULL ? " " : "",
                   flag->argument != NULL ? flag->argument : "");
}

static void print_help(const struct flags *flags, struct text *out)
{
    char name[NAME_BYTES];
    int width = 0;
    for (size_t i = 0; i < flags->n; i++) {
        name_flag(&flags->items[i], name);
        width = (int)strlen(name) > width ? (int)strlen(name) : width;
    }
    text_printf(out, "usage: %s %s\n\n%s\n\n", flags->program, flags->usage,
                flags->about);
    for (size_t i = 0; i < flags->n; i++) {
        name_flag(&flags->items[i], name);
        text_printf(out, "  %-*s  ", width, name);
        text_wrap(out, flags->items[i].help, (size_t)width + 4);
        name_variable(flags, &flags->items[i], name);
        if (flags->items[i].kind != FLAG_ORDER)
            text_printf(out, "  %-*s    or %s\n", width, "", name);
    }
    text_printf(out, "  %-*s  show this\n  %-*s  show the version\n", width,
                "--help", width, "--version");
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
            print_help(flags, shown);
            return true;
        }
    }
    return false;
}

/* --- values --- */

static enum ht_status read_count(const struct flag *flag, const char *text,
                                 int64_t *count, struct ht_error *err)
{
    const int least = flag->kind == FLAG_POSITIVE ? 1 : 0;
    char *end;
    errno = 0;
    const long long n = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || n < least ||
        n > FLAG_MOST_COUNT)
        return ht_fail(err, HT_INVALID,
                       "--%s: \"%s\" is not a number from %d to %d", flag->name,
                       text, least, FLAG_MOST_COUNT);
    *count = n;
    return HT_OK;
}

static enum ht_status read_duration(const struct flag *flag, const char *text,
                                    int64_t *ms, struct ht_error *err)
{
    if (clock_read_duration(text, ms))
        return HT_OK;
    return ht_fail(err, HT_INVALID,
                   "--%s: \"%s\" is not a duration such as 30m", flag->name,
                   text);
}

static enum ht_status assign(const struct flag *flag, const char *text,
                             void *options, struct ht_error *err)
{
    char *const member = (char *)options + flag->offset;
    const bool on = strcmp(text, "0") != 0;
    enum ht_status status = HT_OK;
    int64_t n;
    switch (flag->kind) {
    case FLAG_TEXT:
        memcpy(member, &text, sizeof text);
        break;
    case FLAG_SWITCH:
    case FLAG_ORDER:
        memcpy(member, &on, sizeof on);
        break;
    case FLAG_COUNT:
    case FLAG_POSITIVE:
    case FLAG_DURATION:
        status = flag->kind == FLAG_DURATION
                     ? read_duration(flag, text, &n, err)
                     : read_count(flag, text, &n, err);
        if (status == HT_OK)
            memcpy(member, &n, sizeof n);
        break;
    }
    return status;
}

/* --- sources --- */

static enum ht_status read_environment(const struct flags *flags,
                                       char *(*lookup)(const char *name),
                                       void *options, struct ht_error *err)
{
    for (size_t i = 0; i < flags->n; i++) {
        char name[NAME_BYTES];
        name_variable(flags, &flags->items[i], name);
        const char *text =
            flags->items[i].kind != FLAG_ORDER ? lookup(name) : NULL;
        if (text == NULL || text[0] == '\0')
            continue;
        const enum ht_status status =
            assign(&flags->items[i], text, options, err);
        if (status != HT_OK)
            return ht_wrap(err, status, "%s", name);
    }
    return HT_OK;
}

static const struct flag *find_flag(const struct flags *flags, const char *name,
                                    size_t len)
{
    for (size_t i = 0; i < flags->n; i++)
        if (strlen(flags->items[i].name) == len &&
            memcmp(flags->items[i].name, name, len) == 0)
            return &flags->items[i];
    return NULL;
}

/* One flag at argv[*at], moving *at over its value. */
static enum ht_status read_flag(const struct flags *flags, char *const argv[],
                                int *at, void *options, struct ht_error *err)
{
    const char *word = argv[*at];
    if (strncmp(word, "--", 2) != 0)
        return ht_fail(err, HT_INVALID, "unexpected argument \"%s\"", word);
    const char *name = word + 2;
    const size_t len = strcspn(name, "=");
    const struct flag *flag = find_flag(flags, name, len);
    if (flag == NULL)
        return ht_fail(err, HT_INVALID, "unknown flag \"%s\", see --help",
                       word);
    const char *text = name[len] == '=' ? name + len + 1 : NULL;
    if (text == NULL)
        text = flag->argument == NULL ? "1" : argv[++*at];
    if (text == NULL)
        return ht_fail(err, HT_INVALID, "%s needs a value: %s", word,
                       flag->argument);
    return assign(flag, text, options, err);
}

enum ht_status flags_read(const struct flags *flags,
                          const struct flags_source *source, void *options,
                          struct ht_error *err)
{
    enum ht_status status =
        read_environment(flags, source->lookup, options, err);
    for (int i = 1; status == HT_OK && i < source->argc; i++)
        status = read_flag(flags, source->argv, &i, options, err);
    return status;
}
