/* complete.c - the words that a shell offers for an unfinished command line. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "hypertune/cli/frame/commands.h"
#include "hypertune/cli/live/overview.h"
#include "hypertune/cli/study/trial.h"

enum {
    LIMIT_MS = 280, /* a person waits for the shell */
    MOST_STUDIES = 100,
    MOST_TRIALS = 1000
};

/* Candidates for the word before the cursor, one a line, each with a tab and a
 * description when there is one. ":files" means that file names fit too. The
 * shells' scripts (completion.c) only hand them over. */
struct completion {
    struct cli *cli;
    struct words before;       /* words before the current one */
    const char *word;          /* the current one, as far as typed */
    const char *kept;          /* put before each candidate */
    const struct flag *option; /* whose value is typed, or NULL */
    struct words words;        /* arguments of the command */
    struct cli_study study;    /* that they name, once it was found */
    struct text out;
};

/* Offers candidates; the comment of each explains its `how`. */
typedef void offerer(struct completion *completion, const char *how);

/* ---- candidates ---- */

static void offer(struct completion *completion, const char *candidate,
                  const char *about)
{
    struct text bare = {0};
    size_t len = strlen(completion->word);
    text_shell_word(&bare, candidate);
    /* Our names need no quotes. */
    if (strncmp(candidate, completion->word, len) == 0 &&
        strcmp(bare.data, candidate) == 0) {
        text_puts(&completion->out, completion->kept);
        text_puts(&completion->out, candidate);
        text_puts(&completion->out, about[0] != '\0' ? "\t" : "");
        text_escape(&completion->out, about);
        text_puts(&completion->out, "\n");
    }
    text_free(&bare);
}

static void offer_list(struct completion *completion, const char *names)
{
    char *rest = NULL;
    char *copy = arena_strdup(completion->cli->arena, names);
    for (char *name = strtok_r(copy, " ", &rest); name != NULL;
         name = strtok_r(NULL, " ", &rest))
        offer(completion, name, "");
}

/* A name in a form such as "-*" or "*=". */
static void offer_formed(struct completion *completion, const char *form,
                         const char *name)
{
    const int before = (int)strcspn(form, "*");
    offer(completion,
          arena_printf(completion->cli->arena, "%.*s%s%s", before, form, name,
                       form + before + 1),
          "");
}

/* `how`: a kind that the shell completes itself. */
static void offer_own(struct completion *completion, const char *how)
{
    text_printf(&completion->out, ":%s\n", how);
}

static void offer_commands(struct completion *completion)
{
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++) {
        if (c->help != NULL)
            offer(completion, c->name, c->help);
    }
}

/* `how`: the topics that are no commands. */
static void offer_topics(struct completion *completion, const char *how)
{
    offer_commands(completion);
    offer_list(completion, how);
}

static void offer_options(struct completion *completion)
{
    const struct cli_command *command = completion->cli->command;
    const char *own = command != NULL ? command->options : "";
    for (const struct flag *o = cli_flags; o->name; o++) {
        if (own == NULL || (!o->everywhere && !words_has(own, o->name)))
            continue;
        offer(completion, arena_printf(completion->cli->arena, "--%s", o->name),
              o->help);
    }
}

/* ---- names from the server ---- */

struct names {
    struct completion *completion;
    const char *before, *behind; /* added to each name */
    struct words seen;
};

/* Several projects may have the same name. */
static bool offer_study(const struct node *job, void *context)
{
    struct names *names = context;
    struct cli *cli = names->completion->cli;
    struct cli_study study;
    cli_study_read(job, &study);
    if (words_include(&names->seen, study.name))
        return true;
    words_add(cli->lasting, &names->seen,
              arena_strdup(cli->lasting, study.name));
    offer(names->completion,
          arena_printf(cli->arena, "%s%s", study.name, names->behind),
          study.state);
    return names->seen.n < MOST_STUDIES;
}

/* `how`: the text after each name. */
static void offer_studies(struct completion *completion, const char *how)
{
    struct names names = {.completion = completion, .behind = how};
    struct cli_pages pages = {
        .path = CLI_OURS, .key = "studies", .size = MOST_STUDIES};
    if (cli_connect_silently(completion->cli, LIMIT_MS))
        cli_pages_each(completion->cli, &pages, offer_study, &names, NULL);
}

static bool offer_trial(const struct node *trial, void *context)
{
    struct names *names = context;
    offer(names->completion,
          arena_printf(names->completion->cli->arena, "%s%s", names->before,
                       cli_trial_id(trial)),
          cli_trial_state(trial));
    return true;
}

static void offer_trials_of(struct completion *completion, const char *study,
                            const char *state, const char *before)
{
    struct names names = {.completion = completion, .before = before};
    if (!cli_connect_silently(completion->cli, LIMIT_MS))
        return;
    struct cli_pages pages = cli_trial_pages(completion->cli, study, state);
    pages.size = MOST_TRIALS;
    cli_pages_each(completion->cli, &pages, offer_trial, &names, NULL);
}

/* "STUDY/7"; `how`: the trials' state, NULL: any. */
static void offer_trials(struct completion *completion, const char *how)
{
    struct arena *arena = completion->cli->arena;
    const char *slash = strrchr(completion->word, '/');
    if (slash == NULL) {
        offer_studies(completion, "/");
        return;
    }
    const size_t len = (size_t)(slash - completion->word);
    offer_trials_of(completion, arena_strndup(arena, completion->word, len),
                    how, arena_strndup(arena, completion->word, len + 1));
}

/* Trials of the study that the words name, without its name; `how` as above. */
static void offer_ids(struct completion *completion, const char *how)
{
    if (completion->words.n > 0)
        offer_trials_of(completion, completion->words.items[0], how, "");
}

/* "STUDY/best" and trials; `how` as above. */
static void offer_outputs(struct completion *completion, const char *how)
{
    const char *slash = strrchr(completion->word, '/');
    if (slash != NULL)
        offer(completion,
              arena_printf(completion->cli->arena, "%.*s/best",
                           (int)(slash - completion->word), completion->word),
              "the best trial");
    offer_trials(completion, how);
}

/* The study that the words before the cursor name; NULL: none. */
static const struct cli_study *find_study(struct completion *completion)
{
    struct cli *cli = completion->cli;
    struct cli_study *study = &completion->study;
    if (study->name != NULL)
        return study;
    if (completion->words.n == 0 || !cli_connect_silently(cli, LIMIT_MS))
        return NULL;
    /* "curves STUDY/7 --metric" names one, too. */
    const char *name = completion->words.items[0], *trial;
    cli_study_split(cli, name, &name, &trial);
    return cli_study_get(cli, name, study, NULL) == HT_OK ? study : NULL;
}

/* `how`: the form of each. */
static void offer_parameters(struct completion *completion, const char *how)
{
    struct cli_parameters parameters = {0};
    const struct cli_study *study = find_study(completion);
    if (study != NULL)
        cli_parameters_read(study->job, &parameters);
    for (size_t i = 0; i < parameters.n; i++)
        offer_formed(completion, how, parameters.items[i].name);
}

/* `how`: what else can change. */
static void offer_changes(struct completion *completion, const char *how)
{
    offer_list(completion, how);
    offer_parameters(completion, "*=");
}

/* Of the study that the words name: local-run has none. `how` as above. */
static void offer_metrics(struct completion *completion, const char *how)
{
    const struct cli_command *command = completion->cli->command;
    const struct cli_study *study =
        command != NULL && strncmp(command->usage, "STUDY", 5) == 0
            ? find_study(completion)
            : NULL;
    const struct node *spec =
        study != NULL ? node_find(study->job, "studySpec") : NULL;
    NODE_EACH (one, node_first(spec, "metrics"))
        offer_formed(completion, how, node_get_string(one, "metricId", ""));
}

/* What rows of trials can be chosen or sorted by. `how` as above. */
static void offer_columns(struct completion *completion, const char *how)
{
    offer_metrics(completion, how);
    offer_parameters(completion, how);
}

/* ---- where the cursor is ---- */

/* `how`: the commands that show studies, not trials. */
static void offer_states(struct completion *completion, const char *how)
{
    const struct cli_command *command = completion->cli->command;
    const bool of_studies = words_has(how, command ? command->name : "");
    const char *const *state = of_studies ? cli_study_states : cli_trial_states;
    for (; *state != NULL; state++)
        offer(completion, cli_lower(completion->cli->arena, *state), "");
}

/* `how`: those of every command. */
static void offer_formats(struct completion *completion, const char *how)
{
    offer_list(completion, how);
    if (completion->cli->command != NULL)
        offer_list(completion, completion->cli->command->formats);
}

/* Upwards and, behind a dash, downwards. `how`: further keys of trials. */
static void offer_sort_keys(struct completion *completion, const char *how)
{
    const char *form = completion->word[0] == '-' ? "-*" : "*";
    const bool top = completion->cli->command != NULL &&
                     completion->cli->command->run == cli_top;
    char *rest = arena_strdup(completion->cli->arena, how), *key;
    for (size_t i = 0; top && overview_orders[i] != NULL; i++)
        offer_formed(completion, form, overview_orders[i]);
    while (!top && (key = strsep(&rest, " ")) != NULL)
        offer_formed(completion, form, key);
    if (!top)
        offer_columns(completion, form);
}

static void offer_values(struct completion *completion)
{
    static const struct {
        const char *option;
        offerer *offer;
        const char *how;
    } sources[] = {
        {"output", offer_formats, cli_formats},
        {"stream", offer_list, "stdout stderr runner"},
        {"algorithm", offer_list, "bayesian grid random"},
        {"stop-rule", offer_list, "none median decay convex asha hyperband"},
        {"noise", offer_list, "low high"},
        {"state", offer_states, "list watch"},
        {"until", offer_states, "list watch"},
        {"sort", offer_sort_keys, "best id time"},
        {"where", offer_columns, "*="},
        {"warm-start", offer_studies, ""},
        {"from", offer_ids, NULL},
        {"metric", offer_metrics, "*"}};
    if (words_has("FILE DIR", completion->option->value))
        offer_own(completion, "files");
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (strcmp(sources[i].option, completion->option->name) == 0)
            sources[i].offer(completion, sources[i].how);
}

static bool wants_study(const char *usage, size_t n)
{
    return (n == 0 && strncmp(usage, "STUDY", 5) == 0) ||
           (n == 1 && strncmp(usage, "FILE [STUDY", 11) == 0);
}

/* The words of commands whose usage does not name them. */
static const struct word_source {
    cli_run *command;
    bool first, behind; /* for the first word, for those behind it */
    offerer *offer;
    const char *how;
} word_sources[] = {
    {cli_help, true, true, offer_topics, "spec exit environment"},
    {cli_completion, true, true, offer_list, "bash zsh fish"},
    {cli_stop_trial, true, true, offer_trials, "ACTIVE"},
    {cli_retry, true, true, offer_trials, "FAILED"},
    {cli_fetch, true, false, offer_outputs, "SUCCEEDED"},
    {cli_fetch, false, true, offer_own, "files"},
    {cli_add, false, true, offer_parameters, "*="},
    {cli_set, false, true, offer_changes, "trials= parallel="},
    {cli_clone, false, true, offer_changes, ""}};

static void offer_words(struct completion *completion)
{
    const struct cli_command *command = completion->cli->command;
    const char *usage = command->usage + strspn(command->usage, "[");
    const bool first = completion->words.n == 0;
    for (size_t i = 0; i < sizeof word_sources / sizeof *word_sources; i++) {
        const struct word_source *source = &word_sources[i];
        if (source->command == command->run &&
            (first ? source->first : source->behind)) {
            source->offer(completion, source->how);
            return;
        }
    }
    if (strncmp(usage, "STUDY/ID", 8) == 0 ||
        (command->run == cli_curves && strchr(completion->word, '/') != NULL))
        offer_trials(completion, NULL);
    else if (wants_study(usage, completion->words.n))
        offer_studies(completion, "");
    else if (strstr(usage, "SPEC") != NULL ||
             (strncmp(usage, "FILE", 4) == 0 && first))
        offer_own(completion, "files");
}

/* bash gives "--state", "=", "run" where the others have one word. */
static void join_words(struct completion *completion, const struct words *given)
{
    struct arena *arena = completion->cli->arena;
    struct words joined = {0};
    bool split = false;
    for (size_t i = 0; i < given->n; i++) {
        split = strcmp(given->items[i], "=") == 0 && joined.n > 0;
        if (!split) {
            words_add(arena, &joined, given->items[i]);
            continue;
        }
        const char **last = &joined.items[joined.n - 1];
        bool has_value = i + 1 < given->n;
        *last = arena_printf(arena, "%s=%s", *last,
                             has_value ? given->items[i + 1] : "");
        i += has_value;
    }
    completion->word = joined.n > 0 ? joined.items[joined.n - 1] : "";
    completion->before = joined;
    completion->before.n -= joined.n > 0;
    completion->kept = "";
    const char *equals = strchr(completion->word, '=');
    if (equals == NULL || strncmp(completion->word, "--", 2) != 0)
        return;
    size_t len = (size_t)(equals - completion->word);
    completion->option = flags_find(cli_flags, completion->word + 2, len - 2);
    if (!split)
        completion->kept = arena_strndup(arena, completion->word, len + 1);
    completion->word = equals + 1;
}

/* "--state" before the cursor wants its value there. */
static void find_option(struct completion *completion)
{
    struct words *before = &completion->before;
    const char *last = before->n > 0 ? before->items[before->n - 1] : "";
    const struct flag *option = NULL;
    if (completion->option != NULL)
        return;
    if (strncmp(last, "--", 2) == 0 && strchr(last, '=') == NULL)
        option = flags_find(cli_flags, last + 2, strlen(last + 2));
    for (const struct flag *o = cli_flags; option == NULL && o->name != NULL;
         o++) {
        if (o->letter != 0 && last[0] == '-' && last[1] == o->letter &&
            last[2] == '\0')
            option = o;
    }
    if (option == NULL || option->value == NULL)
        return;
    completion->option = option;
    before->n--;
}

/* Finds the command and its words; options that name a server are read on the
 * way, as far as they make sense. */
static void find_command(struct completion *completion)
{
    struct cli *cli = completion->cli;
    struct flags_result result;
    struct flags_parser parser = cli_flags_parser(cli);
    int n = (int)completion->before.n, used;
    char **argv = arena_alloc(cli->arena, (size_t)n + 1, sizeof *argv);
    for (int i = 0; i < n; i++)
        argv[i] = arena_strdup(cli->arena, completion->before.items[i]);
    cli->command = NULL;
    if (flags_parse_leading(&parser, n, argv, &used, NULL) != HT_OK ||
        used == n)
        return;
    cli->command = cli_command_find(argv[used]);
    if (cli->command == NULL || cli->command->options == NULL)
        return;
    parser.allowed = cli->command->options;
    if (flags_parse(&parser, n - used - 1, argv + used + 1, &result, NULL) !=
        HT_OK)
        return;
    completion->words = result.words;
    if (result.has_rest)
        completion->words.n = 0;
}

static void out_of_time(int signal)
{
    (void)signal;
    _exit(CLI_DONE);
}

static void limit_time(void)
{
    struct itimerval limit = {.it_value = {.tv_usec = LIMIT_MS * 1000L}};
    signal(SIGALRM, out_of_time);
    setitimer(ITIMER_REAL, &limit, NULL);
}

int cli_complete(struct cli *cli)
{
    struct completion completion = {.cli = cli};
    limit_time();
    join_words(&completion, &cli->args.words);
    find_option(&completion);
    find_command(&completion);
    if (completion.option != NULL)
        offer_values(&completion);
    else if (words_include(&completion.before, "--"))
        offer_own(&completion, "files");
    else if (completion.word[0] == '-')
        offer_options(&completion);
    else if (cli->command != NULL)
        offer_words(&completion);
    else if (completion.before.n == 0 ||
             completion.before.items[completion.before.n - 1][0] == '-')
        offer_commands(&completion);
    return cli_print(&completion.out);
}
