/* wandb.c - a sweep of Weights & Biases, its sweep.yaml. */

#include "proto/form/wandb.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "proto/base/text.h"
#include "proto/job/job.h"

#define SWEEP(member) offsetof(struct wandb, member)

/* ---- fields ---- */

enum { METHOD_CUSTOM = -1 };

static const struct field_choice methods[] = {{"grid", -1, ALGORITHM_GRID},
                                              {"random", -1, ALGORITHM_RANDOM},
                                              {"bayes", -1, ALGORITHM_BAYESIAN},
                                              {"custom", -1, METHOD_CUSTOM},
                                              {NULL, 0, 0}};

static const struct field_choice goals[] = {
    {"minimize", -1, 1}, {"maximize", -1, 0}, {NULL, 0, 0}};

static const struct field metric_rows[] = {
    {"name", field_place, .offset = SWEEP(metric_name)},
    {"goal", field_choose, SWEEP(minimize), .choices = goals},
    {"target", field_place, .offset = SWEEP(target)},
    {.name = "impute", .read = foreign_no_effect},
    {.name = "impute_while_running", .read = foreign_no_effect},
    {0}};

static void refuse_launch(const struct field_reader *reader, struct place at,
                          const struct field *field, void *into)
{
    (void)field;
    (void)into;
    field_key_error(reader, at, "belongs to W&B Launch, which is not here");
    diag_hint(reader->diag, "write program, or command, in its place");
}

static const struct field root_rows[] = {
    {"program", field_place, .offset = SWEEP(program)},
    {"command", field_place, .offset = SWEEP(command)},
    {"method", field_choose, SWEEP(algorithm), .choices = methods,
     .place = SWEEP(method)},
    {"metric", field_map, .rows = metric_rows},
    {"name", field_place, .offset = SWEEP(name)},
    {"description", field_place, .offset = SWEEP(description)},
    {"parameters", field_place, .offset = SWEEP(parameters)},
    {"early_terminate", field_place, .offset = SWEEP(early)},
    {"run_cap", field_place, .offset = SWEEP(run_cap)},
    {.name = "project", .read = foreign_no_effect},
    {.name = "entity", .read = foreign_no_effect},
    {.name = "controller", .read = foreign_no_effect},
    {.name = "job", .read = refuse_launch},
    {.name = "scheduler", .read = refuse_launch},
    {.name = "resource", .read = refuse_launch},
    {.name = "image_uri", .read = refuse_launch},
    {.name = "imageuri", .read = refuse_launch},
    {0}};

bool wandb_is_sweep(const struct node *root)
{
    static const char *const ours[] = {"spec", "goal", "studySpec",
                                       "trainingInput", "trials"};
    static const char *const theirs[] = {"program", "early_terminate",
                                         "run_cap", "scheduler"};
    const struct node *metric = node_find(root, "metric");
    const struct node *method = node_find(root, "method");
    bool found = metric != NULL && metric->kind == NODE_MAP;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (node_find(root, ours[i]) != NULL)
            return false;
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        found |= node_find(root, theirs[i]) != NULL;
    if (node_string(method) == NULL)
        return found;
    for (const struct field_choice *one = methods; one->name; one++)
        found |= strcmp(one->name, method->text) == 0;
    return found;
}

/* ---- the command ---- */

struct line { /* a command that is being written */
    struct wandb *wandb;
    struct place at; /* of the word */
    struct grown *out;
};

static void put_word(const struct line *line, const char *text)
{
    foreign_put_text(line->wandb->reader.arena, line->out, NULL, text,
                     line->at.node);
}

static void put_each(const struct line *line, const char *before, bool apart)
{
    struct wandb *wandb = line->wandb;
    struct arena *arena = wandb->reader.arena;
    for (size_t i = 0; i < wandb->n_words; i++) {
        const struct wandb_word *word = &wandb->words[i];
        const char *value = word->value != NULL ? word->value : "";
        if (apart) {
            put_word(line, arena_printf(arena, "--%s", word->name));
            put_word(line, value);
        } else {
            put_word(line,
                     arena_printf(arena, "%s%s=%s", before, word->name, value));
        }
    }
}

static void put_without_flags(const struct line *line)
{
    struct wandb *wandb = line->wandb;
    for (size_t i = 0; i < wandb->n_words; i++) {
        const struct wandb_word *word = &wandb->words[i];
        if (word->flag == NULL)
            put_word(line,
                     arena_printf(wandb->reader.arena, "--%s=%s", word->name,
                                  word->value ? word->value : ""));
        else if (word->flag[0] != '\0')
            put_word(line, word->flag);
    }
}

static void put_json(const struct line *line)
{
    struct wandb *wandb = line->wandb;
    struct text out = {0};
    for (size_t i = 0; i < wandb->n_words; i++)
        text_printf(&out, "%s\"%s\": %s", i > 0 ? ", " : "{",
                    wandb->words[i].name,
                    wandb->words[i].json ? wandb->words[i].json : "");
    text_puts(&out, "}");
    put_word(line, text_string(&out));
    text_free(&out);
}

static void put_program(const struct line *line)
{
    struct wandb *wandb = line->wandb;
    const char *program =
        wandb->program.node ? wandb->program.node->text : NULL;
    if (wandb->program.node == NULL)
        field_missing(&wandb->reader, (struct place){line->at.node, ""},
                      "program", "the script that the trials run");
    else if (program == NULL)
        field_wrong_kind(&wandb->reader, wandb->program, "text");
    else
        put_word(line, program);
}

static void refuse_macro(const struct line *line, const char *macro)
{
    const struct field_reader *reader = &line->wandb->reader;
    field_error(reader, line->at, "%s is not replaced here", macro);
    if (strncmp(macro, "${envvar:", 9) == 0)
        diag_hint(reader->diag, "write the value, or let a shell replace it: "
                                "sh -c '... $NAME'");
    else
        diag_hint(reader->diag, "${args_json} passes the same as one argument");
}

static void put_chunk(const struct line *line)
{
    static const struct {
        const char *macro, *before;
        bool apart;
    } lists[] = {{"${args}", "--", false},
                 {"${args_no_hyphens}", "", false},
                 {"${args_append_hydra}", "+", false},
                 {"${args_override_hydra}", "++", false},
                 {"${args_no_equals}", "--", true}};
    const char *text = line->at.node->text;
    if (text == NULL) {
        field_wrong_kind(&line->wandb->reader, line->at, "a word");
        return;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (strcmp(lists[i].macro, text) == 0) {
            put_each(line, lists[i].before, lists[i].apart);
            return;
        }
    if (strcmp(text, "${env}") == 0)
        put_word(line, "/usr/bin/env");
    else if (strcmp(text, "${interpreter}") == 0)
        put_word(line, "python3");
    else if (strcmp(text, "${program}") == 0)
        put_program(line);
    else if (strcmp(text, "${args_no_boolean_flags}") == 0)
        put_without_flags(line);
    else if (strcmp(text, "${args_json}") == 0)
        put_json(line);
    else if (strcmp(text, "${args_json_file}") == 0 ||
             strstr(text, "${envvar:") != NULL)
        refuse_macro(line, text);
    else if (foreign_is_literal(&line->wandb->reader, line->at,
                                line->wandb->space.node))
        put_word(line, text);
}

static bool has_word(const struct node *command, const char *word)
{
    NODE_EACH (one, node_items(command))
        if (one->text != NULL && strcmp(one->text, word) == 0)
            return true;
    return false;
}

/* W&B's agent runs this one where the file has none. */
static void put_default(struct line *line)
{
    static const char *const words[] = {"${env}", "${interpreter}",
                                        "${program}", "${args}"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct node *chunk =
            arena_alloc(line->wandb->reader.arena, 1, sizeof *chunk);
        *chunk = *line->at.node;
        chunk->kind = NODE_STRING;
        chunk->text = words[i];
        line->at.node = chunk;
        put_chunk(line);
    }
}

static void put_command(struct wandb *wandb, struct grown *native,
                        const struct node *root)
{
    struct arena *arena = wandb->reader.arena;
    const struct place at = wandb->command;
    const struct node *from = at.node               ? at.node
                              : wandb->program.node ? wandb->program.node
                                                    : root;
    struct grown command = foreign_begin(arena, NODE_LIST, from);
    struct line line = {wandb, {from, "program"}, &command};
    if (at.node == NULL) {
        put_default(&line);
    } else if (at.node->kind != NODE_LIST) {
        field_wrong_kind(&wandb->reader, at, "a list of words");
    } else {
        for (const struct place *one = field_items(&wandb->reader, at);
             one->node; one++) {
            line.at = *one;
            put_chunk(&line);
        }
    }
    foreign_put(arena, native, "command", command.node);
}

/* Values are written in one way for all words of a command. */
static void read_styles(struct wandb *wandb)
{
    static const char *const others[] = {"${args}",
                                         "${args_no_hyphens}",
                                         "${args_no_equals}",
                                         "${args_append_hydra}",
                                         "${args_override_hydra}",
                                         "${args_no_boolean_flags}"};
    const struct node *command = wandb->command.node;
    wandb->json = has_word(command, "${args_json}");
    wandb->no_flags = has_word(command, "${args_no_boolean_flags}");
    for (size_t i = 0; wandb->json && i < sizeof others / sizeof *others; i++)
        if (has_word(command, others[i]))
            field_error(&wandb->reader, wandb->command,
                        "${args_json} and %s beside each other write the "
                        "values in two ways",
                        others[i]);
}

/* ---- early termination ---- */

struct hyperband {
    int type;
    int64_t min_iter, max_iter, s;
    double eta;
};

#define BAND(member) offsetof(struct hyperband, member)

static const struct field_choice types[] = {{"hyperband", -1, 0}, {NULL, 0, 0}};

static const struct field early_rows[] = {
    {"type", field_choose, BAND(type), .choices = types},
    {"min_iter", field_whole, BAND(min_iter), .min = 1, .max = HT_MAX_STEPS},
    {"max_iter", field_whole, BAND(max_iter), .min = 1, .max = HT_MAX_STEPS},
    {"s", field_whole, BAND(s), .min = 1, .max = 64},
    {"eta", field_real, BAND(eta), .min = 2, .max = 1000},
    {.name = "strict", .read = foreign_no_effect},
    {0}};

/* W&B's Hyperband stops at each bracket all but the best 1/eta of the runs that
 * reached it, which is ASHA here. */
static void put_early(struct wandb *wandb, struct grown *native)
{
    struct arena *arena = wandb->reader.arena;
    struct hyperband band = {.eta = 3};
    const struct place at = wandb->early;
    const size_t before = wandb->reader.diag->errors;
    if (at.node == NULL)
        return;
    field_read_map(&wandb->reader, at, early_rows, &band);
    if (wandb->reader.diag->errors > before)
        return;
    if (band.min_iter == 0 && (band.max_iter == 0 || band.s == 0)) {
        field_error(&wandb->reader, at, "needs min_iter, or max_iter and s");
        return;
    }
    double first = (double)band.min_iter;
    if (band.min_iter == 0)
        first = fmax(
            1, floor((double)band.max_iter / pow(band.eta, (double)band.s)));
    struct grown rule = foreign_begin(arena, NODE_MAP, at.node);
    foreign_put_text(arena, &rule, "rule", "asha", at.node);
    foreign_put_number(arena, &rule, "minSteps", first, at.node);
    if (band.min_iter == 0 && (double)band.max_iter > first)
        foreign_put_number(arena, &rule, "maxSteps", (double)band.max_iter,
                           at.node);
    foreign_put_number(arena, &rule, "factor", floor(band.eta), at.node);
    if (band.eta != floor(band.eta))
        field_warning(&wandb->reader, at, "eta is rounded down to %g",
                      floor(band.eta));
    foreign_put(arena, native, "earlyStopping", rule.node);
}

/* ---- the whole ---- */

static void put_goal(struct wandb *wandb, struct grown *native,
                     struct place root)
{
    struct arena *arena = wandb->reader.arena;
    const struct place name = wandb->metric_name;
    const char *metric = name.node ? name.node->text : NULL;
    if (metric == NULL) {
        field_missing(&wandb->reader, root, "metric",
                      "the value that trials report");
        diag_hint(wandb->reader.diag,
                  "add \"metric: {name: loss, goal: minimize}\"");
        return;
    }
    foreign_put_text(arena, native, "goal",
                     arena_printf(arena, "%s %s",
                                  wandb->minimize ? "minimize" : "maximize",
                                  metric),
                     name.node);
    foreign_warn_of_reports(&wandb->reader, name, "wandb.log()");
    if (wandb->target.node == NULL)
        return;
    struct grown until = foreign_begin(arena, NODE_MAP, wandb->target.node);
    foreign_move(arena, &until, "target", wandb->target);
    foreign_put(arena, native, "until", until.node);
}

static void put_search(struct wandb *wandb, struct grown *native,
                       struct place root)
{
    struct arena *arena = wandb->reader.arena;
    const struct place at = wandb->method;
    if (at.node == NULL) {
        field_missing(&wandb->reader, root, "method", "grid, random or bayes");
        return;
    }
    if (wandb->algorithm == METHOD_CUSTOM) {
        field_error(&wandb->reader, at, "a search of your own cannot run here");
        diag_hint(wandb->reader.diag, "use grid, random or bayes");
        return;
    }
    foreign_put_text(arena, native, "algorithm",
                     wandb->algorithm == ALGORITHM_BAYESIAN ? "bayesian"
                                                            : at.node->text,
                     at.node);
    foreign_move(arena, native, "trials", wandb->run_cap);
    if (wandb->run_cap.node == NULL && wandb->algorithm != ALGORITHM_GRID) {
        field_warning(&wandb->reader, at,
                      "there is no run_cap: %d trials, not endless ones",
                      JOB_MAX_TRIALS);
        diag_hint(wandb->reader.diag, "add run_cap, or --trials N");
    }
}

/* A grid without a cap is searched to its end. */
static void count_grid(const struct wandb *wandb, struct job *job)
{
    const uint64_t size = space_size(&job->space);
    if (wandb->algorithm != ALGORITHM_GRID || wandb->run_cap.node != NULL ||
        size == 0)
        return;
    job->max_trials = size < HT_MAX_TRIALS ? (int64_t)size : HT_MAX_TRIALS;
}

static struct grown put_all(struct wandb *wandb, struct place at)
{
    struct arena *arena = wandb->reader.arena;
    struct grown native = foreign_begin(arena, NODE_MAP, at.node);
    foreign_put_name(arena, &native, wandb->name);
    if (wandb->description.node != NULL) {
        struct grown labels =
            foreign_begin(arena, NODE_MAP, wandb->description.node);
        foreign_move(arena, &labels, "description", wandb->description);
        foreign_put(arena, &native, "labels", labels.node);
    }
    put_goal(wandb, &native, at);
    put_search(wandb, &native, at);
    read_styles(wandb);
    if (wandb->parameters.node == NULL) {
        field_missing(&wandb->reader, at, "parameters", "what to search");
        return native;
    }
    wandb_read_parameters(wandb);
    if (wandb->space.node != NULL)
        foreign_put(arena, &native, "parameters", wandb->space.node);
    put_early(wandb, &native);
    put_command(wandb, &native, at.node);
    return native;
}

struct job *wandb_read(const struct node *root, struct diag *diag)
{
    const struct place at = {.node = root, .path = ""};
    struct wandb *wandb = arena_alloc(diag->arena, 1, sizeof *wandb);
    *wandb = (struct wandb){.reader = {.diag = diag, .arena = diag->arena},
                            .minimize = 1};
    field_read_map(&wandb->reader, at, root_rows, wandb);
    if (diag->errors > 0)
        return NULL;
    const struct grown native = put_all(wandb, at);
    const struct foreign foreign = {
        .root = root,
        .native = native.node,
        .display = wandb->name.node ? wandb->name.node->text : NULL};
    struct job *job = foreign_finish(&foreign, diag);
    if (job != NULL)
        count_grid(wandb, job);
    return job;
}
