#include "hypertune/cli/live/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hypertune/cli/live/scene.h"
#include "hypertune/cli/live/screen.h"
#include "hypertune/cli/study/control.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"

enum { NOTE_BYTES = 1024, LOG_LINES = 5 };

struct cli_live {
    struct cli_follow *follow;
    struct cli_screen screen;
    bool quit;             /* q was pressed */
    bool asking;           /* "stop?" waits for y */
    bool logging;          /* the note is a log, to be kept up to date */
    char note[NOTE_BYTES]; /* answer to a key, last lines of the picture */
    char state[32];        /* of the study, for the p key */
    struct cli_scene scene;
};

static void draw(struct cli_live *live, const struct cli_study *study)
{
    struct text picture = {0};
    struct frame *frame = &live->scene.frame;
    screen_measure(&live->screen);
    frame->width = live->screen.width;
    frame->height = live->screen.height;
    frame->now_ms = clock_wall_ms();
    frame->note = live->note;
    frame->question =
        live->asking ? "stop ends running trials; go on? [y/N]" : "";
    size_t lines = cli_frame_print(frame, study, &picture);
    screen_draw(&live->screen, picture.data, lines);
    text_free(&picture);
}

struct cli_live *cli_live_open(struct cli_follow *follow)
{
    struct ht_error err;
    struct cli_study study;
    struct cli_live *live = ht_xcalloc(1, sizeof *live);
    live->follow = follow;
    live->scene.cli = follow->cli;
    live->scene.study = follow->study;
    live->scene.frame.color = follow->cli->color;
    screen_open(&live->screen, follow, false);
    if (cli_study_get(follow->cli, follow->study, &study, &err) != HT_OK)
        return live;
    follow->since = node_get_int(study.status, "revision", 0);
    scene_load(&live->scene, &study);
    return live;
}

void cli_live_close(struct cli_live *live)
{
    if (live == NULL)
        return;
    screen_close(&live->screen);
    scene_fini(&live->scene);
    free(live);
}

void cli_live_signal(struct cli_live *live, int signal)
{
    screen_signal(&live->screen, signal);
}

/* The last lines that the newest running trial printed. */
static void note_log(struct cli_live *live)
{
    const struct frame *frame = &live->scene.frame;
    if (frame->n_slots == 0) {
        snprintf(live->note, sizeof live->note, "no trial runs");
        return;
    }
    const char *id = frame->running[frame->n_slots - 1].id;
    const char *data = cli_trial_log_tail(
        live->follow->cli, live->follow->study, id, "stdout", NOTE_BYTES / 2);
    const char *start = data + strlen(data);
    for (int lines = 0; start > data; start--) {
        if (start[-1] == '\n' && ++lines == LOG_LINES)
            break;
    }
    if (*start == '\0')
        snprintf(live->note, sizeof live->note, "trial %s printed nothing", id);
    else
        snprintf(live->note, sizeof live->note, "trial %s printed:\n%s", id,
                 start);
}

void cli_live_round(struct cli_live *live, const struct cli_study *study,
                    const struct node *events)
{
    snprintf(live->state, sizeof live->state, "%s", study->state);
    if (live->scene.frame.away)
        live->screen.dirty = true;
    live->scene.frame.away = false;
    for (const struct node *event = events ? events->first : NULL;
         event != NULL; event = event->next) {
        scene_event(&live->scene, event);
        live->screen.dirty = true;
    }
    if (screen_is_due(&live->screen) || cli_study_is_over(study->state)) {
        scene_refresh(&live->scene);
        if (live->logging)
            note_log(live);
        draw(live, study);
    }
}

void cli_live_away(struct cli_live *live, const struct cli_study *study)
{
    if (!live->scene.frame.away)
        live->screen.dirty = true;
    live->scene.frame.away = true;
    if (study != NULL && screen_is_due(&live->screen))
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

static void note_best(struct cli_live *live)
{
    struct cli *cli = live->follow->cli;
    struct cli_study study;
    struct text flags = {0};
    if (cli_study_get(cli, live->follow->study, &study, NULL) != HT_OK)
        return;
    const struct node *best = node_find(study.status, "best");
    if (best != NULL)
        cli_trial_flags(best, &flags);
    snprintf(live->note, sizeof live->note, "best: %s",
             flags.data != NULL ? flags.data : "none yet");
    text_free(&flags);
}

static void answer_stop(struct cli_live *live, char key)
{
    live->asking = false;
    if (key == 'y' || key == 'Y')
        post(live, "stop");
}

static void press(struct cli_live *live, char key)
{
    live->screen.dirty = true;
    live->logging = false;
    if (live->asking) {
        answer_stop(live, key);
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
    } else if (key == 'b') {
        note_best(live);
    } else {
        live->note[0] = '\0';
    }
}

bool cli_live_keys(struct cli_live *live)
{
    char key;
    while (!live->quit && screen_key(&live->screen, &key))
        press(live, key);
    return !live->quit;
}

bool cli_live_has_quit(const struct cli_live *live)
{
    return live->quit;
}

int cli_live_input(const struct cli_live *live)
{
    return screen_input(&live->screen);
}

int cli_live_pause_ms(const struct cli_live *live)
{
    return screen_pause_ms(&live->screen);
}
