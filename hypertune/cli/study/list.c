/* list.c - `list` and `describe`: the studies of a server, and one of them in
 * words. */

#include <math.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/frame/output.h"
#include "hypertune/cli/frame/table.h"
#include "hypertune/cli/study/describe.h"
#include "hypertune/cli/study/study.h"
#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"

enum { STUDIES_A_PAGE = 100 };

/* Those that the study has, apart by commas. */
static void add_tags(const struct cli_study *study, struct table *table)
{
    struct text tags = {0};
    const struct node *list = node_find(study->status, "tags");
    if (list != NULL)
        cli_scalars(list, &tags);
    table_cell_text(table, &tags, "");
}

/* For programs: plain numbers and moments, a column for each. */
static void add_record(struct table *table, const struct cli_study *study)
{
    static const char *const times[] = {"createTimeMs", "startTimeMs",
                                        "endTimeMs"};
    char best[TEXT_DOUBLE_BYTES] = "";
    struct text algorithm = {0};
    const long long limit = cli_study_limit(study);
    const double score = cli_trial_score(study->best);
    table_row(table);
    table_cells(table, study->name, study->state, NULL);
    if (node_find(study->status, "algorithm") != NULL)
        cli_study_algorithm(study, &algorithm);
    table_cell_text(table, &algorithm, "");
    table_cell_printf(table, "%lld", cli_study_ended(study));
    if (limit > 0)
        table_cell_printf(table, "%lld", limit);
    else
        table_cell(table, "");
    table_cell_printf(table, "%lld", cli_study_running(study));
    table_cell_printf(table, "%lld", cli_study_count(study, "failed"));
    table_cell(table, study->metric);
    table_cell(table, isnan(score) ? "" : text_of_double(best, score));
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        cli_output_time_cell(node_get_int(study->status, times[i], 0), table);
    table_cells(table, study->home->kind_name, study->id, study->reason, NULL);
    add_tags(study, table);
}

static void add_row(const struct cli *cli, struct table *table,
                    const struct cli_study *study, int64_t now)
{
    struct text cell = {0};
    if (cli->format == FORMAT_CSV) {
        add_record(table, study);
        return;
    }
    table_row(table);
    table_cell(table, study->name);
    cli_study_outcome(study, &cell);
    table_cell_text(table, &cell, "");
    cli_study_algorithm(study, &cell);
    table_cell_text(table, &cell, "");
    add_tags(study, table);
    cli_describe_counts(study, table);
    cli_describe_origin(study, now, table);
}

static struct table *new_table(struct cli *cli)
{
    if (cli->format == FORMAT_CSV) {
        struct table *records = table_new(cli->arena);
        table_columns(records,
                      "NAME,STATE,ALGORITHM,TRIALS,LIMIT,RUN,FAIL,METRIC,BEST,"
                      "CREATED,STARTED,ENDED,KIND,ID,REASON,TAGS");
        return records;
    }
    struct table *table = table_new(cli->arena);
    table_columns(table,
                  "NAME,STATE,ALGORITHM,TAGS,>TRIALS,>RUN,>FAIL,BEST,AGE,KIND");
    table_spare(table, "KIND TAGS ALGORITHM AGE BEST RUN");
    table_optional(table, "TAGS");
    if (cli->format == FORMAT_WIDE)
        table_columns(table, ">ID,REASON");
    return table;
}

struct listing {
    struct cli *cli;
    struct table *table;
    struct text out;
    int64_t now, shown;
    size_t n_held;      /* studies that the server has paused */
    const char *held;   /* what to do about the first; the others are counted */
    struct text silent; /* lines of trials that probably hang */
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
        if (held != NULL && listing->n_held++ == 0)
            listing->held = arena_strdup(cli->lasting, held);
        cli_study_silent(&study,
                         arena_printf(cli->arena, "study %s: ", study.name),
                         &listing->silent);
    }
    return cli->set.limit <= 0 || listing->shown < cli->set.limit;
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
    if (listing->n_held > 0)
        cli_say(cli, "%s", listing->held);
    if (listing->n_held > 1)
        cli_say(cli,
                "%zu more stud%s paused by the server: hypertune list --state "
                "paused%s",
                listing->n_held - 1, listing->n_held == 2 ? "y is" : "ies are",
                cli_where(cli));
    if (listing->silent.len > 0)
        cli_say(cli, "%.*s", (int)listing->silent.len - 1,
                listing->silent.data);
    text_free(&listing->silent);
    return code;
}

/* Flags to paste are those of a trial; a study has none. */
static int refuse_args(struct cli *cli)
{
    return cli->format != FORMAT_ARGS
               ? CLI_DONE
               : cli_fail(cli, CLI_USAGE,
                          "-o args prints the parameters of trials: hypertune "
                          "best STUDY -o args");
}

/* Beside any output, on stderr. A token of a project may not ask. */
static void say_alarm(struct cli *cli)
{
    struct cli_http_answer answer;
    if (cli_call(cli, "GET", "/hypertune/v1/server", NULL, &answer, NULL) !=
        HT_OK)
        return;
    const char *alarm =
        node_get_string(node_find(answer.root, "disk"), "alarm", "");
    if (alarm[0] != '\0')
        cli_say(cli, "warning: %s", alarm);
}

int cli_list(struct cli *cli)
{
    struct ht_error err;
    int code = refuse_args(cli);
    if (code == CLI_DONE)
        code = cli_study_check_state(cli, cli->set.state, cli_study_states);
    if (code == CLI_DONE)
        code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    struct listing listing = {
        .cli = cli, .table = new_table(cli), .now = clock_wall_ms()};
    struct cli_pages pages = {
        .path = cli_study_filter(cli, CLI_OURS, cli->set.state),
        .key = "studies",
        .size = STUDIES_A_PAGE};
    if (cli->set.limit > 0 && cli->set.limit < pages.size)
        pages.size = (int)cli->set.limit;
    if (cli_pages_each(cli, &pages, list_study, &listing, &err) != HT_OK) {
        text_free(&listing.out);
        text_free(&listing.silent);
        return cli_fail_error(cli, &err);
    }
    code = print_listing(&listing);
    say_alarm(cli);
    return code;
}

/* "nile RUNNING 12/40 best loss=0.031 trial 7 3m left": the first three words
 * are always there. */
static void add_state(const struct cli_study *study, struct text *out)
{
    char span[CLOCK_DURATION_BYTES];
    const int64_t left_ms = cli_study_left_ms(study, clock_wall_ms());
    text_print_safe(out, "%s %s ", study->name, study->state);
    cli_study_progress(study, out);
    if (study->best != NULL) {
        text_print_safe(out, " best %s=", study->metric);
        cli_trial_objective(study->best, out);
        text_printf(out, " trial %s", cli_trial_id(study->best));
    }
    if (left_ms >= 0)
        text_printf(out, " %s left", clock_duration(span, left_ms));
    text_puts(out, "\n");
}

static int print_state(const struct cli_study *study)
{
    struct text out = {0};
    add_state(study, &out);
    const int code = cli_print(&out);
    if (code != CLI_DONE)
        return code;
    return cli_study_is_over(study->state) ? cli_study_verdict(study)
                                           : CLI_NOT_OVER;
}

int cli_describe(struct cli *cli)
{
    struct cli_study study;
    struct text out = {0};
    int code = refuse_args(cli);
    if (code == CLI_DONE)
        code = cli_study_open(cli, cli->args.words.items[0], &study);
    if (code != CLI_DONE)
        return code;
    if (cli_own_format(cli) != NULL)
        return print_state(&study);
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
