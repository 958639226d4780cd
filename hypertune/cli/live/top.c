/* `top`: what a server does, redrawn in place or as one snapshot. */
#include <signal.h>
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/live/screen.h"
#include "hypertune/cli/live/top_page.h"
#include "hypertune/cli/live/top_snapshot.h"
#include "hypertune/cli/study/follow.h"
#include "proto/base/clock.h"

/* A server with very many studies is asked for at most this part of the
 * time. */
enum { ASKING_PART = 10 };

struct top {
    struct cli *cli;
    struct cli_follow follow;
    struct cli_screen screen;
    struct overview overview; /* in the arena of the newest round */
    const char *order;
    bool reversed, away, quit;
    bool broken;    /* the server refused */
    size_t first;   /* studies scrolled away */
    int64_t ask_ms; /* monotonic, when it may be asked again */
};

/* ---- orders ---- */

static const char *find_order(const char *name)
{
    for (const char *const *order = overview_orders; *order != NULL; order++)
        if (strcmp(*order, name) == 0)
            return *order;
    return NULL;
}

/* --sort left, --sort -left */
static int read_order(struct cli *cli, const char **order, bool *reversed)
{
    const char *said = cli->set.sort != NULL ? cli->set.sort : "state";
    *reversed = said[0] == '-';
    *order = find_order(said + *reversed);
    if (*order != NULL)
        return CLI_DONE;
    return cli_fail(cli, CLI_USAGE,
                    "top sorts by state, name, trials, running, failed, left "
                    "or age, not by \"%s\"",
                    said);
}

/* ---- live ---- */

static void draw(struct top *top)
{
    struct text picture = {0};
    struct arena *arena = arena_new();
    screen_measure(&top->screen);
    if (top->first >= top->overview.n_studies)
        top->first = top->overview.n_studies - (top->overview.n_studies > 0);
    overview_sort(&top->overview, top->order, top->reversed);
    const struct top_look look = {.width = top->screen.width,
                                  .height = top->screen.height,
                                  .color = top->cli->color,
                                  .url = cli_http_url(top->cli->http),
                                  .order = top->order,
                                  .reversed = top->reversed,
                                  .first = top->first,
                                  .away = top->away};
    size_t lines = top_page_print(arena, &top->overview, &look, &picture);
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
    top->away = status == HT_UNAVAILABLE || status == HT_TIMEOUT;
    return top->away && top->overview.version != NULL ? HT_OK : status;
}

static void sort_by(struct top *top, const char *order)
{
    top->reversed = top->order == order && !top->reversed;
    top->order = order;
    top->first = 0;
}

static void press(struct top *top, char key)
{
    top->screen.dirty = true;
    if (key == 'q')
        top->quit = true;
    else if (key == SCREEN_DOWN)
        top->first++;
    else if (key == SCREEN_UP)
        top->first -= top->first > 0;
    for (const char *const *order = overview_orders; *order != NULL; order++)
        if (key == **order)
            sort_by(top, *order);
}

/* Waits for the next drawing; CLI_DONE, or why to leave. */
static int await(struct top *top)
{
    char key;
    const int64_t pause = screen_pause_ms(&top->screen);
    const int64_t until = clock_monotonic_ms() + pause;
    int signal =
        cli_follow_wait(&top->follow, screen_input(&top->screen), (int)pause);
    if (signal == SIGINT)
        return CLI_INTERRUPTED;
    if (signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT)
        return CLI_TERMINATED;
    screen_signal(&top->screen, signal);
    while (!top->quit && screen_key(&top->screen, &key))
        press(top, key);
    /* Woken by the server: something has changed. */
    if (clock_monotonic_ms() < until)
        top->screen.dirty = true;
    return cli_follow_overdue(&top->follow) ? CLI_OVERDUE : CLI_DONE;
}

static int rounds(struct top *top, struct ht_error *err)
{
    int code = CLI_DONE;
    while (code == CLI_DONE && !top->quit) {
        if (screen_is_due(&top->screen)) {
            enum ht_status status = refresh(top, err);
            top->broken = status != HT_OK;
            if (top->broken)
                break;
            draw(top);
        }
        code = await(top);
    }
    return code;
}

static int show_live(struct cli *cli, const char *order, bool reversed)
{
    struct ht_error err;
    struct top top = {.cli = cli, .order = order, .reversed = reversed};
    cli_follow_open(&top.follow, cli, "", 0);
    screen_open(&top.screen, &top.follow, true);
    int code = rounds(&top, &err);
    screen_close(&top.screen);
    cli_follow_close(&top.follow);
    if (code == CLI_OVERDUE)
        return cli_fail(cli, code, "the time to watch is over");
    return top.broken ? cli_fail_error(cli, &err) : code;
}

static int show_once(struct cli *cli, const char *order, bool reversed)
{
    struct ht_error err;
    struct overview overview;
    struct text out = {0};
    if (overview_get(cli, &overview, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    overview_sort(&overview, order, reversed);
    top_snapshot_print(cli, &overview, &out);
    return cli_print(&out);
}

int cli_top(struct cli *cli)
{
    const char *order;
    bool reversed;
    if (!cli_wants(cli, 0))
        return CLI_USAGE;
    if (cli->format == FORMAT_YAML || cli->format == FORMAT_NAME ||
        cli->format == FORMAT_ARGS)
        return cli_fail(cli, CLI_USAGE,
                        "top has the formats table, wide, json, jsonl and csv");
    int code = read_order(cli, &order, &reversed);
    if (code == CLI_DONE)
        code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    return screen_is_there(cli) ? show_live(cli, order, reversed)
                                : show_once(cli, order, reversed);
}
