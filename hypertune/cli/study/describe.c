#include "hypertune/cli/study/describe.h"

#include "proto/base/clock.h"

void cli_describe_best(const struct cli_study *study, const struct node *trial,
                       struct text *out)
{
    char span[CLOCK_DURATION_BYTES];
    const struct node *ours = node_find(trial, "hypertune");
    const char *runner = node_get_string(ours, "runner", "");
    text_printf(out, "trial %s   ", cli_trial_id(trial));
    cli_trial_results(study, trial, out);
    text_printf(out, " (step %s)   %s", cli_scalar(node_find(ours, "step")),
                clock_duration(span, cli_trial_elapsed(trial, 0)));
    text_puts(out, runner[0] != '\0' ? " on runner " : "");
    text_escape(out, runner);
    text_puts(out, "\n  ");
    cli_trial_flags(trial, out);
    text_puts(out, "\n");
}
