#include "hypertune/lib/report_sender.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hypertune/lib/report_answer.h"
#include "hypertune/lib/spreq.h"
#include "proto/base/pace.h"

enum {
    QUEUE_BYTES = 4 * 1024 * 1024, /* of records; about 40,000 of them */
    BATCH_BYTES = 256 * 1024,      /* of one message, under the wire's 1 MiB */
    ANSWER_BYTES = 16 * 1024,
    WORD_BYTES = 256,     /* of a token or a replica's name, with its NUL */
    SILENT_MS = 2000,     /* without a byte, beside what the last answer took */
    SILENT_STEP_MS = 500, /* more after each silence */
    SILENT_MAX_MS = 30000,
    RETRY_MIN_MS = 100, /* pauses a server may ask for */
    RETRY_MAX_MS = 30000,
    RETRY_MS = 2000,    /* when it does not say */
    ASK_AGAIN_MS = 250, /* between looks at what the server has by now */
    /* glibc takes the static TLS of all loaded libraries from a thread's
     * stack, and some trainers load much; untouched pages cost nothing. */
    STACK_BYTES = 256 * 1024,
    LONG_BYTES = 1024, /* of a record that some link may never pass */
    MOST_CUTS = 4      /* of such a one, then it is left to the file */
};

struct entry { /* before each record in the queue */
    int64_t seq;
    size_t len;
};

struct report_sender {
    struct report_sender_options options;
    char replica[WORD_BYTES];
    pthread_mutex_t lock; /* guards what follows, up to the next comment */
    pthread_cond_t work;  /* a record was queued, or a flush waits */
    pthread_cond_t news;  /* the server answered */
    char *queue;          /* a ring of QUEUE_BYTES */
    size_t head, used;    /* where its oldest entry begins; bytes in use */
    int64_t confirmed;    /* highest seq the server has with all before it */
    int waiters;          /* threads inside report_sender_wait() */
    bool has_thread;
    int ended; /* ESHUTDOWN or EACCES once nothing more may be sent */
    _Atomic int64_t thin;
    /* The thread's alone. */
    struct spreq req;
    char token[WORD_BYTES];
    char *message;    /* BATCH_BYTES */
    size_t len;       /* of message; 0: nothing sent yet */
    size_t head_len;  /* of the part before the records */
    size_t last_at;   /* where its last record begins */
    int64_t newest;   /* seq of its last record */
    uint32_t next_id; /* of the JSON message */
    struct pace pace;
    int64_t failed_newest; /* seq of the last record without an answer */
    int cuts;              /* of messages with one long record, in a row */
    int silent_ms;         /* without a byte moved, before the next try */
    char answer[ANSWER_BYTES];
};

/* Ends the word before the first byte that JSON would have to escape: neither
 * tokens nor names of replicas have such, and a token file ends in a newline.
 */
static void cut_word(char word[WORD_BYTES])
{
    static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.=+/";
    word[strspn(word, allowed)] = '\0';
}

struct report_sender *
report_sender_new(const struct report_sender_options *options)
{
    struct report_sender *sender = calloc(1, sizeof *sender);
    char *queue = malloc(QUEUE_BYTES); /* pages count when they are used */
    char *message = malloc(BATCH_BYTES);
    if (sender == NULL || queue == NULL || message == NULL ||
        spreq_init(&sender->req, options->url) != 0) {
        free(message);
        free(queue);
        free(sender);
        return NULL;
    }
    sender->queue = queue;
    sender->message = message;
    sender->options = *options;
    pace_init(&sender->pace, BATCH_BYTES);
    sender->silent_ms = SILENT_MS;
    snprintf(sender->replica, sizeof sender->replica, "%s", options->replica);
    cut_word(sender->replica);
    sender->thin = 1;
    pthread_mutex_init(&sender->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&sender->work, &monotonic);
    pthread_cond_init(&sender->news, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return sender;
}

void report_sender_disinherit(struct report_sender *sender)
{
    spreq_close(&sender->req);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct timespec in_ms(int64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* ---- the queue; the lock is held ----
 *
 * A ring rather than a list: the thread then never enters the allocator, whose
 * locks a fork() at that moment might leave locked in the child. */

static void put(struct report_sender *sender, const void *data, size_t len)
{
    size_t at = (sender->head + sender->used) % QUEUE_BYTES;
    size_t first = len < QUEUE_BYTES - at ? len : QUEUE_BYTES - at;
    memcpy(sender->queue + at, data, first);
    memcpy(sender->queue, (const char *)data + first, len - first);
    sender->used += len;
}

/* Copies the bytes from the `at`-th oldest on without taking them. */
static void look(const struct report_sender *sender, size_t at, void *data,
                 size_t len)
{
    at = (sender->head + at) % QUEUE_BYTES;
    size_t first = len < QUEUE_BYTES - at ? len : QUEUE_BYTES - at;
    memcpy(data, sender->queue + at, first);
    memcpy((char *)data + first, sender->queue, len - first);
}

static void skip(struct report_sender *sender, size_t len)
{
    sender->head = (sender->head + len) % QUEUE_BYTES;
    sender->used -= len;
}

/* Drops the oldest entry when its seq is at most `seq`. */
static bool drop_oldest(struct report_sender *sender, int64_t seq)
{
    struct entry oldest;
    look(sender, 0, &oldest, sizeof oldest);
    if (oldest.seq > seq)
        return false;
    skip(sender, sizeof oldest + oldest.len);
    return true;
}

static void drop_through(struct report_sender *sender, int64_t seq)
{
    while (sender->used > 0 && drop_oldest(sender, seq)) {
    }
}

static void append(struct report_sender *sender, int64_t seq,
                   const char *record, size_t len)
{
    const struct entry entry = {seq, len};
    while (QUEUE_BYTES - sender->used < sizeof entry + len)
        drop_oldest(sender, INT64_MAX);
    put(sender, &entry, sizeof entry);
    put(sender, record, len);
}

/* ---- the thread ---- */

static void read_token(struct report_sender *sender)
{
    sender->token[0] = '\0';
    if (sender->options.token_file == NULL)
        return;
    int fd = open(sender->options.token_file, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t len = read(fd, sender->token, sizeof sender->token - 1);
    close(fd);
    sender->token[len > 0 ? len : 0] = '\0';
    cut_word(sender->token);
}

/* Copies the oldest records into one message of at most `batch` bytes; they
 * stay in the queue until the server has decided. The lock is held. */
static void fill_message(struct report_sender *sender)
{
    int head =
        snprintf(sender->message, BATCH_BYTES,
                 "{\"v\":1,\"type\":\"report\",\"token\":\"%s\","
                 "\"id\":%u,\"replica\":\"%s\",\"records\":[",
                 sender->token, (unsigned)++sender->next_id, sender->replica);
    size_t len = (size_t)head;
    sender->head_len = len;
    for (size_t at = 0; at < sender->used;) {
        struct entry entry;
        look(sender, at, &entry, sizeof entry);
        const bool is_first = at == 0;
        if (len + entry.len + sizeof ",]}" >
            (is_first ? BATCH_BYTES : sender->pace.batch))
            break;
        if (!is_first)
            sender->message[len++] = ',';
        look(sender, at + sizeof entry, sender->message + len, entry.len);
        sender->last_at = len;
        len += entry.len;
        at += sizeof entry + entry.len;
        sender->newest = entry.seq;
    }
    memcpy(sender->message + len, "]}", 2);
    sender->len = len + 2;
}

/* Without new records the last one goes again: the answer contains what the
 * server has by now. */
static void prepare_message(struct report_sender *sender)
{
    pthread_mutex_lock(&sender->lock);
    if (sender->used > 0) {
        fill_message(sender);
    } else {
        sender->len -= sender->last_at - sender->head_len;
        memmove(sender->message + sender->head_len,
                sender->message + sender->last_at,
                sender->len - sender->head_len);
        sender->last_at = sender->head_len;
    }
    pthread_mutex_unlock(&sender->lock);
}

/* Blocks until there is something to send: new records, or, when a caller
 * waits for records that fell out of the queue, the newest record again, as
 * the answer contains what the runner has read from the file by then. */
static void await_work(struct report_sender *sender)
{
    pthread_mutex_lock(&sender->lock);
    while (sender->used == 0) {
        if (sender->waiters == 0) {
            pthread_cond_wait(&sender->work, &sender->lock);
            continue;
        }
        struct timespec soon = in_ms(ASK_AGAIN_MS);
        if (pthread_cond_timedwait(&sender->work, &sender->lock, &soon) ==
                ETIMEDOUT &&
            sender->waiters > 0 && sender->len > 0)
            break;
    }
    pthread_mutex_unlock(&sender->lock);
}

static void note_stored(struct report_sender *sender,
                        const struct report_answer *answer)
{
    int64_t have = answer->have >= 0 ? answer->have : sender->newest;
    pthread_mutex_lock(&sender->lock);
    if (have > sender->confirmed)
        sender->confirmed = have;
    drop_through(sender, have > sender->newest ? have : sender->newest);
    atomic_store(&sender->thin, answer->thin);
    pthread_cond_broadcast(&sender->news);
    pthread_mutex_unlock(&sender->lock);
}

static void note_end(struct report_sender *sender, int reason)
{
    pthread_mutex_lock(&sender->lock);
    sender->ended = reason;
    sender->used = 0;
    pthread_cond_broadcast(&sender->news);
    pthread_mutex_unlock(&sender->lock);
}

static void pause_for(int64_t asked_ms)
{
    int64_t ms = asked_ms > 0 ? asked_ms : RETRY_MS;
    ms = ms < RETRY_MIN_MS ? RETRY_MIN_MS : ms;
    poll(NULL, 0, (int)(ms > RETRY_MAX_MS ? RETRY_MAX_MS : ms));
}

static void drop_message(struct report_sender *sender)
{
    pthread_mutex_lock(&sender->lock);
    drop_through(sender, sender->newest);
    pthread_mutex_unlock(&sender->lock);
}

static void note_failure(struct report_sender *sender, bool was_silent)
{
    if (sender->pace.failed == 0)
        sender->failed_newest = sender->newest;
    pace_failed(&sender->pace, sender->len);
    if (was_silent && sender->silent_ms < SILENT_MAX_MS)
        sender->silent_ms += SILENT_STEP_MS;
}

static void note_answer(struct report_sender *sender, int64_t have, int64_t ms)
{
    const int64_t silent_ms = SILENT_MS + 4 * ms; /* a message may double */
    sender->silent_ms =
        (int)(silent_ms < SILENT_MAX_MS ? silent_ms : SILENT_MAX_MS);
    pace_answered(&sender->pace, sender->len, have >= sender->failed_newest,
                  ms);
}

static bool is_long(const struct report_sender *sender)
{
    return sender->last_at == sender->head_len &&
           sender->len - sender->head_len > LONG_BYTES;
}

/* Whether the message is too long for a link that cuts connections. */
static bool is_left_to_file(struct report_sender *sender, int rc)
{
    if (rc != ECONNRESET || !sender->options.in_file || !is_long(sender))
        return false;
    sender->cuts += sender->cuts < MOST_CUTS;
    return sender->cuts == MOST_CUTS;
}

/* Tries until the server answers: after each failure with less in the message,
 * and in the same request, as the late answer to a try before will do. */
static struct report_answer exchange(struct report_sender *sender)
{
    for (bool again = false;; again = true) {
        prepare_message(sender);
        struct spreq_buffer buffer = {sender->answer, ANSWER_BYTES, 0};
        const int64_t start = now_ms();
        const int rc = (again ? spreq_resend : spreq_request)(
            &sender->req, sender->message, sender->len, &buffer,
            sender->silent_ms);
        if (rc != 0) {
            note_failure(sender, rc == ETIMEDOUT);
            if (!is_left_to_file(sender, rc))
                continue;
            sender->len = 0; /* nor is it asked about */
            return (struct report_answer){.status = ANSWER_INVALID};
        }
        if (is_long(sender))
            sender->cuts = 0;
        struct report_answer answer =
            report_answer_read(buffer.data, buffer.len, sender->options.writer);
        note_answer(sender, answer.have, now_ms() - start);
        return answer;
    }
}

/* Sends until a message is decided; false: nothing else is to be sent. */
static bool deliver(struct report_sender *sender)
{
    for (;;) {
        struct report_answer answer = exchange(sender);
        switch (answer.status) {
        case ANSWER_OK:
            note_stored(sender, &answer);
            return true;
        case ANSWER_INVALID:
            drop_message(sender); /* it would fail again */
            return true;
        case ANSWER_RETRY:
        case ANSWER_GARBLED:
            pause_for(answer.retry_ms);
            break;
        case ANSWER_GONE:
            note_end(sender, ESHUTDOWN);
            return false;
        case ANSWER_DENIED:
            note_end(sender, EACCES);
            return false;
        }
    }
}

static void *run(void *argument)
{
    struct report_sender *sender = argument;
    pthread_setname_np(pthread_self(), "hypertune");
    read_token(sender);
    do {
        await_work(sender);
    } while (deliver(sender));
    spreq_close(&sender->req);
    return NULL;
}

/* ---- the callers' side ---- */

static int start_thread(struct report_sender *sender)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* The trainer's signals belong to the trainer's threads. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int rc = pthread_create(&thread, &attributes, run, sender);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    sender->has_thread = rc == 0;
    return rc;
}

int report_sender_push(struct report_sender *sender, int64_t seq,
                       const char *record, size_t len)
{
    pthread_mutex_lock(&sender->lock);
    int rc = sender->ended != 0 ? ESHUTDOWN : 0;
    if (rc == 0 && !sender->has_thread)
        rc = start_thread(sender);
    if (rc == 0) {
        bool was_empty = sender->used == 0;
        append(sender, seq, record, len);
        if (was_empty)
            pthread_cond_signal(&sender->work);
    }
    pthread_mutex_unlock(&sender->lock);
    return rc;
}

int report_sender_wait(struct report_sender *sender, int64_t seq,
                       int timeout_ms)
{
    struct timespec deadline = in_ms(timeout_ms);
    pthread_mutex_lock(&sender->lock);
    sender->waiters++;
    pthread_cond_signal(&sender->work);
    int rc = 0;
    while (rc == 0 && sender->confirmed < seq && sender->ended == 0)
        rc = pthread_cond_timedwait(&sender->news, &sender->lock, &deadline);
    sender->waiters--;
    bool is_stored = sender->confirmed >= seq;
    pthread_mutex_unlock(&sender->lock);
    return is_stored ? 0 : ETIMEDOUT;
}

int64_t report_sender_thin(struct report_sender *sender)
{
    return atomic_load(&sender->thin);
}

int report_sender_trouble(struct report_sender *sender)
{
    pthread_mutex_lock(&sender->lock);
    int ended = sender->ended;
    pthread_mutex_unlock(&sender->lock);
    return ended != 0 ? ended : atomic_load(&sender->req.error);
}
