#include "hypertune/cli/live/screen.h"

#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/whole.h"

enum {
    DRAW_MS = 250, /* at most 4 drawings a second */
    TICK_MS = 1000 /* without news, for the clock on the screen */
};

static void say(const char *sequence)
{
    (void)whole_write(STDOUT_FILENO, sequence, strlen(sequence));
}

/* ---- taking and giving back ---- */

static void take(struct cli_screen *screen)
{
    struct termios raw = screen->saved;
    /* Signals stay on, so that Ctrl-C is one. */
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    screen->raw = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    if (screen->whole)
        say("\033[?1049h\033[?25l\033[H");
}

void screen_close(struct cli_screen *screen)
{
    if (screen->whole)
        say("\033[?25h\033[?1049l");
    if (screen->raw)
        tcsetattr(STDIN_FILENO, TCSANOW, &screen->saved);
    screen->raw = false;
}

void screen_open(struct cli_screen *screen, struct cli_follow *follow,
                 bool whole)
{
    *screen = (struct cli_screen){.whole = whole, .dirty = true};
    cli_follow_take(follow, SIGTSTP);
    cli_follow_take(follow, SIGQUIT);
    if (tcgetattr(STDIN_FILENO, &screen->saved) == 0)
        take(screen);
}

/* The shell takes over the screen and whatever it writes stays. */
static void suspend(struct cli_screen *screen)
{
    bool raw = screen->raw;
    screen_close(screen);
    cli_follow_default(SIGTSTP);
    if (raw)
        take(screen);
    screen->lines = 0;
}

/* ---- drawing ---- */

static int pause_ms(const struct cli_screen *screen)
{
    int64_t left = (screen->dirty ? DRAW_MS : TICK_MS) + screen->drawn_ms -
                   clock_monotonic_ms();
    return left > 0 ? (int)left : 0;
}

bool screen_is_due(const struct cli_screen *screen)
{
    return pause_ms(screen) == 0;
}

void screen_measure(struct cli_screen *screen)
{
    struct winsize size = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    size_t width = size.ws_col > 0 ? size.ws_col : 80;
    size_t height = size.ws_row > 0 ? size.ws_row : 24;
    /* Old lines may have been wrapped anew, so nothing can be counted. */
    screen->anew =
        screen->anew || (screen->width != 0 &&
                         (screen->width != width || screen->height != height));
    screen->width = width;
    screen->height = height;
}

/* Each line is written over the old one, so that nothing flickers. */
void screen_draw(struct cli_screen *screen, const char *picture, size_t lines)
{
    struct text out = {0};
    if (screen->anew)
        text_puts(&out, "\033[2J\033[H");
    else if (screen->lines > 0)
        text_printf(&out, "\033[%zuA\r", screen->lines);
    for (const char *line = picture; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        text_append(&out, line, len);
        text_puts(&out, "\033[K\n");
        line += len + (line[len] == '\n');
    }
    text_puts(&out, "\033[J");
    (void)whole_write(STDOUT_FILENO, out.data, out.len);
    text_free(&out);
    screen->anew = screen->dirty = false;
    screen->lines = lines;
    screen->drawn_ms = clock_monotonic_ms();
}

/* ---- keys ---- */

static bool read_byte(char *byte)
{
    return read(STDIN_FILENO, byte, 1) == 1;
}

/* Reads the next key; false when there is none by now. */
static bool read_key(const struct cli_screen *screen, char *key)
{
    if (!screen->raw || !read_byte(key))
        return false;
    if (*key != '\033')
        return true;
    /* ESC [ digits final: whatever is no arrow is no key of ours either. */
    char byte = 0;
    if (read_byte(&byte) && (byte == '[' || byte == 'O'))
        while (read_byte(&byte) && byte >= '0' && byte <= ';')
            ;
    *key = (char)(byte == 'A' ? SCREEN_UP : byte == 'B' ? SCREEN_DOWN : '\033');
    return true;
}

int screen_wait(struct cli_screen *screen, struct cli_follow *follow,
                screen_press *press, void *context)
{
    char key;
    bool more = true;
    const int signal = cli_follow_wait(follow, screen->raw ? STDIN_FILENO : -1,
                                       pause_ms(screen));
    if (cli_follow_exit(signal) != CLI_DONE)
        return cli_follow_exit(signal);
    if (signal == SIGTSTP)
        suspend(screen);
    screen->dirty = screen->dirty || signal == SIGTSTP || signal == SIGWINCH;
    while (more && read_key(screen, &key)) {
        screen->dirty = true;
        more = press(context, key);
    }
    if (!more)
        return CLI_INTERRUPTED;
    return cli_follow_overdue(follow) ? CLI_OVERDUE : CLI_DONE;
}

bool screen_is_there(const struct cli *cli)
{
    const char *term = cli_variable(cli, "TERM");
    return cli->out_tty && cli->in_tty && cli->format == FORMAT_TABLE &&
           term != NULL && strcmp(term, "dumb") != 0;
}
