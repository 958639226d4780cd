/* refusal.h - what a server answers when it refuses a request, a
 * google.rpc.Status, as an error of ours. */
#ifndef HT_PROTO_DOC_REFUSAL_H
#define HT_PROTO_DOC_REFUSAL_H

#include <stddef.h>

#include "proto/base/error.h"
#include "proto/doc/node.h"

/* Writes the server's sentence and returns its status; of other answers, or
 * with `root` NULL, what the HTTP code says. Never HT_OK. */
enum ht_status refusal_read(const struct node *root, long code,
                            struct ht_error *err);
/* The same of an answer's bytes, which may be anything. */
enum ht_status refusal_parse(const char *bytes, size_t len, long code,
                             struct ht_error *err);

#endif
