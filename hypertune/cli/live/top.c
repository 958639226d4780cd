/* top.c - `top`: the state of a server, redrawn in place or as one snapshot. */

#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/live/screen.h"
#include "hypertune/cli/live/top_page.h"
#include "hypertune/cli/study/follow.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"
#include "proto/doc/json.h"

/* A server with very many studies is asked for at most this part of the
 * time. */
enum { ASKING_PART = 10 };

struct top {
    struct cli *cli;
    struct cli_follow follow;
    struct cli_screen screen;
    struct overview overview; /* in the arena of the newest round */
    struct top_look look;
    bool quit;
    bool broken;    /* the server refused */
    int64_t ask_ms; /* monotonic, when it may be asked again */
};

/* ---- orders ---- */

/* --sort left, --sort -left */
static int read_order(struct cli *cli, struct top_look *look)
{
    const char *order_name = cli->set.sort != NULL ? cli->set.sort : "state";
    look->reversed = order_name[0] == '-';
    for (const char *const *one = overview_orders; *one != NULL; one++)
        if (strcmp(*one, order_name + look->reversed) == 0)
            look->order = *one;
    if (look->order != NULL)
        return CLI_DONE;
    return cli_fail(cli, CLI_USAGE,
                    "top sorts by state, name, trials, running, failed, left "
                    "or age, not by \"%s\"",
                    order_name);
}

/* ---- live ---- */

static void draw(struct top *top)
{
    struct text picture = {0};
    struct arena *arena = arena_new();
    struct top_look *look = &top->look;
    const size_t n = top->overview.n_studies;
    screen_measure(&top->screen);
    look->width = top->screen.width;
    look->height = top->screen.height;
    look->color = top->cli->color;
    look->url = cli_http_url(top->cli->http);
    if (look->first >= n)
        look->first = n - (n > 0);
    overview_sort(&top->overview, look->order, look->reversed);
    size_t lines = top_page_print(arena, &top->overview, look, &picture);
    screen_draw(&top->screen, picture.data, lines);
    text_free(&picture);
    arena_free(arena);
}

/* HT_UNAVAILABLE is no failure here once there was an answer. */
static enum ht_status refresh(struct top *top, struct ht_error *err)
{
    const int64_t start = clock_monotonic_ms();
    if (start < top->ask_ms)
        return HT_OK;
    cli_follow_begin(&top->follow);
    enum ht_status status = overview_get(top->cli, &top->overview, err);
    cli_follow_finish(&top->follow, status == HT_OK);
    const int64_t end = clock_monotonic_ms();
    top->ask_ms = end + ASKING_PART * (end - start);
    top->look.away = status == HT_UNAVAILABLE || status == HT_TIMEOUT;
    return top->look.away && top->overview.server != NULL ? HT_OK : status;
}

static bool press(void *context, char key)
{
    struct top *top = context;
    struct top_look *look = &top->look;
    if (key == SCREEN_DOWN)
        look->first++;
    else if (key == SCREEN_UP)
        look->first -= look->first > 0;
    for (const char *const *order = overview_orders; *order != NULL; order++) {
        if (key != **order)
            continue;
        look->reversed = look->order == *order && !look->reversed;
        look->order = *order;
        look->first = 0;
    }
    top->quit = key == 'q';
    return !top->quit;
}

static int rounds(struct top *top, struct ht_error *err)
{
    int code = CLI_DONE;
    while (code == CLI_DONE) {
        if (screen_is_due(&top->screen)) {
            enum ht_status status = refresh(top, err);
            top->broken = status != HT_OK;
            if (top->broken)
                break;
            draw(top);
        }
        code = screen_wait(&top->screen, &top->follow, press, top);
        /* Woken by the server: something has changed. */
        if (!screen_is_due(&top->screen))
            top->screen.dirty = true;
    }
    return top->quit ? CLI_DONE : code;
}

static int show_live(struct cli *cli, const struct top_look *look)
{
    struct ht_error err;
    struct top top = {.cli = cli, .look = *look};
    cli_follow_open(&top.follow, cli, "", 0);
    screen_open(&top.screen, &top.follow, true);
    int code = rounds(&top, &err);
    screen_close(&top.screen);
    cli_follow_close(&top.follow);
    if (code == CLI_OVERDUE)
        return cli_fail(cli, code, "the time to watch is over");
    return top.broken ? cli_fail_error(cli, &err) : code;
}

/* ---- one snapshot, where nothing is redrawn ---- */

static cJSON *server_object(const struct cli *cli,
                            const struct overview *overview)
{
    int64_t busy;
    const struct node *disk = node_find(overview->server, "disk");
    const char *read_only =
        node_get_string(overview->server, "readOnlyReason", "");
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "server", cli_http_url(cli->http));
    json_add_string(object, "version",
                    node_get_string(overview->server, "version", ""));
    json_add_int(object, "uptimeMs",
                 node_get_int(overview->server, "uptimeMs", 0));
    json_add_int(object, "databaseBytes",
                 node_get_int(overview->server, "databaseBytes", 0));
    json_add_int(object, "diskFreeBytes", node_get_int(disk, "freeBytes", 0));
    json_add_int(object, "diskTotalBytes", node_get_int(disk, "totalBytes", 0));
    json_add_int(object, "slots", overview_slots(overview->runners, &busy));
    json_add_int(object, "busy", busy);
    if (read_only[0] != '\0')
        json_add_string(object, "readOnlyReason", read_only);
    return object;
}

static cJSON *study_object(const struct overview *overview,
                           const struct cli_study *study)
{
    const struct node *best = study->best;
    const int64_t left_ms = cli_study_left_ms(study, overview->asked_ms);
    const long long limit = cli_study_limit(study);
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "study", study->name);
    json_add_string(object, "id", study->id);
    json_add_string(object, "kind", study->home->kind_name);
    json_add_string(object, "state", study->state);
    json_add_string(object, "reason", study->reason);
    json_add_int(object, "ended", cli_study_ended(study));
    if (limit > 0)
        json_add_int(object, "limit", limit);
    json_add_int(object, "running", cli_study_running(study));
    json_add_int(object, "waiting", cli_study_count(study, "requested"));
    json_add_int(object, "failed", cli_study_count(study, "failed"));
    if (study->metric[0] != '\0')
        json_add_string(object, "metric", study->metric);
    if (best != NULL) {
        json_add_double(object, "best", cli_trial_score(best));
        json_add_string(object, "bestTrial", cli_trial_id(best));
    }
    json_add_int(object, "createTimeMs",
                 node_get_int(study->status, "createTimeMs", 0));
    if (left_ms >= 0)
        json_add_int(object, "leftMs", left_ms);
    return object;
}

static cJSON *runner_object(const struct overview *overview,
                            const struct node *runner)
{
    static const char *const texts[] = {"runner", "engine", "host", "state"};
    cJSON *object = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        json_add_string(object, texts[i],
                        node_get_string(runner, texts[i], ""));
    json_add_int(object, "slots", node_get_int(runner, "slots", 0));
    json_add_int(object, "busy", node_get_int(runner, "busy", 0));
    cJSON *list = json_add_array(object, "trials");
    for (size_t i = 0; i < overview->n_trials; i++) {
        const struct overview_trial *trial = &overview->trials[i];
        if (strcmp(trial->runner, node_get_string(runner, "runner", "")) != 0)
            continue;
        cJSON *item = json_push_object(list);
        json_add_string(item, "trial", trial->name);
        json_add_int(item, "startTimeMs", trial->start_ms);
        if (trial->metric[0] == '\0')
            continue;
        json_add_string(item, "step", trial->step);
        json_add_string(item, "metric", trial->metric);
        json_add_double(item, "value", trial->value);
    }
    return object;
}

static void add_object(cJSON *list, cJSON *one, struct text *out)
{
    if (list != NULL)
        cJSON_AddItemToArray(list, one);
    else
        cli_output_object(FORMAT_JSONL, one, 0, out);
}

/* One object, or with -o jsonl a line for the server and each of the others. */
static void print_objects(const struct cli *cli,
                          const struct overview *overview, struct text *out)
{
    cJSON *server = server_object(cli, overview), *one;
    const bool lines = cli->format == FORMAT_JSONL;
    cJSON *studies = lines ? NULL : json_add_array(server, "studies");
    cJSON *runners = lines ? NULL : json_add_array(server, "runners");
    if (lines)
        cli_output_object(cli->format, server, 0, out);
    for (size_t i = 0; i < overview->n_studies; i++) {
        one = study_object(overview, &overview->studies[i]);
        add_object(studies, one, out);
    }
    NODE_EACH (runner, node_items(overview->runners)) {
        one = runner_object(overview, runner);
        add_object(runners, one, out);
    }
    if (lines)
        return;
    json_print_pretty(server, out);
    text_puts(out, "\n");
}

static const char *number(struct arena *arena, bool known, long long value)
{
    return known ? arena_printf(arena, "%lld", value) : "";
}

/* Numbers as they are, for a spreadsheet; without those of the server. */
static void print_csv(const struct cli *cli, const struct overview *overview,
                      struct text *out)
{
    struct arena *arena = cli->arena;
    struct table *table = table_new(arena);
    table_columns(table, "study,id,kind,state,ended,limit,running,waiting,"
                         "failed,metric,best,left_ms,reason");
    for (size_t i = 0; i < overview->n_studies; i++) {
        char best[TEXT_DOUBLE_BYTES] = "";
        const struct cli_study *study = &overview->studies[i];
        const long long limit = cli_study_limit(study);
        const int64_t left_ms = cli_study_left_ms(study, overview->asked_ms);
        if (study->best != NULL)
            text_of_double(best, cli_trial_score(study->best));
        table_row(table);
        table_cells(table, study->name, study->id, study->home->kind_name,
                    study->state, number(arena, true, cli_study_ended(study)),
                    number(arena, limit > 0, limit),
                    number(arena, true, cli_study_running(study)),
                    number(arena, true, cli_study_count(study, "requested")),
                    number(arena, true, cli_study_count(study, "failed")),
                    study->metric, best, number(arena, left_ms >= 0, left_ms),
                    study->reason, NULL);
    }
    table_csv(table, out);
}

static int show_once(struct cli *cli, const struct top_look *look)
{
    struct ht_error err;
    struct overview overview;
    struct text out = {0};
    if (overview_get(cli, &overview, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    overview_sort(&overview, look->order, look->reversed);
    if (cli->format == FORMAT_JSON || cli->format == FORMAT_JSONL) {
        print_objects(cli, &overview, &out);
    } else if (cli->format == FORMAT_CSV) {
        print_csv(cli, &overview, &out);
    } else {
        cli_output_table(cli,
                         top_page_studies(cli->arena, &overview, 0, SIZE_MAX,
                                          cli->format == FORMAT_WIDE),
                         &out);
        text_puts(&out, "\n");
        cli_output_table(cli, top_page_runners(cli->arena, &overview, SIZE_MAX),
                         &out);
    }
    return cli_print(&out);
}

int cli_top(struct cli *cli)
{
    struct top_look look = {0};
    if (cli->format == FORMAT_YAML || cli->format == FORMAT_NAME ||
        cli->format == FORMAT_ARGS)
        return cli_fail(cli, CLI_USAGE,
                        "top has the formats table, wide, json, jsonl and csv");
    int code = read_order(cli, &look);
    if (code == CLI_DONE)
        code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    return screen_is_there(cli) ? show_live(cli, &look) : show_once(cli, &look);
}
