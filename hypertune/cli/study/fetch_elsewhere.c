#include "hypertune/cli/study/fetch_elsewhere.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/store.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/clock.h"
#include "proto/base/file_tree.h"
#include "proto/doc/json.h"
#include "proto/transfer/transfer.h"

enum {
    FIRST_LOOK_MS = 100, /* between questions; then longer */
    LAST_LOOK_MS = 1000,
    PROGRESS_MS = 250,
    RENEW_MS = 60000,   /* so that the store keeps the tree */
    PATIENCE_MS = 60000 /* with a server that is away meanwhile */
};

/* In the target: what comes, and what an earlier fetch left of it. */
static const char staging_name[] = ".hypertune-fetch";
static const char before_name[] = ".hypertune-fetch-before";

bool cli_fetch_is_left(const char *name)
{
    return strcmp(name, staging_name) == 0 || strcmp(name, before_name) == 0;
}

struct fetching {
    struct cli *cli;
    const struct cli_fetch_source *source;
    const char *id; /* of the server's last answer, NULL: none yet */
    const char *project, *tree;
    int64_t heard_ms, show_ms, renew_ms; /* monotonic */
    bool said, shown;
};

/* ---- the server's state ---- */

static enum ht_status ask(struct cli *cli,
                          const struct cli_fetch_source *source, const char *id,
                          const struct node **answer, struct ht_error *err)
{
    struct cli_http_answer got = {0};
    cJSON *body = cJSON_CreateObject();
    json_add_text(body, "fetch", id);
    json_add_flag(body, "checkpoint", source->checkpoint);
    const enum ht_status status =
        cli_call(cli, "POST",
                 cli_study_path(cli, source->study, "/trials/%s:fetch",
                                cli_http_segment(cli->arena, source->trial)),
                 json_text(cli->arena, body), &got, err);
    if (status == HT_OK)
        *answer = got.root;
    return status;
}

const struct node *
cli_fetch_find_checkpoint(struct cli *cli,
                          const struct cli_fetch_source *source)
{
    struct cli_fetch_source asked = *source;
    struct ht_error err;
    const struct node *answer = NULL;
    asked.checkpoint = true;
    return ask(cli, &asked, NULL, &answer, &err) == HT_OK ? answer : NULL;
}

/* ---- progress ---- */

static bool may_show(const struct fetching *fetching)
{
    return fetching->cli->err_tty && !fetching->cli->set.quiet;
}

__attribute__((format(printf, 2, 3))) static void
show(struct fetching *fetching, const char *format, ...)
{
    va_list args;
    struct text line = {0};
    if (!may_show(fetching))
        return;
    va_start(args, format);
    text_print_safe(&line, "%s",
                    arena_vprintf(fetching->cli->arena, format, args));
    va_end(args);
    fprintf(stderr, "\r%s \033[K", text_string(&line));
    text_free(&line);
    fetching->shown = true;
}

static void clear(struct fetching *fetching)
{
    if (fetching->shown)
        fputs("\r\033[K", stderr);
    fetching->shown = false;
}

static void show_state(struct fetching *fetching, const struct node *answer)
{
    struct cli *cli = fetching->cli;
    const char *runner = node_get_string(answer, "runner", "");
    const char *host = node_get_string(answer, "host", "");
    const int64_t of = node_get_int(answer, "of", 0);
    if (!fetching->said)
        cli_say(cli, "trial %s ran on %s: its runner sends what it wrote",
                fetching->source->trial, *host != '\0' ? host : runner);
    fetching->said = true;
    if (strcmp(node_get_string(answer, "state", ""), "WAITING") == 0)
        show(fetching, "waits for runner %s", runner);
    else if (of > 0)
        show(fetching, "runner %s has sent %s of %s", runner,
             cli_output_size(cli->arena, node_get_int(answer, "bytes", 0)),
             cli_output_size(cli->arena, of));
    else
        show(fetching, "runner %s reads the files", runner);
}

static void note_moved(void *context, int64_t bytes, int64_t of)
{
    struct fetching *fetching = context;
    struct cli *cli = fetching->cli;
    const int64_t now = clock_monotonic_ms();
    const struct node *answer;
    struct ht_error err;
    if (may_show(fetching) && now >= fetching->show_ms) {
        show(fetching, "%s of %s", cli_output_size(cli->arena, bytes),
             cli_output_size(cli->arena, of));
        fetching->show_ms = now + PROGRESS_MS;
    }
    if (now >= fetching->renew_ms) {
        (void)ask(cli, fetching->source, fetching->id, &answer, &err);
        fetching->renew_ms = now + RENEW_MS;
    }
}

/* ---- waiting ---- */

/* A server that is started again knows nothing of it: the question begins it
 * anew. */
static bool is_worth_asking_again(const struct fetching *fetching,
                                  enum ht_status status)
{
    return status == HT_UNAVAILABLE && fetching->id != NULL &&
           clock_monotonic_ms() - fetching->heard_ms < PATIENCE_MS;
}

static enum ht_status look(struct fetching *fetching, struct ht_error *err)
{
    const struct node *answer = NULL;
    const enum ht_status status =
        ask(fetching->cli, fetching->source, fetching->id, &answer, err);
    if (status != HT_OK)
        return is_worth_asking_again(fetching, status) ? HT_OK : status;
    fetching->heard_ms = clock_monotonic_ms();
    fetching->id = node_get_string(answer, "fetch", NULL);
    fetching->project = node_get_string(answer, "project", CLI_PROJECT);
    fetching->tree = node_get_string(answer, "tree", NULL);
    if (fetching->tree == NULL)
        show_state(fetching, answer);
    return HT_OK;
}

static enum ht_status wait_for_tree(struct fetching *fetching,
                                    struct ht_error *err)
{
    const int64_t timeout_ms = fetching->cli->set.timeout_ms;
    const int64_t end_ms =
        timeout_ms > 0 ? clock_monotonic_ms() + timeout_ms : INT64_MAX;
    int64_t pause_ms = FIRST_LOOK_MS;
    enum ht_status status;
    while ((status = look(fetching, err)) == HT_OK && fetching->tree == NULL) {
        if (clock_monotonic_ms() >= end_ms)
            return ht_fail(err, HT_TIMEOUT,
                           "the outputs have not come yet; the same command "
                           "continues");
        usleep((useconds_t)(pause_ms * 1000));
        pause_ms = 2 * pause_ms < LAST_LOOK_MS ? 2 * pause_ms : LAST_LOOK_MS;
    }
    return status;
}

/* ---- fetching ---- */

static enum ht_status find_server(void *context, struct transfer_server *server,
                                  struct ht_error *err)
{
    const struct fetching *fetching = context;
    return cli_store_find(fetching->cli, server, err);
}

struct places { /* folders in the target */
    const char *top, *staging, *before;
};

/* A checkpoint has the name that outputs have it by. */
static const char *place_of(struct fetching *fetching, const char *folder)
{
    return fetching->source->checkpoint
               ? arena_printf(fetching->cli->arena, "%s/checkpoints", folder)
               : folder;
}

static enum ht_status restore(struct fetching *fetching,
                              const struct places *places, struct ht_error *err)
{
    static const struct restore_rules rules = {.readable = false};
    const struct transfer_settings settings = {
        .find = find_server,
        .context = fetching,
        .project = fetching->project,
        .patience_ms = PATIENCE_MS,
        .have = place_of(fetching, places->before),
        .moved = note_moved};
    if (fetching->source->checkpoint && mkdir(places->staging, 0700) != 0)
        return ht_fail_errno(err, errno, "cannot make %s", places->staging);
    return transfer_fetch(&settings, fetching->tree,
                          place_of(fetching, places->staging), &rules, err);
}

/* The older one has more, unless it has been used up. */
static void put_aside(const struct places *places)
{
    if (access(places->before, F_OK) != 0)
        (void)rename(places->staging, places->before);
    file_tree_remove(places->staging, NULL, NULL);
}

static bool is_output(const char *name)
{
    static const char *const names[] = {".", "..", "model", "checkpoints",
                                        "logs"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Other names would be none of a trial's outputs, but of a runner that means
 * ill to the target, such as ".bashrc". */
static enum ht_status check_names(const char *staging, struct ht_error *err)
{
    DIR *list = opendir(staging);
    const struct dirent *entry;
    enum ht_status status = HT_OK;
    if (list == NULL)
        return ht_fail_errno(err, errno, "cannot list %s", staging);
    while (status == HT_OK && (entry = readdir(list)) != NULL)
        if (!is_output(entry->d_name))
            status = ht_fail(err, HT_CORRUPT,
                             "the runner sent %.100s, which is no folder of "
                             "outputs",
                             entry->d_name);
    closedir(list);
    return status;
}

/* In a folder beside what is there, so that files appear when all have come. */
static enum ht_status fill(struct fetching *fetching, const char *folder,
                           struct tree_copy *copy, struct ht_error *err)
{
    struct arena *arena = fetching->cli->arena;
    const char *top = cli_real_path(arena, folder);
    const struct places places = {
        .top = top,
        .staging = arena_printf(arena, "%s/%s", top, staging_name),
        .before = arena_printf(arena, "%s/%s", top, before_name)};
    put_aside(&places);
    enum ht_status status = restore(fetching, &places, err);
    clear(fetching);
    if (status == HT_UNAVAILABLE)
        return ht_wrap(err, status, "the same command continues");
    if (status == HT_OK)
        status = check_names(places.staging, err);
    copy->moves = true;
    if (status == HT_OK)
        status = tree_copy(places.staging, top, copy, err);
    file_tree_remove(places.staging, NULL, NULL);
    file_tree_remove(places.before, NULL, NULL);
    return status;
}

enum ht_status cli_fetch_elsewhere(struct cli *cli,
                                   const struct cli_fetch_source *source,
                                   const char *folder, struct tree_copy *copy,
                                   struct ht_error *err)
{
    struct fetching fetching = {.cli = cli, .source = source};
    enum ht_status status = wait_for_tree(&fetching, err);
    clear(&fetching);
    if (status != HT_OK)
        return status;
    fetching.renew_ms = clock_monotonic_ms() + RENEW_MS;
    const bool made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST)
        return ht_fail_errno(err, errno, "cannot make %s", folder);
    status = fill(&fetching, folder, copy, err);
    if (status != HT_OK && made)
        rmdir(folder); /* where nothing was left */
    return status;
}
