#include "runner/talk/messages.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "runner/attempt/outputs.h"
#include "runner/base/credentials.h"
#include "runner/base/folder.h"

enum {
    HEARTBEAT_BUSY_MS = 1000, /* when records wait for one */
    HEARTBEAT_LAST_MS = 100,  /* when an ended attempt waits for one */
    MOST_DISCARDED = 100      /* in one heartbeat */
};

/* ---- what an attempt runs on: `facts` of `started` ---- */

/* The folder whose commit counts: a process runs what lies there, an image what
 * is in it. NULL: none. */
static const char *work_folder(const struct attempt *run)
{
    const struct replica_order *master = &run->order->replicas[0];
    return master->image == NULL ? master->workdir : NULL;
}

static bool are_facts_known(const struct attempt *run,
                            struct git_commit *provenance, int64_t now_ms)
{
    const char *folder = work_folder(run);
    return folder == NULL || git_commit_ask(provenance, folder, now_ms).known;
}

static void add_images(cJSON *facts, const struct attempt *run)
{
    const struct engine_facts known = run->engine->facts(&run->place);
    if (!known.known || known.images == NULL)
        return;
    cJSON *images = NULL;
    for (size_t i = 0; i < run->order->n_replicas; i++) {
        if (known.images[i] == NULL)
            continue;
        if (images == NULL)
            images = json_add_object(facts, "images");
        json_add_string(images, run->order->replicas[i].name, known.images[i]);
    }
}

static void add_gpus(cJSON *facts, const struct attempt *run)
{
    cJSON *gpus = NULL;
    for (size_t i = 0; i < run->placement.n; i++) {
        const struct strings *own = &run->placement.seats[i].gpus;
        for (size_t k = 0; k < own->n; k++) {
            if (gpus == NULL)
                gpus = json_add_array(facts, "gpus");
            json_push_string(gpus, own->items[k]);
        }
    }
}

static void add_git(cJSON *facts, const struct attempt *run,
                    struct git_commit *provenance, int64_t now_ms)
{
    const char *folder = work_folder(run);
    if (folder == NULL)
        return;
    const struct git_commit_answer answer =
        git_commit_ask(provenance, folder, now_ms);
    if (!answer.known || answer.commit == NULL)
        return;
    cJSON *git = json_add_object(facts, "git");
    json_add_string(git, "commit", answer.commit);
    json_add_bool(git, "dirty", answer.dirty);
}

static void write_facts(const struct attempt *run,
                        struct git_commit *provenance, const char *host,
                        int64_t now_ms, struct text *out)
{
    struct arena *arena = arena_new();
    cJSON *facts = cJSON_CreateObject();
    add_images(facts, run);
    add_gpus(facts, run);
    add_git(facts, run, provenance, now_ms);
    const char *output = outputs_here(arena, run->place.site, run->order);
    if (output != NULL)
        json_add_string(facts, "output", output);
    json_add_string(facts, "host", host);
    json_print(facts, out);
    arena_free(arena);
}

/* ---- what this runner can do: `rules` of hello ---- */

enum { MOST_SECRETS = 500 };

static void add_strings(cJSON *object, const char *key,
                        const struct strings *strings)
{
    cJSON *array = json_add_array(object, key);
    for (size_t i = 0; i < strings->n; i++)
        json_push_string(array, strings->items[i]);
}

/* Names alone; what is in them stays here. */
static void add_secrets(cJSON *object, const char *folder)
{
    cJSON *array = json_add_array(object, "secrets");
    DIR *dir = folder != NULL ? opendir(folder) : NULL;
    struct dirent *entry;
    size_t n = 0;
    while (dir != NULL && n < MOST_SECRETS && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        json_push_string(array, entry->d_name);
        n++;
    }
    if (dir != NULL)
        closedir(dir);
}

static void add_accounts(cJSON *object, const struct site *site)
{
    struct arena *arena = arena_new();
    const struct strings accounts = credentials_accounts(arena, site);
    add_strings(object, "credentials", &accounts);
    arena_free(arena);
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

static void write_rules(const struct site *site, const struct engine *engine,
                        struct text *out)
{
    const struct engine_abilities abilities = abilities_of(site, engine);
    cJSON *rules = cJSON_CreateObject();
    json_add_bool(rules, "images", engine->images);
    add_strings(rules, "allow", &site->allowed);
    add_strings(rules, "volumeRoots", &site->volume_roots);
    json_add_string(rules, "gcsRoot", site->gcs_root);
    json_add_bool(rules, "gcsCredentials", site->gcs_credentials);
    add_secrets(rules, site->secrets);
    add_strings(rules, "secretVariables", &site->secret_variables);
    add_accounts(rules, site);
    add_strings(rules, "gpus", &site->gpus);
    json_add_bool(rules, "shareGpus", site->share_gpus);
    json_add_int(rules, "cpus", abilities.cpus);
    json_add_int(rules, "memory", abilities.memory);
    if (abilities.version != NULL)
        json_add_string(rules, "engine", abilities.version);
    json_print(rules, out);
}

/* ---- requests ---- */

static struct text *open_request(struct talk *talk, enum request_kind kind,
                                 const struct attempt *run)
{
    static const char *const types[] = {
        [REQUEST_NONE] = "",
        [REQUEST_HELLO] = "hello",
        [REQUEST_HEARTBEAT] = "heartbeat",
        [REQUEST_STARTED] = "started",
        [REQUEST_ENDED] = "ended",
        [REQUEST_DRAINED] = "drained",
        [REQUEST_REPORT] = "report",
        [REQUEST_LOG] = "log",
    };
    struct request *request = &talk->request;
    text_clear(&request->body);
    request->kind = kind;
    message_open(&request->body, talk->sender, types[kind], ++talk->id);
    request->key =
        run != NULL ? run->order->key : (struct order_key){.study = 0};
    if (run != NULL)
        message_attempt(&request->body, &run->order->key);
    return &request->body;
}

void talk_post(struct talk *talk)
{
    struct text copy = {0};
    text_append(&copy, talk->request.body.data, talk->request.body.len);
    request_thread_post(talk->courier, &copy);
}

static void close_request(struct talk *talk)
{
    message_close(&talk->request.body);
    talk_post(talk);
}

static void say_hello(struct talk *talk)
{
    struct text *out = open_request(talk, REQUEST_HELLO, NULL);
    message_string(out, "engine", talk->fleet->engine->name);
    message_int(out, "slots", talk->fleet->site->slots);
    message_string(out, "host", talk->host);
    message_string(out, "version", HT_VERSION);
    text_puts(out, ",\"rules\":");
    write_rules(talk->fleet->site, talk->fleet->engine, out);
    message_list(out, "attempts");
    for (const struct attempt *run = talk->fleet->first; run; run = run->next)
        message_list_attempt(out, &run->order->key);
    message_list_end(out);
    close_request(talk);
}

static void add_discarded(struct talk *talk, struct text *out)
{
    struct discard_item items[MOST_DISCARDED];
    const size_t n = discard_tell(talk->discard, items, MOST_DISCARDED);
    message_list(out, "discarded");
    for (size_t i = 0; i < n; i++)
        text_printf(out, "%s{\"study\":%lld,\"trial\":%lld%s}",
                    i > 0 ? "," : "", (long long)items[i].study,
                    (long long)items[i].trial,
                    items[i].kept ? ",\"kept\":true" : "");
    message_list_end(out);
}

static void say_heartbeat(struct talk *talk)
{
    struct text *out = open_request(talk, REQUEST_HEARTBEAT, NULL);
    message_list(out, "attempts");
    for (const struct attempt *run = talk->fleet->first; run; run = run->next)
        message_list_attempt(out, &run->order->key);
    message_list_end(out);
    add_discarded(talk, out);
    talk->beat_at = clock_monotonic_ms();
    talk->beats_sent++;
    close_request(talk);
}

static void say_ended(struct talk *talk, const struct attempt *run)
{
    const struct ending *ending = &run->ending;
    struct text *out = open_request(talk, REQUEST_ENDED, run);
    message_string(out, "outcome", folder_outcome_name(ending->outcome));
    if (ending->has_exit)
        message_int(out, "exit", ending->exit);
    if (ending->has_signal)
        message_int(out, "signal", ending->signal);
    message_string(out, "reason", ending->reason);
    if (ending->impossible)
        text_puts(out, ",\"impossible\":true");
    close_request(talk);
}

static bool owes_facts(const struct attempt *run)
{
    return run->told_started && !run->told_facts;
}

/* Said as soon as it is true, and once more when all is known of it; what never
 * began is not said to have. */
static bool say_started(struct talk *talk, const struct attempt *run)
{
    const bool first = !run->told_started && attempt_is_started(run);
    if (!first && !owes_facts(run))
        return false;
    const int64_t now = clock_monotonic_ms();
    const bool whole = are_facts_known(run, talk->provenance, now);
    if (!first && !whole)
        return false;
    struct text *out = open_request(talk, REQUEST_STARTED, run);
    talk->request.whole = whole;
    text_puts(out, ",\"facts\":");
    write_facts(run, talk->provenance, talk->host, now, out);
    close_request(talk);
    return true;
}

/* The life of an attempt: started, ended, drained. */
static bool say_progress(struct talk *talk)
{
    for (struct attempt *run = talk->fleet->first; run; run = run->next) {
        if (!run->accepted)
            continue;
        if (say_started(talk, run))
            return true;
        if (run->told_ended && attempt_is_shipped(run) && !owes_facts(run)) {
            attempt_evidence_text(run,
                                  open_request(talk, REQUEST_DRAINED, run));
            close_request(talk);
            return true;
        }
        if (run->ended && !run->told_ended) {
            say_ended(talk, run);
            return true;
        }
    }
    return false;
}

static bool say_records(struct talk *talk, const struct attempt *run, size_t i)
{
    struct record_queue *queue = records_queue(run->replicas[i].records);
    if (!record_queue_is_ready(queue, talk->beats_answered))
        return false;
    struct text *out = open_request(talk, REQUEST_REPORT, run);
    talk->request.replica = i;
    message_string(out, "replica", run->replicas[i].name);
    text_puts(out, ",\"records\":");
    record_queue_batch(queue, talk->beats_answered, out);
    close_request(talk);
    return true;
}

static bool say_log(struct talk *talk, const struct attempt *run, size_t i,
                    int stream)
{
    struct log_ship *ship = &run->replicas[i].logs[stream];
    struct log_chunk chunk;
    struct text data = {0};
    if (!log_ship_next(ship, clock_monotonic_ms(), run->ended, &chunk, &data))
        return false;
    struct text *out = open_request(talk, REQUEST_LOG, run);
    talk->request.replica = i;
    talk->request.stream = stream;
    talk->request.chunk = chunk;
    message_string(out, "replica", run->replicas[i].name);
    message_string(out, "stream", ship->source.stream);
    message_int(out, "offset", chunk.offset);
    message_int(out, "bytes", chunk.bytes);
    message_string(out, "data", data.data);
    text_free(&data);
    close_request(talk);
    return true;
}

/* Records before logs, but every attempt in its turn. */
static bool say_from(struct talk *talk, const struct attempt *run)
{
    if (!run->accepted)
        return false;
    const bool began = run->told_started || run->ended;
    for (size_t i = 0; began && i < run->order->n_replicas; i++) {
        if (say_records(talk, run, i))
            return true;
    }
    for (size_t i = 0; i < run->order->n_replicas; i++) {
        const int streams =
            sizeof run->replicas->logs / sizeof(struct log_ship);
        for (int stream = 0; stream < streams; stream++) {
            if (say_log(talk, run, i, stream))
                return true;
        }
    }
    return false;
}

static bool say_content(struct talk *talk)
{
    const size_t n = attempts_count(talk->fleet);
    for (size_t k = 0; k < n; k++) {
        const struct attempt *run = talk->fleet->first;
        for (size_t i = (talk->turn + k) % n; i > 0; i--)
            run = run->next;
        if (say_from(talk, run)) {
            talk->turn += k + 1;
            return true;
        }
    }
    return false;
}

int64_t talk_heartbeat_at(const struct talk *talk)
{
    int64_t wait = talk->heartbeat_ms;
    for (const struct attempt *run = talk->fleet->first; run; run = run->next) {
        if (!run->accepted || !attempt_has_queue(run))
            continue;
        const int64_t most = run->ended ? HEARTBEAT_LAST_MS : HEARTBEAT_BUSY_MS;
        wait = wait < most ? wait : most;
    }
    return talk->beat_at + wait;
}

void talk_say_next(struct talk *talk)
{
    if (!talk->greeted)
        say_hello(talk);
    else if (clock_monotonic_ms() >= talk_heartbeat_at(talk))
        say_heartbeat(talk);
    else if (!say_progress(talk))
        say_content(talk);
}
