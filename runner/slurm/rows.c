#include "runner/slurm/rows.h"

#include <string.h>
#include <strings.h>

#include "proto/base/number.h"
#include "runner/slurm/way.h"

/* ---- squeue ---- */

enum { JOB, TASK, STATE, REASON, NODES, END, EXIT, RESTARTS, NAME, FIELDS };

/* Without the blanks that pad it. */
static const char *trim(struct arena *arena, const char *text, size_t len)
{
    while (len > 0 && text[0] == ' ') {
        text++;
        len--;
    }
    while (len > 0 && text[len - 1] == ' ')
        len--;
    return arena_strndup(arena, text, len);
}

static bool split(struct arena *arena, const char *line, size_t len,
                  const char *fields[FIELDS])
{
    for (int i = 0; i < FIELDS; i++) {
        const char *bar = i < NAME ? memchr(line, '|', len) : line + len;
        if (bar == NULL)
            return false;
        const size_t field = (size_t)(bar - line);
        fields[i] = trim(arena, line, field);
        const size_t used = field + (i < NAME);
        line += used;
        len -= used;
    }
    return true;
}

static int64_t read_int(const char *text, int64_t fallback)
{
    int64_t value = 0;
    return number_int64(text, &value) ? value : fallback;
}

static const char *without_none(const char *text)
{
    return strcasecmp(text, "None") == 0 || strcasecmp(text, "(null)") == 0
               ? ""
               : text;
}

static bool has_begun(enum slurm_state state)
{
    return state != SLURM_PENDING && state != SLURM_HELD &&
           state != SLURM_REQUEUED;
}

static bool has_ended(enum slurm_state state)
{
    return has_begun(state) && state != SLURM_RUNNING &&
           state != SLURM_ENDING && state != SLURM_UNKNOWN;
}

static void read_line(struct arena *arena, const char *const *fields,
                      struct slurm_rows *rows)
{
    struct slurm_row row = {.job = read_int(fields[JOB], 0),
                            .name = fields[NAME],
                            .reason = without_none(fields[REASON]),
                            .nodes = fields[NODES],
                            .end_ms = read_int(fields[END], 0) * 1000,
                            .exit = -1,
                            .signal = -1};
    row.state = way_pending(way_state(fields[STATE]), row.reason,
                            read_int(fields[RESTARTS], 0));
    if (has_ended(row.state))
        way_set_exit(&row, read_int(fields[EXIT], -1));
    if (row.job > 0)
        (void)way_add_elements(arena, rows, &row, fields[TASK]);
}

void rows_read(struct arena *arena, const char *output, const char *prefix,
               struct slurm_rows *rows)
{
    *rows = (struct slurm_rows){0};
    while (*output != '\0') {
        const char *fields[FIELDS];
        const size_t len = strcspn(output, "\n");
        if (split(arena, output, len, fields) &&
            strncmp(fields[NAME], prefix, strlen(prefix)) == 0)
            read_line(arena, fields, rows);
        output += len + (output[len] == '\n');
    }
}

/* ---- slurmrestd ---- */

int64_t rows_number(const struct node *node, int64_t fallback)
{
    int64_t value = 0;
    if (node != NULL && node->kind == NODE_MAP) {
        if (node_get_bool(node, "infinite", false))
            return -1;
        return node_get_bool(node, "set", false)
                   ? node_get_int(node, "number", fallback)
                   : fallback;
    }
    return node_int64(node, &value) ? value : fallback;
}

/* A word, or from v0.0.40 on a list: the state first, then its flags, of which
 * COMPLETING and REQUEUED say more than the state does. */
static enum slurm_state read_state(const struct node *node)
{
    if (node == NULL)
        return SLURM_UNKNOWN;
    if (node->kind == NODE_STRING)
        return way_state(node->text);
    enum slurm_state state = SLURM_UNKNOWN;
    NODE_EACH (item, node_items(node)) {
        const char *word = node_string(item);
        const enum slurm_state one =
            word != NULL ? way_state(word) : SLURM_UNKNOWN;
        if (item == node_items(node) || one == SLURM_ENDING ||
            one == SLURM_REQUEUED || one == SLURM_HELD)
            state = one;
    }
    return state;
}

/* A wait status, or from v0.0.40 on {return_code, signal: {id}}. */
static void read_exit(const struct node *node, struct slurm_row *row)
{
    if (node == NULL || node->kind != NODE_MAP ||
        node_find(node, "return_code") == NULL) {
        way_set_exit(row, rows_number(node, -1));
        return;
    }
    const struct node *signal = node_find(node, "signal");
    const struct node *id = node_find(signal, "id");
    if (id == NULL)
        id = node_find(signal, "signal_id");
    const int64_t number = rows_number(id, 0);
    const int64_t code = rows_number(node_find(node, "return_code"), -1);
    if (number > 0 && number < 128)
        row->signal = (int)number;
    else if (code >= 0 && code < 256)
        row->exit = (int)code;
}

/* Elements that wait are one job with array_task_string. */
static void read_job(struct arena *arena, const struct node *job,
                     struct slurm_rows *rows)
{
    struct slurm_row row = {
        .job = rows_number(node_find(job, "array_job_id"), 0),
        .name = node_get_string(job, "name", ""),
        .reason = without_none(node_get_string(job, "state_reason", "")),
        .nodes = node_get_string(job, "nodes", ""),
        .exit = -1,
        .signal = -1};
    row.state = way_pending(read_state(node_find(job, "job_state")), row.reason,
                            rows_number(node_find(job, "restart_cnt"), 0));
    const int64_t end = rows_number(node_find(job, "end_time"), 0);
    if (has_begun(row.state) && end > 0)
        row.end_ms = end * 1000;
    if (has_ended(row.state))
        read_exit(node_find(job, "exit_code"), &row);
    const char *waiting = node_get_string(job, "array_task_string", "");
    const int64_t element = rows_number(node_find(job, "array_task_id"), -1);
    row.name = arena_strdup(arena, row.name);
    row.reason = arena_strdup(arena, row.reason);
    row.nodes = arena_strdup(arena, row.nodes);
    if (row.job > 0 && waiting[0] != '\0') {
        (void)way_add_elements(arena, rows, &row, waiting);
    } else if (row.job > 0 && element >= 0 && element < INT32_MAX) {
        row.first = row.last = (int)element;
        way_add_row(arena, rows, &row);
    }
}

void rows_read_json(struct arena *arena, const struct node *answer,
                    const char *prefix, const char *user,
                    struct slurm_rows *rows)
{
    *rows = (struct slurm_rows){0};
    NODE_EACH (job, node_first(answer, "jobs")) {
        const char *name = node_get_string(job, "name", "");
        if (strcmp(node_get_string(job, "user_name", user), user) == 0 &&
            strncmp(name, prefix, strlen(prefix)) == 0)
            read_job(arena, job, rows);
    }
}
