#include "runner/talk/messages.h"

#include <dirent.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "runner/attempt/attempts.h"
#include "runner/attempt/checkpoints.h"
#include "runner/attempt/discard.h"
#include "runner/base/credentials.h"
#include "runner/base/folder.h"
#include "runner/base/json.h"
#include "runner/reports/record_queue.h"
#include "runner/reports/records.h"
#include "runner/talk/facts.h"
#include "runner/talk/request_thread.h"
#include "runner/talk/usage.h"
#include "runner/transfer/output_sends.h"

enum {
    HEARTBEAT_BUSY_MS = 1000, /* when records wait for one */
    HEARTBEAT_LAST_MS = 100,  /* when an ended attempt waits for one */
    MOST_DISCARDED = 100,     /* in one heartbeat */
    MOST_SENT = 100,          /* outputs of trials, in one, too */
    MOST_SECRETS = 500,
    MOST_USAGE = 64 * 1024, /* bytes in one message */
    RETRY_DEFAULT_MS = 1000
};

/* ---- `rules` of hello: what this runner can do ---- */

/* Only names; the values stay here. */
static void put_secrets(struct text *out, const char *folder)
{
    json_open_list(out, "secrets");
    DIR *dir = folder != NULL ? opendir(folder) : NULL;
    struct dirent *entry;
    size_t n = 0;
    while (dir != NULL && n < MOST_SECRETS && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        json_put_string(out, NULL, entry->d_name);
        n++;
    }
    if (dir != NULL)
        closedir(dir);
    json_close_list(out);
}

static int64_t own_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (int64_t)pages * size : 0;
}

static struct engine_abilities abilities_of(const struct site *site,
                                            const struct engine *engine)
{
    if (engine->abilities != NULL)
        return engine->abilities();
    return (struct engine_abilities){
        .gpus = true, .cpus = site->cores, .memory = own_memory()};
}

/* By name, and also without any: this runner can give parts of GPUs. */
static void put_models(struct text *out, const struct site *site)
{
    json_open(out, "gpuModels");
    for (size_t i = 0; i < site->gpus.n; i++) {
        const struct gpu_model *model =
            gpu_models_find(&site->models, site->gpus.items[i]);
        if (model == NULL)
            continue;
        json_open(out, site->gpus.items[i]);
        json_put_string(out, "uuid", model->uuid);
        json_put_string(out, "name", model->name);
        json_put_int(out, "memory", model->memory);
        json_close(out);
    }
    json_close(out);
}

static void put_labels(struct text *out, const struct pairs *labels)
{
    json_open(out, "labels");
    for (size_t i = 0; i < labels->n; i++)
        json_put_string(out, labels->items[i].name, labels->items[i].value);
    json_close(out);
}

static void put_rules(struct text *out, const struct site *site,
                      const struct engine *engine)
{
    struct arena *arena = arena_new();
    const struct engine_abilities abilities = abilities_of(site, engine);
    const struct strings accounts = credentials_accounts(arena, site);
    json_open(out, "rules");
    json_put_bool(out, "images", engine->images || engine->elastic != NULL);
    if (engine->elastic != NULL)
        json_put_bool(out, "elastic", true);
    json_put_strings(out, "allow", &site->allowed);
    json_put_strings(out, "volumeRoots", &site->volume_roots);
    json_put_string(out, "gcsRoot", site->gcs_root);
    json_put_bool(out, "gcsCredentials", site->gcs_credentials);
    put_secrets(out, site->secrets);
    json_put_strings(out, "secretVariables", &site->secret_variables);
    json_put_strings(out, "credentials", &accounts);
    json_put_strings(out, "gpus", &site->gpus);
    put_models(out, site);
    json_put_bool(out, "shareGpus", site->share_gpus);
    json_put_int(out, "cpus", abilities.cpus);
    json_put_int(out, "memory", abilities.memory);
    if (abilities.version != NULL)
        json_put_string(out, "engine", abilities.version);
    json_put_string(out, "machine", site->machine);
    json_put_bool(out, "outputs", true); /* they are sent when it is asked */
    put_labels(out, &site->labels);
    json_put_string(out, "version", HT_VERSION);
    json_put_int(out, "wallMs", clock_wall_ms());
    json_close(out);
    arena_free(arena);
}

/* ---- requests ---- */

void talk_open_message(struct text *out, const struct sender *sender,
                       const char *type, int64_t id)
{
    json_open(out, NULL);
    json_put_int(out, "v", 1);
    json_put_string(out, "type", type);
    json_put_string(out, "token", sender->token);
    json_put_string(out, "runner", sender->runner);
    json_put_string(out, "boot", sender->boot);
    json_put_int(out, "id", id);
}

static void put_key(struct text *out, const struct order_key *key)
{
    json_put_int(out, "study", key->study);
    json_put_int(out, "trial", key->trial);
    json_put_int(out, "attempt", key->attempt);
}

/* The attempts of this runner. */
static void put_attempts(struct text *out, const struct attempts *attempts)
{
    json_open_list(out, "attempts");
    for (const struct attempt *attempt = attempts->first; attempt;
         attempt = attempt->next) {
        json_open(out, NULL);
        put_key(out, &attempt->order->key);
        json_close(out);
    }
    json_close_list(out);
}

static struct text *open_request(struct talk *talk, enum request_kind kind,
                                 const struct attempt *attempt)
{
    static const char *const types[] = {
        [REQUEST_NONE] = "",
        [REQUEST_HELLO] = "hello",
        [REQUEST_HEARTBEAT] = "heartbeat",
        [REQUEST_STARTED] = "started",
        [REQUEST_ENDED] = "ended",
        [REQUEST_CHECKPOINT] = "checkpoint",
        [REQUEST_DRAINED] = "drained",
        [REQUEST_REPORT] = "report",
        [REQUEST_LOG] = "log",
    };
    struct talk_request *request = &talk->request;
    text_clear(&request->body);
    request->kind = kind;
    talk_open_message(&request->body, talk->sender, types[kind], ++talk->id);
    request->key =
        attempt != NULL ? attempt->order->key : (struct order_key){.study = 0};
    if (attempt != NULL)
        put_key(&request->body, &attempt->order->key);
    return &request->body;
}

void talk_post(struct talk *talk)
{
    struct text copy = {0};
    text_append(&copy, talk->request.body.data, talk->request.body.len);
    talk->request.posted_at = clock_monotonic_ms();
    request_thread_post(talk->thread, &copy);
}

static void close_request(struct talk *talk)
{
    json_close(&talk->request.body);
    talk_post(talk);
}

static void send_hello(struct talk *talk)
{
    struct text *out = open_request(talk, REQUEST_HELLO, NULL);
    json_put_string(out, "engine", talk->attempts->engine->name);
    json_put_int(out, "slots", talk->attempts->site->slots);
    json_put_string(out, "host", talk->host);
    json_put_string(out, "version", HT_VERSION);
    put_rules(out, talk->attempts->site, talk->attempts->engine);
    put_attempts(out, talk->attempts);
    close_request(talk);
}

static void put_discarded(struct talk *talk, struct text *out)
{
    struct discard_item items[MOST_DISCARDED];
    const size_t n = discard_report(talk->discard, items, MOST_DISCARDED);
    json_open_list(out, "discarded");
    for (size_t i = 0; i < n; i++) {
        json_open(out, NULL);
        json_put_int(out, "study", items[i].study);
        json_put_int(out, "trial", items[i].trial);
        if (items[i].kept)
            json_put_bool(out, "kept", true);
        json_close(out);
    }
    json_close_list(out);
}

static void put_sent(struct text *out, const struct output_sent *sent)
{
    json_open(out, NULL);
    json_put_int(out, "fetch", sent->id);
    if (!sent->ended) {
        json_put_int(out, "bytes", sent->bytes);
        json_put_int(out, "of", sent->of);
    } else if (sent->err.status == HT_OK) {
        json_put_string(out, "tree", sent->tree);
    } else {
        json_put_string(out, "error", sent->err.text);
        json_put_bool(out, "gone", sent->err.status == HT_NOT_FOUND);
    }
    json_close(out);
}

static void put_outputs(struct talk *talk, struct text *out)
{
    struct output_sent items[MOST_SENT];
    const size_t n = output_sends_report(talk->sends, items, MOST_SENT);
    json_open_list(out, "outputs");
    for (size_t i = 0; i < n; i++)
        put_sent(out, &items[i]);
    json_close_list(out);
}

/* A broken link has no room for it, a slow one little. */
static size_t room_for_usage(const struct talk *talk)
{
    const size_t batch = talk->pace.failed > 0 ? 0 : talk->pace.batch;
    return batch < MOST_USAGE ? batch : MOST_USAGE;
}

static void send_heartbeat(struct talk *talk)
{
    struct text *out = open_request(talk, REQUEST_HEARTBEAT, NULL);
    put_attempts(out, talk->attempts);
    put_discarded(talk, out);
    put_outputs(talk, out);
    usage_put_all(out, talk->attempts, room_for_usage(talk));
    talk->beat_at = clock_monotonic_ms();
    talk->beats_sent++;
    close_request(talk);
}

static void send_ended(struct talk *talk, const struct attempt *attempt)
{
    const struct ending *ending = &attempt->ending;
    struct text *out = open_request(talk, REQUEST_ENDED, attempt);
    json_put_string(out, "outcome", folder_outcome_name(ending->outcome));
    if (ending->has_exit)
        json_put_int(out, "exit", ending->exit);
    if (ending->has_signal)
        json_put_int(out, "signal", ending->signal);
    json_put_string(out, "reason", ending->reason);
    if (ending->impossible)
        json_put_bool(out, "impossible", true);
    close_request(talk);
}

static bool owes_facts(const struct attempt *attempt)
{
    return attempt->started_confirmed && !attempt->facts_confirmed;
}

/* Sent as soon as it is true, and again when all facts are known; not for an
 * attempt that never began. */
static bool send_started(struct talk *talk, const struct attempt *attempt)
{
    const bool first =
        !attempt->started_confirmed && attempt_is_started(attempt);
    if (!first && !owes_facts(attempt))
        return false;
    struct arena *arena = arena_new();
    const struct facts facts =
        facts_find(talk->probes, arena, attempt, clock_monotonic_ms());
    const bool sent = first || facts.whole;
    if (sent) {
        struct text *out = open_request(talk, REQUEST_STARTED, attempt);
        talk->request.whole = facts.whole;
        talk->request.changes = facts_changes(&facts);
        facts_put(out, attempt, &facts, talk->host, talk->pace.batch);
        close_request(talk);
    }
    arena_free(arena);
    return sent;
}

static bool send_checkpoint(struct talk *talk, const struct attempt *attempt)
{
    struct transfers_sent sent;
    if (!attempt->started_confirmed || !checkpoints_has_sent(attempt, &sent))
        return false;
    struct text *out = open_request(talk, REQUEST_CHECKPOINT, attempt);
    talk->request.sent = sent;
    json_put_string(out, "tree", sent.tree);
    json_put_int(out, "step", sent.step);
    close_request(talk);
    return true;
}

static void send_drained(struct talk *talk, struct attempt *attempt)
{
    struct text *out = open_request(talk, REQUEST_DRAINED, attempt);
    attempt_evidence_text(attempt, out);
    if (attempt->ending.outcome == OUTCOME_LOST &&
        checkpoints_has_saved(attempt))
        json_put_bool(out, "saved", true);
    usage_put_one(out, attempt, room_for_usage(talk));
    close_request(talk);
}

/* The life of an attempt: started, its checkpoints, ended, drained. */
static bool send_progress(struct talk *talk)
{
    for (struct attempt *attempt = talk->attempts->first; attempt;
         attempt = attempt->next) {
        if (!attempt->accepted)
            continue;
        if (send_started(talk, attempt) || send_checkpoint(talk, attempt))
            return true;
        if (attempt->ended_confirmed && attempt_is_shipped(attempt) &&
            !owes_facts(attempt) && checkpoints_are_settled(attempt)) {
            send_drained(talk, attempt);
            return true;
        }
        if (attempt->ended && !attempt->ended_confirmed) {
            send_ended(talk, attempt);
            return true;
        }
    }
    return false;
}

static bool send_records(struct talk *talk, const struct attempt *attempt,
                         size_t i)
{
    struct record_queue *queue = records_queue(attempt->replicas[i].records);
    if (!record_queue_is_ready(queue, talk->beats_answered))
        return false;
    struct text *out = open_request(talk, REQUEST_REPORT, attempt);
    talk->request.replica = i;
    json_put_string(out, "replica", attempt->replicas[i].name);
    record_queue_batch(queue, talk->beats_answered, talk->pace.batch, "records",
                       out);
    close_request(talk);
    return true;
}

static bool send_log(struct talk *talk, const struct attempt *attempt, size_t i,
                     int stream)
{
    struct log_ship *ship = &attempt->replicas[i].logs[stream];
    struct log_chunk chunk;
    struct text data = {0};
    if (!log_ship_next(ship, clock_monotonic_ms(), attempt->ended,
                       talk->pace.batch, &chunk, &data))
        return false;
    struct text *out = open_request(talk, REQUEST_LOG, attempt);
    talk->request.replica = i;
    talk->request.stream = stream;
    talk->request.chunk = chunk;
    json_put_string(out, "replica", attempt->replicas[i].name);
    json_put_string(out, "stream", ship->source.stream);
    json_put_int(out, "offset", chunk.offset);
    json_put_int(out, "bytes", chunk.bytes);
    json_put_string(out, "data", data.data);
    text_free(&data);
    close_request(talk);
    return true;
}

/* Records before logs, but the attempts take turns. */
static bool send_from(struct talk *talk, struct attempt *attempt)
{
    if (!attempt->accepted)
        return false;
    const bool began = attempt->started_confirmed || attempt->ended;
    for (size_t i = 0; began && i < attempt->order->n_replicas; i++) {
        if (send_records(talk, attempt, i))
            return true;
    }
    for (size_t i = 0; attempt->unsent && i < attempt->order->n_replicas; i++) {
        const int streams =
            sizeof attempt->replicas->logs / sizeof(struct log_ship);
        for (int stream = 0; stream < streams; stream++) {
            if (send_log(talk, attempt, i, stream))
                return true;
        }
    }
    attempt->unsent = false;
    return false;
}

static bool send_content(struct talk *talk)
{
    const size_t n = attempts_count(talk->attempts);
    for (size_t k = 0; k < n; k++) {
        struct attempt *attempt = talk->attempts->first;
        for (size_t i = (talk->turn + k) % n; i > 0; i--)
            attempt = attempt->next;
        if (send_from(talk, attempt)) {
            talk->turn += k + 1;
            return true;
        }
    }
    return false;
}

/* Somebody waits for outputs that are sent. */
static int64_t wait_for_outputs(const struct talk *talk, int64_t wait)
{
    const enum output_sends_news news = output_sends_look(talk->sends);
    const int64_t most = news == OUTPUT_SENDS_ENDED  ? HEARTBEAT_LAST_MS
                         : news == OUTPUT_SENDS_BUSY ? HEARTBEAT_BUSY_MS
                                                     : wait;
    return wait < most ? wait : most;
}

int64_t talk_heartbeat_at(const struct talk *talk)
{
    int64_t wait = talk->heartbeat_ms;
    if (talk->pace.failed > 0) /* a broken link has no room for more of them */
        return talk->beat_at + wait;
    wait = wait_for_outputs(talk, wait);
    for (const struct attempt *attempt = talk->attempts->first; attempt;
         attempt = attempt->next) {
        if (!attempt->accepted || !attempt_has_queue(attempt))
            continue;
        const int64_t most =
            attempt->ended ? HEARTBEAT_LAST_MS : HEARTBEAT_BUSY_MS;
        wait = wait < most ? wait : most;
    }
    return talk->beat_at + wait;
}

void talk_send_next(struct talk *talk)
{
    if (!talk->greeted)
        send_hello(talk);
    else if (clock_monotonic_ms() >= talk_heartbeat_at(talk))
        send_heartbeat(talk);
    else if (!send_progress(talk))
        send_content(talk);
}

/* ---- answers ---- */

struct server_answer talk_read_answer(struct arena *arena,
                                      const struct text *text)
{
    static const char *const names[ANSWER_INVALID] = {
        [ANSWER_OK] = "ok",
        [ANSWER_RETRY] = "retry",
        [ANSWER_GONE] = "gone",
        [ANSWER_DENIED] = "denied",
    };
    struct server_answer answer = {.status = ANSWER_INVALID,
                                   .error = "the answer is not a JSON object"};
    const struct node *map = json_read_map(arena, text->data, text->len);
    if (map == NULL)
        return answer;
    answer.map = map;
    const int status = json_find_word(map, "status", names, ANSWER_INVALID);
    if (status >= 0)
        answer.status = (enum answer_status)status;
    answer.retry_ms = node_get_int(map, "retryMs", RETRY_DEFAULT_MS);
    answer.error = node_get_string(map, "error", "");
    return answer;
}
