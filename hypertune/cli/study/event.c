#include "hypertune/cli/study/event.h"

#include <string.h>

#include "hypertune/cli/study/trial.h"
#include "proto/base/clock.h"
#include "proto/doc/json.h"

/* Event lines are for people: whole seconds suffice. */
static void stamp(const struct node *event, struct text *out)
{
    char text[CLOCK_STAMP_BYTES];
    clock_stamp(text, node_get_int(event, "timeMs", 0));
    text_printf(out, "%.19sZ ", text);
}

static void quote_reason(const char *reason, struct text *out)
{
    if (reason[0] == '\0')
        return;
    text_puts(out, " \"");
    text_escape(out, reason);
    text_puts(out, "\"");
}

static void describe_end(const struct cli_study *study,
                         const struct node *trial, const char *state,
                         struct text *out)
{
    const struct node *ours = node_find(trial, "hypertune");
    const struct node *best = node_find(study->status, "best");
    if (node_find(ours, "objective") != NULL) {
        text_puts(out, " ");
        cli_trial_results(study, trial, out);
        text_printf(out, " step=%s", cli_scalar(node_find(ours, "step")));
    }
    if (strcmp(state, "SUCCEEDED") != 0)
        quote_reason(node_get_string(ours, "reason", ""), out);
    if (cli_study_has_front(study)) {
        text_printf(out, " optimal=%zu", cli_study_front(study));
    } else if (best != NULL) {
        text_puts(out, " best=");
        cli_trial_objective(best, out);
    }
}

static void trial_line(struct cli *cli, const struct cli_study *study,
                       const struct node *event, struct text *out)
{
    const char *state = node_get_string(event, "to", "");
    /* Back to waiting: its attempt failed or was lost, or it had paused. */
    bool again = strcmp(state, "REQUESTED") == 0;
    if (!again &&
        !cli_words_has("ACTIVE STOPPING SUCCEEDED STOPPED FAILED INFEASIBLE "
                       "CANCELLED PAUSED",
                       state))
        return;
    const struct node *trial = NULL;
    const char *id = cli_scalar(node_find(event, "trial"));
    stamp(event, out);
    text_printf(out, "trial %s %s", id, state);
    enum ht_status status =
        again ? HT_NOT_FOUND
              : cli_trial_get(cli, study->name, id, &trial, NULL);
    if (status == HT_OK && strcmp(state, "ACTIVE") == 0) {
        const char *runner =
            node_get_string(node_find(trial, "hypertune"), "runner", "");
        text_puts(out, runner[0] != '\0' ? " runner=" : "");
        text_escape(out, runner);
        text_puts(out, " ");
        cli_trial_params(trial, out);
    } else if (status == HT_OK && strcmp(state, "STOPPING") != 0) {
        describe_end(study, trial, state, out);
    } else {
        quote_reason(node_get_string(event, "reason", ""), out);
    }
    text_puts(out, "\n");
}

static void measured_line(const struct node *event, struct text *out)
{
    const struct node *data = node_find(event, "data");
    const struct node *metrics = node_find(data, "metrics");
    stamp(event, out);
    text_printf(out, "trial %s step=%s", cli_scalar(node_find(event, "trial")),
                cli_scalar(node_find(data, "step")));
    for (const struct node *metric = metrics ? metrics->first : NULL;
         metric != NULL; metric = metric->next) {
        text_puts(out, " ");
        text_escape(out, metric->key);
        text_printf(out, "=%s", cli_scalar(metric));
    }
    text_puts(out, "\n");
}

void cli_event_line(struct cli *cli, const struct cli_study *study,
                    const struct node *event, struct text *out)
{
    const char *kind = node_get_string(event, "kind", "");
    if (cli->format == FORMAT_JSONL || cli->format == FORMAT_JSON) {
        json_print(json_of_node(event), out);
        text_puts(out, "\n");
    } else if (strcmp(kind, "trial.moved") == 0) {
        trial_line(cli, study, event, out);
    } else if (strcmp(kind, "trial.measured") == 0 && cli->set.verbose) {
        measured_line(event, out);
    } else if (strcmp(kind, "study.moved") == 0) {
        stamp(event, out);
        text_puts(out, "study ");
        text_escape(out, study->name);
        text_printf(out, " %s", node_get_string(event, "to", ""));
        quote_reason(node_get_string(event, "reason", ""), out);
        /* Of the end that it has now, not of one that was taken back. */
        if (strcmp(node_get_string(event, "to", ""), study->state) == 0)
            cli_study_failures(study, ", ", out);
        text_puts(out, "\n");
    }
}
