#include "hypertune/cli_live.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "hypertune/cli_control.h"
#include "hypertune/cli_scene.h"
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
    bool anew;    /* the last drawing is no more where it was */
    size_t lines; /* of the frame on the screen */
    int64_t drawn_ms;
    char note[512]; /* answer to a key, last line of the frame */
    char state[32]; /* of the study, for the p key */
    struct cli_scene scene;
};

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

static void measure(struct cli_live *live)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    struct frame *frame = &live->scene.frame;
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    size_t width = size.ws_col > 0 ? size.ws_col : 80;
    size_t height = size.ws_row > 0 ? size.ws_row : 24;
    /* Old lines may have been wrapped anew, so nothing can be counted. */
    live->anew = live->anew || (frame->width != 0 && (frame->width != width ||
                                                      frame->height != height));
    frame->width = width;
    frame->height = height;
}

/* Each line is written over the old one, so that nothing flickers. */
static void draw(struct cli_live *live, const struct cli_study *study)
{
    struct text picture = {0}, out = {0};
    struct frame *frame = &live->scene.frame;
    measure(live);
    frame->now_ms = clock_wall_ms();
    frame->note = live->note;
    if (live->anew)
        text_puts(&out, "\033[2J\033[H");
    else if (live->lines > 0)
        text_printf(&out, "\033[%zuA\r", live->lines);
    live->anew = false;
    live->lines = cli_frame_print(frame, study, &picture);
    for (const char *line = picture.data; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        text_append(&out, line, len);
        text_puts(&out, "\033[K\n");
        line += len + (line[len] == '\n');
    }
    text_puts(&out, "\033[J");
    write_all(out.data, out.len);
    text_free(&picture);
    text_free(&out);
    live->drawn_ms = clock_monotonic_ms();
    live->dirty = false;
}

static void take_terminal(struct cli_live *live)
{
    struct termios raw = live->saved;
    /* Signals stay on, so that Ctrl-C is one. */
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    live->raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

static void give_terminal(struct cli_live *live)
{
    if (live->raw)
        tcsetattr(STDIN_FILENO, TCSANOW, &live->saved);
    live->raw = false;
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
    cli_follow_take(follow, SIGTSTP);
    cli_follow_take(follow, SIGQUIT);
    if (tcgetattr(STDIN_FILENO, &live->saved) == 0)
        take_terminal(live);
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
    give_terminal(live);
    scene_fini(&live->scene);
    free(live);
}

/* The shell takes over the screen and whatever it writes stays. */
static void suspend(struct cli_live *live)
{
    bool raw = live->raw;
    give_terminal(live);
    cli_follow_default(SIGTSTP);
    if (raw)
        take_terminal(live);
    live->lines = 0;
}

void cli_live_signal(struct cli_live *live, int signal)
{
    if (signal == SIGTSTP)
        suspend(live);
    live->dirty = live->dirty || signal == SIGTSTP || signal == SIGWINCH;
}

static bool is_due(const struct cli_live *live)
{
    int64_t age = clock_monotonic_ms() - live->drawn_ms;
    return age >= (live->dirty ? DRAW_MS : TICK_MS);
}

void cli_live_round(struct cli_live *live, const struct cli_study *study,
                    const struct node *events)
{
    snprintf(live->state, sizeof live->state, "%s", study->state);
    live->dirty = live->dirty || live->scene.frame.away;
    live->scene.frame.away = false;
    for (const struct node *event = events ? events->first : NULL;
         event != NULL; event = event->next) {
        scene_event(&live->scene, event);
        live->dirty = true;
    }
    if (is_due(live) || cli_study_is_over(study->state)) {
        scene_refresh(&live->scene);
        draw(live, study);
    }
}

void cli_live_away(struct cli_live *live, const struct cli_study *study)
{
    live->dirty = live->dirty || !live->scene.frame.away;
    live->scene.frame.away = true;
    if (study != NULL && is_due(live))
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
    const struct frame *frame = &live->scene.frame;
    if (frame->n_slots == 0) {
        snprintf(live->note, sizeof live->note, "no trial runs");
        return;
    }
    const char *id = frame->running[frame->n_slots - 1].id;
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
