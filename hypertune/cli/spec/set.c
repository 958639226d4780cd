/* set.c - `set` and `clone`: a study's job with some parts changed, sent as a
 * change of that study or as a new one. */

#include <string.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/spec/edit.h"
#include "hypertune/cli/spec/since.h"
#include "hypertune/cli/spec/submit.h"
#include "hypertune/cli/study/read_logs.h"
#include "proto/base/limits.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"

/* A study and how it is to be. */
struct change {
    struct cli *cli;
    struct cli_study study;
    struct job *old, *job; /* the server's; as wanted */
    bool clones;           /* the job is for a new study */
    bool whole;            /* more than counts change */
    bool space;            /* what trials may be tried changes */
};

/* ---- reading ---- */

static int fail_faults(const struct diag *diag)
{
    /* Places in a document that no person wrote would mean nothing. */
    for (struct diag_item *i = diag->first; i != NULL; i = i->next)
        i->line = i->column = 0;
    cli_spec_print_diag(diag);
    return CLI_USAGE;
}

static int read_job(struct change *change, struct job **job)
{
    struct diag diag;
    diag_init(&diag, change->cli->arena, "the server's job", NULL, 0);
    *job = vertex_read(change->study.job, change->study.home->kind, &diag);
    if (*job != NULL)
        return CLI_DONE;
    cli_fail(change->cli, CLI_REFUSED,
             "the server's job \"%s\" cannot be read: %s", change->study.name,
             diag.first ? diag.first->text : "");
    return CLI_REFUSED;
}

/* Each edit was right by itself; whether they fit together is asked of the
 * reader that the server has. */
static int check_job(struct change *change)
{
    struct diag diag;
    diag_init(&diag, change->cli->arena, change->study.name, NULL, 0);
    const struct node *root =
        cli_spec_tree(change->cli, vertex_write(change->job), &diag);
    if (root == NULL || vertex_read(root, change->job->kind, &diag) == NULL)
        return fail_faults(&diag);
    return CLI_DONE;
}

/* ---- counts ---- */

/* A count to be set, and its current value. */
struct count {
    const char *name, *member;
    int64_t *given; /* CLI_UNSET: unchanged; FLAG_MORE - N: so many more */
    int64_t *value; /* of the job as wanted; 0: there is no limit */
    int64_t least, most;
};

enum { COUNTS = 3 };

static void list_counts(struct change *change, struct count counts[COUNTS])
{
    struct cli_settings *set = &change->cli->set;
    struct job *job = change->job;
    counts[0] = (struct count){
        "trials", "maxTrialCount", &set->trials, &job->max_trials,
        1,        HT_MAX_TRIALS};
    counts[1] = (struct count){
        "parallel", "parallelTrialCount", &set->parallel, &job->parallel,
        1,          HT_MAX_PARALLEL};
    counts[2] = (struct count){"max-failed",
                               "maxFailedTrialCount",
                               &set->max_failed,
                               &job->max_failed,
                               0,
                               HT_MAX_TRIALS};
}

static int resolve(const struct change *change, const struct count *count)
{
    const int64_t given = *count->given;
    /* Clients run as many at a time as they ask for. */
    const bool unlimited =
        *count->value == 0 || (change->job->kind == JOB_STUDY &&
                               count->value == &change->job->parallel);
    if (given == CLI_UNSET)
        return CLI_DONE;
    if (given <= FLAG_MORE && unlimited)
        return cli_fail(change->cli, CLI_USAGE,
                        "study %s has no limit of %s to add to; say %s=N",
                        change->study.name, count->name, count->name);
    if (given <= FLAG_MORE)
        *count->value = FLAG_MORE - given > count->most
                            ? count->most + 1
                            : *count->value + (FLAG_MORE - given);
    else
        *count->value = given;
    if (*count->value >= count->least && *count->value <= count->most)
        return CLI_DONE;
    return cli_fail(change->cli, CLI_USAGE, "%s must be %lld to %lld, is %lld",
                    count->name, (long long)count->least,
                    (long long)count->most, (long long)*count->value);
}

static int apply_counts(struct change *change)
{
    struct count counts[COUNTS];
    int code = CLI_DONE;
    list_counts(change, counts);
    for (size_t i = 0; code == CLI_DONE && i < COUNTS; i++)
        code = resolve(change, &counts[i]);
    return code;
}

/* ---- words ---- */

static int refuse_name(const struct change *change, const char *name)
{
    struct cli *cli = change->cli;
    const struct space *space = &change->job->space;
    const char **names = arena_alloc(cli->arena, space->n + 3, sizeof *names);
    for (size_t i = 0; i < space->n; i++)
        names[i] = space->params[i].name;
    names[space->n] = "trials";
    names[space->n + 1] = "parallel";
    return cli_study_refuse(cli, &change->study, "parameter ", name, names);
}

/* A parameter of another type or scale is another search. */
static int remake(struct change *change, const char *word)
{
    struct cli *cli = change->cli;
    if (change->clones) {
        words_add(cli->arena, &cli->set.params, word);
        return CLI_DONE;
    }
    return cli_fail(cli, CLI_USAGE,
                    "%s: type and scale of a parameter cannot change; a new "
                    "study that begins with these results:\n"
                    "  hypertune clone %s --name NEW %s%s",
                    word, change->study.name, word, cli_where(cli));
}

/* "trials=N" and "parallel=N" are the same as -n N, -p N. */
static int read_count(struct change *change, const char *word, const char *name)
{
    struct cli *cli = change->cli;
    int64_t *given = strcmp(name, "trials") == 0     ? &cli->set.trials
                     : strcmp(name, "parallel") == 0 ? &cli->set.parallel
                                                     : NULL;
    if (given == NULL)
        return refuse_name(change, name);
    if (flags_read_count(word + strlen(name) + 1, !change->clones, given))
        return CLI_DONE;
    return cli_fail(cli, CLI_USAGE, "%s=N needs a whole number%s, not \"%s\"",
                    name,
                    change->clones ? "" : ", where +N adds to what there is",
                    word + strlen(name) + 1);
}

static int apply_word(struct change *change, const char *word)
{
    struct ht_error err;
    const size_t len = strcspn(word, "=");
    const char *name = arena_strndup(change->cli->arena, word, len);
    if (word[len] != '=')
        return cli_fail(change->cli, CLI_USAGE,
                        "\"%s\" is no change; say NAME=FORM such as "
                        "lr=1e-4..0.5, opt=+lion, trials=60",
                        word);
    if (space_find(&change->job->space, name) < 0)
        return read_count(change, word, name);
    change->whole = change->space = true;
    if (cli_edit_names_kind(word))
        return remake(change, word);
    if (cli_edit_parameter(change->cli->arena, change->job, word, &err) !=
        HT_OK)
        return cli_fail(change->cli, CLI_USAGE, "%s", err.text);
    return CLI_DONE;
}

static int apply_words(struct change *change)
{
    const struct words *words = &change->cli->args.words;
    int code = CLI_DONE;
    for (size_t i = 1; code == CLI_DONE && i < words->n; i++)
        code = apply_word(change, words->items[i]);
    return code;
}

/* ---- flags ---- */

static int apply_constraints(struct change *change)
{
    struct ht_error err;
    const struct cli_settings *set = &change->cli->set;
    struct arena *arena = change->cli->arena;
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < set->no_constraints.n; i++)
        status = cli_edit_remove_constraint(arena, change->job,
                                            set->no_constraints.items[i], &err);
    for (size_t i = 0; status == HT_OK && i < set->constraints.n; i++)
        status = cli_edit_add_constraint(arena, change->job,
                                         set->constraints.items[i], &err);
    const bool any = set->constraints.n + set->no_constraints.n > 0;
    change->whole |= any;
    change->space |= any;
    return status == HT_OK ? CLI_DONE
                           : cli_fail(change->cli, CLI_USAGE, "%s", err.text);
}

static bool has_more(const struct cli_settings *set)
{
    return set->params.n + set->until.n + set->safety.n > 0 || set->algorithm ||
           set->seed || set->stop_rule || set->noise;
}

/* The flags that a spec has a grammar for, as a spec of their own: NULL after a
 * fault that was shown. */
static const struct job *read_more(struct change *change)
{
    struct cli *cli = change->cli;
    struct ht_error err;
    struct diag diag;
    cJSON *spec;
    const char *command = "true", *param = "x=0,1";
    struct cli_settings set = {.maximize = change->study.metric,
                               .params = {1, &param},
                               .algorithm = cli->set.algorithm,
                               .seed = cli->set.seed,
                               .until = cli->set.until,
                               .trials = CLI_UNSET,
                               .parallel = CLI_UNSET,
                               .retries = CLI_UNSET,
                               .max_failed = CLI_UNSET,
                               .trial_timeout_ms = CLI_UNSET};
    if (cli->set.params.n > 0)
        set.params = cli->set.params;
    if (cli_flags_spec(&set, &(struct words){1, &command}, NULL, &spec, &err) !=
        HT_OK) {
        cli_fail(cli, CLI_USAGE, "%s", err.text);
        return NULL;
    }
    if (cli->set.stop_rule != NULL)
        cli_edit_add_rule(cli->arena, spec, cli->set.stop_rule);
    json_add_text(spec, "noise", cli->set.noise);
    json_add_strings(
        spec, "safety",
        &(struct strings){cli->set.safety.n, cli->set.safety.items});
    diag_init(&diag, cli->arena, "command line", NULL, 0);
    const struct node *root = cli_spec_tree(cli, spec, &diag);
    const struct job *job = root != NULL ? native_read(root, &diag) : NULL;
    if (job == NULL)
        fail_faults(&diag);
    return job;
}

static void apply_until(struct stopping *until, const struct stopping *said)
{
    if (said->has_target) {
        until->has_target = true;
        until->target = said->target;
    }
    if (said->time_ms > 0)
        until->time_ms = said->time_ms;
    if (said->no_progress > 0)
        until->no_progress = said->no_progress;
}

static enum ht_status apply_said(struct change *change, const struct job *said,
                                 struct ht_error *err)
{
    const struct cli_settings *set = &change->cli->set;
    struct arena *arena = change->cli->arena;
    struct job *job = change->job;
    enum ht_status status = HT_OK;
    for (size_t i = 0; status == HT_OK && i < set->params.n; i++)
        status = cli_edit_replace(arena, job, &said->space.params[i], err);
    for (size_t i = 0; status == HT_OK && i < said->n_metrics; i++)
        if (said->metrics[i].safety)
            status = cli_edit_bound(arena, job, &said->metrics[i], err);
    apply_until(&job->until, &said->until);
    if (set->stop_rule != NULL)
        job->early_stop = said->early_stop;
    if (set->noise != NULL)
        job->noise = said->noise;
    if (set->algorithm != NULL)
        job->algorithm = said->algorithm;
    if (set->seed != NULL) {
        job->has_seed = true;
        job->seed = said->seed;
    }
    return status;
}

static int apply_flags(struct change *change)
{
    struct ht_error err;
    int code = apply_constraints(change);
    if (code != CLI_DONE || !has_more(&change->cli->set))
        return code;
    change->whole = true;
    const struct job *said = read_more(change);
    if (said == NULL)
        return CLI_USAGE;
    if (apply_said(change, said, &err) != HT_OK)
        return cli_fail(change->cli, CLI_USAGE, "%s", err.text);
    return CLI_DONE;
}

/* ---- the whole ---- */

/* The study that the first word names, and its job with all that the command
 * line asks for. */
static int open_change(struct change *change)
{
    struct cli *cli = change->cli;
    int code = cli_study_open(cli, cli->args.words.items[0], &change->study);
    if (code == CLI_DONE && change->study.home->kind == JOB_CUSTOM)
        code = cli_fail(cli, CLI_USAGE,
                        "%s is a custom job, which has nothing to search",
                        change->study.name);
    if (code == CLI_DONE)
        code = read_job(change, &change->old);
    if (code == CLI_DONE)
        code = read_job(change, &change->job);
    if (code == CLI_DONE)
        code = apply_words(change);
    if (code == CLI_DONE)
        code = apply_flags(change);
    if (code == CLI_DONE)
        code = apply_counts(change);
    return code == CLI_DONE && change->whole ? check_job(change) : code;
}

/* Appends the differences; "" when there is none. */
static void add_differences(const struct change *change, struct text *out)
{
    text_puts(out, "");
    form_diff(change->old, change->job, out);
}

static int print_differences(const struct change *change)
{
    struct text out = {0};
    add_differences(change, &out);
    return cli_print(&out);
}

/* ---- set ---- */

static cJSON *make_patch(struct change *change)
{
    struct count counts[COUNTS];
    cJSON *patch = cJSON_CreateObject();
    list_counts(change, counts);
    if (change->whole)
        cJSON_AddItemToObject(patch, "job", vertex_write(change->job));
    for (size_t i = 0; !change->whole && i < COUNTS; i++)
        if (*counts[i].given != CLI_UNSET)
            json_add_int(patch, counts[i].member, *counts[i].value);
    return patch;
}

/* What the change means for trials there are. */
static int say_trials(const struct change *change, int64_t before)
{
    struct cli *cli = change->cli;
    struct ht_error err;
    const struct cli_study *study = &change->study;
    const long long outside = node_get_int(study->status, "outside", 0);
    long long withdrawn;
    if (cli_since_withdrawn(cli, study, before, &withdrawn, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    if (withdrawn > 0)
        cli_say(cli, "%lld suggestion%s that had not started %s withdrawn",
                withdrawn, withdrawn == 1 ? "" : "s",
                withdrawn == 1 ? "is" : "are");
    if (outside > 0)
        cli_say(cli,
                "%lld of %lld trials %s outside the space as it is now; "
                "hypertune best %s --within%s leaves %s out",
                outside, cli_study_all(study), outside == 1 ? "is" : "are",
                study->name, cli_where(cli), outside == 1 ? "it" : "them");
    return CLI_DONE;
}

static int send_change(struct change *change)
{
    struct cli *cli = change->cli;
    struct ht_error err;
    struct text lines = {0};
    const char *name = change->study.name;
    const int64_t before = node_get_int(change->study.status, "revision", 0);
    if (cli_control_patch(cli, name, make_patch(change), &change->study,
                          &err) != HT_OK)
        return cli_fail_error(cli, &err);
    add_differences(change, &lines);
    const struct cli_study *study = &change->study;
    const long long trials = cli_study_limit(study);
    const char *parallel =
        study->home->kind == JOB_TUNING
            ? arena_printf(
                  cli->arena, ", %lld at a time",
                  (long long)node_get_int(study->job, "parallelTrialCount", 1))
            : "";
    cli_say(cli, "%sstudy %s is %s: %s trials%s", text_take(&lines, cli->arena),
            study->name, study->state,
            trials > 0 ? arena_printf(cli->arena, "%lld", trials) : "unlimited",
            parallel);
    return change->space ? say_trials(change, before) : CLI_DONE;
}

int cli_set(struct cli *cli)
{
    struct change change = {.cli = cli};
    const struct cli_settings *set = &cli->set;
    const bool counts = set->trials != CLI_UNSET ||
                        set->parallel != CLI_UNSET ||
                        set->max_failed != CLI_UNSET;
    const bool rules = set->constraints.n + set->no_constraints.n > 0;
    const bool changes =
        cli->args.words.n > 1 || counts || rules || has_more(set);
    if (cli->args.words.n == 0 || (!changes && set->metrics.n == 0))
        return cli_fail(cli, CLI_USAGE,
                        "say a study and what to set: hypertune set S "
                        "lr=1e-4..0.5 opt=+lion trials=60 parallel=4");
    int code = open_change(&change);
    if (code == CLI_DONE && set->dry_run)
        return print_differences(&change);
    if (code == CLI_DONE && changes)
        code = send_change(&change);
    /* Behind the change, whose job lacks the pattern. */
    return code == CLI_DONE && set->metrics.n > 0
               ? cli_metric_set(cli, &change.study)
               : code;
}

/* ---- clone ---- */

/* Without --name the first free one of OLD-2, OLD-3 and so on. */
static enum ht_status create_clone(const struct change *change,
                                   struct cli_study *clone,
                                   struct ht_error *err)
{
    enum { MOST_CLONES = 1000 };
    struct cli *cli = change->cli;
    enum ht_status status = HT_EXISTS;
    for (int i = 2; status == HT_EXISTS && i <= MOST_CLONES; i++) {
        const char *name =
            cli->set.name != NULL
                ? cli->set.name
                : arena_printf(cli->arena, "%s-%d", change->study.name, i);
        job_make_clone(cli->arena, change->job, change->old, name);
        status = cli_submit_create(cli, change->job, clone, err);
        if (cli->set.name != NULL)
            break;
    }
    return status;
}

static int send_clone(const struct change *change)
{
    struct cli *cli = change->cli;
    struct ht_error err;
    struct cli_study clone;
    struct text lines = {0};
    int code = cli_runners_prepare(cli, change->job, change->study.name);
    if (code != CLI_DONE)
        return code;
    if (create_clone(change, &clone, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    add_differences(change, &lines);
    cli_say(cli, "%screated study %s (id %s), a clone of %s",
            text_take(&lines, cli->arena), clone.name, clone.id,
            change->study.name);
    cli_submit_say_warnings(cli, &clone);
    code = cli_submit_print_name(clone.name);
    if (code == CLI_DONE)
        cli_say(cli, "next: hypertune watch %s%s", clone.name, cli_where(cli));
    return code;
}

int cli_clone(struct cli *cli)
{
    struct change change = {.cli = cli, .clones = true, .whole = true};
    const int code = open_change(&change);
    if (code != CLI_DONE)
        return code;
    const char **prior = arena_alloc(cli->arena, 1, sizeof *prior);
    prior[0] = change.study.name;
    change.job->warm_start = (struct strings){cli->set.fresh ? 0 : 1, prior};
    return cli->set.dry_run ? print_differences(&change) : send_clone(&change);
}
