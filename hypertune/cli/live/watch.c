/* watch.c - `watch`: follows a study in lines, in a live view or silently. */

#include "hypertune/cli/live/live.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/live/screen.h"
#include "hypertune/cli/study/follow.h"
#include "hypertune/cli/study/read_logs.h"
#include "hypertune/cli/study/study.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"
#include "proto/doc/json.h"

enum {
    QUIET_POLL_MS = 1000, /* without news; the event stream wakes earlier */
    SECOND_MS = 3000      /* for the second Ctrl-C of `run` */
};

/* How a study is shown while it is followed. */
enum view { VIEW_NONE, VIEW_LINES, VIEW_LIVE };

struct watch {
    struct cli_follow follow;
    enum view view;
    const char *until;      /* state that ends the watch, NULL: any end */
    struct cli_live *live;  /* with VIEW_LIVE */
    struct cli_study study; /* as the newest round had it */
    int64_t id;             /* its number, 0 before the first round */
    bool away;              /* the server did not answer */
    bool took;              /* what --metric auto asks for was tried */
    bool waits;             /* without a person: a study that the server has
                               paused for a fault is not waited for */
};

/* ---- one event as one line ---- */

/* Event lines are for people: whole seconds suffice. */
static void stamp(const struct node *event, struct text *out)
{
    char text[CLOCK_STAMP_BYTES];
    clock_stamp(text, node_get_int(event, "timeMs", 0));
    text_printf(out, "%.19sZ ", text);
}

static void quote_reason(const struct node *from, struct text *out)
{
    const char *reason = node_get_string(from, "reason", "");
    if (reason[0] != '\0')
        text_print_safe(out, " \"%s\"", reason);
}

static void add_end(const struct cli_study *study, const struct node *trial,
                    const char *state, struct text *out)
{
    const struct node *ours = node_find(trial, "hypertune");
    const struct node *best = study->best;
    if (node_find(ours, "objective") != NULL) {
        text_puts(out, " ");
        cli_trial_results(study, trial, out);
        text_printf(out, " step=%s", cli_scalar(node_find(ours, "step")));
    }
    if (strcmp(state, "SUCCEEDED") != 0)
        quote_reason(ours, out);
    if (study->front != NULL) {
        text_printf(out, " optimal=%zu", study->front->count);
    } else if (best != NULL) {
        text_puts(out, " best=");
        cli_trial_objective(best, out);
    }
}

static void trial_line(struct cli *cli, const struct cli_study *study,
                       const struct node *event, struct text *out)
{
    const char *state = node_get_string(event, "to", "");
    /* Back to waiting: its attempt failed or was lost, or it had paused. */
    bool again = strcmp(state, "REQUESTED") == 0;
    if (!again &&
        !words_has("ACTIVE STOPPING SUCCEEDED STOPPED FAILED INFEASIBLE "
                   "CANCELLED PAUSED",
                   state))
        return;
    const struct node *trial = NULL;
    const char *id = cli_scalar(node_find(event, "trial"));
    stamp(event, out);
    text_printf(out, "trial %s %s", id, state);
    enum ht_status status =
        again ? HT_NOT_FOUND
              : cli_trial_get(cli, study->name, id, &trial, NULL);
    if (status == HT_OK && strcmp(state, "ACTIVE") == 0) {
        const char *runner =
            node_get_string(node_find(trial, "hypertune"), "runner", "");
        text_print_safe(out, "%s%s ", runner[0] != '\0' ? " runner=" : "",
                        runner);
        cli_trial_params(trial, out);
    } else if (status == HT_OK && strcmp(state, "STOPPING") != 0) {
        add_end(study, trial, state, out);
    } else {
        quote_reason(event, out);
    }
    text_puts(out, "\n");
}

static void measured_line(const struct node *event, struct text *out)
{
    const struct node *data = node_find(event, "data");
    stamp(event, out);
    text_printf(out, "trial %s step=%s", cli_scalar(node_find(event, "trial")),
                cli_scalar(node_find(data, "step")));
    NODE_EACH (metric, node_first(data, "metrics"))
        text_print_safe(out, " %s=%s", metric->key, cli_scalar(metric));
    text_puts(out, "\n");
}

/* Appends the line for an event, with its newline; nothing for events that
 * are no news to a person (prepared trials, single measurements unless
 * --verbose). May ask the server for the trial. With -o jsonl: the event as
 * it came. */
static void add_event(struct cli *cli, const struct cli_study *study,
                      const struct node *event, struct text *out)
{
    const char *kind = node_get_string(event, "kind", "");
    if (cli->format == FORMAT_JSONL || cli->format == FORMAT_JSON) {
        json_print(json_of_node(event), out);
        text_puts(out, "\n");
    } else if (strcmp(kind, "trial.moved") == 0) {
        trial_line(cli, study, event, out);
    } else if (strcmp(kind, "trial.measured") == 0 && cli->set.verbose) {
        measured_line(event, out);
    } else if (strcmp(kind, "study.moved") == 0) {
        stamp(event, out);
        text_print_safe(out, "study %s %s", study->name,
                        node_get_string(event, "to", ""));
        quote_reason(event, out);
        /* Of the end that it has now, not of one that was taken back. */
        if (strcmp(node_get_string(event, "to", ""), study->state) == 0) {
            cli_study_failures(study, ", ", out);
            cli_study_stops(study, "; ", out);
        }
        text_puts(out, "\n");
    } else if (strcmp(kind, "trial.silent") == 0 ||
               strcmp(kind, "trial.warned") == 0) {
        stamp(event, out);
        text_printf(out, "trial %s%s ", cli_scalar(node_find(event, "trial")),
                    strcmp(kind, "trial.silent") == 0 ? " is" : ":");
        text_print_safe(out, "%s\n", node_get_string(event, "reason", ""));
    }
}

/* ---- one study to its end ---- */

/* Paused by the server, which asks a person to look at it. */
static bool is_held(const struct watch *watch)
{
    return watch->waits &&
           cli_control_held(watch->follow.cli, &watch->study) != NULL &&
           cli_study_running(&watch->study) == 0;
}

static bool reached(const struct watch *watch)
{
    return watch->until != NULL &&
           strcasecmp(watch->study.state, watch->until) == 0;
}

/* The end as --until sees it: another end than the wanted one is a failure. */
static int verdict(const struct watch *watch)
{
    if (watch->until != NULL)
        return reached(watch) ? CLI_DONE : CLI_FAILED;
    if (is_held(watch))
        return cli_fail(watch->follow.cli, CLI_FAILED, "%s",
                        cli_control_held(watch->follow.cli, &watch->study));
    return cli_study_verdict(&watch->study);
}

/* Shows one round; CLI_DONE, or why watching has to end. */
static int show(struct watch *watch, const struct node *events)
{
    struct text out = {0};
    if (watch->view == VIEW_LIVE)
        cli_live_round(watch->live, &watch->study, events);
    if (watch->view != VIEW_LINES)
        return CLI_DONE;
    NODE_EACH (event, node_items(events))
        add_event(watch->follow.cli, &watch->study, event, &out);
    return cli_print(&out);
}

/* Any failure of a round but an absent server ends the watch. */
static int give_up(struct watch *watch, struct ht_error *err)
{
    struct cli *cli = watch->follow.cli;
    cli_live_close(watch->live);
    watch->live = NULL;
    if (err->status == HT_NOT_FOUND && watch->id != 0)
        return cli_fail(cli, CLI_ABSENT,
                        "study %s was deleted while it was watched",
                        watch->follow.study);
    return cli_fail_error(cli, err);
}

/* --metric auto: a study that lacks its metric takes the pattern that the
 * server recognised, once all that ran with it has ended. Whether it did. */
static bool take_metric(struct watch *watch)
{
    struct cli *cli = watch->follow.cli;
    const struct cli_study *study = &watch->study;
    const char *pattern = cli_metric_recognised(study);
    if (!cli_metric_is_auto(&cli->set.metrics) || watch->took ||
        pattern == NULL || cli_study_running(study) > 0)
        return false;
    struct ht_error err;
    struct text said = {0};
    watch->took = true;
    const enum ht_status status = cli_metric_read(
        cli, study->name, &(struct strings){1, &pattern}, &said, &err);
    if (watch->live != NULL)
        cli_live_note(watch->live, status == HT_OK ? said.data : err.text);
    else
        cli_say(cli, "%s", status == HT_OK ? said.data : err.text);
    text_free(&said);
    return status == HT_OK;
}

/* One round; CLI_DONE with *over when there is nothing more to wait for. */
static int do_round(struct watch *watch, bool *more, bool *over)
{
    struct ht_error err;
    const struct node *events = NULL;
    enum ht_status status =
        cli_follow_round(&watch->follow, &watch->study, &events, &err);
    *more = *over = false;
    if (status == HT_UNAVAILABLE) {
        /* Said once each time, on the screen as long as it lasts. */
        if (watch->live != NULL)
            cli_live_away(watch->live, watch->id != 0 ? &watch->study : NULL);
        else if (!watch->away)
            cli_say(watch->follow.cli, "server away, trying again");
        watch->away = true;
        return CLI_DONE;
    }
    int64_t id = status == HT_OK ? strtoll(watch->study.id, NULL, 10) : 0;
    /* Another study may have got the name of one that was deleted. */
    if (status == HT_OK && watch->id != 0 && id != watch->id)
        status = ht_fail(&err, HT_NOT_FOUND, "another study");
    if (status != HT_OK)
        return give_up(watch, &err);
    if (watch->away && watch->live == NULL)
        cli_say(watch->follow.cli, "the server is back");
    watch->id = id;
    watch->away = false;
    *more = events != NULL && events->count > 0;
    int code = show(watch, events);
    if (code == CLI_DONE && take_metric(watch)) {
        *more = true; /* events of what it changed */
        return CLI_DONE;
    }
    *over =
        code != CLI_DONE || (!*more && (reached(watch) || is_held(watch) ||
                                        cli_study_is_over(watch->study.state)));
    return code != CLI_DONE || !*over ? code : verdict(watch);
}

/* Rounds until the study is over, or until *left: an interrupt, a key, the
 * deadline. */
static int rounds(struct watch *watch, bool *left)
{
    for (;;) {
        bool more, over;
        int code = do_round(watch, &more, &over);
        if (over || code != CLI_DONE)
            return code;
        if (more)
            continue;
        code = watch->live != NULL
                   ? cli_live_wait(watch->live)
                   : cli_follow_pause(&watch->follow, QUIET_POLL_MS);
        *left = code != CLI_DONE;
        if (*left)
            return code;
    }
}

static void advise(struct cli *cli, const char *study)
{
    cli_say(cli,
            "study %s continues\n"
            "  follow: hypertune watch %s%s   stop: hypertune stop %s%s",
            study, study, cli_where(cli), study, cli_where(cli));
}

/* After the first Ctrl-C of `run`: a second one stops the study. */
static int detach(struct watch *watch)
{
    struct ht_error err;
    struct cli *cli = watch->follow.cli;
    const char *study = watch->follow.study;
    advise(cli, study);
    cli_say(cli, "  Ctrl-C again within %d s stops it", SECOND_MS / 1000);
    int64_t deadline = clock_monotonic_ms() + SECOND_MS;
    for (;;) {
        int64_t left = deadline - clock_monotonic_ms();
        if (left <= 0)
            return CLI_INTERRUPTED;
        int signal = cli_follow_wait(&watch->follow, -1, (int)left);
        if (signal == SIGINT)
            break;
        if (cli_follow_exit(signal) != CLI_DONE)
            return CLI_TERMINATED;
    }
    if (cli_control_post(cli, study, "stop", &err) != HT_OK)
        cli_fail_error(cli, &err);
    else
        cli_say(cli, "study %s stops; its results are kept", study);
    return CLI_INTERRUPTED;
}

static int leave(struct watch *watch, int code, bool second)
{
    struct cli *cli = watch->follow.cli;
    if (code == CLI_OVERDUE)
        return cli_fail(cli, code, "study %s is not over in time; it continues",
                        watch->follow.study);
    if (code == CLI_INTERRUPTED && second)
        return detach(watch);
    if (code == CLI_INTERRUPTED)
        advise(cli, watch->follow.study);
    return code;
}

/* Follows `study`; events before `since` are not shown. */
static int watch_study(struct cli *cli, const char *study, struct watch *watch,
                       int64_t since, bool second)
{
    bool left = false;
    cli_follow_open(&watch->follow, cli, study, since);
    if (watch->view == VIEW_LIVE)
        watch->live = cli_live_open(&watch->follow);
    int code = rounds(watch, &left);
    bool quit = watch->live != NULL && cli_live_has_quit(watch->live);
    cli_live_close(watch->live);
    if (left)
        code = leave(watch, code, second && !quit);
    cli_follow_close(&watch->follow);
    return quit ? CLI_DONE : code;
}

int cli_watch_wait(struct cli *cli, const char *study)
{
    struct watch watch = {.view = VIEW_NONE, .waits = true};
    return watch_study(cli, study, &watch, INT64_MAX, false);
}

int cli_watch_run(struct cli *cli, const char *study)
{
    struct watch watch = {.view =
                              screen_is_there(cli) ? VIEW_LIVE : VIEW_LINES};
    watch.waits = watch.view == VIEW_LINES;
    return watch_study(cli, study, &watch, 0, true);
}

int cli_watch(struct cli *cli)
{
    struct cli_study study;
    struct watch watch = {.view =
                              screen_is_there(cli) ? VIEW_LIVE : VIEW_LINES};
    const struct words *states = &cli->set.until;
    watch.until = states->n > 0 ? states->items[states->n - 1] : NULL;
    int code = cli_study_check_state(cli, watch.until, cli_study_states);
    if (code == CLI_DONE)
        code = cli_study_open(cli, cli->args.words.items[0], &study);
    if (code != CLI_DONE)
        return code;
    /* All events when it is over, else new ones. */
    int64_t since = cli_study_is_over(study.state)
                        ? 0
                        : node_get_int(study.status, "revision", 0);
    const char *advice = cli_control_advice(cli, &study);
    if (advice != NULL && watch.view == VIEW_LINES)
        cli_say(cli, "%s", advice);
    return watch_study(cli, study.name, &watch, since, false);
}
