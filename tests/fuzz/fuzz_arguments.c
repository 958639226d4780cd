/* Any lines as the words of a command line, for both servers and for a command
 * with flags of every kind: what is wrong is refused in words.
 *
 * fuzz-with: tuner runner algorithms */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/flags.h"
#include "proto/doc/json.h"
#include "runner/options.h"
#include "tuner/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 64 };

struct settings {
    bool quiet, share;
    const char *output;
    struct words sets;
    int64_t whole, count, positive, pause_ms;
};
#define AT(member) offsetof(struct settings, member)
static const struct flag flags[] = {
    {"quiet", NULL, AT(quiet), "", FLAG_TRUE, 'q', true},
    {"share", NULL, AT(share), "", FLAG_SWITCH, 0, false},
    {"output", "FORM", AT(output), "", FLAG_TEXT, 'o', true},
    {"set", "TEXT", AT(sets), "", FLAG_LIST, 's', false},
    {"trials", "N", AT(whole), "", FLAG_WHOLE, 'n', false},
    {"count", "N", AT(count), "", FLAG_COUNT, 0, false},
    {"parallel", "N", AT(positive), "", FLAG_POSITIVE, 'p', false},
    {"every", "TIME", AT(pause_ms), "", FLAG_DURATION, 0, false},
    {0}};

static char *unset(const char *name)
{
    (void)name;
    return NULL;
}

static void check_refusal(enum ht_status status, const struct ht_error *err)
{
    if (status != HT_OK && (status != HT_INVALID || err->text[0] == '\0'))
        abort();
}

static void read_command(struct arena *arena, int argc, char *argv[])
{
    static const char *const allowed[] = {
        "", "share set trials count parallel every", "set trials + *"};
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        struct settings settings = {0};
        struct ht_error err = {0};
        struct flags_result result = {0};
        int used = 0;
        const struct flags_parser parser = {.arena = arena,
                                            .table = flags,
                                            .target = &settings,
                                            .allowed = allowed[i],
                                            .command = "hypertune x"};
        check_refusal(flags_parse(&parser, argc, argv, &result, &err), &err);
        if (settings.count > FLAG_MOST_COUNT ||
            settings.positive > FLAG_MOST_COUNT)
            abort();
        check_refusal(flags_parse_leading(&parser, argc, argv, &used, &err),
                      &err);
        if (used > argc)
            abort();
    }
}

static void read_servers(int argc, char *argv[])
{
    const struct flags_source source = {argc, argv, unset};
    struct options options = {0};
    struct runner_options runner = {0};
    struct ht_error err = {0};
    struct text shown = {0};
    check_refusal(options_read(&source, &options, &shown, &err), &err);
    check_refusal(runner_options_read(&source, &runner, &shown, &err), &err);
    text_free(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_init();
    struct arena *arena = arena_new();
    char *text = arena_strndup(arena, (const char *)data, size);
    char *lines = arena_strdup(arena, text), *rest = NULL;
    char *argv[WORDS + 1] = {NULL};
    int argc = 0;
    for (char *word = strtok_r(lines, "\n", &rest);
         word != NULL && argc < WORDS; word = strtok_r(NULL, "\n", &rest))
        argv[argc++] = word;
    argv[argc] = NULL;
    read_command(arena, argc, argv);
    read_servers(argc, argv);
    arena_free(arena);
    return 0;
}
