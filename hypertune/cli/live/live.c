#include "hypertune/cli/live/live.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/live/overview.h"
#include "hypertune/cli/live/picture.h"
#include "hypertune/cli/live/screen.h"
#include "hypertune/cli/study/read_logs.h"
#include "hypertune/cli/study/study.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"

enum {
    SLOTS_MS = 3000, /* how old the slots may get */
    WORDS_TAIL = 200,
    NOTE_BYTES = 1024,
    LOG_LINES = 5
};

/* The frame has the running trials with their curves, the newest ended ones
 * and the slots. It is filled once from the server, then updated by events. */
struct cli_live {
    struct cli_follow *follow;
    struct cli *cli;   /* of `follow` */
    const char *study; /* of `follow` */
    struct cli_screen screen;
    struct frame frame;
    int64_t slots_ms;      /* monotonic, when slots were asked for */
    bool quit;             /* q was pressed */
    bool asking;           /* "stop?" waits for y */
    bool logging;          /* the note is a log, to be kept up to date */
    char note[NOTE_BYTES]; /* answer to a key, last lines of the picture */
    char state[32];        /* of the study, for the p key */
    const char *pattern;   /* that the m key takes; NULL: none; of the round */
};

/* ---- running trials ---- */

static struct frame_slot *find_slot(struct frame *frame, const char *id)
{
    for (size_t i = 0; i < frame->n_slots; i++) {
        if (strcmp(frame->running[i].id, id) == 0)
            return &frame->running[i];
    }
    return NULL;
}

static struct frame_slot *add_slot(struct frame *frame, const char *id)
{
    struct frame_slot *slot = find_slot(frame, id);
    if (slot != NULL)
        return slot;
    frame->running =
        ht_xrealloc(frame->running, frame->n_slots + 1, sizeof *frame->running);
    slot = &frame->running[frame->n_slots++];
    *slot = (struct frame_slot){.value = NAN};
    snprintf(slot->id, sizeof slot->id, "%s", id);
    return slot;
}

static void free_slot(struct frame_slot *slot)
{
    text_free(&slot->words);
    text_free(&slot->params);
    text_free(&slot->brief);
}

static void drop_slot(struct frame *frame, const char *id)
{
    struct frame_slot *slot = find_slot(frame, id);
    if (slot == NULL)
        return;
    free_slot(slot);
    size_t after = frame->n_slots - (size_t)(slot - frame->running) - 1;
    memmove(slot, slot + 1, after * sizeof *slot);
    frame->n_slots--;
}

/* Takes the objective of a report, if it has one. */
static void add_point(struct frame_slot *slot, const char *metric,
                      const struct node *report)
{
    const double value =
        node_get_double(node_find(report, "metrics"), metric, NAN);
    if (isnan(value))
        return;
    snprintf(slot->step, sizeof slot->step, "%s",
             cli_scalar(node_find(report, "step")));
    slot->value = value;
    /* Each column is the newest of so many values; when the columns are used
     * up it becomes that of twice as many. */
    slot->stride = slot->stride == 0 ? 1 : slot->stride;
    if (slot->n_values / slot->stride == FRAME_CURVE) {
        for (size_t i = 0; i < FRAME_CURVE / 2; i++)
            slot->curve[i] = slot->curve[2 * i + 1];
        slot->stride *= 2;
    }
    slot->curve[slot->n_values / slot->stride] = value;
    slot->n_curve = slot->n_values / slot->stride + 1;
    slot->n_values++;
}

static void fill_slot(struct frame_slot *slot, const struct node *trial)
{
    const struct node *ours = node_find(trial, "hypertune");
    text_clear(&slot->params);
    text_clear(&slot->brief);
    cli_trial_params(trial, &slot->params);
    cli_trial_brief(node_find(ours, "params"), &slot->brief);
    snprintf(slot->runner, sizeof slot->runner, "%s",
             node_get_string(ours, "runner", ""));
    slot->start_ms = node_get_int(ours, "startTimeMs", 0);
    snprintf(slot->why, sizeof slot->why, "%s",
             node_get_string(node_find(ours, "why"), "kind", ""));
    for (char *c = slot->why; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    const struct node *newest = cli_trial_newest(trial);
    slot->starting =
        strcmp(node_get_string(newest, "state", ""), "STARTING") == 0;
}

/* The runner's last line about a trial that does not run yet: an image may take
 * its time. */
static void load_words(const struct cli_live *live, struct frame_slot *slot)
{
    const char *output = cli_trial_log_tail(live->cli, live->study, slot->id,
                                            "runner", WORDS_TAIL);
    const char *line = strrchr(output, '\n');
    text_clear(&slot->words);
    text_escape(&slot->words, line != NULL ? line + 1 : output);
}

struct curve_load {
    struct frame_slot *slot;
    const char *metric;
};

static bool load_point(const struct node *measurement, void *context)
{
    const struct curve_load *load = context;
    add_point(load->slot, load->metric, measurement);
    return true;
}

/* The earlier reports of a running trial; unreadable ones are not shown. */
static void load_curve(const struct cli_live *live, struct frame_slot *slot)
{
    struct curve_load load = {slot, live->frame.metric};
    const struct cli_pages pages = {
        .path = cli_study_path(live->cli, live->study, "/measurements?trial=%s",
                               slot->id),
        .key = "measurements"};
    cli_pages_each(live->cli, &pages, load_point, &load, NULL);
}

/* ---- ended trials ---- */

static void note_ended(struct frame *frame, const struct node *trial)
{
    struct text line = {0};
    const struct node *ours = node_find(trial, "hypertune");
    const char *state = cli_trial_state(trial);
    const char *reason = node_get_string(ours, "reason", "");
    bool good = strcmp(state, "SUCCEEDED") == 0 || reason[0] == '\0';
    text_printf(&line, "%s %s ", cli_trial_id(trial), state);
    if (good && node_find(ours, "objective") != NULL)
        cli_trial_objective(trial, &line);
    else
        text_escape(&line, reason);
    frame->since_failure++;
    if (words_has("FAILED INFEASIBLE", state)) {
        text_clear(&frame->failure);
        text_puts(&frame->failure, line.data);
        frame->since_failure = 0;
    }
    text_free(&frame->last[FRAME_LAST - 1]);
    memmove(&frame->last[1], &frame->last[0],
            (FRAME_LAST - 1) * sizeof frame->last[0]);
    frame->last[0] = line;
    /* Only what may become the best is part of its history. */
    frame->history =
        ht_xrealloc(frame->history, frame->n_history + 1, sizeof(double));
    frame->history[frame->n_history++] =
        words_has("SUCCEEDED STOPPED", state) ? cli_trial_score(trial) : NAN;
}

static bool load_trial(const struct node *trial, void *context)
{
    struct frame *frame = context;
    const char *state = cli_trial_state(trial);
    if (words_has("ACTIVE STOPPING", state))
        fill_slot(add_slot(frame, cli_trial_id(trial)), trial);
    else if (!words_has("REQUESTED PAUSED", state))
        note_ended(frame, trial);
    return true;
}

/* Reads the past of the study; unreadable parts are not shown. */
static void load_scene(struct cli_live *live, const struct cli_study *study)
{
    struct cli_pages pages = cli_trial_pages(live->cli, live->study, NULL);
    snprintf(live->frame.metric, sizeof live->frame.metric, "%s",
             study->metric);
    if (study->home->kind == JOB_CUSTOM)
        return;
    cli_pages_each(live->cli, &pages, load_trial, &live->frame, NULL);
    for (size_t i = 0; i < live->frame.n_slots; i++) {
        struct frame_slot *slot = &live->frame.running[i];
        const struct node *trial;
        /* Lists leave the attempts out. */
        if (cli_trial_get(live->cli, live->study, slot->id, &trial, NULL) ==
            HT_OK)
            fill_slot(slot, trial);
        load_curve(live, slot);
    }
}

/* ---- events ---- */

static void trial_moved(struct cli_live *live, const struct node *event)
{
    const struct node *trial;
    const char *to = node_get_string(event, "to", "");
    const char *id = cli_scalar(node_find(event, "trial"));
    bool active = strcmp(to, "ACTIVE") == 0;
    if (!active)
        drop_slot(&live->frame, id);
    if (!active &&
        !words_has("SUCCEEDED STOPPED FAILED INFEASIBLE CANCELLED", to))
        return;
    if (cli_trial_get(live->cli, live->study, id, &trial, NULL) != HT_OK)
        return;
    /* An event may be older than the trial's state. */
    if (active && words_has("ACTIVE STOPPING", cli_trial_state(trial)))
        fill_slot(add_slot(&live->frame, id), trial);
    else if (!active)
        note_ended(&live->frame, trial);
}

/* Takes one event of the study. */
static void take_event(struct cli_live *live, const struct node *event)
{
    const char *kind = node_get_string(event, "kind", "");
    struct frame_slot *slot =
        find_slot(&live->frame, cli_scalar(node_find(event, "trial")));
    if (strcmp(kind, "trial.moved") == 0)
        trial_moved(live, event);
    else if (slot != NULL && strcmp(kind, "attempt.moved") == 0)
        slot->starting =
            strcmp(node_get_string(event, "to", ""), "STARTING") == 0;
    else if (slot != NULL && strcmp(kind, "trial.measured") == 0)
        add_point(slot, live->frame.metric, node_find(event, "data"));
}

/* Asks for the slots again when the last answer is some seconds old. */
static void refresh_scene(struct cli_live *live)
{
    const struct node *answer;
    int64_t now = clock_monotonic_ms();
    if (live->slots_ms != 0 && now - live->slots_ms < SLOTS_MS)
        return;
    live->slots_ms = now;
    for (size_t i = 0; i < live->frame.n_slots; i++) {
        if (live->frame.running[i].starting)
            load_words(live, &live->frame.running[i]);
    }
    if (cli_get(live->cli, "/hypertune/v1/runners", &answer, NULL) != HT_OK)
        return;
    live->frame.slots =
        overview_slots(node_find(answer, "runners"), &live->frame.busy);
}

/* ---- the view ---- */

static void draw(struct cli_live *live, const struct cli_study *study)
{
    struct text picture = {0};
    struct frame *frame = &live->frame;
    screen_measure(&live->screen);
    frame->width = live->screen.width;
    frame->height = live->screen.height;
    frame->now_ms = clock_wall_ms();
    frame->note = live->note;
    frame->question =
        live->asking ? "stop ends running trials; continue? [y/N]" : "";
    size_t lines = cli_frame_print(frame, study, &picture);
    screen_draw(&live->screen, picture.data, lines);
    text_free(&picture);
}

struct cli_live *cli_live_open(struct cli_follow *follow)
{
    struct cli_study study;
    struct cli_live *live = ht_xcalloc(1, sizeof *live);
    live->follow = follow;
    live->cli = follow->cli;
    live->study = follow->study;
    live->frame.color = follow->cli->color;
    screen_open(&live->screen, follow, false);
    if (cli_study_get(follow->cli, follow->study, &study, NULL) == HT_OK) {
        follow->since = node_get_int(study.status, "revision", 0);
        load_scene(live, &study);
    }
    return live;
}

void cli_live_close(struct cli_live *live)
{
    if (live == NULL)
        return;
    struct frame *frame = &live->frame;
    screen_close(&live->screen);
    for (size_t i = 0; i < frame->n_slots; i++)
        free_slot(&frame->running[i]);
    for (size_t i = 0; i < FRAME_LAST; i++)
        text_free(&frame->last[i]);
    text_free(&frame->failure);
    free(frame->running);
    free(frame->history);
    free(live);
}

/* The last lines that the newest running trial printed. */
static void note_log(struct cli_live *live)
{
    const struct frame *frame = &live->frame;
    snprintf(live->note, sizeof live->note, "no trial runs");
    if (frame->n_slots == 0)
        return;
    const char *id = frame->running[frame->n_slots - 1].id;
    const char *last =
        cli_last_lines(cli_trial_log_tail(live->cli, live->study, id, "stdout",
                                          NOTE_BYTES / 2),
                       LOG_LINES);
    snprintf(live->note, sizeof live->note, "trial %s printed%s%s", id,
             *last == '\0' ? " nothing" : ":\n", last);
}

void cli_live_round(struct cli_live *live, const struct cli_study *study,
                    const struct node *events)
{
    snprintf(live->state, sizeof live->state, "%s", study->state);
    live->pattern = cli_metric_recognised(study);
    if (live->frame.away)
        live->screen.dirty = true;
    live->frame.away = false;
    NODE_EACH (event, node_items(events)) {
        take_event(live, event);
        live->screen.dirty = true;
    }
    if (screen_is_due(&live->screen) || cli_study_is_over(study->state)) {
        refresh_scene(live);
        if (live->logging)
            note_log(live);
        draw(live, study);
    }
}

void cli_live_away(struct cli_live *live, const struct cli_study *study)
{
    if (!live->frame.away)
        live->screen.dirty = true;
    live->frame.away = true;
    if (study != NULL && screen_is_due(&live->screen))
        draw(live, study);
}

/* ---- keys ---- */

static void post(struct cli_live *live, const char *verb)
{
    struct ht_error err;
    if (cli_control_post(live->cli, live->study, verb, &err) == HT_OK)
        snprintf(live->note, sizeof live->note, "%s: done", verb);
    else
        snprintf(live->note, sizeof live->note, "%s: %s", verb, err.text);
}

void cli_live_note(struct cli_live *live, const char *text)
{
    live->logging = false;
    live->screen.dirty = true;
    snprintf(live->note, sizeof live->note, "%s", text);
}

static void take_metric(struct cli_live *live)
{
    struct ht_error err;
    struct text said = {0};
    const enum ht_status status =
        cli_metric_read(live->cli, live->study,
                        &(struct strings){1, &live->pattern}, &said, &err);
    cli_live_note(live, status == HT_OK ? said.data : err.text);
    text_free(&said);
}

static void note_best(struct cli_live *live)
{
    struct cli *cli = live->cli;
    struct cli_study study;
    struct text flags = {0};
    if (cli_study_get(cli, live->study, &study, NULL) != HT_OK)
        return;
    cli_trial_flags(study.best, &flags);
    snprintf(live->note, sizeof live->note, "best: %s",
             flags.len > 0 ? flags.data : "none yet");
    text_free(&flags);
}

static bool press(void *context, char key)
{
    struct cli_live *live = context;
    live->logging = false;
    if (live->asking) {
        live->asking = false;
        if (key == 'y' || key == 'Y')
            post(live, "stop");
    } else if (key == 'q') {
        live->quit = true;
    } else if (key == 'p') {
        post(live, strcmp(live->state, "PAUSED") == 0 ? "resume" : "pause");
    } else if (key == 'r') {
        post(live, "resume");
    } else if (key == 's') {
        live->asking = true;
        live->note[0] = '\0';
    } else if (key == 'l') {
        live->logging = true; /* read for the next picture */
    } else if (key == 'm' && live->pattern != NULL) {
        take_metric(live);
    } else if (key == 'b') {
        note_best(live);
    } else {
        live->note[0] = '\0';
    }
    return !live->quit;
}

int cli_live_wait(struct cli_live *live)
{
    return screen_wait(&live->screen, live->follow, press, live);
}

bool cli_live_has_quit(const struct cli_live *live)
{
    return live->quit;
}
