/* hydra.c - a configuration of Hydra with its Optuna sweeper. */

#include <stddef.h>
#include <string.h>

#include "proto/base/words.h"
#include "proto/form/hydra_sweep.h"
#include "proto/form/optuna.h"

enum { TRIALS = 20, JOBS = 2 }; /* Hydra's own defaults */

struct hydra {
    struct field_reader reader;
    struct arena *arena;
    struct place root, sweeper, target, sampler, direction, name, trials, jobs,
        params, old_space;
    const char *sampler_name; /* NULL: none is named */
    struct place sampler_at;
    bool is_optuna; /* the sweeper is named */
    bool grid;
    struct grown native, space;
    struct words args, fixed;
};

#define HYDRA(member) offsetof(struct hydra, member)

/* ---- fields ---- */

static void refuse_function(const struct field_reader *reader, struct place at,
                            const struct field *field, void *into)
{
    (void)field;
    (void)into;
    field_key_error(reader, at, "a search space in Python is not read here");
    diag_hint(reader->diag, "write it as params");
}

static const struct field sweeper_rows[] = {
    {"_target_", field_place, .offset = HYDRA(target)},
    {"sampler", field_place, .offset = HYDRA(sampler)},
    {"direction", field_place, .offset = HYDRA(direction)},
    {"study_name", field_place, .offset = HYDRA(name)},
    {"n_trials", field_place, .offset = HYDRA(trials)},
    {"n_jobs", field_place, .offset = HYDRA(jobs)},
    {"params", field_place, .offset = HYDRA(params)},
    {"search_space", field_place, .offset = HYDRA(old_space)},
    {.name = "storage", .read = foreign_no_effect},
    {.name = "max_failure_rate", .read = foreign_no_effect},
    {.name = "defaults", .read = field_skip},
    {.name = "custom_search_space", .read = refuse_function},
    {0}};

bool hydra_is_sweep(const struct node *root)
{
    const struct node *hydra = node_find(root, "hydra");
    const struct node *sweeper = node_find(hydra, "sweeper");
    return sweeper != NULL && sweeper->kind == NODE_MAP;
}

/* ---- which sweeper and sampler ---- */

/* "override hydra/sweeper: optuna" and its like in the list of defaults. */
static void read_defaults(struct hydra *hydra)
{
    static const char sweeper[] = "hydra/sweeper",
                      sampler[] = "hydra/sweeper/sampler";
    const struct place list =
        field_member(&hydra->reader, hydra->root, "defaults");
    if (list.node == NULL || list.node->kind != NODE_LIST)
        return;
    for (const struct place *one = field_items(&hydra->reader, list); one->node;
         one++) {
        const struct node *said = node_items(one->node);
        if (said == NULL || said->key == NULL || said->text == NULL)
            continue;
        const char *key = said->key;
        key += strncmp(key, "override ", 9) == 0 ? 9 : 0;
        key += *key == '/';
        const struct place at = {said, one->path};
        if (strcmp(key, sampler) == 0) {
            hydra->sampler_name = said->text;
            hydra->sampler_at = at;
        } else if (strcmp(key, sweeper) == 0) {
            hydra->is_optuna = strcmp(said->text, "optuna") == 0;
            if (!hydra->is_optuna)
                field_error(&hydra->reader, at,
                            "only the sweeper optuna is read, not %s",
                            said->text);
        }
    }
}

static void read_sampler(struct hydra *hydra)
{
    const struct place at = hydra->sampler;
    if (at.node == NULL)
        return;
    hydra->is_optuna = true;
    if (at.node->kind != NODE_MAP) {
        field_wrong_kind(&hydra->reader, at, "a map");
        return;
    }
    for (const struct place *one = field_members(&hydra->reader, at); one->node;
         one++) {
        const char *key = one->node->key;
        if (one->node->kind == NODE_NULL)
            continue;
        if (strcmp(key, "seed") == 0) {
            foreign_move(hydra->arena, &hydra->native, "seed", *one);
        } else if (strcmp(key, "_target_") == 0) {
            const char *dot =
                one->node->text ? strrchr(one->node->text, '.') : NULL;
            hydra->sampler_name = dot != NULL ? dot + 1 : one->node->text;
            hydra->sampler_at = *one;
        } else {
            field_warning(&hydra->reader, *one, "has no effect here");
        }
    }
}

static void put_sampler(struct hydra *hydra)
{
    static const struct {
        const char *name, *class, *ours;
        bool same;
    } samplers[] = {{"tpe", "TPESampler", "bayesian", false},
                    {"gp", "GPSampler", "bayesian", true},
                    {"random", "RandomSampler", "random", true},
                    {"grid", "GridSampler", "grid", true},
                    {"cmaes", "CmaEsSampler", "bayesian", false},
                    {"nsgaii", "NSGAIISampler", "bayesian", false},
                    {"motpe", "MOTPESampler", "bayesian", false},
                    {"qmc", "QMCSampler", "random", false}};
    const char *name = hydra->sampler_name;
    const struct place at = hydra->sampler_at;
    for (size_t i = 0; name && i < sizeof samplers / sizeof *samplers; i++) {
        if (strcmp(samplers[i].name, name) != 0 &&
            strcmp(samplers[i].class, name) != 0)
            continue;
        hydra->grid = strcmp(samplers[i].ours, "grid") == 0;
        foreign_put_text(hydra->arena, &hydra->native, "algorithm",
                         samplers[i].ours, at.node);
        if (!samplers[i].same)
            field_warning(&hydra->reader, at, "%s is searched as %s", name,
                          samplers[i].ours);
        return;
    }
    if (name != NULL)
        field_error(&hydra->reader, at, "unknown sampler %s", name);
}

static bool check_sweeper(struct hydra *hydra)
{
    const char *target = hydra->target.node ? hydra->target.node->text : NULL;
    const struct place marks[] = {hydra->direction, hydra->trials, hydra->jobs,
                                  hydra->name, hydra->old_space};
    if (target != NULL)
        hydra->is_optuna = strstr(target, "OptunaSweeper") != NULL;
    for (size_t i = 0; i < sizeof marks / sizeof *marks && target == NULL; i++)
        hydra->is_optuna |= marks[i].node != NULL;
    if (hydra->is_optuna || hydra->reader.diag->errors > 0)
        return hydra->is_optuna;
    field_error(&hydra->reader, target ? hydra->target : hydra->sweeper,
                "only the sweeper optuna is read");
    diag_hint(hydra->reader.diag,
              "add \"override hydra/sweeper: optuna\" to defaults");
    return false;
}

/* ---- goals ---- */

/* Names for the values that the application returns, those of Optuna. */
static void put_goals(struct hydra *hydra)
{
    const bool said = hydra->direction.node != NULL;
    const struct place at = said ? hydra->direction : hydra->sweeper;
    const struct place *one = said ? field_items(&hydra->reader, at) : &at;
    const bool several = said && at.node->kind == NODE_LIST;
    struct grown list = foreign_begin(hydra->arena, NODE_LIST, at.node);
    size_t n = several ? at.node->count : 1;
    for (size_t i = 0; i < n; i++) {
        const char *way = said ? one[i].node->text : "minimize";
        if (way == NULL ||
            (strcmp(way, "minimize") != 0 && strcmp(way, "maximize") != 0)) {
            field_error(&hydra->reader, one[i], "must be minimize or maximize");
            return;
        }
        const char *goal =
            several ? arena_printf(hydra->arena, "%s value_%zu", way, i)
                    : arena_printf(hydra->arena, "%s value", way);
        foreign_put_text(hydra->arena, &list, NULL, goal, one[i].node);
    }
    foreign_put(hydra->arena, &hydra->native, "goal", list.node);
    field_warning(&hydra->reader, at,
                  "what the application returns to Hydra is not read");
    diag_hint(hydra->reader.diag,
              several ? "call hypertune.report(value_0=..., value_1=...) in it"
                      : "call hypertune.report(value=...) in it, or read what "
                        "it prints: --metric 'value={value}'");
}

/* ---- parameters ---- */

/* "+model.lr" is the parameter model.lr, which the application did not have. */
static const char *name_of(const char *key)
{
    return key + strspn(key, "+");
}

static void add_override(struct hydra *hydra, const char *key)
{
    words_add(hydra->arena, &hydra->args,
              arena_printf(hydra->arena, "%s=${%s}", key, name_of(key)));
}

static void read_old(struct hydra *hydra, struct place at)
{
    const struct field_reader *reader = &hydra->reader;
    const char *type = node_get_string(at.node, "type", "");
    const struct place choices = field_member(reader, at, "choices");
    const struct optuna_range range = {
        field_member(reader, at, "low"), field_member(reader, at, "high"),
        field_member(reader, at, "step"), strcmp(type, "int") == 0,
        node_get_bool(at.node, "log", false)};
    const char *name = name_of(at.node->key);
    if (strcmp(type, "categorical") != 0 && strcmp(type, "int") != 0 &&
        strcmp(type, "float") != 0)
        field_error(reader, at, "its type must be float, int or categorical");
    else if (strcmp(type, "categorical") != 0)
        optuna_put_range(reader, &hydra->space, name, at, &range);
    else if (choices.node == NULL)
        field_missing(reader, at, "choices", NULL);
    else
        optuna_put_choices(reader, &hydra->space, name, choices);
    add_override(hydra, at.node->key);
}

static void read_param(struct hydra *hydra, struct place at)
{
    const char *key = at.node->key;
    if (at.node->text == NULL) {
        field_wrong_kind(&hydra->reader, at, "text such as interval(0, 1)");
        return;
    }
    switch (hydra_sweep(&hydra->reader, at, name_of(key), hydra->grid,
                        &hydra->space)) {
    case HYDRA_SWEPT:
        add_override(hydra, key);
        return;
    case HYDRA_FIXED:
        words_add(hydra->arena, &hydra->fixed,
                  arena_printf(hydra->arena, "%s=%s", key, at.node->text));
        return;
    case HYDRA_BAD:
        return;
    }
}

static void put_parameters(struct hydra *hydra)
{
    const struct place maps[] = {hydra->params, hydra->old_space};
    const struct node *at =
        hydra->params.node ? hydra->params.node : hydra->sweeper.node;
    hydra->space = foreign_begin(hydra->arena, NODE_MAP, at);
    for (size_t i = 0; i < 2; i++) {
        if (maps[i].node == NULL)
            continue;
        if (maps[i].node->kind != NODE_MAP) {
            field_wrong_kind(&hydra->reader, maps[i], "a map of parameters");
            continue;
        }
        for (const struct place *one = field_members(&hydra->reader, maps[i]);
             one->node; one++)
            if (i == 0)
                read_param(hydra, *one);
            else
                read_old(hydra, *one);
    }
    if (hydra->space.node->count == 0 && hydra->reader.diag->errors == 0)
        field_error(&hydra->reader, hydra->sweeper, "params searches nothing");
    foreign_put(hydra->arena, &hydra->native, "parameters", hydra->space.node);
}

/* A single run whose outputs are the trial's own, as those of a job of a
 * multirun are. */
static void put_run(struct hydra *hydra)
{
    const struct node *mode =
        node_find(node_find(hydra->root.node, "hydra"), "mode");
    for (size_t i = 0; i < hydra->fixed.n; i++)
        words_add(hydra->arena, &hydra->args, hydra->fixed.items[i]);
    if (mode != NULL)
        words_add(hydra->arena, &hydra->args, "hydra.mode=RUN");
    words_add(hydra->arena, &hydra->args,
              "hydra.run.dir=${oc.env:HYPERTUNE_TRIAL_DIR}/hydra");
}

/* ---- the whole ---- */

static void put_counts(struct hydra *hydra)
{
    foreign_move(hydra->arena, &hydra->native, "trials", hydra->trials);
    foreign_move(hydra->arena, &hydra->native, "parallel", hydra->jobs);
    if (hydra->trials.node == NULL)
        foreign_put_number(hydra->arena, &hydra->native, "trials", TRIALS,
                           hydra->sweeper.node);
    if (hydra->jobs.node == NULL)
        foreign_put_number(hydra->arena, &hydra->native, "parallel", JOBS,
                           hydra->sweeper.node);
}

struct job *hydra_read(const struct node *root, struct diag *diag)
{
    struct hydra *hydra = arena_alloc(diag->arena, 1, sizeof *hydra);
    *hydra = (struct hydra){
        .reader = {.diag = diag, .arena = diag->arena, .null_is_absent = true},
        .arena = diag->arena,
        .root = {root, ""}};
    const struct field_reader *reader = &hydra->reader;
    hydra->sweeper = field_member(
        reader, field_member(reader, hydra->root, "hydra"), "sweeper");
    hydra->native = foreign_begin(diag->arena, NODE_MAP, root);
    read_defaults(hydra);
    field_read_map(reader, hydra->sweeper, sweeper_rows, hydra);
    read_sampler(hydra);
    if (!check_sweeper(hydra) || diag->errors > 0)
        return NULL;
    foreign_put_name(diag->arena, &hydra->native, hydra->name);
    put_sampler(hydra);
    put_goals(hydra);
    put_counts(hydra);
    put_parameters(hydra);
    put_run(hydra);
    const struct foreign foreign = {.root = root,
                                    .native = hydra->native.node,
                                    .args = {hydra->args.n, hydra->args.items}};
    return foreign_finish(&foreign, diag);
}
