/* request_thread.h - one thread that carries one request at a time to the
 * server's control address, again and again until it is answered.
 *
 * Requests are repeatable by contract, so resending is always right: after a
 * silence or a cut the thread asks for the address of the server anew and
 * goes there with the same request. The supervising thread posts and takes; a
 * wake-up descriptor tells it when an answer has come. */
#ifndef HT_RUNNER_TALK_REQUEST_THREAD_H
#define HT_RUNNER_TALK_REQUEST_THREAD_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/base/text.h"

struct request_thread;
struct server_address;

/* `patience_ms` of silence make the thread look for the server anew; it must
 * be longer than the server may hold the request. `wake` is an eventfd, both
 * are borrowed. HT_IO: no thread can be made. */
enum ht_status request_thread_start(struct server_address *address,
                                    int patience_ms, int wake,
                                    struct request_thread **thread,
                                    struct ht_error *err);
/* Gives up whatever is under way; accepts NULL. Stop the address first, or
 * this waits for its question. */
void request_thread_stop(struct request_thread *thread);

/* Takes the text over, leaving it empty. A request still under way is
 * forgotten: its answer does not matter any more. */
void request_thread_post(struct request_thread *thread, struct text *request);
/* Moves the answer into the empty text. False: there is none (yet). */
bool request_thread_take(struct request_thread *thread, struct text *answer);

#endif
