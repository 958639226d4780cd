#include "hypertune/lib/reporter.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "hypertune/hypertune.h"
#include "hypertune/lib/metric_file.h"
#include "hypertune/lib/report_file.h"
#include "hypertune/lib/report_record.h"
#include "hypertune/lib/report_sender.h"

/* Together the 200 ms that an exit may take; the tries are 1 ms apart. */
enum { EXIT_LOCK_TRIES = 20, EXIT_WAIT_MS = 180 };

enum { WRITER_BYTES = 17 }; /* 16 hex digits and a NUL */

/* Read once and never changed, so that a fork may share it; a variable that is
 * unset or empty is NULL. */
struct settings {
    char *report_file, *report_url, *token_file, *folder, *replica;
    char *metric_file, *trial, *tag;
    char *stop; /* path whose existence means "end now", or NULL */
    bool in_trial;
};

struct reporter {
    pid_t pid;                  /* whose reporter this is */
    struct settings *settings;  /* shared with the child of a fork */
    struct reporter *inherited; /* the parent's, as the fork left it, or NULL */
    char writer[WRITER_BYTES];  /* its name, 16 random hex digits */
    pthread_mutex_t lock;       /* guards what follows */
    int64_t seq;        /* of the newest record that was written or queued */
    int64_t waited_for; /* seq of the newest flush that gave up */
    uint64_t calls;
    bool has_exit_handler; /* registered here or by an ancestor */
    bool file_holds_all;   /* every record so far went into the report file */
    struct report_file file;
    struct report_sender *sender; /* NULL before the first report, or no URL */
    struct metric_file *window;   /* outside hypertune only */
    size_t held_len;              /* bytes of held, 0: none */
    char held[RECORD_LINE_BYTES]; /* newest record that thinning left out */
};

static struct reporter *_Atomic current;

/* ---- settings ---- */

static char *copy_variable(const char *name, bool *failed)
{
    const char *value = getenv(name);
    if (value == NULL || *value == '\0')
        return NULL;
    char *copy = strdup(value);
    *failed = *failed || copy == NULL;
    return copy;
}

static void free_settings(struct settings *settings)
{
    free(settings->report_file);
    free(settings->report_url);
    free(settings->token_file);
    free(settings->folder);
    free(settings->replica);
    free(settings->metric_file);
    free(settings->trial);
    free(settings->tag);
    free(settings->stop);
    free(settings);
}

/* NULL without memory for all of them: half of them would report to half of
 * the places. */
static struct settings *read_settings(void)
{
    struct settings *settings = calloc(1, sizeof *settings);
    if (settings == NULL)
        return NULL;
    bool failed = false;
    settings->report_file = copy_variable("HYPERTUNE_REPORT_FILE", &failed);
    settings->report_url = copy_variable("HYPERTUNE_REPORT_URL", &failed);
    settings->token_file = copy_variable("HYPERTUNE_TRIAL_TOKEN_FILE", &failed);
    settings->folder = copy_variable("HYPERTUNE_TRIAL_DIR", &failed);
    settings->replica = copy_variable("HYPERTUNE_REPLICA", &failed);
    settings->tag = copy_variable("CLOUD_ML_HP_METRIC_TAG", &failed);
    settings->in_trial = settings->report_file != NULL ||
                         settings->report_url != NULL ||
                         settings->token_file != NULL ||
                         settings->folder != NULL || settings->replica != NULL;
    if (!settings->in_trial) {
        settings->metric_file =
            copy_variable("CLOUD_ML_HP_METRIC_FILE", &failed);
        settings->trial = copy_variable("CLOUD_ML_TRIAL_ID", &failed);
    }
    if (settings->folder != NULL &&
        asprintf(&settings->stop, "%s/stop", settings->folder) < 0) {
        settings->stop = NULL;
        failed = true;
    }
    if (!failed)
        return settings;
    free_settings(settings);
    return NULL;
}

/* ---- the name of this process ---- */

/* For kernels and sandboxes without getrandom(2): nanoseconds of two clocks
 * and the pid, spread by the finaliser of SplitMix64 (Steele, Lea, Flood,
 * 2014). Unique among the processes of one trial is enough. */
static uint64_t mixed_bits(void)
{
    struct timespec wall;
    struct timespec boot;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    uint64_t bits = (uint64_t)wall.tv_sec * 1000000007u;
    bits ^= (uint64_t)wall.tv_nsec << 20 ^ (uint64_t)boot.tv_nsec;
    bits ^= (uint64_t)getpid() << 40;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
}

/* (writer, seq) is what makes a report that arrives twice count once, so two
 * processes must never share a name, not even a parent and its fork. Never
 * "0000000000000000", which means "from a foreign file". */
static void make_writer(char text[WRITER_BYTES])
{
    uint64_t bits = 0;
    /* Non-blocking: early in the boot of a machine entropy may be missing, and
     * a report must not wait for it. */
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
        bits = mixed_bits();
    if (bits == 0)
        bits = 1;
    snprintf(text, WRITER_BYTES, "%016" PRIx64, bits);
}

/* ---- one reporter per process ---- */

static struct reporter *make_reporter(struct reporter *inherited)
{
    struct reporter *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return NULL;
    fresh->settings = inherited != NULL ? inherited->settings : read_settings();
    if (fresh->settings == NULL) {
        free(fresh);
        return NULL;
    }
    fresh->pid = getpid();
    fresh->inherited = inherited;
    fresh->has_exit_handler = inherited != NULL && inherited->has_exit_handler;
    fresh->file_holds_all = true;
    make_writer(fresh->writer);
    pthread_mutex_init(&fresh->lock, NULL);
    report_file_init(&fresh->file, fresh->settings->report_file);
    return fresh;
}

/* What the fork copied: descriptors to let go of, and the window of the metric
 * file, which cloudml-hypertune's children inherit too; but not when another
 * thread of the parent was just changing it. */
static void take_over(struct reporter *fresh, struct reporter *parent)
{
    report_file_close(&parent->file);
    if (parent->sender != NULL)
        report_sender_disinherit(parent->sender);
    if (pthread_mutex_trylock(&parent->lock) == 0)
        fresh->window = parent->window;
}

/* Why this survives a fork at any moment: the child never takes a lock of the
 * parent's (whose owner may be a thread that does not exist here) and never
 * waits for its thread. It only reads the old struct, then puts a new one,
 * with new locks, queue, connection and writer, in its place. The old one
 * stays reachable and is never used again; its unsent records are the parent's
 * to send. Several threads of a child may race here: one wins. */
static struct reporter *get_reporter(void)
{
    struct reporter *now = atomic_load(&current);
    if (now != NULL && now->pid == getpid())
        return now;
    struct reporter *fresh = make_reporter(now);
    if (fresh == NULL)
        return NULL;
    if (!atomic_compare_exchange_strong(&current, &now, fresh)) {
        if (fresh->inherited == NULL)
            free_settings(fresh->settings);
        free(fresh);
        return now;
    }
    pthread_mutex_lock(&fresh->lock);
    if (fresh->inherited != NULL)
        take_over(fresh, fresh->inherited);
    pthread_mutex_unlock(&fresh->lock);
    return fresh;
}

/* ---- recording; the lock is held ---- */

static void wait_at_exit(void);

static void start_sender(struct reporter *reporter)
{
    const struct settings *settings = reporter->settings;
    const struct report_sender_options options = {
        .url = settings->report_url,
        .token_file = settings->token_file,
        .replica = settings->replica != NULL ? settings->replica : "master-0",
        .writer = reporter->writer,
        .in_file = settings->report_file != NULL,
    };
    reporter->sender = report_sender_new(&options);
    if (reporter->sender != NULL && !reporter->has_exit_handler)
        reporter->has_exit_handler = atexit(wait_at_exit) == 0;
}

/* Writes and queues a formatted line, which carries seq + 1. */
static int commit(struct reporter *reporter, const char *line, size_t len)
{
    const struct settings *settings = reporter->settings;
    bool is_written = settings->report_file != NULL &&
                      report_file_append(&reporter->file, line, len) == 0;
    if (settings->report_url != NULL && reporter->sender == NULL)
        start_sender(reporter);
    bool is_queued = reporter->sender != NULL &&
                     report_sender_push(reporter->sender, reporter->seq + 1,
                                        line, len - 1) == 0;
    reporter->file_holds_all &= is_written;
    if (!is_written && !is_queued)
        return EIO;
    reporter->seq++;
    return 0;
}

static int commit_held(struct reporter *reporter)
{
    if (reporter->held_len == 0)
        return 0;
    size_t len = reporter->held_len;
    reporter->held_len = 0;
    return commit(reporter, reporter->held, len);
}

/* A trial beyond its record budget is asked to keep every thin-th record. The
 * newest of the others is held back and takes the next number when the process
 * flushes or exits, because a last value must not be lost. */
static bool is_thinned_out(struct reporter *reporter)
{
    uint64_t call = reporter->calls++;
    int64_t thin =
        reporter->sender != NULL ? report_sender_thin(reporter->sender) : 1;
    return thin > 1 && call % (uint64_t)thin != 0;
}

static int64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int record(struct reporter *reporter,
                  const struct hypertune_metric metrics[], size_t n,
                  int64_t step, const char *checkpoint)
{
    char line[RECORD_LINE_BYTES];
    const struct report_record record = {
        .writer = reporter->writer,
        .seq = reporter->seq + 1,
        .time_ms = wall_ms(),
        .step = step,
        .n = n,
        .metrics = metrics,
        .checkpoint = checkpoint,
    };
    int len = report_record_format(&record, line);
    if (len < 0)
        return -len;
    if (is_thinned_out(reporter)) {
        memcpy(reporter->held, line, (size_t)len);
        reporter->held_len = (size_t)len;
        return 0;
    }
    reporter->held_len = 0; /* no longer the last value */
    return commit(reporter, line, (size_t)len);
}

static int write_window(struct reporter *reporter,
                        const struct hypertune_metric metrics[], size_t n,
                        int64_t step, const char *checkpoint)
{
    const struct settings *settings = reporter->settings;
    if (reporter->window == NULL)
        reporter->window =
            metric_file_new(settings->metric_file,
                            settings->trial != NULL ? settings->trial : "0");
    if (reporter->window == NULL)
        return EIO;
    int rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = metric_file_report(reporter->window, metrics[i].name,
                                metrics[i].value, step,
                                checkpoint != NULL ? checkpoint : "");
    return rc == 0 ? 0 : EIO;
}

/* ---- the public functions ---- */

static const char *metric_name(const struct settings *settings,
                               const char *name)
{
    if (name != NULL && *name != '\0')
        return name;
    return settings->tag != NULL ? settings->tag : "training/hptuning/metric";
}

static bool is_too_long(const char *text, size_t bytes)
{
    return text != NULL && strnlen(text, bytes) == bytes;
}

/* `file_step` goes to cloudml-hypertune's file, which cannot count steps. */
static int report(const struct hypertune_metric metrics[], size_t n,
                  int64_t step, int64_t file_step, const char *checkpoint_path)
{
    struct reporter *reporter = get_reporter();
    if (reporter == NULL)
        return EIO;
    if (n == 0 || n > RECORD_METRICS ||
        is_too_long(checkpoint_path, RECORD_CHECKPOINT_BYTES))
        return EINVAL;
    struct hypertune_metric named[RECORD_METRICS];
    for (size_t i = 0; i < n; i++) {
        named[i].name = metric_name(reporter->settings, metrics[i].name);
        named[i].value = metrics[i].value;
        if (is_too_long(named[i].name, RECORD_NAME_BYTES))
            return EINVAL;
    }
    int rc = 0;
    pthread_mutex_lock(&reporter->lock);
    if (reporter->settings->in_trial)
        rc = record(reporter, named, n, step, checkpoint_path);
    else if (reporter->settings->metric_file != NULL)
        rc = write_window(reporter, named, n, file_step, checkpoint_path);
    pthread_mutex_unlock(&reporter->lock);
    return rc;
}

int report_hyperparameter_tuning_metric(const char *tag, double value,
                                        int64_t global_step,
                                        const char *checkpoint_path)
{
    const struct hypertune_metric metric = {tag, value};
    return report(&metric, 1, global_step, global_step, checkpoint_path);
}

int hypertune_report(const struct hypertune_metric metrics[], size_t n,
                     int64_t step, const char *checkpoint_path)
{
    return report(metrics, n, step, step < 0 ? 0 : step, checkpoint_path);
}

/* Settles the held record; the sender to wait for, or NULL when no record was
 * ever queued. The lock is held. */
static struct report_sender *settle(struct reporter *reporter, int64_t *seq)
{
    commit_held(reporter);
    *seq = reporter->seq;
    return reporter->sender;
}

int hypertune_flush(int timeout_ms)
{
    struct reporter *reporter = get_reporter();
    if (reporter == NULL || !reporter->settings->in_trial)
        return 0;
    int64_t seq;
    pthread_mutex_lock(&reporter->lock);
    struct report_sender *sender = settle(reporter, &seq);
    pthread_mutex_unlock(&reporter->lock);
    if (sender == NULL)
        return reporter->settings->report_url == NULL || seq > 0 ? ENOTCONN : 0;
    int rc = report_sender_wait(sender, seq, timeout_ms);
    if (rc != 0) {
        pthread_mutex_lock(&reporter->lock);
        reporter->waited_for = seq;
        pthread_mutex_unlock(&reporter->lock);
    }
    return rc;
}

static bool lock_soon(pthread_mutex_t *lock)
{
    for (int i = 0; i < EXIT_LOCK_TRIES; i++) {
        if (pthread_mutex_trylock(lock) == 0)
            return true;
        poll(NULL, 0, 1);
    }
    return false;
}

/* Gives the newest reports a moment to arrive, so that a short trial is seen
 * to end with its value; what a flush has waited for in vain is not awaited
 * again. The lock may belong to a thread that hangs in a file system, or to
 * the code that a signal handler calling exit() interrupted. */
static void wait_at_exit(void)
{
    struct reporter *reporter = atomic_load(&current);
    if (reporter->pid != getpid())
        return;
    if (!lock_soon(&reporter->lock))
        return;
    int64_t seq;
    struct report_sender *sender = settle(reporter, &seq);
    bool is_due = sender != NULL && seq > reporter->waited_for;
    reporter->waited_for = seq;
    pthread_mutex_unlock(&reporter->lock);
    if (is_due)
        report_sender_wait(sender, seq, EXIT_WAIT_MS);
}

int hypertune_should_stop(void)
{
    const struct reporter *reporter = get_reporter();
    return reporter != NULL && reporter->settings->stop != NULL &&
           access(reporter->settings->stop, F_OK) == 0;
}

/* ---- for the commands ---- */

bool reporter_in_trial(void)
{
    const struct reporter *reporter = get_reporter();
    return reporter != NULL && reporter->settings->in_trial;
}

const char *reporter_trial_folder(void)
{
    const struct reporter *reporter = get_reporter();
    return reporter != NULL ? reporter->settings->folder : NULL;
}

int reporter_trouble(void)
{
    struct reporter *reporter = get_reporter();
    if (reporter == NULL)
        return ENOMEM;
    pthread_mutex_lock(&reporter->lock);
    struct report_sender *sender = reporter->sender;
    pthread_mutex_unlock(&reporter->lock);
    return sender != NULL ? report_sender_trouble(sender) : ENOTCONN;
}

bool reporter_has_file(void)
{
    struct reporter *reporter = get_reporter();
    if (reporter == NULL)
        return false;
    pthread_mutex_lock(&reporter->lock);
    bool holds = reporter->seq > 0 && reporter->file_holds_all;
    pthread_mutex_unlock(&reporter->lock);
    return holds;
}
