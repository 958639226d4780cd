/* kubernetes.c - `check -o kubernetes`: the objects of a study's first trial,
 * and whether a cluster accepts them. */

#include "hypertune/cli/frame/kubernetes.h"

#include <stdio.h>
#include <string.h>

#include "hypertune/cli/frame/runners.h"
#include "hypertune/cli/spec/submit.h"
#include "proto/base/token.h"
#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/job/attempt_parts.h"
#include "proto/job/kubernetes_section.h"

/* In place of what only the server knows. */
#define SERVER "server"

static void add_replicas(const struct attempt_trial *trial, cJSON *attempt)
{
    cJSON *replicas = json_add_array(attempt, "replicas");
    for (size_t i = 0; i < trial->job->n_pools; i++) {
        const struct pool *pool = &trial->job->pools[i];
        struct machine_type type;
        const bool known =
            pool->machine != NULL && machine_type_find(pool->machine, &type);
        const struct machine_type needs =
            machine_type_needs(trial->job, pool, known ? &type : NULL);
        for (int index = 0; index < pool->count; index++) {
            cJSON *replica = json_push_object(replicas);
            attempt_add_replica(trial, pool, index, replica);
            attempt_add_needs(pool, &needs, replica);
        }
    }
}

/* Attempt 1 of trial 1 of study 1, as far as its objects depend on it. */
static const char *write_attempt(struct arena *arena, const struct job *job,
                                 const char *server)
{
    const struct attempt_trial trial = {
        .arena = arena, .job = job, .point = form_plan_point(arena, job)};
    cJSON *attempt = cJSON_CreateObject();
    json_add_int(attempt, "study", 1);
    json_add_int(attempt, "trial", 1);
    json_add_int(attempt, "attempt", 1);
    json_add_string(attempt, "name",
                    arena_printf(arena, "ht-%s-1-1-1", server));
    json_add_string(attempt, "token", "");
    json_add_string(attempt, "outputDir", job->output_dir);
    attempt_add_surroundings(&trial, attempt);
    add_replicas(&trial, attempt);
    return json_text(arena, attempt);
}

/* ---- shown ---- */

static bool asks_registry(const struct job *job)
{
    bool asks = false;
    for (size_t i = 0; i < job->n_pools; i++)
        asks |= job->pools[i].command.n == 0;
    return asks;
}

static void say_places(const struct cli *cli, const struct job *job,
                       const struct node *said)
{
    const char *unasked = node_get_string(said, "unasked", NULL);
    const char *server = node_get_string(said, "server", NULL);
    cli_say(cli,
            "the runner fills in what has \"runner\", \"" SERVER "\" and "
            "1-1-1 here%s",
            asks_registry(job) ? ", and the digest of an image whose entry "
                                 "point it reads"
                               : "");
    if (unasked != NULL)
        cli_say(cli, "the cluster was not asked: %s", unasked);
    cli_say(cli, "the fields are those of Kubernetes %s%s%s",
            node_get_string(said, "version", "?"),
            server != NULL ? " at " : ", without JobSets",
            server != NULL ? server : "");
}

/* The values of the trial are those of the first example of `check`. */
static int print_objects(const struct node *said)
{
    struct text out = {0};
    text_puts(&out, "# Beside these, the runner makes two ConfigMaps with "
                    "hypertune-shim.\n");
    NODE_EACH (object, node_first(said, "objects")) {
        text_puts(&out, "---\n");
        node_write_yaml(object, &out);
    }
    return cli_print(&out);
}

int cli_kube_show(struct cli *cli)
{
    struct cli_spec spec;
    const int code = cli_spec_read(cli, &spec);
    if (code != CLI_DONE)
        return code;
    const char *engine = spec.job->run_on.engine;
    if (spec.job->n_pools == 0)
        return cli_fail(cli, CLI_USAGE, "%s has nothing to run", spec.file);
    if (engine != NULL && strcmp(engine, KUBERNETES_ENGINE) != 0)
        return cli_fail(cli, CLI_USAGE, "runOn asks for the engine %s, not %s",
                        engine, KUBERNETES_ENGINE);
    const struct cli_kube_question question = {
        .order = "--kubernetes-show",
        .input = write_attempt(cli->arena, spec.job, SERVER)};
    const struct cli_kube kube = cli_kube_ask(cli, &question);
    if (kube.trouble != NULL)
        return cli_fail(cli, CLI_USAGE, "%s", kube.trouble);
    say_places(cli, spec.job, kube.said);
    return print_objects(kube.said);
}

/* ---- tried ---- */

struct engines {
    bool pods, others; /* of runners that are online and run images */
};

static bool note_engine(const struct node *runner, void *context)
{
    struct engines *engines = context;
    if (!cli_runners_is_online(runner) || !cli_runners_has_images(runner))
        return true;
    if (strcmp(node_get_string(runner, "engine", ""), KUBERNETES_ENGINE) == 0)
        engines->pods = true;
    else
        engines->others = true;
    return true;
}

/* By the spec, else where no other runner could have it: an exit code. */
static int find_engine(struct cli *cli, const struct job *job, bool *pods)
{
    struct ht_error err;
    struct engines engines = {.pods = false};
    const char *engine = job->run_on.engine;
    *pods = engine != NULL && strcmp(engine, KUBERNETES_ENGINE) == 0;
    if (engine != NULL || !job_needs_images(job))
        return CLI_DONE;
    const int code = cli_connect(cli);
    if (code != CLI_DONE)
        return code;
    if (cli_runners_each(cli, note_engine, &engines, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    *pods = engines.pods && !engines.others;
    return CLI_DONE;
}

/* "Job", "Service, Job and Job". */
static const char *kinds_of(struct arena *arena, const struct node *said)
{
    struct text out = {0};
    NODE_EACH (object, node_first(said, "objects")) {
        text_puts(&out, out.len == 0           ? ""
                        : object->next == NULL ? " and "
                                               : ", ");
        text_puts(&out, node_get_string(object, "kind", "?"));
    }
    return text_take(&out, arena);
}

/* " (https://..., namespace work)"; "": of no cluster. */
static const char *place_of(struct arena *arena, const struct node *said)
{
    const char *server = node_get_string(said, "server", NULL);
    return server != NULL
               ? arena_printf(arena, " (%s, namespace %s)", server,
                              node_get_string(said, "namespace", "?"))
               : "";
}

int cli_kube_try(struct cli *cli, const struct job *job)
{
    char server[9];
    bool pods;
    const int code = find_engine(cli, job, &pods);
    if (code != CLI_DONE || !pods)
        return code;
    /* A name that no object in the cluster has. */
    (void)snprintf(server, sizeof server, "%08x",
                   (unsigned)(token_random64() & 0xFFFFFFFFU));
    const struct cli_kube_question question = {
        .order = "--kubernetes-try",
        .input = write_attempt(cli->arena, job, server)};
    const struct cli_kube kube = cli_kube_ask(cli, &question);
    const char *where = place_of(cli->arena, kube.said);
    const char *pods_refused = node_get_string(kube.said, "pods", NULL);
    if (node_get_bool(kube.said, "refused", false))
        return cli_fail(cli, CLI_REFUSED, "smoke: %s%s", kube.trouble, where);
    if (kube.trouble != NULL)
        cli_say(cli, "smoke: the cluster was not asked first: %s",
                kube.trouble);
    else
        cli_say(cli, "smoke: the cluster accepts its %s%s",
                kinds_of(cli->arena, kube.said), where);
    if (pods_refused != NULL)
        cli_say(cli, "smoke: but not a pod of it by itself: %s", pods_refused);
    return CLI_DONE;
}
