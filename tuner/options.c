#include "tuner/options.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <arpa/inet.h>

#include "proto/clock.h"

enum option_kind { OPTION_TEXT, OPTION_COUNT, OPTION_DURATION, OPTION_SWITCH };

struct option_entry {
    const char *flag;     /* without the dashes */
    const char *variable; /* NULL: no environment variable */
    const char *argument; /* how --help names the value, NULL for a switch */
    enum option_kind kind;
    size_t offset; /* of the member in struct options */
    const char *help;
};

#define MEMBER(name) offsetof(struct options, name)

static const struct option_entry table[] = {
    {"data", "HYPERTUNED_DATA", "DIR", OPTION_TEXT, MEMBER(data),
     "folder of all state, made with mode 0700 (required)"},
    {"listen", "HYPERTUNED_LISTEN", "HOST:PORT", OPTION_TEXT, MEMBER(listen),
     "HTTP address (default 127.0.0.1:8470; port 0 = any)"},
    {"report-listen", "HYPERTUNED_REPORT_LISTEN", "URL", OPTION_TEXT,
     MEMBER(report_listen),
     "address of reports (default tcp://127.0.0.1:8471; port 0 = any)"},
    {"control-listen", "HYPERTUNED_CONTROL_LISTEN", "URL", OPTION_TEXT,
     MEMBER(control_listen),
     "address of runners (default: one port above the reports)"},
    {"auth", "HYPERTUNED_AUTH", "token|none", OPTION_TEXT, MEMBER(auth),
     "none is possible on loopback only (default token)"},
    {"runner", "HYPERTUNED_RUNNER", "ENGINE,...|none", OPTION_TEXT,
     MEMBER(runner),
     "engines, a supervised local runner for each (default process)"},
    {"slots", "HYPERTUNED_SLOTS", "N", OPTION_COUNT, MEMBER(slots),
     "attempts each runs at once (default its GPUs, else the cores, at most "
     "4)"},
    {"gpus", "HYPERTUNED_GPUS", "N|all|0,1,...", OPTION_TEXT, MEMBER(gpus),
     "GPUs the first one gives to replicas (default those of "
     "CUDA_VISIBLE_DEVICES, else all)"},
    {"share", "HYPERTUNED_SHARE", NULL, OPTION_SWITCH, MEMBER(share),
     "let several trials use one GPU"},
    {"volume-root", "HYPERTUNED_VOLUME_ROOT", "DIR,...", OPTION_TEXT,
     MEMBER(volume_root),
     "folders below which volumes of containers may lie (default none)"},
    {"gcs-root", "HYPERTUNED_GCS_ROOT", "DIR", OPTION_TEXT, MEMBER(gcs_root),
     "folder that stands for gs:// where a job asks for it"},
    {"secrets", "HYPERTUNED_SECRETS", "DIR", OPTION_TEXT, MEMBER(secrets),
     "folder with a file for each secret that jobs may name"},
    {"credentials", "HYPERTUNED_CREDENTIALS", "DIR", OPTION_TEXT,
     MEMBER(credentials),
     "folder with a file ACCOUNT.json for each service account that jobs may "
     "name"},
    {"allow", "HYPERTUNED_ALLOW", "NAME,...", OPTION_TEXT, MEMBER(allow),
     "what containers may do beyond the usual, see hypertune-runner --help"},
    {"docker-host", "HYPERTUNED_DOCKER_HOST", "URL", OPTION_TEXT,
     MEMBER(docker_host),
     "the container engine (default DOCKER_HOST, else the usual sockets)"},
    {"max-page", "HYPERTUNED_MAX_PAGE", "N", OPTION_COUNT, MEMBER(max_page),
     "most elements in a page of a list (default 1000)"},
    {"on-demand", NULL, NULL, OPTION_SWITCH, MEMBER(on_demand),
     "take any port when the default is in use; end when idle"},
    {"idle-exit", "HYPERTUNED_IDLE_EXIT", "DURATION", OPTION_DURATION,
     MEMBER(idle_exit_ms),
     "end after so long idle (on demand: 30m; else never)"},
    {"verbose", "HYPERTUNED_VERBOSE", NULL, OPTION_SWITCH, MEMBER(verbose),
     "log more"},
};
enum { N_OPTIONS = sizeof table / sizeof *table };

static void print_help(struct text *out)
{
    text_puts(out, "usage: hypertuned --data DIR [flags]\n\n"
                   "Serves hyperparameter tuning studies from one folder.\n\n");
    for (size_t i = 0; i < N_OPTIONS; i++) {
        char flag[64];
        snprintf(flag, sizeof flag, "--%s%s%s", table[i].flag,
                 table[i].argument ? " " : "",
                 table[i].argument ? table[i].argument : "");
        text_printf(out, "  %-28s %s\n", flag, table[i].help);
        if (table[i].variable != NULL)
            text_printf(out, "  %-28s   or %s\n", "", table[i].variable);
    }
    text_printf(out, "  %-28s %s\n  %-28s %s\n", "--help", "show this",
                "--version", "show the version");
}

static bool read_count(const char *value, int64_t *count)
{
    char *end;
    errno = 0;
    long long n = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || n < 0 || n > 1000)
        return false;
    *count = n;
    return true;
}

static enum ht_status assign(const struct option_entry *entry,
                             const char *value, struct options *options,
                             struct ht_error *err)
{
    char *member = (char *)options + entry->offset;
    bool ok = true;
    switch (entry->kind) {
    case OPTION_TEXT:
        memcpy(member, &value, sizeof value);
        break;
    case OPTION_SWITCH: {
        bool on = value == NULL || strcmp(value, "0") != 0;
        memcpy(member, &on, sizeof on);
        break;
    }
    case OPTION_COUNT:
    case OPTION_DURATION: {
        int64_t n;
        ok = entry->kind == OPTION_COUNT ? read_count(value, &n)
                                         : clock_read_duration(value, &n);
        if (ok)
            memcpy(member, &n, sizeof n);
        break;
    }
    }
    return ok ? HT_OK
              : ht_fail(err, HT_INVALID, "--%s: \"%s\" is not a %s",
                        entry->flag, value,
                        entry->kind == OPTION_COUNT ? "number from 0 to 1000"
                                                    : "duration such as 30m");
}

static const struct option_entry *find_flag(const char *name, size_t len)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (strlen(table[i].flag) == len &&
            memcmp(table[i].flag, name, len) == 0)
            return &table[i];
    return NULL;
}

/* One flag at argv[*at], moving *at over its value. */
static enum ht_status read_flag(char *const argv[], int *at,
                                struct options *options, struct ht_error *err)
{
    const char *word = argv[*at];
    if (strncmp(word, "--", 2) != 0)
        return ht_fail(err, HT_INVALID, "unexpected argument \"%s\"", word);
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    const struct option_entry *entry =
        find_flag(name, equals ? (size_t)(equals - name) : strlen(name));
    if (entry == NULL)
        return ht_fail(err, HT_INVALID, "unknown flag \"%s\", see --help",
                       word);
    if (entry->kind == OPTION_SWITCH)
        return assign(entry, equals ? equals + 1 : NULL, options, err);
    const char *value = equals ? equals + 1 : argv[*at + 1];
    if (value == NULL)
        return ht_fail(err, HT_INVALID, "%s needs a value: %s", word,
                       entry->argument);
    if (equals == NULL)
        ++*at;
    return assign(entry, value, options, err);
}

bool options_next_engine(const char **list, char engine[OPTIONS_ENGINE_BYTES])
{
    const size_t len = strcspn(*list, ",");
    if (len == 0 || len >= OPTIONS_ENGINE_BYTES)
        return false;
    memcpy(engine, *list, len);
    engine[len] = '\0';
    *list += len + ((*list)[len] == ',');
    return true;
}

static bool is_engine(const char *name)
{
    static const char *const engines[OPTIONS_ENGINES] = {"process", "docker",
                                                         "slurm", "kubernetes"};
    for (size_t i = 0; i < OPTIONS_ENGINES; i++)
        if (strcmp(name, engines[i]) == 0)
            return true;
    return false;
}

/* Each at most once: two runners of one engine would be one with more slots. */
static enum ht_status check_engines(const char *list, struct ht_error *err)
{
    char seen[OPTIONS_ENGINES][OPTIONS_ENGINE_BYTES];
    size_t n = 0;
    const char *rest = list;
    if (strcmp(list, "none") == 0)
        return HT_OK;
    bool fine = *rest != '\0';
    for (; fine && *rest != '\0'; n++) {
        fine = n < OPTIONS_ENGINES && options_next_engine(&rest, seen[n]) &&
               is_engine(seen[n]);
        for (size_t i = 0; fine && i < n; i++)
            fine = strcmp(seen[i], seen[n]) != 0;
    }
    if (fine)
        return HT_OK;
    return ht_fail(err, HT_INVALID,
                   "--runner is none or a list of process, docker, slurm, "
                   "kubernetes, each once, not \"%s\"",
                   list);
}

static enum ht_status check_words(const struct options *options,
                                  struct ht_error *err)
{
    if (options->data == NULL || options->data[0] == '\0')
        return ht_fail(err, HT_INVALID, "--data DIR is required, see --help");
    if (strcmp(options->auth, "token") != 0 &&
        strcmp(options->auth, "none") != 0)
        return ht_fail(err, HT_INVALID, "--auth is token or none, not \"%s\"",
                       options->auth);
    return check_engines(options->runner, err);
}

/* True for localhost and every literal of a loopback address. */
static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (strcmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* What only makes sense when all of it is known. */
static enum ht_status check(struct options *options, struct ht_error *err)
{
    char host[OPTIONS_HOST_BYTES];
    int port;
    enum ht_status status = check_words(options, err);
    if (status == HT_OK)
        status = options_split_address(options->listen, host, &port, err);
    if (status != HT_OK)
        return status;
    if (strcmp(options->auth, "none") == 0 && !is_loopback(host))
        return ht_fail(err, HT_INVALID,
                       "--auth none is refused on %s: anyone who reaches it "
                       "could run commands here; listen on 127.0.0.1 or keep "
                       "the token",
                       options->listen);
    if (strncmp(options->report_listen, "tcp://", 6) != 0 ||
        (options->control_listen != NULL &&
         strncmp(options->control_listen, "tcp://", 6) != 0))
        return ht_fail(err, HT_INVALID,
                       "--report-listen and --control-listen are "
                       "tcp://HOST:PORT");
    return HT_OK;
}

static bool is_shown(const char *word, struct text *out)
{
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        print_help(out);
    else if (strcmp(word, "--version") == 0)
        text_puts(out, "hypertuned " HT_VERSION "\n");
    else
        return false;
    return true;
}

static enum ht_status read_environment(char *(*lookup)(const char *),
                                       struct options *options,
                                       struct ht_error *err)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const char *value =
            table[i].variable != NULL ? lookup(table[i].variable) : NULL;
        if (value == NULL || value[0] == '\0')
            continue;
        enum ht_status status = assign(&table[i], value, options, err);
        if (status != HT_OK)
            return ht_wrap(err, status, "%s", table[i].variable);
    }
    return HT_OK;
}

enum ht_status options_read(const struct options_source *source,
                            struct options *options,
                            enum options_result *result, struct text *out,
                            struct ht_error *err)
{
    struct options read = {
        .listen = "127.0.0.1:8470",
        .report_listen = "tcp://127.0.0.1:8471",
        .auth = "token",
        .runner = "process",
        .idle_exit_ms = -1,
    };
    enum ht_status status = read_environment(source->lookup, &read, err);
    for (int i = 1; status == HT_OK && i < source->argc; i++) {
        if (is_shown(source->argv[i], out)) {
            *result = OPTIONS_SHOWN;
            return HT_OK;
        }
        status = read_flag(source->argv, &i, &read, err);
    }
    if (status == HT_OK)
        status = check(&read, err);
    if (status != HT_OK)
        return status;
    if (read.idle_exit_ms < 0)
        read.idle_exit_ms = read.on_demand ? 30 * 60 * 1000 : 0;
    *options = read;
    *result = OPTIONS_RUN;
    return HT_OK;
}

static bool read_port(const char *text, int *port)
{
    size_t len = strspn(text, "0123456789");
    if (len == 0 || len > 5 || text[len] != '\0')
        return false;
    long n = strtol(text, NULL, 10);
    if (n > 65535)
        return false;
    *port = (int)n;
    return true;
}

enum ht_status options_split_address(const char *address,
                                     char host[OPTIONS_HOST_BYTES], int *port,
                                     struct ht_error *err)
{
    const char *colon = strrchr(address, ':');
    size_t len = colon != NULL ? (size_t)(colon - address) : 0;
    bool bracketed = len >= 2 && address[0] == '[' && address[len - 1] == ']';
    const char *start = bracketed ? address + 1 : address;
    if (bracketed)
        len -= 2;
    int n;
    if (len == 0 || len >= OPTIONS_HOST_BYTES || !read_port(colon + 1, &n) ||
        (!bracketed && memchr(start, ':', len) != NULL))
        return ht_fail(err, HT_INVALID, "\"%s\" is not HOST:PORT", address);
    memcpy(host, start, len);
    host[len] = '\0';
    *port = n;
    return HT_OK;
}
