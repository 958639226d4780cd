/* slurm.c - the check of `doctor` of a Slurm cluster. */

#include "hypertune/cli/frame/slurm.h"

#include <string.h>

#include "hypertune/cli/host/findings.h"
#include "proto/base/clock.h"

static void describe_partition(const struct node *one, struct text *out)
{
    char span[CLOCK_DURATION_BYTES];
    const int64_t most_ms = node_get_int(one, "mostMs", 0);
    const int64_t default_ms = node_get_int(one, "defaultMs", 0);
    text_puts(out, node_get_string(one, "name", "?"));
    text_puts(out, node_get_bool(one, "default", false) ? " (default, " : " (");
    text_puts(out, node_get_bool(one, "up", false) ? "" : "not up, ");
    if (most_ms > 0)
        text_printf(out, "at most %s", clock_duration(span, most_ms));
    else
        text_puts(out, "without a limit");
    if (default_ms > 0)
        text_printf(out, ", %s where none is asked for",
                    clock_duration(span, default_ms));
    text_puts(out, ")");
}

static void show_partitions(struct findings *findings, const struct node *said)
{
    struct text all = {0};
    bool has_default = false;
    NODE_EACH (one, node_first(said, "partitions")) {
        text_puts(&all, all.len > 0 ? ", " : "");
        describe_partition(one, &all);
        has_default |= node_get_bool(one, "default", false);
    }
    findings_add(findings, has_default ? FINDING_OK : FINDING_NOTE, "slurm",
                 has_default ? NULL
                             : "name one in each spec, slurm: {partition: "
                               "NAME}, so that its limit is known",
                 "partitions: %s%s", text_string(&all),
                 has_default ? "" : "; which is the default is not known");
    text_free(&all);
}

static void show_reservations(struct findings *findings,
                              const struct node *said)
{
    struct text all = {0};
    NODE_EACH (one, node_first(said, "reservations"))
        text_printf(&all, "%s%s", all.len > 0 ? ", " : "", one->text);
    if (all.len > 0)
        findings_add(findings, FINDING_OK, "slurm", NULL, "reservations: %s",
                     all.data);
    text_free(&all);
}

/* slurmrestd does not say some limits: 0. */
static void show_cluster(struct findings *findings, const struct node *said,
                         const char *sign)
{
    char span[CLOCK_DURATION_BYTES];
    struct text limits = {0};
    const int64_t array = node_get_int(said, "maxArraySize", 0);
    const int64_t wait_ms = node_get_int(said, "killWaitMs", 0);
    if (array > 0)
        text_printf(&limits, ", arrays of %lld elements", (long long)array);
    if (wait_ms > 0)
        text_printf(&limits, ", KillWait %s", clock_duration(span, wait_ms));
    findings_add(findings, FINDING_OK, "slurm", NULL, "%s by %s (%s)%s",
                 node_get_string(said, "version", "?"),
                 node_get_string(said, "way", "?"), sign, text_string(&limits));
    text_free(&limits);
    show_partitions(findings, said);
    show_reservations(findings, said);
}

void slurm_examine(struct findings *findings)
{
    const char *sign = cli_slurm_sign(findings->cli);
    if (sign == NULL)
        return;
    const struct cli_slurm slurm = cli_slurm_ask(findings->cli, NULL);
    if (slurm.trouble != NULL)
        findings_add(findings, FINDING_WARN, "slurm",
                     "correct that, if trials are to run on Slurm; docs/"
                     "slurm.md",
                     "%s; %s", sign, slurm.trouble);
    else
        show_cluster(findings, slurm.said, sign);
}
