/* screen.h - the terminal while a picture is redrawn on it in place.
 *
 * Between open and close the terminal gives single keys without echo; close
 * restores it, and so does a stop by Ctrl-Z until the process is continued.
 * Pictures are drawn at most 4 times a second. */
#ifndef HT_HYPERTUNE_CLI_LIVE_SCREEN_H
#define HT_HYPERTUNE_CLI_LIVE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <termios.h>

#include "hypertune/cli/study/follow.h"

struct cli_screen {
    struct termios saved;
    bool raw;         /* the terminal has to be restored */
    bool whole;       /* uses the alternate screen */
    bool dirty;       /* there is news since the last drawing */
    bool anew;        /* the last drawing has moved */
    size_t lines;     /* of the picture that is shown */
    size_t width;     /* of the terminal, as last measured */
    size_t height;    /* of the same */
    int64_t drawn_ms; /* monotonic, of the last drawing */
};

/* Keys that are no characters. */
enum { SCREEN_UP = 1, SCREEN_DOWN };

/* Takes the terminal; Ctrl-Z and Ctrl-\ become signals of `follow`. With
 * `whole` the picture has the alternate screen, so that nothing is left of
 * it; otherwise it grows where the cursor is and its last state stays. */
void screen_open(struct cli_screen *screen, struct cli_follow *follow,
                 bool whole);
/* Restores the terminal; a picture on the alternate screen is gone then. */
void screen_close(struct cli_screen *screen);

/* Is it time to draw: a second after the last picture, with news sooner. */
bool screen_is_due(const struct cli_screen *screen);

/* Asks for the size, which the next picture has to fit. */
void screen_measure(struct cli_screen *screen);
/* Shows a picture of whole lines, fewer than the terminal has. */
void screen_draw(struct cli_screen *screen, const char *picture, size_t lines);

/* Takes a key; false: the person wants to leave. */
typedef bool screen_press(void *context, char key);
/* Waits until the next picture is due, for news of the server, a signal or
 * keys, which are news too. Returns CLI_DONE, CLI_INTERRUPTED after a key to
 * leave, the exit code of a signal, or CLI_OVERDUE. */
int screen_wait(struct cli_screen *screen, struct cli_follow *follow,
                screen_press *press, void *context);

/* Can pictures be drawn: a terminal that is not dumb, and -o table? */
bool screen_is_there(const struct cli *cli);

#endif
