#include "runner/slurm/way.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

static const struct {
    const char *word;
    enum slurm_state state;
} states[] = {
    {"PENDING", SLURM_PENDING},         {"CONFIGURING", SLURM_RUNNING},
    {"RUNNING", SLURM_RUNNING},         {"SUSPENDED", SLURM_RUNNING},
    {"STOPPED", SLURM_RUNNING},         {"STAGE_OUT", SLURM_RUNNING},
    {"SIGNALING", SLURM_RUNNING},       {"RESIZING", SLURM_RUNNING},
    {"COMPLETING", SLURM_ENDING},       {"COMPLETED", SLURM_COMPLETED},
    {"FAILED", SLURM_FAILED},           {"CANCELLED", SLURM_CANCELLED},
    {"REVOKED", SLURM_CANCELLED},       {"TIMEOUT", SLURM_TIMEOUT},
    {"DEADLINE", SLURM_DEADLINE},       {"OUT_OF_MEMORY", SLURM_OUT_OF_MEMORY},
    {"NODE_FAIL", SLURM_NODE_FAIL},     {"BOOT_FAIL", SLURM_NODE_FAIL},
    {"LAUNCH_FAILED", SLURM_NODE_FAIL}, {"RECONFIG_FAIL", SLURM_NODE_FAIL},
    {"PREEMPTED", SLURM_PREEMPTED},     {"REQUEUED", SLURM_REQUEUED},
    {"REQUEUE_HOLD", SLURM_HELD},       {"REQUEUE_FED", SLURM_REQUEUED},
    {"SPECIAL_EXIT", SLURM_HELD},       {"RESV_DEL_HOLD", SLURM_HELD},
};

enum slurm_state way_state(const char *word)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (strcasecmp(states[i].word, word) == 0)
            return states[i].state;
    return SLURM_UNKNOWN;
}

enum slurm_state way_pending(enum slurm_state state, const char *reason,
                             int64_t restarts)
{
    if (state != SLURM_PENDING)
        return state;
    if (strcmp(reason, "JobHeldUser") == 0 ||
        strcmp(reason, "JobHeldAdmin") == 0)
        return SLURM_HELD;
    return restarts > 0 ? SLURM_REQUEUED : SLURM_PENDING;
}

void way_set_exit(struct slurm_row *row, int64_t status)
{
    row->exit = row->signal = -1;
    if (status < 0 || status > 0xffff)
        return;
    const int wait = (int)status;
    if (WIFEXITED(wait))
        row->exit = WEXITSTATUS(wait);
    else if (WIFSIGNALED(wait))
        row->signal = WTERMSIG(wait);
}

void way_add_row(struct arena *arena, struct slurm_rows *rows,
                 const struct slurm_row *row)
{
    rows->rows = arena_grow(arena, rows->rows, rows->n, sizeof *row);
    rows->rows[rows->n++] = *row;
}

/* Moves *text behind a number; false when there is none. */
static bool take_int(const char **text, int *value)
{
    char *end = NULL;
    if (!isdigit((unsigned char)**text))
        return false;
    const long number = strtol(*text, &end, 10);
    if (number > INT_MAX - 1)
        return false;
    *value = (int)number;
    *text = end;
    return true;
}

/* One part of the list, "7", "2-3", "9-20:2". */
static bool add_part(struct arena *arena, struct slurm_rows *rows,
                     struct slurm_row row, const char **text)
{
    int step = 1;
    if (!take_int(text, &row.first))
        return false;
    row.last = row.first;
    if (**text == '-') {
        (*text)++;
        if (!take_int(text, &row.last) || row.last < row.first)
            return false;
    }
    if (**text == ':') {
        (*text)++;
        if (!take_int(text, &step) || step < 1)
            return false;
    }
    if (step == 1) {
        way_add_row(arena, rows, &row);
        return true;
    }
    const int last = row.last;
    for (int64_t i = row.first; i <= last; i += step) {
        row.first = row.last = (int)i;
        way_add_row(arena, rows, &row);
    }
    return true;
}

bool way_add_elements(struct arena *arena, struct slurm_rows *rows,
                      const struct slurm_row *row, const char *elements)
{
    const char *text = elements;
    do {
        if (text != elements)
            text++;
        if (!add_part(arena, rows, *row, &text))
            return false;
    } while (*text == ',');
    return *text == '\0' || *text == '%';
}

int64_t way_limit_ms(const char *text)
{
    static const char *const endless[] = {"UNLIMITED", "INFINITE", "NONE",
                                          "N/A",       "-1",       ""};
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        if (strcasecmp(text, endless[i]) == 0)
            return 0;
    int parts[3] = {0}, days = 0, n = 0;
    if (!take_int(&text, &parts[n++]))
        return -1;
    const bool has_days = *text == '-';
    if (has_days) {
        text++;
        days = parts[0];
        if (!take_int(&text, &parts[0]))
            return -1;
    }
    while (*text == ':' && n < 3) {
        text++;
        if (!take_int(&text, &parts[n++]))
            return -1;
    }
    if (*text != '\0')
        return -1;
    /* Behind days hours come first; else it is minutes, minutes and seconds,
     * or hours, minutes and seconds. */
    const int64_t first = parts[0];
    const int64_t seconds = has_days || n == 3
                                ? (first * 60 + parts[1]) * 60 + parts[2]
                                : first * 60 + parts[1];
    return ((int64_t)days * 24 * 3600 + seconds) * 1000;
}
