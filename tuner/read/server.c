/* server.c - the server's state, its runners, events and revisions. */

#include "tuner/read/reader.h"
#include "tuner/read/trials.h"

#include <string.h>
#include <sys/stat.h>

#include "proto/base/clock.h"
#include "proto/doc/json.h"
#include "tuner/ask/query.h"
#include "tuner/base/backup_board.h"
#include "tuner/base/disk_room.h"
#include "tuner/base/secrets_state.h"
#include "tuner/base/store_board.h"
#include "tuner/base/tls_board.h"
#include "tuner/base/tracker_board.h"
#include "tuner/base/webhook_board.h"
#include "tuner/db/fleet.h"
#include "tuner/db/trees.h"
#include "tuner/logs/logs.h"
#include "tuner/runners/last_seen.h"
#include "tuner/view/view.h"

/* --- the server --- */

static int64_t size_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (int64_t)info.st_size : 0;
}

/* Left out where the system has no answer. */
static void add_disk(cJSON *object, struct arena *arena, const char *folder)
{
    const struct disk_room room = disk_room_look(folder);
    char alarm[DISK_ROOM_TEXT];
    json_add_string(object, "folder", folder);
    json_add_int(
        object, "databaseBytes",
        size_of(arena_printf(arena, "%s/hypertune.db", folder)) +
            size_of(arena_printf(arena, "%s/hypertune.db-wal", folder)));
    if (room.total_bytes == 0)
        return;
    cJSON *disk = json_add_object(object, "disk");
    json_add_int(disk, "freeBytes", room.free_bytes);
    json_add_int(disk, "totalBytes", room.total_bytes);
    json_add_bool(disk, "reserved", room.state == DISK_RESERVED);
    if (room.state != DISK_ROOM)
        json_add_string(disk, "alarm", disk_room_text(&room, alarm));
}

/* A server that listens at all addresses is reached by the name that its client
 * has used. */
static const char *at_host(struct arena *arena, const char *url,
                           const char *authority)
{
    const char *host = strstr(url, "://") + 3, *port = strrchr(url, ':');
    const char *end = strrchr(authority, ':');
    if (strncmp(host, "0.0.0.0:", 8) != 0 && strncmp(host, "[::]:", 5) != 0)
        return url;
    if (end == NULL || strchr(end, ']') != NULL)
        end = authority + strlen(authority);
    return arena_printf(arena, "tls+tcp://%.*s%s", (int)(end - authority),
                        authority, port);
}

/* A client on this machine gets plain addresses of loopback, the others those
 * with TLS. */
static void add_addresses(cJSON *object, const struct request *req,
                          const struct server_facts *facts)
{
    struct tls_state tls = {.pins = ""};
    if (facts->tls != NULL)
        tls_board_get(facts->tls, &tls);
    const char *authority = req->tls_host;
    const bool by_tls = authority != NULL && facts->tls != NULL;
    json_add_string(object, "http",
                    by_tls ? arena_printf(req->arena, "https://%s", authority)
                           : facts->http);
    json_add_string(object, "report",
                    by_tls ? at_host(req->arena, tls.report, authority)
                           : facts->report);
    json_add_string(object, "control",
                    by_tls ? at_host(req->arena, tls.control, authority)
                           : facts->control);
    if (facts->tls == NULL)
        return;
    json_add_string(object, "tlsPins", tls.pins);
    json_add_int(object, "tlsEndsMs", tls.ends_ms);
    if (tls.https[0] != '\0')
        json_add_string(object, "https", tls.https);
}

static void add_secrets(cJSON *object, const struct secrets_state *secrets)
{
    cJSON *member = json_add_object(object, "secrets");
    if (secrets->key[0] != '\0')
        json_add_string(member, "key", secrets->key);
    if (secrets->plain[0] != '\0')
        json_add_string(member, "plain", secrets->plain);
}

enum ht_status read_server(struct reader *reader, struct request *req,
                           struct ht_error *err)
{
    const struct server_facts *facts = reader->facts;
    int64_t open, trees;
    enum ht_status status = db_study_open_count(reader->db, &open, err);
    if (status == HT_OK)
        status = db_tree_count(reader->db, &trees, err);
    if (status != HT_OK)
        return status;
    cJSON *object = cJSON_CreateObject();
    json_add_string(object, "version", HT_VERSION);
    json_add_string(object, "server", facts->server_id);
    add_addresses(object, req, facts);
    json_add_int(object, "uptimeMs", clock_monotonic_ms() - facts->started_ms);
    json_add_int(object, "studies", open);
    json_add_bool(object, "readOnly", reader->damage != NULL);
    json_add_text(object, "readOnlyReason", reader->damage);
    char damage[LOGS_DAMAGE_BYTES] = "";
    if (reader->logs != NULL)
        logs_damage(reader->logs, damage);
    json_add_text(object, "logsDamage", damage[0] != '\0' ? damage : NULL);
    add_disk(object, req->arena, facts->folder);
    add_secrets(object, facts->secrets);
    webhook_board_write(facts->webhooks, req->arena, object);
    tracker_board_write(facts->trackers, object);
    backup_board_write(facts->backups, object);
    cJSON *store = json_add_object(object, "store");
    json_add_int(store, "bytes", store_board_bytes(facts->store));
    json_add_int(store, "trees", trees);
    json_print(object, &req->reply);
    return HT_OK;
}

enum ht_status read_runners(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    struct runner_list list;
    struct fleet_attempt_list running;
    enum ht_status status = db_runner_list(reader->db, req->arena, &list, err);
    if (status == HT_OK)
        status = db_fleet_attempts(reader->db, req->arena, &running, err);
    text_puts(&req->reply, "{\"runners\":[");
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        int64_t busy;
        status = db_runner_busy(reader->db, list.rows[i].id, &busy, err);
        if (status != HT_OK)
            break;
        const int64_t seen_ms =
            last_seen_ms(reader->facts->last_seen, list.rows[i].id);
        if (seen_ms > 0)
            list.rows[i].seen_ms = seen_ms;
        if (i > 0)
            text_puts(&req->reply, ",");
        cJSON *shown = view_runner(&list.rows[i], busy);
        if (list.rows[i].online)
            view_add_stored(shown, "elements",
                            last_seen_elements(reader->facts->last_seen,
                                               req->arena, list.rows[i].id));
        for (size_t k = 0; k < running.n; k++)
            if (strcmp(running.rows[k].runner, list.rows[i].id) == 0)
                view_add_running(shown, &running.rows[k]);
        json_print(shown, &req->reply);
    }
    text_puts(&req->reply, "]}");
    return status;
}

enum ht_status read_events(struct reader *reader, struct request *req,
                           struct ht_error *err)
{
    static const struct number_range revisions = {0, INT64_MAX, 0};
    static const struct number_range limits = {1, PAGE_MOST, PAGE_MOST};
    int64_t since, limit;
    struct study_row study;
    struct event_list list;
    enum ht_status status = query_number(req, "since", &revisions, &since, err);
    if (status == HT_OK)
        status = query_number(req, "limit", &limits, &limit, err);
    if (status == HT_OK)
        status = read_find_study(reader, req, &study, NULL, err);
    if (status == HT_OK)
        status = db_event_list(reader->db, req->arena, study.id, since,
                               (size_t)limit, &list, err);
    if (status != HT_OK)
        return status;
    text_printf(&req->reply, "{\"revision\":%lld,\"events\":[",
                (long long)study.revision);
    for (size_t i = 0; i < list.n; i++) {
        if (i > 0)
            text_puts(&req->reply, ",");
        json_print(view_event(&list.rows[i]), &req->reply);
    }
    text_puts(&req->reply, "]}");
    return HT_OK;
}

/* What happened before this server started is only in the database. */
enum ht_status read_revisions(struct reader *reader, struct request *req,
                              struct ht_error *err)
{
    enum { BATCH = 200 };
    static const struct study_scope everything = {0};
    struct study_list list;
    int64_t before = 0;
    (void)req;
    do {
        struct arena *arena = arena_new();
        enum ht_status status = db_study_list(reader->db, arena, &everything,
                                              before, BATCH, &list, err);
        for (size_t i = 0; status == HT_OK && i < list.n; i++) {
            before = list.rows[i].id;
            reader->publish(reader->stream, before, list.rows[i].revision,
                            list.rows[i].project);
        }
        arena_free(arena);
        if (status != HT_OK)
            return status;
    } while (list.n == BATCH);
    return HT_OK;
}
