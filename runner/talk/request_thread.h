/* request_thread.h - a thread that sends one request at a time to the server's
 * control address, again and again until it is answered.
 *
 * Requests can be repeated: when no answer comes or the connection is lost, the
 * thread finds the server's address again and sends the same request there. The
 * supervising thread posts requests and takes answers; a wake-up descriptor
 * signals an answer. */
#ifndef HT_RUNNER_TALK_REQUEST_THREAD_H
#define HT_RUNNER_TALK_REQUEST_THREAD_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/base/text.h"

struct request_thread;
struct server_address;

/* After `patience_ms` without an answer, and more when answers take long, the
 * thread finds the server again; it must be longer than the server may hold the
 * request. `wake` is an eventfd; it and the address are borrowed. HT_IO: no
 * thread can be made. */
enum ht_status request_thread_start(struct server_address *address,
                                    int patience_ms, int wake,
                                    struct request_thread **thread,
                                    struct ht_error *err);
/* Cancels the request; accepts NULL. Stop the address first, or this waits for
 * its request. */
void request_thread_stop(struct request_thread *thread);

/* Moves the text out, leaving it empty. It replaces a request under way, whose
 * answer is dropped. */
void request_thread_post(struct request_thread *thread, struct text *request);
/* Moves the answer into the empty text. False: there is none (yet). */
bool request_thread_take(struct request_thread *thread, struct text *answer);
/* Whether the request under way was sent and got no answer, because of silence
 * or a lost connection. It is sent again, but a smaller one may pass. */
bool request_thread_has_failed(struct request_thread *thread);

#endif
