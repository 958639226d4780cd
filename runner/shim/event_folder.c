#include "runner/shim/event_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/base/memory.h"
#include "proto/base/utf8.h"
#include "proto/base/whole.h"
#include "proto/job/report.h"
#include "runner/base/json.h"
#include "runner/base/safe_path.h"
#include "runner/shim/event_file.h"

enum {
    EVERY_MS = 1000,
    REST = 20,       /* of a look that found all: times as long as it took */
    REST_BEHIND = 4, /* ... that left something */
    LOOK_BYTES = 4 * 1024 * 1024, /* of one look */
    BUFFER = 64 * 1024,           /* grows for longer records */
    DEPTH = 16,                   /* of folders in each other */
    MOST_FILES = 1000,
    MOST_OTHERS = 16,    /* scalars that are no metric, to explain a trial */
    DAMAGED_LOOKS = 10,  /* a file system may show bytes late */
    FULL_DISK_TRIES = 60 /* one a second */
};

struct followed { /* one file */
    char *path;   /* below the folder */
    int64_t offset;
    int damaged; /* looks in a row that found no record at the offset */
    bool given_up;
};

struct source { /* of a metric's values; NULL: none came */
    char *name; /* folder and tag */
    bool exact; /* the name is the metric's */
};

struct event_folder {
    const struct launch *launch;
    const char *replica; /* its folder */
    int records;         /* descriptor of the file */
    struct text unwritten;
    uint64_t writer;
    int64_t seq;
    size_t n_files;
    struct followed *files;
    struct source sources[HT_MAX_METRICS];
    size_t n_others;
    char *others[MOST_OTHERS];
    char *buffer;
    size_t size;
    int64_t due_at;
    int64_t budget; /* bytes left of this look */
    bool final;     /* nothing is written any more */
    bool crowded;   /* said: too many files */
    const char *at; /* folder of the file that is being read, "" for the top */
    char fault[HT_MAX_REASON];
};

enum ht_status event_folder_begin(const struct launch *launch,
                                  const char *folder, uid_t uid,
                                  struct event_folder **events,
                                  struct ht_error *err)
{
    char path[PATH_MAX];
    *events = NULL;
    if (launch->events == NULL)
        return HT_OK;
    (void)snprintf(path, sizeof path, "%s/" FOLDER_EVENTS, folder);
    const int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FOLDER_FILE_MODE);
    if (fd < 0 || (uid != 0 && fchown(fd, uid, (gid_t)-1) != 0)) {
        const int code = errno;
        if (fd >= 0)
            close(fd);
        return ht_fail_errno(err, code, "cannot make %s", path);
    }
    struct event_folder *made = ht_xcalloc(1, sizeof *made);
    *made = (struct event_folder){
        .launch = launch,
        .replica = folder,
        .records = fd,
        .files = ht_xcalloc(MOST_FILES, sizeof *made->files),
        .due_at = clock_monotonic_ms() + EVERY_MS};
    while (made->writer == 0)
        if (getrandom(&made->writer, sizeof made->writer, 0) < 0)
            made->writer = (uint64_t)clock_wall_ms();
    *events = made;
    return HT_OK;
}

void event_folder_free(struct event_folder *events)
{
    if (events == NULL)
        return;
    close(events->records);
    for (size_t i = 0; i < events->n_files; i++)
        free(events->files[i].path);
    for (size_t i = 0; i < HT_MAX_METRICS; i++)
        free(events->sources[i].name);
    for (size_t i = 0; i < events->n_others; i++)
        free(events->others[i]);
    text_free(&events->unwritten);
    free(events->buffer);
    free(events->files);
    free(events);
}

/* ---- records ---- */

/* False while some of what was read cannot be written, of a line maybe its
 * end. */
static bool write_records(struct event_folder *events)
{
    struct text *text = &events->unwritten;
    while (text->len > 0) {
        const ssize_t n = write(events->records, text->data, text->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        memmove(text->data, text->data + n, text->len - (size_t)n);
        text->len -= (size_t)n;
    }
    return true;
}

__attribute__((format(printf, 2, 3))) static void
say(struct event_folder *events, const char *format, ...)
{
    char line[HT_MAX_REASON];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    json_open(&events->unwritten, NULL);
    json_put_string(&events->unwritten, "fault", line);
    json_close(&events->unwritten);
    text_puts(&events->unwritten, "\n");
}

/* `writer` 0: it is shown where the metric did not come. */
static void put(struct event_folder *events, uint64_t writer, const char *name,
                const struct event_scalar *scalar)
{
    const bool dated = scalar->wall_s > 0 && scalar->wall_s < 1e12;
    const struct report_metric metric = {.name = name, .value = scalar->value};
    const struct report report = {
        .writer = writer,
        .seq = ++events->seq,
        .step = scalar->step,
        .has_step = scalar->step >= 0,
        .time_ms = dated ? (int64_t)(scalar->wall_s * 1000) : clock_wall_ms(),
        .checkpoint = "",
        .n_metrics = 1,
        .metrics = &metric};
    report_text(&report, &events->unwritten);
    text_puts(&events->unwritten, "\n");
}

/* ---- scalars ---- */

/* The name is the full one's end, from the begin of a folder or the tag on, and
 * has the whole tag. */
static bool is_end(const char *name, const char *full, size_t tag_len)
{
    const size_t len = strlen(name), full_len = strlen(full);
    return len >= tag_len && len <= full_len &&
           strcmp(full + full_len - len, name) == 0 &&
           (len == full_len || full[full_len - len - 1] == '/');
}

/* Whether the scalar of that name is to be taken for the metric. */
static bool is_source(struct event_folder *events, size_t metric,
                      const char *full)
{
    struct source *source = &events->sources[metric];
    const char *name = events->launch->metrics.items[metric];
    const bool exact = strcmp(full, name) == 0;
    if (source->name == NULL) {
        *source = (struct source){ht_xstrdup(full), exact};
        return true;
    }
    if (strcmp(source->name, full) == 0)
        return true;
    if (!source->exact && events->fault[0] == '\0')
        (void)snprintf(events->fault, sizeof events->fault,
                       "%.128s is twice in the event files, as %.128s and as "
                       "%.128s: call the metric by one of these names",
                       name, source->name, full);
    return false;
}

static void note_other(struct event_folder *events, const char *full,
                       const struct event_scalar *scalar)
{
    for (size_t i = 0; i < events->n_others; i++)
        if (strcmp(events->others[i], full) == 0)
            return;
    if (events->n_others == MOST_OTHERS)
        return;
    events->others[events->n_others++] = ht_xstrdup(full);
    put(events, 0, full, scalar);
}

/* What could not be a metric's name is left out. */
static bool is_name(const char *name, size_t len)
{
    if (len > HT_MAX_NAME || !utf8_is_valid(name, len))
        return false;
    for (size_t i = 0; i < len; i++)
        if (iscntrl((unsigned char)name[i]))
            return false;
    return true;
}

static void take(void *context, const struct event_scalar *scalar)
{
    struct event_folder *events = context;
    const struct strings *metrics = &events->launch->metrics;
    char full[PATH_MAX];
    bool found = false;
    const int len = snprintf(full, sizeof full, "%s%s%.*s", events->at,
                             *events->at != '\0' ? "/" : "",
                             (int)scalar->tag_len, scalar->tag);
    if (len < 0 || (size_t)len >= sizeof full ||
        !is_name(scalar->tag, scalar->tag_len))
        return;
    for (size_t i = 0; i < metrics->n; i++) {
        if (!is_end(metrics->items[i], full, scalar->tag_len))
            continue;
        found = true;
        if (is_source(events, i, full))
            put(events, events->writer, metrics->items[i], scalar);
    }
    if (!found && is_name(full, (size_t)len))
        note_other(events, full, scalar);
}

/* ---- one file ---- */

/* NULL: there are too many. */
static struct followed *follow(struct event_folder *events, const char *path)
{
    for (size_t i = 0; i < events->n_files; i++)
        if (strcmp(events->files[i].path, path) == 0)
            return &events->files[i];
    if (events->n_files == MOST_FILES) {
        if (!events->crowded)
            say(events,
                "more than %d event files: %.200s and others are not read",
                MOST_FILES, path);
        events->crowded = true;
        return NULL;
    }
    struct followed *file = &events->files[events->n_files++];
    *file = (struct followed){.path = ht_xstrdup(path)};
    return file;
}

/* A record may be seen before all of its bytes. */
static void note_damage(struct event_folder *events, struct followed *file,
                        const char *why)
{
    if (++file->damaged < DAMAGED_LOOKS && !events->final)
        return;
    file->given_up = true;
    say(events, "event file %.200s is read up to byte %lld: %s", file->path,
        (long long)file->offset, why);
}

static void make_room(struct event_folder *events, size_t size)
{
    if (events->size >= size)
        return;
    free(events->buffer);
    events->buffer = ht_xcalloc(1, size);
    events->size = size;
}

/* Reads once from the offset on. False: there is no whole record any more, or
 * the file cannot be read. */
static bool read_some(struct event_folder *events, struct followed *file,
                      int fd)
{
    struct ht_error err;
    uint64_t used;
    const ssize_t n =
        whole_read_at(fd, events->buffer, events->size, file->offset);
    if (n <= 0)
        return false;
    events->budget -= n;
    const enum ht_status status =
        event_file_read(events->buffer, (size_t)n, take, events, &used, &err);
    file->offset += (int64_t)used;
    if (used > 0)
        file->damaged = 0;
    if (status != HT_OK) {
        note_damage(events, file, err.text);
        return false;
    }
    if (used == 0 && (size_t)n == events->size) {
        make_room(events, EVENT_RECORD_WHOLE);
        return true;
    }
    return used > 0;
}

static void read_file(struct event_folder *events, struct followed *file,
                      int fd)
{
    make_room(events, BUFFER);
    while (write_records(events) && (events->final || events->budget > 0) &&
           read_some(events, file, fd))
        continue;
}

/* ---- the folder ---- */

static void look_into(struct event_folder *events, int place, const char *path,
                      int depth);

static void look_at_file(struct event_folder *events, int folder,
                         const char *name, const char *path, int64_t size)
{
    if (strstr(name, FOLDER_EVENT_FILE) == NULL ||
        (!events->final && events->budget <= 0))
        return;
    struct followed *file = follow(events, path);
    if (file == NULL || file->given_up || size <= file->offset)
        return;
    const int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        guest_may_write(&events->launch->guest, &status))
        read_file(events, file, fd);
    if (fd >= 0)
        close(fd);
}

static void look_at(struct event_folder *events, int folder, const char *name,
                    const char *above, int depth)
{
    struct stat status;
    char path[PATH_MAX];
    const int len = snprintf(path, sizeof path, "%s%s%s", above,
                             *above != '\0' ? "/" : "", name);
    if (len < 0 || (size_t)len >= sizeof path ||
        fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    events->at = above;
    if (S_ISREG(status.st_mode))
        look_at_file(events, folder, name, path, status.st_size);
    else if (S_ISDIR(status.st_mode) && depth < DEPTH)
        look_into(events,
                  openat(folder, name,
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                  path, depth + 1);
}

static int is_shown(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Closes `place`, which may be -1. Names of event files begin with the time, so
 * older files come first, and all files of a folder before those below it. */
static void look_into(struct event_folder *events, int place, const char *path,
                      int depth)
{
    struct dirent **names = NULL;
    if (place < 0)
        return;
    const int n = scandirat(place, ".", &names, is_shown, alphasort);
    for (int i = 0; i < n; i++)
        if (strstr(names[i]->d_name, FOLDER_EVENT_FILE) != NULL)
            look_at(events, place, names[i]->d_name, path, DEPTH);
    for (int i = 0; i < n; i++) {
        if (strstr(names[i]->d_name, FOLDER_EVENT_FILE) == NULL)
            look_at(events, place, names[i]->d_name, path, depth);
        free(names[i]);
    }
    free(names);
    close(place);
}

static void look(struct event_folder *events)
{
    const int place = safe_path_open(events->replica, events->launch->events);
    events->budget = LOOK_BYTES;
    if (place >= 0) { /* the trainer has made it */
        look_into(events,
                  openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "",
                  0);
        close(place);
    }
    (void)write_records(events);
}

static const char *fault_of(const struct event_folder *events)
{
    return events->fault[0] != '\0' ? events->fault : NULL;
}

int64_t event_folder_due(const struct event_folder *events)
{
    return events != NULL ? events->due_at : INT64_MAX;
}

const char *event_folder_tick(struct event_folder *events, int64_t now)
{
    if (events == NULL || now < events->due_at)
        return NULL;
    look(events);
    const int64_t took = clock_monotonic_ms() - now;
    const bool behind = events->budget <= 0;
    const int64_t rest = took * (behind ? REST_BEHIND : REST);
    events->due_at = now + took + (behind || rest > EVERY_MS ? rest : EVERY_MS);
    return fault_of(events);
}

const char *event_folder_end(struct event_folder *events, bool *lost)
{
    *lost = false;
    if (events == NULL)
        return NULL;
    events->final = true;
    look(events);
    for (int i = 0; events->unwritten.len > 0 && i < FULL_DISK_TRIES; i++) {
        poll(NULL, 0, 1000);
        look(events);
    }
    *lost = events->unwritten.len > 0;
    return fault_of(events);
}
