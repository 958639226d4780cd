#include "hypertune/cli/frame/commands.h"

#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/refusal.h"
#include "hypertune/trial/commands.h"
#include "proto/base/words.h"

#define FIELD(name) offsetof(struct cli_settings, name)
#define GLOBAL(name, letter, kind, field, value, help)                         \
    {                                                                          \
        name, value, FIELD(field), help, kind, letter, true                    \
    }
#define OWN(name, letter, kind, field, value, help)                            \
    {                                                                          \
        name, value, FIELD(field), help, kind, letter, false                   \
    }

const struct flag cli_flags[] = {
    GLOBAL("server", 0, FLAG_TEXT, server, "URL",
           "use this server instead of your own"),
    GLOBAL("token-file", 0, FLAG_TEXT, token_file, "FILE",
           "file of the server's token"),
    GLOBAL("ca", 0, FLAG_TEXT, ca, "FILE",
           "certificate of the authority that the server's must be from"),
    GLOBAL("pin", 0, FLAG_TEXT, pin, "sha256//KEY",
           "the server's public key, several by ';'"),
    GLOBAL("cert", 0, FLAG_TEXT, cert, "FILE",
           "certificate that this client shows to the server"),
    GLOBAL("key", 0, FLAG_TEXT, key, "FILE", "its key"),
    GLOBAL("insecure", 0, FLAG_TRUE, insecure, NULL,
           "send the token to another machine by http, too"),
    GLOBAL("data", 0, FLAG_TEXT, data, "DIR",
           "your own server keeps everything in DIR"),
    GLOBAL("output", 'o', FLAG_TEXT, output, "FORMAT",
           "table, wide, json, jsonl, yaml, csv, name or args"),
    GLOBAL("timeout", 0, FLAG_DURATION, timeout_ms, "TIME",
           "give up waiting after this long (exit 8)"),
    GLOBAL("yes", 0, FLAG_TRUE, yes, NULL, "do not ask"),
    GLOBAL("quiet", 'q', FLAG_TRUE, quiet, NULL, "no advice on stderr"),
    GLOBAL("verbose", 'v', FLAG_TRUE, verbose, NULL, "say more"),
    GLOBAL("no-color", 0, FLAG_TRUE, no_color, NULL, "no colours"),
    GLOBAL("help", 'h', FLAG_TRUE, help, NULL, "how a command is used"),
    GLOBAL("version", 0, FLAG_TRUE, version, NULL, "print the version"),

    OWN("name", 0, FLAG_TEXT, name, "NAME", "name of the study"),
    OWN("trials", 'n', FLAG_WHOLE, trials, "N", "trials to run in all"),
    OWN("parallel", 'p', FLAG_WHOLE, parallel, "N", "trials at a time"),
    OWN("maximize", 0, FLAG_TEXT, maximize, "METRIC", "the objective"),
    OWN("minimize", 0, FLAG_TEXT, minimize, "METRIC", "the objective"),
    OWN("param", 0, FLAG_LIST, params, "NAME=FORM",
        "lr=log:1e-5..0.1, layers=1..8, opt=adam,sgd"),
    OWN("algorithm", 0, FLAG_TEXT, algorithm, "NAME",
        "bayesian, grid or random"),
    OWN("seed", 0, FLAG_TEXT, seed, "N", "same seed, same suggestions"),
    OWN("warm-start", 0, FLAG_LIST, warm_start, "STUDY[,STUDY]",
        "begin with the results of earlier studies"),
    OWN("until", 0, FLAG_LIST, until, "WHAT",
        "target=0.99, time=2h, noProgress=20; watch: state"),
    OWN("retries", 0, FLAG_WHOLE, retries, "N",
        "starts after a trial's failed one"),
    OWN("max-failed", 0, FLAG_WHOLE, max_failed, "N",
        "end after so many failed trials"),
    OWN("trial-timeout", 0, FLAG_DURATION, trial_timeout_ms, "TIME",
        "end a trial after this long"),
    OWN("stop-rule", 0, FLAG_TEXT, stop_rule, "RULE[:OPTION=N]",
        "median, asha:factor=3, none: ends trials early"),
    OWN("constraint", 0, FLAG_LIST, constraints, "EXPR",
        "one more that every trial meets"),
    OWN("no-constraint", 0, FLAG_LIST, no_constraints, "EXPR",
        "one that ends to hold"),
    OWN("safety", 0, FLAG_LIST, safety, "BOUND",
        "another bound of a safety metric: 'memory <= 5e9'"),
    OWN("noise", 0, FLAG_TEXT, noise, "low | high",
        "how much results differ by chance"),
    OWN("fresh", 0, FLAG_TRUE, fresh, NULL, "without the results of the study"),
    OWN("image", 0, FLAG_TEXT, image, "IMAGE",
        "image of the trials; words after -- go to it; kubernetes: of the "
        "server; doctor: of one pod that is run"),
    OWN("env", 0, FLAG_LIST, env, "NAME=VALUE", "a variable of the trials"),
    OWN("wait", 0, FLAG_TRUE, wait, NULL,
        "wait for the end: 0 a best trial, 7 none"),
    OWN("dry-run", 0, FLAG_TRUE, dry_run, NULL,
        "show what would run, create nothing"),
    OWN("continue", 0, FLAG_TRUE, resume, NULL,
        "change the study of this name to this spec"),
    OWN("replace", 0, FLAG_TRUE, replace, NULL,
        "delete the study of this name first; restore: move the database"),
    OWN("if-not-exists", 0, FLAG_TRUE, if_not_exists, NULL,
        "fine when the study is there with this spec"),
    OWN("smoke", 0, FLAG_TRUE, smoke, NULL,
        "run one trial first and look at what it reports"),
    OWN("full", 0, FLAG_TRUE, full, NULL,
        "with --smoke: let that trial end by itself"),
    OWN("slurm-defaults", 0, FLAG_TEXT, slurm_defaults, "FILE",
        "what the cluster's users leave out"),
    OWN("slurm-ssh", 0, FLAG_TEXT, slurm_ssh, "HOST",
        "login node where Slurm is asked"),
    OWN("kubernetes-config", 0, FLAG_TEXT, kube_config, "FILE",
        "kubeconfig of the cluster, not KUBECONFIG"),
    OWN("kubernetes-context", 0, FLAG_TEXT, kube_context, "NAME",
        "context in it, not its current one"),
    OWN("kubernetes-namespace", 0, FLAG_TEXT, kube_namespace, "NAME",
        "namespace of the pods, not that of the context"),
    OWN("no-code", 0, FLAG_TRUE, no_code, NULL,
        "send no copy of the folder for trials on other machines"),
    OWN("force", 0, FLAG_TRUE, force, NULL, "replace files that are there"),
    OWN("checkpoint", 0, FLAG_TRUE, checkpoint, NULL,
        "the newest checkpoint that the server's store has"),

    OWN("state", 0, FLAG_TEXT, state, "STATE", "only in this state"),
    OWN("sort", 0, FLAG_TEXT, sort, "KEY",
        "best, id, time, metric, parameter; top: name; -KEY: down"),
    OWN("where", 0, FLAG_TEXT, where, "TEXT",
        "only matching: 'dropout<0.3 optimizer=adam'"),
    OWN("tag", 0, FLAG_TEXT, tag, "TAG", "only with this tag"),
    OWN("remove", 0, FLAG_LIST, remove, "TAG", "take this tag away"),
    OWN("limit", 0, FLAG_WHOLE, limit, "N", "at most N rows, 0: all"),
    OWN("stream", 0, FLAG_TEXT, stream, "NAME",
        "only this one: stdout, stderr, runner"),
    OWN("replica", 0, FLAG_TEXT, replica, "NAME", "such as worker-0"),
    OWN("attempt", 0, FLAG_WHOLE, attempt, "N", "not the newest attempt"),
    OWN("tail", 0, FLAG_WHOLE, tail, "BYTES", "only the end"),
    OWN("follow", 'f', FLAG_TRUE, follow, NULL, "continue until it ends"),
    OWN("raw", 0, FLAG_TRUE, raw, NULL, "do not escape control bytes"),
    OWN("all", 0, FLAG_TRUE, all, NULL, "what is equal, too"),
    OWN("diff", 0, FLAG_TRUE, diff, NULL,
        "what differed from the git commit that it ran with"),
    OWN("file", 0, FLAG_TEXT, file, "FILE",
        "points as CSV or JSON lines, - is stdin"),
    OWN("gpus", 0, FLAG_WHOLE, gpus, "N", "GPUs that it gets"),
    OWN("memory", 0, FLAG_TEXT, memory, "SIZE", "most memory, such as 2Gi"),
    OWN("volume", 0, FLAG_LIST, volumes, "FOLDER:/FOLDER[:ro]",
        "a folder that the container sees"),
    OWN("keep", 0, FLAG_TRUE, keep, NULL, "keep its folder: outputs, logs"),
    OWN("failed", 0, FLAG_TRUE, failed, NULL,
        "all that failed, infeasible ones too"),
    OWN("top", 0, FLAG_WHOLE, top, "N", "so many of the best (3)"),
    OWN("seeds", 0, FLAG_WHOLE, seeds, "N", "runs of each (5)"),
    OWN("from", 0, FLAG_TEXT, from, "TRIAL", "begin where it was chosen"),
    OWN("count", 0, FLAG_WHOLE, count, "N", "points to look ahead (5)"),
    OWN("metric", 0, FLAG_LIST, metrics, "NAME",
        "this one; of a new study 'acc: {accuracy}' or auto"),
    OWN("out", 0, FLAG_TEXT, out, "FILE",
        "write to FILE; -o dir: a new folder"),
    OWN("within", 0, FLAG_TRUE, within, NULL,
        "only trials inside the space as it is now"),
    OWN("project", 0, FLAG_TEXT, project, "ID",
        "gcloud's (yours, else local); the only one of a token"),
    OWN("region", 0, FLAG_TEXT, region, "NAME",
        "gcloud's region (yours, else us-central1)"),
    OWN("submit", 0, FLAG_TRUE, submit, NULL,
        "run the experiment, not only print its spec"),
    OWN("since", 0, FLAG_TEXT, since, "TIME",
        "from this moment on: 2026-11-05T12:00:00Z, or 2h, 7d ago"),
    OWN("who", 0, FLAG_TEXT, who, "NAME", "only of this principal"),
    OWN("study", 0, FLAG_TEXT, of_study, "STUDY", "only about this study"),
    OWN("role", 0, FLAG_TEXT, role, "ROLE",
        "admin, submit, read, runner, join or share"),
    OWN("expire", 0, FLAG_TEXT, expire, "TIME",
        "it ends then: 720h, 2030-01-31T12:00:00Z"),
    OWN("grace", 0, FLAG_TEXT, grace, "TIME",
        "the old secret is valid for so long (24h)"),
    OWN("move", 0, FLAG_TRUE, move, NULL,
        "trials that run there continue at other runners"),
    OWN("host", 0, FLAG_LIST, hosts, "NAME[,NAME]",
        "a name or address by which clients reach the server"),
    OWN("key-file", 0, FLAG_TEXT, key_file, "FILE",
        "the server's key, where it has one (default HYPERTUNED_KEY_FILE)"),
    OWN("to", 0, FLAG_TEXT, to, "FOLDER",
        "it appears in this folder of the server's machine"),
    OWN("namespace", 0, FLAG_TEXT, namespace, "NAME",
        "one that is there (default: a new one, hypertune)"),
    OWN("storage", 0, FLAG_TEXT, storage, "SIZE",
        "of the server's volume (10Gi)"),
    OWN("storage-class", 0, FLAG_TEXT, storage_class, "NAME",
        "of that volume (the cluster's default)"),
    OWN("ingress", 0, FLAG_TEXT, ingress, "HOST", "an Ingress with this name"),
    OWN("tls", 0, FLAG_TEXT, tls_secret, "SECRET",
        "the Ingress ends TLS with this Secret"),
    OWN("monitor", 0, FLAG_TRUE, monitor, NULL,
        "a ServiceMonitor of the Prometheus operator"),
    OWN("allow-from", 0, FLAG_LIST, peers, "NAMESPACE",
        "pods there reach the server, too: the Ingress controller's"),
    OWN("kustomize", 0, FLAG_TEXT, kustomize, "FOLDER",
        "write it there as a base of kustomize"),
    OWN("no-open", 0, FLAG_TRUE, no_open, NULL, "open no browser"),
    OWN("unset", 0, FLAG_TRUE, unset, NULL, "take it back"),
    {.name = NULL}};

#define STUDY_FLAGS                                                            \
    "name trials parallel maximize minimize param algorithm seed "             \
    "warm-start until retries max-failed trial-timeout image env metric "      \
    "continue replace if-not-exists no-code"

#define CLUSTER_FLAGS                                                          \
    " slurm-ssh kubernetes-config kubernetes-context kubernetes-namespace"
#define SMOKE_FLAGS " smoke full slurm-defaults" CLUSTER_FLAGS

#define EDIT_FLAGS "stop-rule constraint no-constraint safety noise"

/* One without formats and manual. */
#define COMMAND(...)                                                           \
    {                                                                          \
        __VA_ARGS__, "", NULL                                                  \
    }

const struct cli_command cli_commands[] = {
    COMMAND("submit", cli_submit, GROUP_STUDIES, 0, CLI_ANY,
            STUDY_FLAGS " wait dry-run" SMOKE_FLAGS, "[SPEC | -]",
            "create a study and run its trials"),
    COMMAND("run", cli_run_study, GROUP_STUDIES, 0, CLI_ANY,
            STUDY_FLAGS " dry-run",
            "[SPEC] | --maximize METRIC --param NAME=FORM -- COMMAND...",
            "submit, watch, and show the best trial"),
    COMMAND("init", cli_write_spec, GROUP_STUDIES, 0, 1, "force", "[FILE]",
            "write a commented spec.yaml"),
    {"check", cli_check, GROUP_STUDIES, 0, CLI_ANY, STUDY_FLAGS SMOKE_FLAGS,
     "[SPEC]", "check a spec and show what would run",
     "native vertex aip sbatch kubernetes", NULL},
    COMMAND("local-run", cli_local_run, GROUP_STUDIES, 0, CLI_ANY,
            "env volume gpus memory metric keep",
            "IMAGE [-- ARGS...] | -- COMMAND...",
            "run one trial as the service would, and look at it"),
    COMMAND("list", cli_list, GROUP_STUDIES, 0, 0, "state tag limit", "",
            "all studies"),
    {"describe", cli_describe, GROUP_STUDIES, 1, 1, "", "STUDY",
     "everything about one study", "line", NULL},
    COMMAND("trials", cli_trials, GROUP_TRIALS, 1, 1,
            "state tag sort limit where", "STUDY", "the trials of a study"),
    COMMAND("trial", cli_trial, GROUP_TRIALS, 1, 1, "diff attempt raw",
            "STUDY/ID | STUDY/best", "one trial and its attempts"),
    COMMAND("note", cli_note, GROUP_TRIALS, 1, 2, "raw",
            "STUDY[/ID | /best] [TEXT | -]",
            "what people write about a study or trial, in Markdown"),
    COMMAND("tag", cli_tag, GROUP_TRIALS, 1, CLI_MANY, "remove",
            "STUDY[/ID | /best] [TAG...] [--remove TAG]",
            "words to find it by: list --tag, trials --tag"),
    COMMAND("compare", cli_compare, GROUP_TRIALS, 2, CLI_MANY, "all",
            "STUDY/ID STUDY/ID... | STUDY STUDY...",
            "what differs between trials, or between studies"),
    COMMAND("best", cli_best, GROUP_TRIALS, 1, 1, "metric within", "STUDY",
            "the best trial, or the trials that no other one beats"),
    COMMAND("confirm", cli_confirm, GROUP_LEARNT, 1, 1, "top seeds wait",
            "STUDY", "run the best again with other seeds: which is it?"),
    COMMAND("replay", cli_replay, GROUP_LEARNT, 1, 1, "algorithm from count",
            "STUDY",
            "prove its suggestions; --algorithm: what that would suggest"),
    COMMAND("watch", cli_watch, GROUP_STUDIES, 1, 1, "until", "STUDY",
            "live view"),
    COMMAND("top", cli_top, GROUP_STUDIES, 0, 0, "sort", "",
            "live view of all studies and runners"),
    COMMAND("ui", cli_ui, GROUP_STUDIES, 0, 1, "no-open", "[STUDY]",
            "a link that logs a browser in to the dashboard"),
    COMMAND("logs", cli_logs, GROUP_TRIALS, 1, 1,
            "follow stream replica attempt tail raw", "STUDY/ID | STUDY/best",
            "what a trial printed"),
    COMMAND("stop-trial", cli_stop_trial, GROUP_TRIALS, 1, CLI_MANY, "",
            "STUDY/ID...", "end running trials, keep their results"),
    COMMAND(
        "add", cli_add, GROUP_TRIALS, 0, CLI_ANY, "file *",
        "STUDY NAME=VALUE... | STUDY --file FILE",
        "run trials with parameters of your own, the search chooses the rest"),
    COMMAND("retry", cli_retry, GROUP_TRIALS, 0, CLI_ANY, "failed",
            "STUDY/ID... | STUDY [--failed]", "run failed trials again"),
    COMMAND("curves", cli_curves, GROUP_TRIALS, 1, CLI_MANY, "metric",
            "STUDY[/ID | /best]...", "every measurement of the objective"),
    COMMAND("importance", cli_importance, GROUP_LEARNT, 1, 1, "metric", "STUDY",
            "how much each parameter matters"),
    COMMAND("health", cli_health, GROUP_LEARNT, 1, 1, "metric", "STUDY",
            "how good its model is, and what would help the search"),
    {"export", cli_export, GROUP_STUDIES, 1, 1, "out", "STUDY",
     "all trials as csv, jsonl or json; a page as html; -o dir: the whole "
     "study",
     "dir html", NULL},
    COMMAND("import", cli_import, GROUP_STUDIES, 1, 2, "name metric submit",
            "FILE [STUDY]",
            "a study exported here, an Optuna database, a Katib experiment"),
    COMMAND("pause", cli_order, GROUP_STUDIES, 1, 1, "", "STUDY",
            "start no more trials for now"),
    COMMAND("resume", cli_order, GROUP_STUDIES, 1, 1, "", "STUDY",
            "continue after pause"),
    COMMAND("stop", cli_order, GROUP_STUDIES, 1, 1, "", "STUDY",
            "end it, keep the results"),
    COMMAND("cancel", cli_order, GROUP_STUDIES, 1, 1, "", "STUDY",
            "end it, discard running trials"),
    COMMAND("set", cli_set, GROUP_STUDIES, 0, CLI_ANY,
            "trials parallel max-failed until " EDIT_FLAGS " metric dry-run +",
            "STUDY [NAME=FORM...] [trials=N] [parallel=N]",
            "change ranges, values, rules and counts; more trials reopen it"),
    COMMAND("clone", cli_clone, GROUP_STUDIES, 1, CLI_ANY,
            "name trials parallel max-failed until " EDIT_FLAGS
            " param algorithm seed fresh dry-run",
            "STUDY [NAME=FORM...]",
            "a new study like it that begins with its results"),
    COMMAND("delete", cli_delete, GROUP_STUDIES, 1, CLI_MANY, "", "STUDY...",
            "remove studies and their results"),
    COMMAND("fetch", cli_fetch, GROUP_TRIALS, 1, 2, "force checkpoint",
            "STUDY/best | STUDY/ID [DIR]",
            "copy what a trial wrote: model, checkpoints, logs"),
    {"report", cli_in_trial, GROUP_TRIAL, 0, CLI_ANY, NULL,
     "NAME=VALUE... [--step N]", "in a trial: report metrics", "",
     trial_help_report},
    {"checkpoint", cli_in_trial, GROUP_TRIAL, 0, CLI_ANY, NULL, "[PATH]",
     "in a trial: a checkpoint is whole", "", trial_help_checkpoint},
    {"should-stop", cli_in_trial, GROUP_TRIAL, 0, CLI_ANY, NULL, "",
     "in a trial: 0 stop now, 1 continue", "", trial_help_should_stop},
    {"params", cli_in_trial, GROUP_TRIAL, 0, CLI_ANY, NULL, "[NAME...]",
     "in a trial: its hyperparameters", "", trial_help_params},
    COMMAND("serve", cli_serve, GROUP_SERVER, 0, CLI_ANY, NULL,
            "[FLAGS OF hypertuned]", "run your server in the foreground"),
    COMMAND("runner", cli_runner, GROUP_SERVER, 0, CLI_ANY, NULL,
            "[join URL --token TOKEN] [FLAGS OF hypertune-runner]",
            "offer this machine to a server"),
    COMMAND("runners", cli_list_runners, GROUP_SERVER, 0, CLI_ANY, "move",
            "[drain NAME | resume NAME | connect HOST [-- OPTION OF ssh...]]",
            "who runs the trials; drain: one gets no more; connect: open ssh "
            "to a login node"),
    COMMAND("projects", cli_projects, GROUP_SERVER, 0, CLI_ANY, "",
            "[set NAME share=N slots=N gpus=N]",
            "who shares the runners, and with which quotas"),
    COMMAND("audit", cli_audit, GROUP_SERVER, 0, 0,
            "follow since who study limit", "",
            "who changed what on the server, and who was refused"),
    COMMAND("token", cli_token, GROUP_SERVER, 1, 2, "role project expire grace",
            "create NAME --role ROLE | list | rotate NAME | revoke NAME | "
            "delete NAME",
            "tokens with a name, a role and an end, for people and machines"),
    COMMAND("share", cli_share, GROUP_SERVER, 1, 1, "expire", "STUDY",
            "a link that shows one study in the dashboard, for a week"),
    COMMAND("tls", cli_tls, GROUP_SERVER, 1, 2, "host key-file",
            "init | show | rotate | client NAME | revoke NAME",
            "certificates of your server and of its clients"),
    COMMAND("unseal", cli_unseal, GROUP_SERVER, 1, 1, "key-file", "FILE",
            "print a file of the data folder that is encrypted"),
    COMMAND("backup", cli_backup, GROUP_SERVER, 0, 0, "to", "",
            "copy the server's data as of now, while it runs"),
    COMMAND("restore", cli_restore, GROUP_SERVER, 1, 1, "replace",
            "BACKUP --data DIR", "make a server's data folder from a backup"),
    COMMAND("verify", cli_verify, GROUP_SERVER, 1, 1, "", "BACKUP | DIR",
            "is a backup, or a server's data folder, whole?"),
    {"gcloud-env", cli_gcloud_env, GROUP_SERVER, 0, 0, "project region unset",
     "[-o sh | fish | json]",
     "point gcloud and Google's Python SDK here: eval \"$(...)\"", "sh fish",
     NULL},
    COMMAND("kubernetes", cli_kubernetes, GROUP_SERVER, 1, 1,
            "image namespace storage storage-class ingress tls monitor "
            "allow-from kustomize force",
            "manifest", "a server in a cluster, for kubectl apply -f -"),
    COMMAND("doctor", cli_doctor, GROUP_SERVER, 0, 0, "image" CLUSTER_FLAGS, "",
            "what this machine can run, and repairs"),
    COMMAND("completion", cli_completion, GROUP_OTHER, 1, 1, "",
            "bash | zsh | fish",
            "a script that completes commands in your shell"),
    COMMAND("complete", cli_complete, GROUP_OTHER, 0, CLI_ANY, NULL, "WORD...",
            NULL),
    COMMAND("version", cli_version, GROUP_OTHER, 0, CLI_ANY, "", "",
            "print the version"),
    COMMAND("help", cli_help, GROUP_OTHER, 0, CLI_ANY, "", "[TOPIC]",
            "help on a command, or on spec"),
    {.name = NULL}};

const struct cli_command *cli_command_find(const char *name)
{
    for (const struct cli_command *c = cli_commands; c->name != NULL; c++) {
        if (strcmp(c->name, name) == 0)
            return c;
    }
    return NULL;
}

int cli_usage(struct cli *cli)
{
    const char *usage = cli->command->usage;
    return cli_fail(cli, CLI_USAGE, "usage: hypertune %s%s%s",
                    cli->command->name, usage[0] != '\0' ? " " : "", usage);
}

static bool has_its_words(const struct cli *cli)
{
    const size_t n = cli->args.words.n;
    const struct cli_command *command = cli->command;
    return command->most == CLI_ANY ||
           (n >= (size_t)command->least && n <= (size_t)command->most &&
            !cli->args.has_rest);
}

struct flags_parser cli_flags_parser(struct cli *cli)
{
    return (struct flags_parser){.arena = cli->arena,
                                 .table = cli_flags,
                                 .target = &cli->set,
                                 .allowed = "",
                                 .command = "hypertune"};
}

static enum ht_status read_arguments(struct cli *cli,
                                     struct flags_parser *parser, int argc,
                                     char *const argv[], struct ht_error *err)
{
    if (cli->command->options == NULL) {
        for (int i = 0; i < argc; i++)
            words_add(cli->arena, &cli->args.words, argv[i]);
        return HT_OK;
    }
    parser->allowed = cli->command->options;
    parser->command =
        arena_printf(cli->arena, "hypertune %s", cli->command->name);
    const enum ht_status status =
        flags_parse(parser, argc, argv, &cli->args, err);
    const struct words *metrics = &cli->set.metrics;
    if (metrics->n > 0)
        cli->set.metric = metrics->items[metrics->n - 1];
    return status;
}

static int show_help(struct cli *cli)
{
    struct text out = {0};
    if (cli->command == NULL)
        cli_help_short(&out);
    else
        cli_help_command(cli->command, &out);
    return cli_print(&out);
}

static int without_command(struct cli *cli)
{
    if (cli->set.version)
        return cli_version(cli);
    if (cli->set.help)
        return show_help(cli);
    struct text out = {0};
    cli_help_short(&out);
    fputs(out.data, stderr);
    text_free(&out);
    return CLI_USAGE;
}

int cli_main(struct cli *cli, int argc, char *const argv[])
{
    struct ht_error err;
    struct flags_parser parser = cli_flags_parser(cli);
    int used;
    if (flags_parse_leading(&parser, argc, argv, &used, &err) != HT_OK)
        return cli_refuse_leading(cli, argc, argv, &err);
    if (used == argc)
        return without_command(cli);
    cli->command = cli_command_find(argv[used]);
    if (cli->command == NULL) {
        for (int i = used; i < argc; i++)
            words_add(cli->arena, &cli->args.words, argv[i]);
        return cli_refuse_command(cli, &cli->args.words);
    }
    used++;
    cli->argc = argc;
    cli->argv = argv;
    cli->used = used;
    if (read_arguments(cli, &parser, argc - used, argv + used, &err) != HT_OK ||
        cli_settle(cli, &err) != HT_OK)
        return cli_fail(cli, CLI_USAGE, "%s", err.text);
    if (cli->set.help)
        return show_help(cli);
    return has_its_words(cli) ? cli->command->run(cli) : cli_usage(cli);
}
