#include "runner/reports/results_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/limits.h"
#include "proto/job/metrics_file.h"
#include "runner/base/disk.h"
#include "runner/base/folder.h"
#include "runner/base/safe_path.h"
#include "runner/base/site.h"

/* ---- the copy of the content from before ---- */

/* In the attempt's folder. */
static const char copy_file[] = "metrics.before";
static const char mark_gone[] = "metrics.rewritten";

/* From now on the runner's own reads would be events, too. */
static void stop_watch(struct leftover *leftover)
{
    if (leftover->watch >= 0)
        close(leftover->watch);
    leftover->watch = -1;
}

/* Without a watch the file counts as read. */
static void watch(struct leftover *leftover, int fd)
{
    char name[32];
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    leftover->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (leftover->watch >= 0 &&
        inotify_add_watch(leftover->watch, name,
                          IN_ACCESS | IN_CLOSE_NOWRITE | IN_MODIFY) < 0)
        stop_watch(leftover);
}

/* Takes the copy of the open file (-1: there is none) and watches it. */
static enum ht_status take_leftover(struct leftover *leftover,
                                    const char *folder, int fd,
                                    struct ht_error *err)
{
    struct stat status = {.st_size = 0};
    *leftover = (struct leftover){.folder = folder, .watch = -1};
    if (fd >= 0 && fstat(fd, &status) != 0)
        return ht_fail_errno(err, errno, "cannot examine the metrics file");
    if (status.st_size > RESULTS_FILE_LEFTOVER)
        return ht_fail(err, HT_PRECONDITION,
                       "the metrics file has %lld bytes of earlier runs, at "
                       "most %d are told apart from new ones: move it away",
                       (long long)status.st_size, RESULTS_FILE_LEFTOVER);
    struct arena *arena = arena_new();
    struct disk_bytes bytes = {.data = "", .len = 0};
    enum ht_status result = HT_OK;
    if (status.st_size > 0)
        result = disk_read_open(arena, fd, RESULTS_FILE_LEFTOVER, &bytes, err);
    if (result == HT_OK)
        result =
            disk_write(folder, copy_file, bytes.data, bytes.len, 0600, err);
    if (result == HT_OK && bytes.len > 0)
        watch(leftover, fd);
    arena_free(arena);
    return result;
}

/* Continues with the copy that an earlier runner made. */
static void resume_leftover(struct leftover *leftover, const char *folder)
{
    *leftover = (struct leftover){
        .folder = folder, .watch = -1, .gone = disk_has(folder, mark_gone)};
}

/* The copy, in the arena; empty when there was nothing. */
static enum ht_status read_leftover(const struct leftover *leftover,
                                    struct arena *arena,
                                    struct disk_bytes *bytes,
                                    struct ht_error *err)
{
    *bytes = (struct disk_bytes){.data = "", .len = 0};
    const enum ht_status status = disk_read(arena, leftover->folder, copy_file,
                                            RESULTS_FILE_LEFTOVER, bytes, err);
    return status == HT_NOT_FOUND ? HT_OK : status;
}

/* Emptying is a modification; a later reader reads new lines. */
static bool was_read(const struct leftover *leftover)
{
    _Alignas(struct inotify_event) char events[4096];
    ssize_t n;
    while ((n = read(leftover->watch, events, sizeof events)) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *event =
                (const struct inotify_event *)(const void *)(events + at);
            if ((event->mask & IN_MODIFY) != 0)
                return false;
            if ((event->mask &
                 (IN_ACCESS | IN_CLOSE_NOWRITE | IN_Q_OVERFLOW)) != 0)
                return true;
            at += (ssize_t)sizeof *event + event->len;
        }
    }
    return false;
}

/* The file was emptied or replaced. If no program had read it before, all lines
 * are new; else the program may have written the old ones again. */
static void note_leftover(struct leftover *leftover)
{
    if (leftover->watch >= 0 && !was_read(leftover)) {
        leftover->gone = true;
        (void)disk_mark(leftover->folder, mark_gone, NULL);
    }
    stop_watch(leftover);
}

/* ---- where it is ---- */

/* In the replica's folder no link is followed. */
static void find_own(struct results_file *file, const char *root,
                     const char *path)
{
    tail_init_beneath(&file->tail, arena_strdup(file->arena, root), path);
}

/* Of a container only the replica's folder is on this machine. */
static void find(struct results_file *file, const struct replica_order *own,
                 const char *folder)
{
    const char *name = file->order->metrics_file;
    const char *rest = metrics_file_in_trial(name);
    if (rest != NULL)
        find_own(file, folder, rest);
    else if (own->image != NULL)
        find_own(file, folder,
                 name[0] == '/' ? safe_path_rest(CONTAINER_TRIAL, name) : name);
    else if (name[0] == '/')
        tail_init(&file->tail, name);
    else if (own->workdir == NULL)
        find_own(file, folder, name);
    else if (file->order->own_workdir)
        find_own(file, folder_workdir(file->arena, folder), name);
    else
        tail_init(&file->tail,
                  arena_printf(file->arena, "%s/%s", own->workdir, name));
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static const char *folder_of(struct arena *arena, const struct tail *tail)
{
    if (tail->path == NULL)
        return NULL;
    const int len = (int)(base_name(tail->path) - tail->path);
    return arena_printf(arena, "%s/%.*s", tail->root != NULL ? tail->root : "",
                        len, tail->path);
}

void results_file_init(struct results_file *file, const struct order *order,
                       size_t replica, const char *folder,
                       const struct guest *guest, struct metrics_seen *seen)
{
    *file = (struct results_file){.order = order,
                                  .seen = seen,
                                  .arena = arena_new(),
                                  .scratch = arena_new(),
                                  .leftover = {.watch = -1}};
    tail_init(&file->tail, NULL);
    if (replica == 0 && order->metrics_file != NULL)
        find(file, &order->replicas[replica], folder);
    tail_trust(&file->tail, guest, file->tail.root == NULL);
    file->folder = folder_of(file->arena, &file->tail);
}

void results_file_fini(struct results_file *file)
{
    tail_fini(&file->tail);
    stop_watch(&file->leftover);
    hash_map_clear(&file->before);
    hash_map_clear(&file->lines);
    hash_map_clear(&file->known);
    text_free(&file->last);
    arena_free(file->scratch);
    arena_free(file->arena);
}

bool results_file_is_same(const struct results_file *a,
                          const struct results_file *b)
{
    struct stat there, here;
    return a->folder != NULL && b->folder != NULL &&
           strcmp(base_name(a->tail.path), base_name(b->tail.path)) == 0 &&
           stat(a->folder, &there) == 0 && stat(b->folder, &here) == 0 &&
           there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

/* ---- the content of a line ---- */

enum content { CONTENT_COLUMNS, CONTENT_RECORD, CONTENT_NONE };

struct line {
    const char *text;
    size_t len;
    bool first;                 /* of the file */
    struct metrics_line parsed; /* by parse_line(), till the next one */
};

static enum content parse_line(struct results_file *file,
                               struct metrics_header *header, struct line *line,
                               struct report *report)
{
    const struct strings *metrics = &file->order->metrics;
    arena_reset(file->scratch);
    line->parsed = metrics_line_parse(file->scratch, line->text, line->len);
    if (line->first)
        header->n = 0;
    if (metrics_line_read_header(header, metrics, &line->parsed, line->first))
        return CONTENT_COLUMNS;
    *report = (struct report){.time_ms = clock_wall_ms(), .checkpoint = ""};
    return line->len <= HT_MAX_REPORT_LINE &&
                   metrics_line_read(file->scratch, header, metrics,
                                     &line->parsed, report)
               ? CONTENT_RECORD
               : CONTENT_NONE;
}

/* A program that writes a file back may format its numbers differently, so
 * values are compared, not text. */
static uint64_t hash_of(enum content content, const struct line *line,
                        const struct report *report)
{
    if (content != CONTENT_RECORD)
        return tail_hash(1, line->text, line->len);
    uint64_t hash =
        report->has_step ? tail_hash(2, &report->step, sizeof report->step) : 3;
    for (size_t i = 0; i < report->n_metrics; i++) {
        const struct report_metric *metric = &report->metrics[i];
        hash = tail_hash(hash, metric->name, strlen(metric->name));
        hash = tail_hash(hash, &metric->value, sizeof metric->value);
    }
    return hash;
}

static uint64_t seq_of(uint64_t hash, uint64_t salt)
{
    return tail_hash(salt, &hash, sizeof hash) >> 1 | 1;
}

/* ---- lines from before ---- */

static void count_before(struct results_file *file,
                         const struct disk_bytes *bytes)
{
    struct metrics_header header = {.n = 0};
    struct report report;
    for (size_t at = 0; at < bytes->len;) {
        struct line line = {.text = bytes->data + at, .first = at == 0};
        const char *end = memchr(line.text, '\n', bytes->len - at);
        line.len = end != NULL ? (size_t)(end - line.text) : bytes->len - at;
        const enum content content = parse_line(file, &header, &line, &report);
        const uint64_t hash = hash_of(content, &line, &report);
        if (content != CONTENT_COLUMNS)
            hash_map_count(&file->before, hash);
        if (end == NULL) {
            file->torn = hash;
            file->torn_at = (int64_t)at;
            file->torn_len = line.len;
            file->torn_hash = tail_hash(0, line.text, line.len);
        }
        at += line.len + 1;
    }
}

static enum ht_status load_before(struct results_file *file,
                                  struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct disk_bytes bytes;
    const enum ht_status status =
        read_leftover(&file->leftover, arena, &bytes, err);
    if (status == HT_OK)
        count_before(file, &bytes);
    file->begun = status == HT_OK;
    arena_free(arena);
    return status;
}

static void note_rewritten(void *context)
{
    struct results_file *file = context;
    note_leftover(&file->leftover);
}

enum ht_status results_file_begin(struct results_file *file,
                                  const char *attempt_folder,
                                  struct ht_error *err)
{
    if (file->tail.path == NULL)
        return HT_OK;
    tail_keep(&file->tail, note_rewritten);
    const enum ht_status status =
        take_leftover(&file->leftover, attempt_folder, file->tail.kept, err);
    return status == HT_OK ? load_before(file, err) : status;
}

enum ht_status results_file_resume(struct results_file *file,
                                   const char *attempt_folder,
                                   struct ht_error *err)
{
    if (file->tail.path == NULL)
        return HT_OK;
    resume_leftover(&file->leftover, attempt_folder);
    tail_keep(&file->tail, note_rewritten);
    file->tail.look = (struct tail_look){.inode = 0}; /* it may have news */
    return load_before(file, err);
}

/* ---- lines of now ---- */

static void begin_pass(struct results_file *file)
{
    file->passes++;
    file->fresh = false;
    file->last_seq = 0;
    hash_map_clear(&file->lines);
}

/* Whether the line was unfinished before and has been continued since. */
static bool is_continued(const struct results_file *file,
                         const struct line *line, int64_t offset)
{
    return file->torn_len > 0 && !file->leftover.gone &&
           offset == file->torn_at && line->len > file->torn_len &&
           tail_hash(0, line->text, file->torn_len) == file->torn_hash;
}

/* Notes the names of a line without a metric. */
static void note_names(struct results_file *file, const struct line *line)
{
    const struct strings names =
        metrics_line_names(file->scratch, &line->parsed);
    for (size_t i = 0; i < names.n; i++)
        metrics_seen_note_column(file->seen, names.items[i],
                                 file->order->metrics_file, file->tail.line);
}

static void take_record(struct results_file *file, struct report *report,
                        uint64_t seq)
{
    report->seq = (int64_t)seq;
    if (hash_map_count(&file->known, seq) > 1)
        return;
    file->fresh = true;
    file->newest = seq;
    metrics_seen_note(file->seen, &file->order->metrics, report,
                      file->order->metrics_file, file->tail.line);
    file->take(file->context, report);
}

/* How much more often the line has come in this pass than it was there before;
 * 0: it is not this attempt's. */
static int64_t count_ours(struct results_file *file, uint64_t hash)
{
    const int64_t count = hash_map_count(&file->lines, hash);
    const int64_t others =
        file->leftover.gone ? 0 : hash_map_get(&file->before, hash);
    return count > others ? count - others : 0;
}

static void handle_line(struct results_file *file, struct line *line)
{
    struct report report;
    const enum content content = parse_line(file, &file->header, line, &report);
    if (content == CONTENT_COLUMNS) {
        note_names(file, line);
        return;
    }
    const uint64_t hash = hash_of(content, line, &report);
    const int64_t n = count_ours(file, hash);
    if (n > 0 && content == CONTENT_RECORD) {
        file->last_seq = seq_of(hash, (uint64_t)n);
        text_clear(&file->last);
        text_append(&file->last, line->text, line->len);
        take_record(file, &report, file->last_seq);
    } else if (n > 0) {
        file->skipped++;
        if (file->header.n == 0 && line->len <= HT_MAX_REPORT_LINE)
            note_names(file, line);
    }
}

static void take_line(void *context, const char *text, size_t len,
                      int64_t offset)
{
    struct results_file *file = context;
    struct line line = {.text = text, .len = len, .first = offset == 0};
    stop_watch(&file->leftover);
    if (offset == 0)
        begin_pass(file);
    if (is_continued(file, &line, offset)) {
        hash_map_count(&file->lines, file->torn); /* it is there, too */
        line.text += file->torn_len;
        line.len -= file->torn_len;
        line.first = false;
    }
    handle_line(file, &line);
}

/* A file that is rewritten with each result may repeat an earlier one: 0.5, 0.7
 * and 0.5 again. The last one counts as new. */
static void repeat_last(struct results_file *file)
{
    struct line line = {.text = file->last.data, .len = file->last.len};
    struct report report;
    if (file->passes < 2 || file->fresh || file->last_seq == 0 ||
        file->last_seq == file->newest)
        return;
    if (parse_line(file, &file->header, &line, &report) == CONTENT_RECORD)
        take_record(file, &report,
                    seq_of(file->last_seq, (uint64_t)file->passes));
}

bool results_file_read(struct results_file *file, size_t budget, bool final)
{
    if (!file->begun) /* nothing started: nothing in it is a result */
        return false;
    const bool more = tail_read(&file->tail, budget, final, take_line, file);
    if (final && !more) {
        repeat_last(file);
        /* The next trial checks whether a program has the file open. */
        tail_fini(&file->tail);
        file->begun = false;
    }
    return more;
}

const char *results_file_state(const struct results_file *file)
{
    if (file->tail.path == NULL || file->newest != 0)
        return NULL;
    if (file->tail.missing)
        return "missing";
    if (file->tail.look.size == 0)
        return "empty";
    return file->before.n > 0 && file->skipped == 0 ? "unchanged" : NULL;
}
