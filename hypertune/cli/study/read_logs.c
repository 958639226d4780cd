#include "hypertune/cli/study/read_logs.h"

#include <string.h>

#include "proto/doc/json.h"
#include "proto/job/pattern.h"

enum { LEFT_SHOWN = 3 };

/* ---- --metric ---- */

static const char automatic[] = "auto";

bool cli_metric_is_auto(const struct words *given)
{
    for (size_t i = 0; i < given->n; i++)
        if (strcmp(given->items[i], automatic) == 0)
            return true;
    return false;
}

static enum ht_status check(struct arena *arena, const char *text,
                            struct ht_error *err)
{
    struct pattern *pattern;
    if (strchr(text, '{') == NULL)
        return ht_fail(err, HT_INVALID,
                       "\"%.80s\" is no pattern: that is the text around the "
                       "value, with the metric in braces, such as 'accuracy: "
                       "{accuracy}'; or auto",
                       text);
    const enum ht_status status = pattern_compile(arena, text, &pattern, err);
    return status == HT_OK ? status : ht_wrap(err, status, "\"%.80s\"", text);
}

enum ht_status cli_metric_patterns(struct arena *arena,
                                   const struct words *given,
                                   struct strings *patterns,
                                   struct ht_error *err)
{
    const char **items = arena_alloc(arena, given->n + 1, sizeof *items);
    size_t n = 0;
    for (size_t i = 0; i < given->n; i++) {
        if (strcmp(given->items[i], automatic) == 0)
            continue;
        const enum ht_status status = check(arena, given->items[i], err);
        if (status != HT_OK)
            return status;
        items[n++] = given->items[i];
    }
    *patterns = (struct strings){n, items};
    return HT_OK;
}

/* ---- what the server recognised ---- */

const char *cli_metric_recognised(const struct cli_study *study)
{
    const char *pattern = node_get_string(study->status, "metricPattern", "");
    return pattern[0] != '\0' ? pattern : NULL;
}

const char *cli_metric_advice(struct cli *cli, const struct cli_study *study)
{
    const char *pattern = cli_metric_recognised(study);
    struct text line = {0};
    if (pattern == NULL)
        return "";
    text_printf(&line, "\n  read such lines: hypertune set %s --metric ",
                study->name);
    text_shell_word(&line, pattern);
    text_puts(&line, cli_where(cli));
    return text_take(&line, cli->arena);
}

/* ---- reading ---- */

struct reading { /* over all parts */
    size_t read, left;
    struct text reasons; /* of the first that are left */
};

static void add_part(struct reading *reading, const struct node *answer)
{
    NODE_EACH (one, node_first(answer, "read"))
        reading->read += one != NULL;
    NODE_EACH (one, node_first(answer, "left"))
        if (reading->left++ < LEFT_SHOWN)
            text_printf(&reading->reasons, "\n  trial %s is left as it was: %s",
                        node_get_string(one, "trial", ""),
                        node_get_string(one, "reason", ""));
}

static void describe(const struct reading *reading, const struct node *answer,
                     struct text *out)
{
    const char *study = node_get_string(answer, "study", "");
    const struct node *pattern = node_first(answer, "patterns");
    const long long running = node_get_int(answer, "running", 0);
    text_printf(out, "study %s reads stdout with the pattern: %s", study,
                pattern != NULL ? cli_scalar(pattern) : "");
    text_printf(out, "\n  %zu trial%s got the result from the log",
                reading->read, reading->read == 1 ? "" : "s");
    if (reading->reasons.len > 0)
        text_puts(out, reading->reasons.data);
    if (reading->left > LEFT_SHOWN)
        text_printf(out, "\n  and %zu more", reading->left - LEFT_SHOWN);
    if (running > 0)
        text_printf(out,
                    "\n  %lld trial%s began before and may end without it; "
                    "then say the same again",
                    running, running == 1 ? "" : "s");
    text_printf(out, "\n  study %s is %s", study,
                node_get_string(answer, "state", ""));
}

enum ht_status cli_metric_read(struct cli *cli, const char *study,
                               const struct strings *patterns, struct text *out,
                               struct ht_error *err)
{
    struct cli_http_answer answer;
    struct reading reading = {0};
    enum ht_status status;
    int64_t after = 0;
    do {
        cJSON *body = cJSON_CreateObject();
        json_add_strings(body, "patterns", patterns);
        json_add_int(body, "after", after);
        status = cli_call(cli, "POST", cli_study_path(cli, study, ":readLogs"),
                          json_text(cli->arena, body), &answer, err);
        if (status != HT_OK)
            break;
        add_part(&reading, answer.root);
        after = node_get_int(answer.root, "next", 0);
    } while (after > 0);
    if (status == HT_OK)
        describe(&reading, answer.root, out);
    text_free(&reading.reasons);
    return status;
}

/* The patterns of --metric, of which "auto" is what the server recognised. */
static int find_patterns(struct cli *cli, const struct cli_study *study,
                         struct strings *patterns)
{
    struct ht_error err;
    const char *recognised = cli_metric_recognised(study);
    if (cli_metric_patterns(cli->arena, &cli->set.metrics, patterns, &err) !=
        HT_OK)
        return cli_fail(cli, CLI_USAGE, "--metric: %s", err.text);
    if (!cli_metric_is_auto(&cli->set.metrics))
        return CLI_DONE;
    if (recognised == NULL)
        return cli_fail(cli, CLI_REFUSED,
                        "no line that study %s printed is recognised as %s; "
                        "say how such lines look: --metric '%s: {%s}'",
                        study->name, study->metric, study->metric,
                        study->metric);
    struct words all = {0};
    words_add(cli->arena, &all, recognised);
    for (size_t i = 0; i < patterns->n; i++)
        words_add(cli->arena, &all, patterns->items[i]);
    *patterns = (struct strings){all.n, all.items};
    return CLI_DONE;
}

int cli_metric_set(struct cli *cli, const struct cli_study *study)
{
    struct ht_error err;
    struct strings patterns;
    struct text said = {0};
    const int code = find_patterns(cli, study, &patterns);
    if (code != CLI_DONE)
        return code;
    if (cli_metric_read(cli, study->name, &patterns, &said, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    cli_say(cli, "%s", said.data);
    text_free(&said);
    return CLI_DONE;
}

bool cli_metric_repair(struct cli *cli, const struct cli_study *study)
{
    struct ht_error err;
    struct strings patterns;
    struct text said = {0};
    const struct words *given = &cli->set.metrics;
    if (given->n == 0 ||
        (cli_metric_is_auto(given) && cli_metric_recognised(study) == NULL) ||
        find_patterns(cli, study, &patterns) != CLI_DONE)
        return false;
    const bool read =
        cli_metric_read(cli, study->name, &patterns, &said, &err) == HT_OK;
    if (read)
        cli_say(cli, "%s", said.data);
    text_free(&said);
    return read;
}
