#include "proto/job/draft.h"

#include <stddef.h>
#include <string.h>

#include "proto/base/limits.h"

/* ---- words and names ---- */

const struct field_choice job_metric_doctors[] = {
    {"pause", -1, DOCTOR_PAUSE}, {"warn", -1, DOCTOR_WARN}, {NULL, 0, 0}};
const struct field_choice job_on_silences[] = {
    {"warn", -1, SILENCE_WARN}, {"stop", -1, SILENCE_STOP}, {NULL, 0, 0}};
const struct field_choice job_args_modes[] = {{"auto", -1, ARGS_AUTO},
                                              {"append", -1, ARGS_APPEND},
                                              {"none", -1, ARGS_NONE},
                                              {NULL, 0, 0}};
const struct field_choice job_dialects[] = {{"vertex", -1, JOB_VERTEX},
                                            {"aip", -1, JOB_AIP},
                                            {"native", -1, JOB_NATIVE},
                                            {NULL, 0, 0}};

void job_name(const struct field_reader *reader, struct place at,
              const struct field *field, void *into)
{
    size_t before = reader->diag->errors;
    field_name(reader, at, field, into);
    if (reader->diag->errors > before)
        return;
    const char *name = at.node->text;
    if (name[strspn(name, "0123456789")] == '\0') {
        field_error(reader, at, "\"%s\" would be taken for a study's number",
                    name);
        diag_hint(reader->diag, "add a letter");
    } else if (name[0] == '-') {
        field_error(reader, at, "a study's name must not begin with -");
    }
}

void job_check_new_name(const struct field_reader *reader, struct place at)
{
    const char *name = node_string(at.node);
    const char *slash = name != NULL ? strrchr(name, '/') : NULL;
    if (slash == NULL || slash == name || slash[1] == '\0')
        return;
    const bool is_best = strcmp(slash, "/best") == 0;
    if (!is_best && slash[1 + strspn(slash + 1, "0123456789")] != '\0')
        return;
    field_error(reader, at, "\"%s\" would be taken for %s %s of the study %.*s",
                name, is_best ? "the" : "trial", slash + 1, (int)(slash - name),
                name);
    diag_hint(reader->diag, "put - in place of the last /");
}

void job_new_name(const struct field_reader *reader, struct place at,
                  const struct field *field, void *into)
{
    job_name(reader, at, field, into);
    job_check_new_name(reader, at);
}

const struct field job_cancel_rows[] = {
    {"running", field_duration, offsetof(struct cancelling, running_ms),
     .min = 1},
    {"waiting", field_duration, offsetof(struct cancelling, waiting_ms),
     .min = 1},
    {0}};

void job_draft_add(const struct field_reader *reader, struct job_draft *draft,
                   const struct param_draft *param)
{
    struct space *space = &draft->job.space;
    if (draft->params == NULL) {
        draft->params = arena_alloc(reader->arena, HT_MAX_PARAMETERS,
                                    sizeof *draft->params);
        space->params = arena_alloc(reader->arena, HT_MAX_PARAMETERS,
                                    sizeof *space->params);
    }
    if (space->n == HT_MAX_PARAMETERS)
        return;
    draft->params[space->n] = *param;
    space->params[space->n++] = param->param;
}

void job_draft_add_condition(const struct field_reader *reader,
                             struct job_draft *draft,
                             const struct condition_draft *condition)
{
    struct condition_draft **last = &draft->conditions;
    while (*last)
        last = &(*last)->next;
    *last = arena_alloc(reader->arena, 1, sizeof **last);
    **last = *condition;
}
