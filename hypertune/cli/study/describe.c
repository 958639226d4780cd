#include "hypertune/cli/study/describe.h"

#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/study/outside.h"
#include "hypertune/cli/study/trial.h"
#include "hypertune/cli/study/usage.h"
#include "proto/base/clock.h"
#include "proto/doc/diag.h"
#include "proto/form/form.h"

enum { HASH_DIGITS = 12 };

/* ---- why a trial has no objective ---- */

/* One more line of an attempt; none for NULL. */
static void add_line(const char *label, const char *value, struct text *out)
{
    if (value == NULL)
        return;
    text_printf(out, "  %-9s ", label);
    text_print_safe(out, "%s\n", value);
}

static void describe_seen(const struct node *seen, struct text *out)
{
    const int64_t count = node_get_int(seen, "count", 0);
    const char *file = node_get_string(seen, "file", NULL);
    text_print_safe(out, "  seen      %s", node_get_string(seen, "name", ""));
    if (count == 1) {
        text_print_safe(out, " = %s", node_get_string(seen, "last", ""));
    } else if (count > 1) {
        text_print_safe(out, " = %s .. %s, %lld times",
                        node_get_string(seen, "first", ""),
                        node_get_string(seen, "last", ""), (long long)count);
    }
    if (file != NULL) {
        text_print_safe(out, ", %s %s line %lld",
                        node_get_string(seen, "replica", ""), file,
                        (long long)node_get_int(seen, "line", 0));
    }
    text_puts(out, "\n");
}

void cli_describe_doctor(const struct node *doctor, struct text *out)
{
    const struct node *seen = node_first(doctor, "seen");
    if (doctor != NULL && seen == NULL)
        add_line("seen", "no metric", out);
    for (; seen != NULL; seen = seen->next)
        describe_seen(seen, out);
    NODE_EACH (hint, node_first(doctor, "hints"))
        add_line("hint", cli_scalar(hint), out);
}

/* ---- the attempts of a trial ---- */

/* The first digits of a hash; "-" without one. */
static const char *brief_hash(const struct node *map, const char *key,
                              char buffer[HASH_DIGITS + 1])
{
    snprintf(buffer, HASH_DIGITS + 1, "%s", node_get_string(map, key, "-"));
    return buffer;
}

static void describe_git(const struct node *git, struct text *out)
{
    char hash[HASH_DIGITS + 1];
    const struct node *changes = node_find(git, "changes");
    if (git == NULL)
        return;
    text_print_safe(out, "  git       %s", brief_hash(git, "commit", hash));
    if (node_find(git, "branch") != NULL)
        text_print_safe(out, " on %s", node_get_string(git, "branch", ""));
    if (node_get_bool(git, "dirty", false))
        text_puts(out, " with changes that are not committed");
    if (changes != NULL)
        text_print_safe(out, " (%s, --diff shows them)",
                        brief_hash(changes, "sha256", hash));
    text_puts(out, "\n");
}

static void describe_python(const struct node *python, struct text *out)
{
    const struct node *first = node_first(python, "packages");
    if (python == NULL)
        return;
    text_print_safe(out, "  python    %s %s\n",
                    node_get_string(python, "version", ""),
                    node_get_string(python, "program", ""));
    NODE_EACH (one, first)
        text_print_safe(out, "%s%s %s%s", one == first ? "  packages  " : "",
                        one->key, cli_scalar(one),
                        one->next != NULL ? ", " : "\n");
}

/* The facts of an attempt. */
static void describe_facts(const struct node *facts, struct text *out)
{
    char hash[HASH_DIGITS + 1];
    if (node_find(facts, "spec") != NULL)
        add_line("spec", brief_hash(facts, "spec", hash), out);
    add_line("host", node_get_string(facts, "host", NULL), out);
    NODE_EACH (image, node_first(facts, "images"))
        text_print_safe(out, "  image     %s %s\n", image->key,
                        cli_scalar(image));
    describe_git(node_find(facts, "git"), out);
    describe_python(node_find(facts, "python"), out);
    if (node_first(facts, "gpus") != NULL) {
        text_puts(out, "  gpus      ");
        cli_scalars(node_find(facts, "gpus"), out);
        text_puts(out, "\n");
    }
    add_line("output", node_get_string(facts, "output", NULL), out);
}

/* " failed, exit 3"; a reason that begins with the outcome has both. */
static void describe_outcome(const char *outcome, const char *reason,
                             struct text *out)
{
    const bool both = strncmp(reason, outcome, strlen(outcome)) == 0;
    if (outcome[0] != '\0' && !both)
        text_print_safe(out, " %s", outcome);
    if (reason[0] != '\0')
        text_print_safe(out, "%s%s", outcome[0] != '\0' && both ? " " : ", ",
                        reason);
}

static void describe_end(const struct node *attempt, struct text *out)
{
    char span[CLOCK_DURATION_BYTES];
    int64_t start = node_get_int(attempt, "startTimeMs", 0);
    int64_t end = node_get_int(attempt, "endTimeMs", 0);
    text_printf(out, "attempt %s   %s",
                cli_scalar(node_find(attempt, "attempt")),
                node_get_string(attempt, "state", ""));
    describe_outcome(node_get_string(attempt, "outcome", ""),
                     node_get_string(attempt, "reason", ""), out);
    if (start > 0 && end > start)
        text_printf(out, ", %s", clock_duration(span, end - start));
    text_print_safe(out, " on runner %s\n",
                    node_get_string(attempt, "runner", "-"));
}

static void describe_attempts(const struct node *trial, struct text *out)
{
    NODE_EACH (attempt, node_first(node_find(trial, "hypertune"), "attempts")) {
        describe_end(attempt, out);
        cli_describe_doctor(node_find(attempt, "doctor"), out);
        describe_facts(node_find(attempt, "facts"), out);
    }
}

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- why the search chose its point ---- */

static const char *kind_words(const char *kind)
{
    static const char *const words[][2] = {
        {"DRAWN", "drawn, no model is behind it"},
        {"DESIGN", "one of the first points: the middle, then spread evenly"},
        {"EXPLOITS", "the model expects a good value there"},
        {"EXPLORES", "little is known there"},
        {"REPEATS", "measured again, since results are noisy"},
        {"SEED", "a good point of an earlier study"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], kind) == 0)
            return words[i][1];
    return kind;
}

/* "given opt=adam, bits=8 (night shift)" */
static void describe_context(const struct node *context, struct text *out)
{
    const struct node *given = node_find(context, "parameters");
    const char *description = node_get_string(context, "description", "");
    if (given == NULL && description[0] == '\0')
        return;
    text_puts(out, given == NULL ? "given nothing" : "given ");
    NODE_EACH (item, node_first(context, "parameters"))
        text_print_safe(out, "%s=%s%s", item->key, cli_scalar(item),
                        item->next == NULL ? "" : ", ");
    if (description[0] != '\0')
        text_print_safe(out, " (%s)", description);
    text_puts(out, "\n");
}

static void describe_why(const struct node *trial, struct text *out)
{
    const struct node *why = node_find(node_find(trial, "hypertune"), "why");
    const struct node *nearest = node_find(why, "nearest");
    const char *study = node_get_string(nearest, "study", "");
    if (why == NULL)
        return;
    text_print_safe(out, "why %s",
                    kind_words(node_get_string(why, "kind", "")));
    if (nearest != NULL)
        text_print_safe(out,
                        "; nearest is trial %s%s%s, %.2g lengths of the model "
                        "away",
                        cli_scalar(node_find(nearest, "trial")),
                        study[0] == '\0' ? "" : " of ", study,
                        node_get_double(nearest, "distance", 0));
    text_puts(out, "\n");
    NODE_EACH (one, node_first(why, "earlier")) {
        const int64_t n = node_get_int(one, "trials", 0);
        text_print_safe(out, "%lld earlier trial%s of %s count%s\n",
                        (long long)n, plural(n),
                        node_get_string(one, "study", ""), n == 1 ? "s" : "");
    }
    describe_context(node_find(why, "context"), out);
    NODE_EACH (goal, node_first(why, "predicted"))
        text_print_safe(
            out, "expected %s %.6g (%.6g to %.6g in two of three cases)\n",
            node_get_string(goal, "metric", ""),
            node_get_double(goal, "median", 0), node_get_double(goal, "low", 0),
            node_get_double(goal, "high", 0));
    if (node_find(why, "acquisition") != NULL)
        text_printf(out, "promise %.4g (what the search maximised)\n",
                    node_get_double(why, "acquisition", 0));
}

/* What clients of Optuna keep with a study or a trial, as JSON. */
static void describe_attributes(const struct node *ours, struct text *out)
{
    NODE_EACH (one, node_first(ours, "userAttributes"))
        text_print_safe(out, "attribute   %s = %s\n", one->key,
                        cli_scalar(one));
    if (node_get_bool(ours, "moreUserAttributes", false))
        text_puts(out, "attribute   not all are shown: some are long, or there "
                       "are many\n");
}

static void describe_tags(const struct node *ours, struct text *out)
{
    const struct node *tags = node_find(ours, "tags");
    if (tags == NULL)
        return;
    text_puts(out, "tags        ");
    cli_scalars(tags, out);
    text_puts(out, "\n");
}

/* ---- a trial ---- */

static void describe_outside(const struct cli_study *study,
                             const struct node *trial, struct text *out)
{
    struct text where = {0};
    cli_outside_add(study, trial, &where);
    if (where.len > 0)
        text_printf(out, "outside the space as it is now (%s)\n", where.data);
    text_free(&where);
}

/* What a person should know of it as it is now. */
static void describe_notes(const struct node *ours, struct text *out)
{
    const int64_t dropped = node_get_int(ours, "recordsDropped", 0);
    if (node_find(ours, "silence") != NULL)
        text_print_safe(out, "it is %s\n",
                        node_get_string(ours, "silence", ""));
    if (dropped > 0)
        text_printf(out,
                    "it reports more than its budget allows: %lld record%s not "
                    "stored, its result counts all\n",
                    (long long)dropped, dropped == 1 ? " is" : "s are");
}

void cli_describe_trial(struct cli *cli, const struct cli_study *study,
                        const struct node *trial, struct text *out)
{
    const struct node *ours = node_find(trial, "hypertune");
    const char *why = cli_trial_waits(cli, study, trial);
    const char *reason = node_get_string(ours, "reason", "");
    text_print_safe(out, "trial %s   %s%s%s\n", cli_trial_id(trial),
                    cli_trial_state(trial), reason[0] != '\0' ? ": " : "",
                    reason);
    describe_notes(ours, out);
    if (why != NULL)
        text_print_safe(out, "%s\n", why);
    if (node_find(ours, "confirms") != NULL)
        text_printf(out, "confirms trial %s: run %s of the same point\n",
                    cli_scalar(node_find(ours, "confirms")),
                    cli_scalar(node_find(ours, "replicate")));
    if (node_find(ours, "objective") != NULL) {
        cli_trial_results(study, trial, out);
        text_printf(out, " (step %s)\n", cli_scalar(node_find(ours, "step")));
    }
    text_puts(out, "  ");
    cli_trial_flags(trial, out);
    text_puts(out, "\n");
    describe_outside(study, trial, out);
    if (node_find(ours, "outputs") != NULL)
        text_print_safe(out, "outputs %s\n",
                        node_get_string(ours, "outputs", ""));
    describe_tags(ours, out);
    describe_attributes(ours, out);
    describe_why(trial, out);
    describe_attempts(trial, out);
    if (node_first(ours, "attempts") != NULL)
        cli_describe_usage(cli, study->name, cli_trial_id(trial), out);
}

void cli_describe_best(const struct cli_study *study, const struct node *trial,
                       struct text *out)
{
    char span[CLOCK_DURATION_BYTES];
    const struct node *ours = node_find(trial, "hypertune");
    const char *runner = node_get_string(ours, "runner", "");
    text_printf(out, "trial %s   ", cli_trial_id(trial));
    cli_trial_results(study, trial, out);
    text_print_safe(out, " (step %s)   %s%s%s\n  ",
                    cli_scalar(node_find(ours, "step")),
                    clock_duration(span, cli_trial_elapsed(trial, 0)),
                    runner[0] != '\0' ? " on runner " : "", runner);
    cli_trial_flags(trial, out);
    text_puts(out, "\n");
    describe_outside(study, trial, out);
}

/* ---- a study ---- */

static void describe_counts(const struct cli_study *study, struct text *out)
{
    long long limit = cli_study_limit(study);
    text_printf(out, "trials      %lld of %lld ended", cli_study_ended(study),
                limit > 0 ? limit : cli_study_all(study));
    NODE_EACH (count, node_first(study->status, "counts")) {
        if (strcmp(cli_scalar(count), "0") == 0)
            continue;
        if (strcmp(count->key, "infeasible") == 0) /* of those that failed */
            text_printf(out, " (%s infeasible)", cli_scalar(count));
        else
            text_printf(out, ", %s %s", cli_scalar(count), count->key);
    }
    text_puts(out, "\n");
}

static void describe_times(const struct cli_study *study, struct text *out)
{
    static const struct {
        const char *key, *label;
    } times[] = {{"createTimeMs", "created"},
                 {"startTimeMs", "started"},
                 {"endTimeMs", "ended"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char stamp[CLOCK_STAMP_BYTES];
        int64_t at = node_get_int(study->status, times[i].key, 0);
        if (at > 0)
            text_printf(out, "%-11s %s\n", times[i].label,
                        clock_stamp(stamp, at));
    }
}

/* "40 results and 3 failures, all count as its own" */
static void describe_prior(const struct node *one, struct text *out)
{
    const int64_t shared = node_get_int(one, "sharedParameters", 0);
    const int64_t results = node_get_int(one, "results", 0);
    const int64_t failures = node_get_int(one, "failures", 0);
    const int64_t own = node_get_int(one, "own", 0);
    text_print_safe(out, "%s, %lld result%s", node_get_string(one, "study", ""),
                    (long long)results, plural(results));
    if (failures > 0)
        text_printf(out, " and %lld failure%s", (long long)failures,
                    plural(failures));
    if (own > 0 && own == results + failures)
        text_puts(out, own == 1 ? ", which counts as its own\n"
                                : ", all count as its own\n");
    else if (own > 0)
        text_printf(out, ", %lld of them count%s as its own\n", (long long)own,
                    own == 1 ? "s" : "");
    else if (node_get_bool(one, "sameSpace", false))
        text_puts(out, ", the same parameters\n");
    else
        text_printf(out, ", %lld parameter%s in common\n", (long long)shared,
                    plural(shared));
}

/* "confirming  3 of 15 runs ended, 2 run, 10 wait" */
static void describe_confirming(const struct cli_study *study, struct text *out)
{
    static const char *const ends[] = {"succeeded", "stopped", "failed",
                                       "infeasible", "cancelled"};
    const struct node *counts = node_find(study->status, "confirming");
    if (counts == NULL)
        return;
    const int64_t wait = node_get_int(counts, "requested", 0);
    const int64_t run =
        node_get_int(counts, "active", 0) + node_get_int(counts, "stopping", 0);
    int64_t ended = 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        ended += node_get_int(counts, ends[i], 0);
    const int64_t all = ended + run + wait;
    text_printf(out, "confirming  %lld of %lld runs ended", (long long)ended,
                (long long)all);
    if (run > 0)
        text_printf(out, ", %lld run", (long long)run);
    if (wait > 0)
        text_printf(out, ", %lld wait", (long long)wait);
    text_puts(out, "\n");
}

void cli_describe_counts(const struct cli_study *study, struct table *table)
{
    struct text cell = {0};
    cli_study_progress(study, &cell);
    table_cell_text(table, &cell, "");
    table_cell_printf(table, "%lld", cli_study_running(study));
    table_cell_printf(table, "%lld", cli_study_count(study, "failed"));
    cli_trial_best(study, &cell);
    table_cell_text(table, &cell, "-");
}

void cli_describe_origin(const struct cli_study *study, int64_t now_ms,
                         struct table *table)
{
    struct text cell = {0};
    cli_output_age(node_get_int(study->status, "createTimeMs", 0), now_ms,
                   &cell);
    table_cell_text(table, &cell, "");
    table_cells(table, study->home->kind_name, study->id, study->reason, NULL);
}

/* As the server names it: the study's name may have a "/". */
static const char *tensorboard_folder(struct cli *cli,
                                      const struct cli_study *study)
{
    char *name = arena_printf(cli->arena, "%s-%s", study->id, study->name);
    for (char *at = name; *at != '\0'; at++)
        if (*at == '/')
            *at = '_';
    return name;
}

/* The server's tracker of that name; NULL: it has none. */
static const struct node *find_tracker(const struct node *server,
                                       const char *name)
{
    NODE_EACH (one, node_first(server, "trackers"))
        if (strcmp(node_get_string(one, "name", ""), name) == 0)
            return one;
    return NULL;
}

static void describe_trouble(const struct node *tracker, struct text *out)
{
    if (tracker == NULL)
        text_puts(out, "            not now: the server has no --mlflow\n");
    else if (node_get_int(tracker, "failures", 0) > 0)
        text_print_safe(out, "            fails, and is tried again: %s\n",
                        node_get_string(tracker, "lastError", ""));
}

/* Where trackers show the study, and why one does not. */
static void describe_trackers(struct cli *cli, const struct cli_study *study,
                              const struct job *job, struct text *out)
{
    struct cli_http_answer answer;
    const char *experiment = job->trackers.mlflow;
    if ((experiment == NULL && !job->trackers.tensorboard) ||
        cli_call(cli, "GET", "/hypertune/v1/server", NULL, &answer, NULL) !=
            HT_OK)
        return;
    const struct node *mlflow = find_tracker(answer.root, "mlflow");
    const struct node *logs = find_tracker(answer.root, "tensorboard");
    if (experiment != NULL) {
        text_print_safe(out, "mlflow      experiment %s at %s\n",
                        experiment[0] != '\0' ? experiment : study->name,
                        node_get_string(mlflow, "place", "-"));
        describe_trouble(mlflow, out);
    }
    if (job->trackers.tensorboard && logs != NULL) {
        text_puts(out, "tensorboard tensorboard --logdir ");
        text_shell_word(out, arena_printf(cli->arena, "%s/%s",
                                          node_get_string(logs, "place", ""),
                                          tensorboard_folder(cli, study)));
        text_puts(out, "\n");
        describe_trouble(logs, out);
    }
}

void cli_describe_study(struct cli *cli, const struct cli_study *study,
                        struct text *out)
{
    const struct node *trial;
    struct diag diag;
    diag_init(&diag, cli->arena, "job", NULL, 0);
    const struct job *job = vertex_read(study->job, study->home->kind, &diag);
    text_print_safe(out, "name        %s   (%s, id %s)\nstate       %s%s%s\n",
                    study->name, study->home->kind_name, study->id,
                    study->state, study->reason[0] != '\0' ? ": " : "",
                    study->reason);
    if (study->home->kind != JOB_CUSTOM) {
        text_puts(out, "algorithm   ");
        cli_study_algorithm(study, out);
        text_printf(out, ", seed %s\n",
                    node_get_string(study->status, "seed", "-"));
    }
    const struct node *priors = node_first(study->status, "warmStart");
    NODE_EACH (one, priors) {
        text_puts(out, one == priors ? "learns from " : "            ");
        describe_prior(one, out);
    }
    describe_counts(study, out);
    const size_t before = out->len;
    cli_study_failures(study, "failures    ", out);
    text_puts(out, out->len > before ? "\n" : "");
    const size_t between = out->len;
    cli_study_stops(study, "stops       ", out);
    text_puts(out, out->len > between ? "\n" : "");
    cli_study_silent(study, "silent      ", out);
    describe_confirming(study, out);
    describe_times(study, out);
    describe_tags(study->status, out);
    describe_attributes(study->status, out);
    if (study->best != NULL) {
        text_puts(out, "best        ");
        cli_describe_best(study, study->best, out);
    }
    if (study->home->kind == JOB_CUSTOM &&
        cli_trial_get(cli, study->name, "1", &trial, NULL) == HT_OK)
        describe_attempts(trial, out);
    if (job != NULL) {
        describe_trackers(cli, study, job, out);
        text_puts(out, "spec\n");
        cli_plan_describe(cli, job, 1, out);
    }
}
