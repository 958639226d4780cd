#include "runner/options.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/engine.h"
#include "runner/rules.h"

enum kind { KIND_TEXT, KIND_COUNT, KIND_SWITCH };

struct entry {
    const char *flag;     /* without the dashes */
    const char *argument; /* how --help names the value, NULL for a switch */
    enum kind kind;
    size_t offset; /* of the member in struct runner_options */
    const char *help;
};

#define MEMBER(name) offsetof(struct runner_options, name)

static const struct entry table[] = {
    {"server", "URL", KIND_TEXT, MEMBER(server),
     "HTTP address of the server (required)"},
    {"token-file", "FILE", KIND_TEXT, MEMBER(token_file),
     "file with the runner token (required)"},
    {"engine", "ENGINE", KIND_TEXT, MEMBER(engine),
     "what runs the replicas (default process)"},
    {"slots", "N", KIND_COUNT, MEMBER(slots),
     "attempts run at once (default the GPUs, else the cores, at most 4)"},
    {"gpus", "N|all|0,1,...", KIND_TEXT, MEMBER(gpus),
     "GPUs to give to replicas (default those of CUDA_VISIBLE_DEVICES, else "
     "all)"},
    {"state", "DIR", KIND_TEXT, MEMBER(state),
     "folder of the attempts (default runs beside the token file)"},
    {"share", NULL, KIND_SWITCH, MEMBER(share),
     "let several trials use one GPU"},
    {"volume-root", "DIR,...", KIND_TEXT, MEMBER(volume_root),
     "folders below which volumes of containers may lie (default none)"},
    {"gcs-root", "DIR", KIND_TEXT, MEMBER(gcs_root),
     "folder that stands for gs:// where a job asks for it"},
    {"secrets", "DIR", KIND_TEXT, MEMBER(secrets),
     "folder with a file for each secret that jobs may name"},
    {"credentials", "DIR", KIND_TEXT, MEMBER(credentials),
     "folder with a file ACCOUNT.json for each service account that jobs may "
     "name"},
    {"allow", "NAME,...", KIND_TEXT, MEMBER(allow),
     "what containers may do beyond the usual: " RULES_NAMES},
    {"docker-host", "URL", KIND_TEXT, MEMBER(docker_host),
     "the container engine (default DOCKER_HOST, else the usual sockets)"},
    {"start-limit", "SECONDS", KIND_COUNT, MEMBER(start_limit),
     "time for containers to begin, without pulls (default 120)"},
    {"exit-when-alone", NULL, KIND_SWITCH, MEMBER(exit_when_alone),
     "end after 30 s without server and attempts"},
};
enum { N_ENTRIES = sizeof table / sizeof *table, MOST_COUNT = 1000 };

static void name_variable(const struct entry *entry, char name[64])
{
    (void)snprintf(name, 64, "HYPERTUNE_RUNNER_%s", entry->flag);
    for (char *at = name; *at != '\0'; at++)
        *at = (char)(*at == '-' ? '_' : toupper((unsigned char)*at));
}

static void print_help(struct text *out)
{
    text_puts(out, "usage: hypertune-runner --server URL --token-file FILE "
                   "[flags]\n\nRuns trials for a hypertune server on this "
                   "machine.\n\n");
    for (size_t i = 0; i < N_ENTRIES; i++) {
        char flag[64];
        char variable[64];
        (void)snprintf(flag, sizeof flag, "--%s%s%s", table[i].flag,
                       table[i].argument ? " " : "",
                       table[i].argument ? table[i].argument : "");
        name_variable(&table[i], variable);
        text_printf(out, "  %-20s %s\n  %-20s   or %s\n", flag, table[i].help,
                    "", variable);
    }
    text_printf(out, "  %-20s %s\n  %-20s %s\n\nEngines: %s\n", "--help",
                "show this", "--version", "show the version", engine_names());
}

static enum ht_status assign(const struct entry *entry, const char *value,
                             struct runner_options *options,
                             struct ht_error *err)
{
    char *member = (char *)options + entry->offset;
    if (entry->kind == KIND_TEXT) {
        memcpy(member, &value, sizeof value);
        return HT_OK;
    }
    if (entry->kind == KIND_SWITCH) {
        const bool on = strcmp(value, "0") != 0;
        memcpy(member, &on, sizeof on);
        return HT_OK;
    }
    char *end;
    errno = 0;
    const long long n = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || n < 1 || n > MOST_COUNT)
        return ht_fail(err, HT_INVALID,
                       "--%s: \"%s\" is not a number from 1 to %d", entry->flag,
                       value, MOST_COUNT);
    const int64_t count = n;
    memcpy(member, &count, sizeof count);
    return HT_OK;
}

static enum ht_status read_environment(char *(*lookup)(const char *name),
                                       struct runner_options *options,
                                       struct ht_error *err)
{
    for (size_t i = 0; i < N_ENTRIES; i++) {
        char name[64];
        name_variable(&table[i], name);
        const char *value = lookup(name);
        if (value == NULL || value[0] == '\0')
            continue;
        const enum ht_status status = assign(&table[i], value, options, err);
        if (status != HT_OK)
            return status;
    }
    return HT_OK;
}

static const struct entry *find_flag(const char *name, size_t len)
{
    for (size_t i = 0; i < N_ENTRIES; i++) {
        if (strlen(table[i].flag) == len &&
            memcmp(table[i].flag, name, len) == 0)
            return &table[i];
    }
    return NULL;
}

/* One flag at argv[*at]; *at moves over its value. */
static enum ht_status read_flag(char *const argv[], int *at,
                                struct runner_options *options,
                                struct ht_error *err)
{
    const char *word = argv[*at];
    if (strncmp(word, "--", 2) != 0)
        return ht_fail(err, HT_INVALID, "unexpected argument \"%s\"", word);
    const char *name = word + 2;
    const size_t len = strcspn(name, "=");
    const struct entry *entry = find_flag(name, len);
    if (entry == NULL)
        return ht_fail(err, HT_INVALID, "unknown flag \"%s\", see --help",
                       word);
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    if (value == NULL && entry->kind == KIND_SWITCH)
        value = "1";
    if (value == NULL)
        value = argv[++*at];
    if (value == NULL)
        return ht_fail(err, HT_INVALID, "%s needs a value: %s", word,
                       entry->argument);
    return assign(entry, value, options, err);
}

static enum ht_status check(const struct runner_options *options,
                            struct ht_error *err)
{
    if (options->server == NULL)
        return ht_fail(err, HT_INVALID, "--server URL is required, see --help");
    if (strncmp(options->server, "http://", 7) != 0 &&
        strncmp(options->server, "https://", 8) != 0)
        return ht_fail(err, HT_INVALID,
                       "--server: \"%s\" is not an http:// or https:// URL",
                       options->server);
    if (options->token_file == NULL)
        return ht_fail(err, HT_INVALID,
                       "--token-file FILE is required, see --help");
    if (engine_find(options->engine) == NULL)
        return ht_fail(err, HT_INVALID,
                       "--engine: this version has no \"%s\"; it has: %s",
                       options->engine, engine_names());
    return HT_OK;
}

static bool show(int argc, char *const argv[], struct text *shown)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            print_help(shown);
        else if (strcmp(argv[i], "--version") == 0)
            text_puts(shown, "hypertune-runner " HT_VERSION "\n");
        if (shown->len > 0)
            return true;
    }
    return false;
}

enum ht_status runner_options_read(int argc, char *const argv[],
                                   char *(*lookup)(const char *name),
                                   struct runner_options *options,
                                   struct text *shown, struct ht_error *err)
{
    if (show(argc, argv, shown))
        return HT_OK;
    struct runner_options read = {.engine = "process", .start_limit = 120};
    enum ht_status status = read_environment(lookup, &read, err);
    for (int i = 1; i < argc && status == HT_OK; i++)
        status = read_flag(argv, &i, &read, err);
    if (status == HT_OK)
        status = check(&read, err);
    if (status == HT_OK)
        *options = read;
    return status;
}
