#include "runner/slurm/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/job/slurm.h"

enum { COLUMNS = 7, MOST_DIGITS = 18 };

/* The next line, and what is behind it; NULL at the end. */
static char *next_line(struct arena *arena, const char **rest)
{
    if (**rest == '\0')
        return NULL;
    const size_t len = strcspn(*rest, "\n");
    char *line = arena_strndup(arena, *rest, len);
    *rest += len + ((*rest)[len] == '\n');
    return line;
}

/* The digits at *text, and moves behind them. False: there are none, or more
 * than an int64_t has. */
static bool take_number(const char **text, int64_t *value)
{
    const size_t digits = strspn(*text, "0123456789");
    if (digits == 0 || digits > MOST_DIGITS)
        return false;
    *value = strtoll(*text, NULL, 10);
    *text += digits;
    return true;
}

/* ---- states ---- */

enum slurm_state listing_state(const char *word, const char *reason)
{
    static const struct {
        const char *word;
        enum slurm_state state;
    } words[] = {
        {"PENDING", SLURM_PENDING},
        {"CONFIGURING", SLURM_RUNNING},
        {"RUNNING", SLURM_RUNNING},
        {"RESIZING", SLURM_RUNNING},
        {"SIGNALING", SLURM_RUNNING},
        {"STAGE_OUT", SLURM_RUNNING},
        {"STOPPED", SLURM_RUNNING},
        {"SUSPENDED", SLURM_RUNNING},
        {"COMPLETING", SLURM_ENDING},
        {"COMPLETED", SLURM_COMPLETED},
        {"FAILED", SLURM_FAILED},
        {"CANCELLED", SLURM_CANCELLED},
        {"TIMEOUT", SLURM_TIMEOUT},
        {"DEADLINE", SLURM_DEADLINE},
        {"OUT_OF_MEMORY", SLURM_OUT_OF_MEMORY},
        {"NODE_FAIL", SLURM_NODE_FAIL},
        {"BOOT_FAIL", SLURM_NODE_FAIL},
        {"LAUNCH_FAILED", SLURM_NODE_FAIL},
        {"PREEMPTED", SLURM_PREEMPTED},
        {"REQUEUED", SLURM_REQUEUED},
        {"REQUEUE_FED", SLURM_REQUEUED},
        {"REQUEUE_HOLD", SLURM_HELD},
        {"RESV_DEL_HOLD", SLURM_HELD},
        {"SPECIAL_EXIT", SLURM_HELD},
    };
    const bool waits = strcmp(word, "PENDING") == 0;
    if (waits && (strstr(reason, "JobHeldUser") != NULL ||
                  strstr(reason, "JobHeldAdmin") != NULL))
        return SLURM_HELD;
    /* A launch has failed, and a person would have to release the job. */
    if (waits && (strstr(reason, "requeued held") != NULL ||
                  strstr(reason, "requeued_held") != NULL ||
                  strstr(reason, "JobHoldMaxRequeue") != NULL))
        return SLURM_REQUEUED;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i].word) == 0)
            return words[i].state;
    }
    return SLURM_UNKNOWN;
}

/* ---- rows ---- */

/* Cuts the line at its first separators: the last column may have more. */
static bool split(char *line, char *columns[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        columns[i] = line;
        char *end = strchr(line, '|');
        if (i == COLUMNS - 1)
            return true;
        if (end == NULL)
            return false;
        *end = '\0';
        line = end + 1;
    }
    return false;
}

static void add_row(struct arena *arena, struct slurm_rows *rows,
                    const struct slurm_row *row, int64_t first, int64_t last)
{
    rows->rows = arena_grow(arena, rows->rows, rows->n, sizeof *rows->rows);
    rows->rows[rows->n] = *row;
    rows->rows[rows->n].first = (int)first;
    rows->rows[rows->n++].last = (int)last;
}

/* "4", "4-9", "0-8:2", of which each is a row of its own. False: another text.
 */
static bool add_range(struct arena *arena, const char **text,
                      const struct slurm_row *row, struct slurm_rows *rows)
{
    int64_t first, last, step = 1;
    if (!take_number(text, &first))
        return false;
    last = first;
    if (**text == '-' && (++*text, !take_number(text, &last)))
        return false;
    if (**text == ':' && (++*text, !take_number(text, &step)))
        return false;
    if (last < first || last > INT32_MAX || step < 1)
        return false;
    if (step == 1)
        add_row(arena, rows, row, first, last);
    for (int64_t i = first; step > 1 && i <= last; i += step)
        add_row(arena, rows, row, i, i);
    return true;
}

/* "4,6-9%2": behind % is how many may run at once. */
static bool add_elements(struct arena *arena, const char *text,
                         const struct slurm_row *row, struct slurm_rows *rows)
{
    while (add_range(arena, &text, row, rows)) {
        if (*text == '\0' || *text == '%')
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

/* Before an element begins, Slurm may show when it expects its end. */
static bool has_begun(enum slurm_state state)
{
    return state != SLURM_PENDING && state != SLURM_HELD &&
           state != SLURM_REQUEUED;
}

static bool read_row(struct arena *arena, char *line, const char *prefix,
                     struct slurm_rows *rows)
{
    char *columns[COLUMNS];
    if (!split(line, columns))
        return false;
    const char *job = columns[0], *elements = columns[1], *end = columns[3];
    struct slurm_row row = {
        .state = listing_state(columns[2], columns[5]),
        .name = columns[6],
        .nodes = columns[4],
        .reason = strcmp(columns[5], "None") != 0 ? columns[5] : "",
        .exit = -1,
        .signal = -1};
    if (!take_number(&job, &row.job) || strchr("_+", *job) == NULL)
        return false;
    /* One that is no array, or the remainder of one that was cancelled. */
    const bool whole = strcmp(job, "+0") == 0;
    if (strncmp(row.name, prefix, strlen(prefix)) != 0 ||
        (strcmp(elements, "N/A") == 0 && !whole))
        return true;
    if (has_begun(row.state) && take_number(&end, &row.end_ms))
        row.end_ms = *end == '\0' ? row.end_ms * 1000 : 0;
    if (whole)
        add_row(arena, rows, &row, SLURM_WHOLE, 0);
    return whole || add_elements(arena, elements, &row, rows);
}

const char *listing_elements(struct arena *arena, int64_t job, int first,
                             int last)
{
    return first == SLURM_WHOLE ? arena_printf(arena, "%lld", (long long)job)
                                : arena_printf(arena, "%lld_[%d-%d]",
                                               (long long)job, first, last);
}

enum ht_status listing_rows(struct arena *arena, const char *output,
                            const char *prefix, struct slurm_rows *rows,
                            struct ht_error *err)
{
    struct slurm_rows found = {0};
    const char *rest = output;
    for (char *line; (line = next_line(arena, &rest)) != NULL;) {
        const char *whole = arena_strdup(arena, line);
        if (!read_row(arena, line, prefix, &found))
            return ht_fail(err, HT_UNAVAILABLE,
                           "squeue answered with a line that is no job: \"%s\"",
                           whole);
    }
    *rows = found;
    return HT_OK;
}

/* ---- limits ---- */

/* The value of NAME at a word's beginning, up to the next blank; NULL: it is
 * absent. */
static const char *value_of(struct arena *arena, const char *line,
                            const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = line; (at = strstr(at, name)) != NULL; at += len) {
        if ((at == line || at[-1] == ' ') && at[len] == '=')
            return arena_strndup(arena, at + len + 1,
                                 strcspn(at + len + 1, " "));
    }
    return NULL;
}

enum ht_status listing_config(struct arena *arena, const char *output,
                              struct slurm_limits *limits, struct ht_error *err)
{
    const char *rest = output;
    for (char *line; (line = next_line(arena, &rest)) != NULL;) {
        char name[64], value[64];
        if (sscanf(line, " %63s = %63s", name, value) != 2)
            continue;
        const char *digits = value;
        int64_t most, seconds;
        if (strcmp(name, "SLURM_VERSION") == 0)
            limits->version = arena_strdup(arena, value);
        if (strcmp(name, "MaxArraySize") == 0 && take_number(&digits, &most) &&
            most <= INT32_MAX)
            limits->most_array = (int)most;
        if (strcmp(name, "KillWait") == 0 && take_number(&digits, &seconds) &&
            seconds <= INT32_MAX)
            limits->kill_wait_ms = seconds * 1000;
    }
    if (limits->version == NULL || limits->most_array == 0)
        return ht_fail(err, HT_UNAVAILABLE,
                       "scontrol does not say its version and MaxArraySize");
    return HT_OK;
}

static bool is_value(const char *value, const char *wanted)
{
    return value != NULL && strcmp(value, wanted) == 0;
}

void listing_partitions(struct arena *arena, const char *output,
                        struct slurm_limits *limits)
{
    struct slurm_partition *all = NULL;
    size_t n = 0;
    const char *rest = output;
    for (char *line; (line = next_line(arena, &rest)) != NULL;) {
        const char *name = value_of(arena, line, "PartitionName");
        const char *usual = value_of(arena, line, "DefaultTime");
        const char *most = value_of(arena, line, "MaxTime");
        if (name == NULL)
            continue;
        all = arena_grow(arena, all, n, sizeof *all);
        all[n++] = (struct slurm_partition){
            .name = name,
            .is_default = is_value(value_of(arena, line, "Default"), "YES"),
            .is_up = is_value(value_of(arena, line, "State"), "UP"),
            .default_ms = usual != NULL ? slurm_time_ms(usual) : 0,
            .most_ms = most != NULL ? slurm_time_ms(most) : 0};
    }
    limits->n_partitions = n;
    limits->partitions = all;
}

void listing_reservations(struct arena *arena, const char *output,
                          struct slurm_limits *limits)
{
    const char **all = NULL;
    size_t n = 0;
    const char *rest = output;
    for (char *line; (line = next_line(arena, &rest)) != NULL;) {
        const char *name = value_of(arena, line, "ReservationName");
        if (name == NULL)
            continue;
        all = arena_grow(arena, all, n, sizeof *all);
        all[n++] = name;
    }
    limits->n_reservations = n;
    limits->reservations = all;
}

/* ---- words ---- */

/* Texts of slurm_errno.h and errno.h for what comes between sbatch and the
 * controller, and for a controller that can take no job now. */
static bool is_away(const char *errors)
{
    static const char *const signs[] = {
        "Unable to contact slurm controller",
        "onnection failure",
        "onnect failure",
        "Message send failure",
        "Message receive failure",
        "shutdown failure",
        "Unexpected message",
        "Insane message length",
        "zero length message",
        "Received message length",
        "Failed to send entire message",
        "Header lengths are longer",
        "Zero Bytes were transmitted",
        "missing socket",
        "find an address",
        "uthentication error",
        "uthentication agent",
        "uthentication credential",
        "Cannot unpack credential",
        "Munge",
        "standby mode",
        "temporarily una",
        "try again",
        "presently disabled",
        "timed out",
        "timeout",
        "onnection refused",
        "onnection reset",
        "Broken pipe",
        "Transport endpoint",
        "No route to host",
        "Network is",
        "Interrupted system call",
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strstr(errors, signs[i]) != NULL)
            return true;
    }
    return false;
}

bool listing_is_refusal(const char *errors)
{
    static const char own[] = "sbatch: ";
    /* A plugin of the site that refuses says why in a line of its own; without
     * one these words are of something unforeseen. */
    static const char unspecified[] =
        "sbatch: error: Batch job submission failed: Unspecified error";
    bool is_refused = false;
    if (is_away(errors))
        return false;
    for (const char *line = errors; *line != '\0';) {
        const size_t len = strcspn(line, "\n");
        if (strncmp(line, own, strlen(own)) == 0 &&
            strncmp(line, unspecified, strlen(unspecified)) != 0)
            is_refused = true;
        line += len + (line[len] == '\n');
    }
    return is_refused;
}

/* "sbatch: error: words" without what is before the words. */
static const char *without_program(const char *line)
{
    const size_t program = strcspn(line, ": ");
    if (strncmp(line + program, ": ", 2) == 0)
        line += program + 2;
    static const char *const levels[] = {"error: ", "fatal: "};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        if (strncmp(line, levels[i], strlen(levels[i])) == 0)
            return line + strlen(levels[i]);
    }
    return line;
}

const char *listing_words(struct arena *arena, const char *errors)
{
    struct text words = {0};
    for (char *line; (line = next_line(arena, &errors)) != NULL;) {
        if (*line != '\0')
            text_printf(&words, "%s%s", words.len > 0 ? "; " : "",
                        without_program(line));
    }
    return text_take(&words, arena);
}
