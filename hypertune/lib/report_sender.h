/* report_sender.h - the thread that carries records to the server.
 *
 * A bounded queue in front of one spreq connection. The thread starts with the
 * first record, blocks every signal, and is never joined: it owns nothing that
 * must outlive the process, as the report file already has each record.
 * Records go oldest first. A message begins with 16 KB of them, has one after
 * silence or a cut, and grows again after answers. */
#ifndef HT_HYPERTUNE_LIB_REPORT_SENDER_H
#define HT_HYPERTUNE_LIB_REPORT_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_sender;

struct report_sender_options { /* all borrowed for the sender's life */
    const char *url;           /* tcp://host:port */
    const char *token_file;    /* NULL: none */
    const char *replica;       /* such as "master-0" */
    const char *writer;        /* this process, 16 hex digits */
    bool in_file;              /* a runner gets each record from a file, too */
};

/* NULL when memory runs out or the URL is no address. */
struct report_sender *
report_sender_new(const struct report_sender_options *options);

/* In a forked child: lets go of the parent's socket, once. The struct itself
 * stays, its locks may be held by threads that do not exist here. */
void report_sender_disinherit(struct report_sender *sender);

/* Queues a copy of record `seq`, whose text is `len` bytes without newline. A
 * full queue drops its oldest record. Returns 0 or
 * EAGAIN     no thread to be had
 * ESHUTDOWN  the server takes no further record of this attempt */
int report_sender_push(struct report_sender *sender, int64_t seq,
                       const char *record, size_t len);

/* Waits until the server has confirmed record `seq` and all before it.
 * Over a slow link that is a wait for the whole queue; what has not arrived
 * after timeout_ms is still sent, and the runner has it in the file.
 * ETIMEDOUT  it has not, after timeout_ms or as it will never */
int report_sender_wait(struct report_sender *sender, int64_t seq,
                       int timeout_ms);

/* Keep every n-th record only, as the server asked last; 1 or more. */
int64_t report_sender_thin(struct report_sender *sender);

/* errno of what keeps records from being delivered; 0: nothing. ESHUTDOWN as
 * above, EACCES when the server refused the token. */
int report_sender_trouble(struct report_sender *sender);

#endif
