#include "hypertune/cli_live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "hypertune/cli_control.h"
#include "hypertune/cli_frame.h"
#include "proto/clock.h"

enum {
    DRAW_MS = 250, /* at most 4 drawings a second */
    TICK_MS = 1000 /* the clock on the screen goes on without news */
};

struct cli_live {
    struct cli_follow *follow;
    struct termios saved;
    bool raw;     /* the terminal has to be restored */
    bool quit;    /* q was pressed */
    bool asking;  /* "stop?" waits for y */
    bool dirty;   /* news since the last drawing */
    size_t lines; /* of the frame on the screen */
    int64_t drawn_ms;
    char note[512]; /* answer to a key, last line of the frame */
    char state[32]; /* of the study, for the p key */
    struct frame frame;
};

/* ---- trials that run ---- */

static struct frame_slot *find_slot(struct frame *frame, const char *id)
{
    for (size_t i = 0; i < frame->n_slots; i++) {
        if (strcmp(frame->slots[i].id, id) == 0)
            return &frame->slots[i];
    }
    return NULL;
}

static struct frame_slot *add_slot(struct frame *frame, const char *id)
{
    struct frame_slot *slot = find_slot(frame, id);
    if (slot != NULL)
        return slot;
    frame->slots =
        ht_xrealloc(frame->slots, frame->n_slots + 1, sizeof *frame->slots);
    slot = &frame->slots[frame->n_slots++];
    *slot = (struct frame_slot){.value = NAN};
    snprintf(slot->id, sizeof slot->id, "%s", id);
    return slot;
}

static void drop_slot(struct frame *frame, const char *id)
{
    struct frame_slot *slot = find_slot(frame, id);
    if (slot == NULL)
        return;
    free(slot->params);
    size_t after = frame->n_slots - (size_t)(slot - frame->slots) - 1;
    memmove(slot, slot + 1, after * sizeof *slot);
    frame->n_slots--;
}

static void add_point(struct frame_slot *slot, const char *step, double value)
{
    if (isnan(value))
        return;
    snprintf(slot->step, sizeof slot->step, "%s", step);
    slot->value = value;
    if (slot->n_curve == FRAME_CURVE) {
        memmove(slot->curve, slot->curve + 1,
                (FRAME_CURVE - 1) * sizeof *slot->curve);
        slot->n_curve--;
    }
    slot->curve[slot->n_curve++] = value;
}

static void fill_slot(struct frame_slot *slot, const struct node *trial)
{
    const struct node *ours = node_find(trial, "hypertune");
    struct text params = {0};
    cli_trial_params(trial, &params);
    free(slot->params);
    slot->params = ht_xstrdup(params.data ? params.data : "");
    text_free(&params);
    snprintf(slot->runner, sizeof slot->runner, "%s",
             node_get_string(ours, "runner", ""));
    slot->start_ms = node_get_int(ours, "startTimeMs", 0);
}

/* What a running trial has reported before we came. */
static void load_curve(struct cli_live *live, struct frame_slot *slot)
{
    struct cli_http_answer answer;
    struct cli *cli = live->follow->cli;
    char *path = arena_printf(cli->arena, CLI_OURS "/%s/measurements?trial=%s",
                              cli_http_segment(cli->arena, live->follow->study),
                              slot->id);
    if (cli_call(cli, "GET", path, NULL, &answer, NULL) != HT_OK)
        return;
    const struct node *list = node_find(answer.root, "measurements");
    for (const struct node *one = list ? list->first : NULL; one != NULL;
         one = one->next)
        add_point(slot, cli_scalar(node_find(one, "step")),
                  node_get_double(node_find(one, "metrics"), live->frame.metric,
                                  NAN));
}

static void note_ended(struct frame *frame, const struct node *trial)
{
    struct text line = {0};
    const struct node *ours = node_find(trial, "hypertune");
    const char *reason = node_get_string(ours, "reason", "");
    text_printf(&line, "%s %s", cli_trial_id(trial), cli_trial_state(trial));
    if (node_find(ours, "objective") != NULL) {
        text_puts(&line, " ");
        cli_trial_objective(trial, &line);
    } else if (reason[0] != '\0') {
        text_puts(&line, " ");
        text_escape(&line, reason);
    }
    memmove(frame->last[1], frame->last[0],
            (FRAME_LAST - 1) * sizeof frame->last[0]);
    snprintf(frame->last[0], sizeof frame->last[0], "%s", line.data);
    text_free(&line);
}

static bool load_trial(const struct node *trial, void *context)
{
    struct cli_live *live = context;
    const char *state = cli_trial_state(trial);
    if (words_has("ACTIVE STOPPING", state))
        fill_slot(add_slot(&live->frame, cli_trial_id(trial)), trial);
    else if (strcmp(state, "REQUESTED") != 0)
        note_ended(&live->frame, trial);
    return true;
}

static void trial_moved(struct cli_live *live, const struct node *event)
{
    const struct node *trial;
    const char *to = node_get_string(event, "to", "");
    const char *id = cli_scalar(node_find(event, "trial"));
    if (!words_has("ACTIVE SUCCEEDED STOPPED FAILED INFEASIBLE CANCELLED", to))
        return;
    bool active = strcmp(to, "ACTIVE") == 0;
    if (!active)
        drop_slot(&live->frame, id);
    if (cli_trial_get(live->follow->cli, live->follow->study, id, &trial,
                      NULL) != HT_OK)
        return;
    /* An event may be older than what the trial is by now. */
    if (active && words_has("ACTIVE STOPPING", cli_trial_state(trial)))
        fill_slot(add_slot(&live->frame, id), trial);
    else if (!active)
        note_ended(&live->frame, trial);
}

static void take_event(struct cli_live *live, const struct node *event)
{
    const char *kind = node_get_string(event, "kind", "");
    const struct node *data = node_find(event, "data");
    if (strcmp(kind, "trial.moved") == 0) {
        trial_moved(live, event);
    } else if (strcmp(kind, "trial.measured") == 0) {
        struct frame_slot *slot =
            find_slot(&live->frame, cli_scalar(node_find(event, "trial")));
        if (slot != NULL)
            add_point(slot, cli_scalar(node_find(data, "step")),
                      node_get_double(node_find(data, "metrics"),
                                      live->frame.metric, NAN));
    }
}

/* ---- terminal ---- */

static void write_all(const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDOUT_FILENO, bytes, len);
        if (n <= 0)
            return;
        bytes += n;
        len -= (size_t)n;
    }
}

static void draw(struct cli_live *live, const struct cli_study *study)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    struct text out = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    size_t width = size.ws_col > 0 ? size.ws_col : 80;
    bool resized = live->frame.width != 0 && live->frame.width != width;
    live->frame.width = width;
    live->frame.height = size.ws_row > 0 ? size.ws_row : 24;
    live->frame.now_ms = clock_wall_ms();
    live->frame.note = live->note;
    /* Old lines may have been wrapped anew, so nothing can be counted. */
    if (resized)
        text_puts(&out, "\033[2J\033[H");
    else if (live->lines > 0)
        text_printf(&out, "\033[%zuA\r\033[J", live->lines);
    live->lines = cli_frame_print(&live->frame, study, &out);
    write_all(out.data, out.len);
    text_free(&out);
    live->drawn_ms = clock_monotonic_ms();
    live->dirty = false;
}

struct cli_live *cli_live_open(struct cli_follow *follow)
{
    struct ht_error err;
    struct cli_study study;
    struct cli_live *live = ht_xcalloc(1, sizeof *live);
    live->follow = follow;
    live->frame.color = follow->cli->color;
    if (tcgetattr(STDIN_FILENO, &live->saved) == 0) {
        struct termios raw = live->saved;
        /* Signals stay on, so that Ctrl-C is one. */
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        raw.c_cc[VMIN] = 0;
        raw.c_cc[VTIME] = 0;
        live->raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
    if (cli_study_get(follow->cli, follow->study, &study, &err) != HT_OK)
        return live;
    snprintf(live->frame.metric, sizeof live->frame.metric, "%s", study.metric);
    follow->since = node_get_int(study.status, "revision", 0);
    struct cli_pages pages = cli_trial_pages(follow->cli, follow->study, NULL);
    cli_pages_each(follow->cli, &pages, load_trial, live, &err);
    for (size_t i = 0; i < live->frame.n_slots; i++)
        load_curve(live, &live->frame.slots[i]);
    return live;
}

void cli_live_close(struct cli_live *live)
{
    if (live == NULL)
        return;
    if (live->raw)
        tcsetattr(STDIN_FILENO, TCSANOW, &live->saved);
    for (size_t i = 0; i < live->frame.n_slots; i++)
        free(live->frame.slots[i].params);
    free(live->frame.slots);
    free(live);
}

void cli_live_round(struct cli_live *live, const struct cli_study *study,
                    const struct node *events)
{
    snprintf(live->state, sizeof live->state, "%s", study->state);
    for (const struct node *event = events ? events->first : NULL;
         event != NULL; event = event->next) {
        take_event(live, event);
        live->dirty = true;
    }
    int64_t age = clock_monotonic_ms() - live->drawn_ms;
    bool due = age >= (live->dirty ? DRAW_MS : TICK_MS);
    if (due || cli_study_is_over(study->state))
        draw(live, study);
}

/* ---- keys ---- */

static void post(struct cli_live *live, const char *verb)
{
    struct ht_error err;
    if (cli_control_post(live->follow->cli, live->follow->study, verb, &err) ==
        HT_OK)
        snprintf(live->note, sizeof live->note, "%s: done", verb);
    else
        snprintf(live->note, sizeof live->note, "%s: %s", verb, err.text);
}

/* The last line that the newest running trial printed. */
static void note_log(struct cli_live *live)
{
    if (live->frame.n_slots == 0) {
        snprintf(live->note, sizeof live->note, "no trial runs");
        return;
    }
    const char *id = live->frame.slots[live->frame.n_slots - 1].id;
    const char *data =
        cli_trial_log_tail(live->follow->cli, live->follow->study, id, "stdout",
                           (int)sizeof live->note);
    const char *newline = strrchr(data, '\n');
    snprintf(live->note, sizeof live->note, "trial %s: %s", id,
             newline != NULL ? newline + 1 : data);
}

static void note_best(struct cli_live *live)
{
    struct cli *cli = live->follow->cli;
    struct cli_study study;
    struct text args = {0};
    if (cli_study_get(cli, live->follow->study, &study, NULL) != HT_OK)
        return;
    const struct node *best = node_find(study.status, "best");
    if (best != NULL)
        cli_trial_args(best, &args);
    snprintf(live->note, sizeof live->note, "best: %s",
             args.data != NULL ? args.data : "none yet");
    text_free(&args);
}

static void answer_stop(struct cli_live *live, char key)
{
    live->asking = false;
    live->note[0] = '\0';
    if (key == 'y' || key == 'Y')
        post(live, "stop");
}

static void press(struct cli_live *live, char key)
{
    live->dirty = true;
    if (live->asking) {
        answer_stop(live, key);
    } else if (key == 'q') {
        live->quit = true;
    } else if (key == 'p') {
        post(live, strcmp(live->state, "PAUSED") == 0 ? "resume" : "pause");
    } else if (key == 's') {
        live->asking = true;
        snprintf(live->note, sizeof live->note,
                 "stop ends running trials; go on? [y/N]");
    } else if (key == 'l') {
        note_log(live);
    } else if (key == 'b') {
        note_best(live);
    }
}

bool cli_live_keys(struct cli_live *live)
{
    char key;
    while (!live->quit && live->raw && read(STDIN_FILENO, &key, 1) == 1)
        press(live, key);
    return !live->quit;
}

bool cli_live_has_quit(const struct cli_live *live)
{
    return live->quit;
}

int cli_live_input(const struct cli_live *live)
{
    return live->raw ? STDIN_FILENO : -1;
}

int cli_live_pause_ms(const struct cli_live *live)
{
    int64_t left = (live->dirty ? DRAW_MS : TICK_MS) + live->drawn_ms -
                   clock_monotonic_ms();
    return left > 0 ? (int)left : 0;
}
