#include "runner/pods/proof.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "proto/base/arena.h"
#include "proto/base/clock.h"
#include "proto/base/error.h"
#include "proto/base/file_tree.h"
#include "proto/base/log.h"
#include "proto/base/token.h"
#include "runner/attempt/attempts.h"
#include "runner/base/json.h"
#include "runner/kubernetes/client.h"
#include "runner/kubernetes/objects.h"
#include "runner/pods/by_log.h"
#include "runner/pods/config.h"
#include "runner/pods/run.h"
#include "runner/pods/shape.h"

enum { PAUSE_MS = 50, REMOVAL_MS = 15000, NAME_BYTES = 4 };

struct proof {
    const struct proof_wish *wish;
    struct arena *arena;
    struct text *out;
    struct site site; /* the wish's, as of a runner of its own */
    sigset_t signals; /* that end it; they are blocked */
    bool interrupted;
    const char *job; /* the name of the pod's */
    bool made;       /* it was there */
};

/* ---- the attempt ---- */

/* A trial of a study whose pods print their metric, as either way allows. */
static enum ht_status make_order(const struct proof *proof,
                                 struct order **order, struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_put_int(&out, "study", 1);
    json_put_int(&out, "trial", 1);
    json_put_int(&out, "attempt", 1);
    json_put_string(
        &out, "name",
        arena_printf(proof->arena, "ht-%s-1-1-1", proof->site.runner));
    json_put_string(&out, "token", "");
    json_put_raw(&out, "metrics", "[\"proof\"]");
    json_put_raw(&out, "stdoutPatterns", "[\"proof={proof}\"]");
    json_open_list(&out, "replicas");
    json_open(&out, NULL);
    json_put_string(&out, "type", "master");
    json_put_int(&out, "index", 0);
    json_put_string(&out, "image", proof->wish->image);
    json_put_raw(&out, "argv", "[\"echo\",\"proof=1\"]");
    json_close(&out);
    json_close_list(&out);
    json_close(&out);
    const enum ht_status status = order_parse(out.data, out.len, order, err);
    text_free(&out);
    return status;
}

/* False once it is to end. */
static bool pause_for_signal(struct proof *proof)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    if (sigtimedwait(&proof->signals, NULL, &pause) > 0)
        proof->interrupted = true;
    return !proof->interrupted;
}

/* Why there was no end in time. */
static enum ht_status fail_late(const struct proof *proof,
                                const struct attempt *attempt,
                                struct ht_error *err)
{
    char span[CLOCK_DURATION_BYTES];
    const struct engine_slots *slots;
    const size_t n = attempt->engine->elastic->look(proof->arena, &slots);
    const char *why = n > 0 ? slots[0].why : NULL;
    if (proof->interrupted)
        return ht_fail(err, HT_UNAVAILABLE, "it was interrupted");
    if (why == NULL)
        why = attempt_is_started(attempt) ? "the pod runs, and has not ended"
                                          : "the cluster gives no reason";
    return ht_fail(err, HT_TIMEOUT, "no pod ran to its end within %s: %s",
                   clock_duration(span, proof->wish->limit_ms), why);
}

static enum ht_status judge(const struct proof *proof,
                            const struct attempt *attempt, struct ht_error *err)
{
    if (!attempt->collected)
        return fail_late(proof, attempt, err);
    if (attempt->ending.outcome != OUTCOME_SUCCEEDED)
        return ht_fail(err, HT_UNAVAILABLE, "%s", attempt->ending.reason);
    return attempt_has_queue(attempt)
               ? HT_OK
               : ht_fail(err, HT_UNAVAILABLE,
                         "a pod ran, but what it printed has not arrived");
}

static void run_attempt(struct proof *proof, struct order *order)
{
    struct ht_error err;
    struct attempts attempts;
    const struct pod_group group = {.type = order->replicas[0].type};
    const int64_t began_at = clock_monotonic_ms();
    proof->job = pod_job_name(proof->arena, order, &group);
    attempts_init(&attempts, &proof->site, &engine_kubernetes);
    attempts_start(&attempts, order);
    struct attempt *attempt = attempts.first;
    do
        attempts_tick(&attempts, 0, true);
    while (!attempt->collected &&
           clock_monotonic_ms() - began_at < proof->wish->limit_ms &&
           pause_for_signal(proof));
    if (judge(proof, attempt, &err) == HT_OK) {
        json_put_string(proof->out, "way",
                        by_log_is_marked(attempt->folder) ? "log" : "exec");
        json_put_int(proof->out, "tookMs", clock_monotonic_ms() - began_at);
    } else {
        json_put_string(proof->out, "error", err.text);
    }
    proof->made =
        attempt->place.data != NULL && pod_run_is_made(attempt->place.data);
    attempts_drop(&attempts, attempt);
    attempts_fini(&attempts);
}

/* ---- what is left ---- */

/* The engine may have removed it, or not yet begun to; or its creation was
 * under way. */
static void remove_job(struct proof *proof)
{
    struct kube_config config;
    enum ht_status status =
        pods_config(&proof->site, proof->arena, &config, NULL);
    if (status != HT_OK)
        return;
    struct kube *kube = kube_new(&config);
    const struct kube_object job = {
        .kind = &kube_jobs, .namespace = config.namespace, .name = proof->job};
    const struct kube_delete how = {.grace_s = -1};
    const int64_t until = clock_monotonic_ms() + REMOVAL_MS;
    do
        status = kube_remove(kube, &job, &how, NULL);
    while (proof->made && status != HT_NOT_FOUND &&
           clock_monotonic_ms() < until && kube_pause(kube, PAUSE_MS));
    if (proof->made && status != HT_NOT_FOUND)
        json_put_string(proof->out, "left", proof->job);
    kube_free(kube);
}

/* ---- all ---- */

static enum ht_status make_state(struct proof *proof, struct ht_error *err)
{
    char name[TOKEN_TEXT_BYTES];
    char *folder = arena_printf(proof->arena, "%s/hypertune-proof-XXXXXX",
                                proof->wish->temporary);
    if (mkdtemp(folder) == NULL)
        return ht_fail_errno(err, errno, "cannot make %s", folder);
    token_make(name, NAME_BYTES);
    proof->site.state = folder;
    proof->site.runner = arena_strdup(proof->arena, name);
    return HT_OK;
}

/* As the supervisor has them. */
static void block_signals(struct proof *proof)
{
    sigemptyset(&proof->signals);
    sigaddset(&proof->signals, SIGTERM);
    sigaddset(&proof->signals, SIGINT);
    sigaddset(&proof->signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &proof->signals, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    log_set_level(LOG_NONE);
}

void pods_prove(const struct proof_wish *wish, struct text *out)
{
    struct ht_error err;
    struct order *order = NULL;
    struct proof proof = {
        .wish = wish, .arena = arena_new(), .out = out, .site = *wish->site};
    block_signals(&proof);
    json_open(out, NULL);
    enum ht_status status = make_state(&proof, &err);
    if (status == HT_OK)
        status = make_order(&proof, &order, &err);
    if (status == HT_OK)
        status = engine_kubernetes.open(&proof.site, &err);
    if (status == HT_OK) {
        run_attempt(&proof, order);
        engine_kubernetes.close();
        remove_job(&proof);
    } else {
        order_free(order);
        json_put_string(out, "error", err.text);
    }
    json_close(out);
    text_puts(out, "\n");
    if (proof.site.state != NULL)
        (void)file_tree_remove(proof.site.state, NULL, NULL);
    arena_free(proof.arena);
}
