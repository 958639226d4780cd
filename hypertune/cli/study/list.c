#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/attempts.h"
#include "hypertune/cli/study/control.h"
#include "hypertune/cli/study/describe.h"
#include "hypertune/cli/study/plan.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/clock.h"

enum { STUDIES_A_PAGE = 100 };

static void add_row(const struct cli *cli, struct table *table,
                    const struct cli_study *study, int64_t now)
{
    struct text cell = {0};
    const struct node *best = node_find(study->status, "best");
    table_row(table);
    table_cell(table, study->name);
    if (cli->format == FORMAT_CSV)
        text_puts(&cell, study->state);
    else
        cli_study_outcome(study, &cell);
    table_cell_text(table, &cell, "");
    cli_study_algorithm(study, &cell);
    table_cell_text(table, &cell, "");
    text_printf(&cell, "%lld", cli_study_ended(study));
    if (cli_study_limit(study) > 0)
        text_printf(&cell, "/%lld", cli_study_limit(study));
    table_cell_text(table, &cell, "");
    table_cell_printf(table, "%lld", cli_study_running(study));
    table_cell_printf(table, "%lld", cli_study_count(study, "failed"));
    if (best != NULL) {
        text_printf(&cell, "%s=", study->metric);
        cli_trial_objective(best, &cell);
    }
    if (best != NULL && cli_study_has_front(study))
        text_printf(&cell, " of %zu", cli_study_front(study));
    table_cell_text(table, &cell, "-");
    cli_output_age(node_get_int(study->status, "createTimeMs", 0), now, &cell);
    table_cell_text(table, &cell, "");
    table_cells(table, study->home->kind_name, study->id,
                node_get_string(study->status, "reason", ""), NULL);
}

static struct table *new_table(struct cli *cli)
{
    struct table *table = table_new(cli->arena);
    table_columns(table,
                  "NAME,STATE,ALGORITHM,>TRIALS,>RUN,>FAIL,BEST,AGE,KIND");
    table_spare(table, "KIND ALGORITHM AGE BEST RUN");
    if (cli->format == FORMAT_WIDE || cli->format == FORMAT_CSV)
        table_columns(table, ">ID,REASON");
    return table;
}

enum { MOST_HELD = 3 }; /* studies whose reason follows the table */

struct listing {
    struct cli *cli;
    struct table *table;
    struct text out;
    int64_t now, shown;
    size_t n_held;
    const char *held[MOST_HELD];
};

static bool list_study(const struct node *job, void *context)
{
    struct listing *listing = context;
    struct cli *cli = listing->cli;
    struct cli_study study;
    size_t index = (size_t)listing->shown++;
    cli_study_read(job, &study);
    if (cli->format == FORMAT_NAME) {
        text_print_safe(&listing->out, "%s\n", study.name);
    } else if (!cli_output_item(cli->format, job, index, &listing->out)) {
        add_row(cli, listing->table, &study, listing->now);
        const char *held = cli_control_held(cli, &study);
        if (held != NULL && listing->n_held < MOST_HELD)
            listing->held[listing->n_held++] = arena_strdup(cli->lasting, held);
    }
    return cli->set.limit <= 0 || listing->shown < cli->set.limit;
}

static enum ht_status list_all(struct listing *listing, struct ht_error *err)
{
    struct cli *cli = listing->cli;
    struct cli_pages pages = {
        .path = cli_study_filter(cli, CLI_OURS, cli->set.state),
        .key = "studies",
        .size = STUDIES_A_PAGE};
    if (cli->set.limit > 0 && cli->set.limit < pages.size)
        pages.size = (int)cli->set.limit;
    return cli_pages_each(cli, &pages, list_study, listing, err);
}

static int print_listing(struct listing *listing)
{
    struct cli *cli = listing->cli;
    if (cli_is_table(cli) && listing->shown == 0)
        cli_say(cli, "no studies; \"hypertune submit spec.yaml\" makes one");
    else
        cli_output_table(cli, listing->table, &listing->out);
    cli_output_end(cli->format, (size_t)listing->shown, &listing->out);
    const int code = cli_print(&listing->out);
    for (size_t i = 0; i < listing->n_held; i++)
        cli_say(cli, "%s", listing->held[i]);
    return code;
}

/* Flags to paste are those of a trial; a study has none. */
static bool has_no_args(struct cli *cli)
{
    if (cli->format != FORMAT_ARGS)
        return false;
    cli_fail(cli, CLI_USAGE,
             "-o args prints the parameters of trials: hypertune best STUDY -o "
             "args");
    return true;
}

int cli_list(struct cli *cli)
{
    struct ht_error err;
    if (has_no_args(cli))
        return CLI_USAGE;
    int code = cli_study_check_state(cli, cli->set.state, cli_study_states);
    if (code == CLI_DONE)
        code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    struct listing listing = {
        .cli = cli, .table = new_table(cli), .now = clock_wall_ms()};
    if (list_all(&listing, &err) != HT_OK) {
        text_free(&listing.out);
        return cli_fail_error(cli, &err);
    }
    return print_listing(&listing);
}

/* ---- describe ---- */

static void describe_counts(const struct cli_study *study, struct text *out)
{
    const struct node *counts = node_find(study->status, "counts");
    long long limit = cli_study_limit(study);
    text_printf(out, "trials      %lld of %lld ended", cli_study_ended(study),
                limit > 0 ? limit : cli_study_all(study));
    for (const struct node *count = counts ? counts->first : NULL;
         count != NULL; count = count->next) {
        if (strcmp(cli_scalar(count), "0") == 0)
            continue;
        if (strcmp(count->key, "infeasible") == 0) /* of those that failed */
            text_printf(out, " (%s infeasible)", cli_scalar(count));
        else
            text_printf(out, ", %s %s", cli_scalar(count), count->key);
    }
    text_puts(out, "\n");
}

static void describe_failures(const struct cli_study *study, struct text *out)
{
    const size_t before = out->len;
    cli_study_failures(study, "failures    ", out);
    text_puts(out, out->len > before ? "\n" : "");
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

static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

/* "40 results and 3 failures, all count as its own" */
static void describe_prior(const struct node *one, struct text *out)
{
    const int64_t shared = node_get_int(one, "sharedParameters", 0);
    const int64_t results = node_get_int(one, "results", 0);
    const int64_t failures = node_get_int(one, "failures", 0);
    const int64_t own = node_get_int(one, "own", 0);
    text_escape(out, node_get_string(one, "study", ""));
    text_printf(out, ", %lld result%s", (long long)results, plural(results));
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

/* What the study started from: results of earlier ones. */
static void describe_priors(const struct cli_study *study, struct text *out)
{
    const struct node *list = node_find(study->status, "warmStart");
    const char *lead = "learns from ";
    for (const struct node *one = list ? list->first : NULL; one != NULL;
         one = one->next) {
        text_puts(out, lead);
        describe_prior(one, out);
        lead = "            ";
    }
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

static void describe_study(struct cli *cli, const struct cli_study *study,
                           struct text *out)
{
    const struct node *best = node_find(study->status, "best");
    const struct node *trial;
    struct diag diag;
    diag_init(&diag, cli->arena, "job", NULL, 0);
    const struct job *job = vertex_read(study->job, study->home->kind, &diag);
    text_puts(out, "name        ");
    text_escape(out, study->name);
    text_printf(out, "   (%s, id %s)\nstate       %s", study->home->kind_name,
                study->id, study->state);
    const char *reason = node_get_string(study->status, "reason", "");
    text_puts(out, reason[0] != '\0' ? ": " : "");
    text_escape(out, reason);
    text_puts(out, "\n");
    if (study->home->kind != JOB_CUSTOM) {
        text_puts(out, "algorithm   ");
        cli_study_algorithm(study, out);
        text_printf(out, ", seed %s\n",
                    node_get_string(study->status, "seed", "-"));
    }
    describe_priors(study, out);
    describe_counts(study, out);
    describe_failures(study, out);
    describe_confirming(study, out);
    describe_times(study, out);
    if (best != NULL) {
        text_puts(out, "best        ");
        cli_describe_best(study, best, out);
    }
    if (study->home->kind == JOB_CUSTOM &&
        cli_trial_get(cli, study->name, "1", &trial, NULL) == HT_OK)
        cli_attempts_describe(trial, out);
    if (job != NULL) {
        text_puts(out, "spec\n");
        cli_plan_describe(cli, job, 1, out);
    }
}

int cli_describe(struct cli *cli)
{
    struct cli_study study;
    struct text out = {0};
    if (has_no_args(cli))
        return CLI_USAGE;
    int code = cli_study_open(cli, cli->args.words.items[0], &study);
    if (code != CLI_DONE)
        return code;
    if (cli->format == FORMAT_NAME) {
        text_print_safe(&out, "%s\n", study.name);
    } else if (cli->format == FORMAT_CSV) {
        struct table *table = new_table(cli);
        add_row(cli, table, &study, clock_wall_ms());
        table_csv(table, &out);
    } else if (!cli_output_resource(cli->format, study.job, &out)) {
        cli_describe_study(cli, &study, &out);
    }
    return cli_print(&out);
}
