#include "hypertune/cli/study/attempts.h"

#include <string.h>

#include "hypertune/cli/study/metric_doctor.h"
#include "hypertune/cli/study/study.h"
#include "proto/base/clock.h"

enum { COMMIT_DIGITS = 12 };

static void label(const char *name, struct text *out)
{
    text_printf(out, "  %-9s ", name);
}

static void describe_images(const struct node *images, struct text *out)
{
    for (const struct node *image = images ? images->first : NULL;
         image != NULL; image = image->next) {
        label("image", out);
        text_escape(out, image->key);
        text_puts(out, " ");
        text_escape(out, cli_scalar(image));
        text_puts(out, "\n");
    }
}

static void describe_git(const struct node *git, struct text *out)
{
    struct text commit = {0};
    if (git == NULL)
        return;
    text_printf(&commit, "%.*s", COMMIT_DIGITS,
                node_get_string(git, "commit", "-"));
    label("git", out);
    text_escape(out, commit.data);
    text_puts(out, node_get_bool(git, "dirty", false)
                       ? " with changes that are not committed\n"
                       : "\n");
    text_free(&commit);
}

static void describe_gpus(const struct node *gpus, struct text *out)
{
    if (gpus == NULL || gpus->first == NULL)
        return;
    label("gpus", out);
    cli_scalars(gpus, out);
    text_puts(out, "\n");
}

static void describe_place(const struct node *facts, const char *key,
                           struct text *out)
{
    const char *value = node_get_string(facts, key, NULL);
    if (value == NULL)
        return;
    label(key, out);
    text_escape(out, value);
    text_puts(out, "\n");
}

/* " failed, exit 3"; a reason that begins with the outcome says both. */
static void describe_outcome(const char *outcome, const char *reason,
                             struct text *out)
{
    const bool both = strncmp(reason, outcome, strlen(outcome)) == 0;
    if (outcome[0] != '\0' && !both) {
        text_puts(out, " ");
        text_escape(out, outcome);
    }
    if (reason[0] != '\0') {
        text_puts(out, outcome[0] != '\0' && both ? " " : ", ");
        text_escape(out, reason);
    }
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
    text_puts(out, " on runner ");
    text_escape(out, node_get_string(attempt, "runner", "-"));
    text_puts(out, "\n");
}

void cli_attempts_describe(const struct node *trial, struct text *out)
{
    const struct node *attempts =
        node_find(node_find(trial, "hypertune"), "attempts");
    for (const struct node *attempt = attempts ? attempts->first : NULL;
         attempt != NULL; attempt = attempt->next) {
        const struct node *facts = node_find(attempt, "facts");
        describe_end(attempt, out);
        cli_diagnosis_describe(node_find(attempt, "doctor"), out);
        describe_place(facts, "host", out);
        describe_images(node_find(facts, "images"), out);
        describe_git(node_find(facts, "git"), out);
        describe_gpus(node_find(facts, "gpus"), out);
        describe_place(facts, "output", out);
    }
}
