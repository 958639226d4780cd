/* metrics.c - GET /metrics, in the text format of Prometheus. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "proto/base/clock.h"
#include "tuner/base/backup_board.h"
#include "tuner/base/budget.h"
#include "tuner/base/disk_room.h"
#include "tuner/base/meter.h"
#include "tuner/base/store_board.h"
#include "tuner/base/tracker_board.h"
#include "tuner/base/webhook_board.h"
#include "tuner/db/db.h"
#include "tuner/db/silence.h"
#include "tuner/db/state_counts.h"
#include "tuner/db/trees.h"
#include "tuner/read/reader.h"

/* A monitor keeps a series for each study: the newest of the studies that
 * have not ended, at most so many. */
enum { STUDIES_MOST = 200 };

static void write_state_counts(const struct state_counts *counts,
                               struct text *out)
{
    meter_family(out, "hypertune_studies", "gauge", "Studies by state.");
    for (int i = 0; i < STUDY_STATES; i++) {
        const struct meter_label label = {
            "state", db_study_state_name((enum study_state)i)};
        meter_sample(out, "hypertune_studies", 1, &label,
                     (double)counts->studies[i]);
    }
    meter_family(out, "hypertune_trials", "gauge",
                 "Trials of all studies by state.");
    for (int i = TRIAL_REQUESTED; i < TRIAL_STATES; i++) {
        const struct meter_label label = {
            "state", db_trial_state_name((enum trial_state)i)};
        meter_sample(out, "hypertune_trials", 1, &label,
                     (double)counts->trials[i]);
    }
}

static void write_open(const struct open_state_counts *parts, struct text *out)
{
    meter_family(out, "hypertune_study_trials", "gauge",
                 "Trials by state of the newest studies that have not "
                 "ended.");
    for (size_t i = 0; i < parts->n; i++) {
        const struct open_state_count *part = &parts->rows[i];
        char id[24];
        if (part->state == TRIAL_PREPARED)
            continue;
        snprintf(id, sizeof id, "%lld", (long long)part->study);
        const struct meter_label labels[] = {
            {"study", id},
            {"name", part->name},
            {"state", db_trial_state_name(part->state)}};
        meter_sample(out, "hypertune_study_trials", 3, labels, (double)part->n);
    }
}

/* One of the figures of all runners. */
static void write_gauge(const struct runner_list *list, const char *name,
                        const char *help, const int64_t values[],
                        struct text *out)
{
    meter_family(out, name, "gauge", help);
    for (size_t i = 0; i < list->n; i++) {
        const struct meter_label labels[] = {{"runner", list->rows[i].id},
                                             {"engine", list->rows[i].engine}};
        meter_sample(out, name, 2, labels, (double)values[i]);
    }
}

static enum ht_status write_runners(struct reader *reader, struct request *req,
                                    struct ht_error *err)
{
    struct arena *arena = req->arena;
    struct runner_list list;
    enum ht_status status = db_runner_list(reader->db, arena, &list, err);
    if (status != HT_OK)
        return status;
    int64_t *slots = arena_alloc(arena, list.n + 1, sizeof *slots);
    int64_t *busy = arena_alloc(arena, list.n + 1, sizeof *busy);
    int64_t *online = arena_alloc(arena, list.n + 1, sizeof *online);
    for (size_t i = 0; status == HT_OK && i < list.n; i++) {
        slots[i] = list.rows[i].slots;
        online[i] = list.rows[i].online;
        status = db_runner_busy(reader->db, list.rows[i].id, &busy[i], err);
    }
    if (status != HT_OK)
        return status;
    write_gauge(&list, "hypertune_runner_slots",
                "Attempts that a runner runs at once.", slots, &req->reply);
    write_gauge(&list, "hypertune_runner_busy", "Attempts that it runs now.",
                busy, &req->reply);
    write_gauge(&list, "hypertune_runner_online",
                "1: it sent a message lately.", online, &req->reply);
    return HT_OK;
}

static void write_files(const char *folder, struct arena *arena,
                        struct text *out)
{
    static const char *const files[] = {"hypertune.db", "hypertune.db-wal",
                                        "logs.db", "logs.db-wal"};
    const struct disk_room room = disk_room_look(folder);
    meter_family(out, "hypertune_file_bytes", "gauge",
                 "Size of a file of the data folder.");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct stat info;
        const struct meter_label label = {"file", files[i]};
        const char *path = arena_printf(arena, "%s/%s", folder, files[i]);
        meter_sample(out, "hypertune_file_bytes", 1, &label,
                     stat(path, &info) == 0 ? (double)info.st_size : 0);
    }
    meter_single(out, "hypertune_disk_alarm", "gauge",
                 "1: little of the disk is free; 2: so little that no new "
                 "trials begin.",
                 room.state);
    if (room.total_bytes == 0)
        return;
    meter_single(out, "hypertune_disk_free_bytes", "gauge",
                 "What the data folder can still grow by.",
                 (double)room.free_bytes);
    meter_single(out, "hypertune_disk_bytes", "gauge",
                 "Size of the disk of the data folder.",
                 (double)room.total_bytes);
}

static void write_webhooks(const struct webhook_rows *rows, struct text *out)
{
    static const char pending[] = "hypertune_webhook_pending";
    static const char given_up[] = "hypertune_webhook_given_up_total";
    struct text dropped = {0}; /* the second family, after all of the first */
    meter_family(out, pending, "gauge", "Deliveries that wait.");
    meter_family(&dropped, given_up, "counter",
                 "Deliveries that failed for good.");
    for (size_t i = 0; i < rows->n; i++) {
        const struct webhook_row *row = &rows->items[i];
        const struct meter_label label = {"webhook", row->name};
        meter_sample(out, pending, 1, &label, (double)row->pending);
        meter_sample(&dropped, given_up, 1, &label, (double)row->given_up);
    }
    text_append(out, dropped.data, dropped.len);
    text_free(&dropped);
}

static void write_trackers(struct tracker_board *board, struct text *out)
{
    static const char behind[] = "hypertune_tracker_behind";
    static const char failures[] = "hypertune_tracker_failures";
    struct text failing = {0}; /* the second family, after all of the first */
    meter_family(out, behind, "gauge",
                 "Studies that a tracker does not have all of.");
    meter_family(&failing, failures, "gauge",
                 "Attempts in a row that a tracker refused.");
    for (int i = 0; i < TRACKERS; i++) {
        const enum tracker_name name = (enum tracker_name)i;
        const struct tracker_row row = tracker_board_get(board, name);
        const struct meter_label label = {"tracker", tracker_name(name)};
        if (row.place[0] == '\0')
            continue;
        meter_sample(out, behind, 1, &label, (double)row.behind);
        meter_sample(&failing, failures, 1, &label, (double)row.failures);
    }
    text_append(out, failing.data, failing.len);
    text_free(&failing);
}

static void write_backups(struct backup_board *board, struct text *out)
{
    struct backup_state *state = backup_board_get(board);
    meter_single(out, "hypertune_backup_failures", "gauge",
                 "Backups in a row that failed.", (double)state->failures);
    if (state->made_ms > 0)
        meter_single(out, "hypertune_backup_time_seconds", "gauge",
                     "When the newest backup was made, since 1970.",
                     (double)state->made_ms / 1000);
    free(state);
}

static enum ht_status write_store(const struct reader *reader, struct text *out,
                                  struct ht_error *err)
{
    int64_t trees;
    const enum ht_status status = db_tree_count(reader->db, &trees, err);
    if (status != HT_OK)
        return status;
    meter_single(out, "hypertune_store_trees", "gauge",
                 "Code and checkpoints that are kept.", (double)trees);
    meter_single(out, "hypertune_store_bytes", "gauge",
                 "What the store takes on the disk.",
                 (double)store_board_bytes(reader->facts->store));
    return HT_OK;
}

static void write_server(const struct reader *reader, struct text *out)
{
    const struct meter_label labels[] = {{"version", HT_VERSION},
                                         {"server", reader->facts->server_id}};
    meter_family(out, "hypertune_build_info", "gauge",
                 "Always 1; which program this is.");
    meter_sample(out, "hypertune_build_info", 2, labels, 1);
    meter_single(out, "hypertune_uptime_seconds", "gauge",
                 "Time since the server began.",
                 (double)(clock_monotonic_ms() - reader->facts->started_ms) /
                     1000);
    meter_single(out, "hypertune_read_only", "gauge",
                 "1: the database is damaged, changes are refused.",
                 reader->damage != NULL ? 1 : 0);
}

enum ht_status read_metrics(struct reader *reader, struct request *req,
                            struct ht_error *err)
{
    struct state_counts counts;
    struct open_state_counts parts;
    int64_t silent;
    enum ht_status status = db_state_counts(reader->db, &counts, err);
    if (status == HT_OK)
        status = db_state_counts_open(reader->db, req->arena, STUDIES_MOST,
                                      &parts, err);
    if (status == HT_OK)
        status = db_silence_count(reader->db, &silent, err);
    if (status == HT_OK)
        status = write_runners(reader, req, err);
    if (status == HT_OK)
        status = write_store(reader, &req->reply, err);
    if (status != HT_OK)
        return status;
    req->reply_type = "text/plain; version=0.0.4; charset=utf-8";
    write_server(reader, &req->reply);
    meter_single(&req->reply, "hypertune_silent_trials", "gauge",
                 "Trials that run but neither report nor print.",
                 (double)silent);
    write_state_counts(&counts, &req->reply);
    write_open(&parts, &req->reply);
    write_files(reader->facts->folder, req->arena, &req->reply);
    const struct webhook_rows webhooks =
        webhook_board_get(reader->facts->webhooks, req->arena);
    write_webhooks(&webhooks, &req->reply);
    write_trackers(reader->facts->trackers, &req->reply);
    write_backups(reader->facts->backups, &req->reply);
    budget_write(&req->reply);
    meter_write(&req->reply);
    /* Every answer gets its last line end when it is sent. */
    req->reply.data[--req->reply.len] = '\0';
    return HT_OK;
}
