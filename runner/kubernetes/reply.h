/* reply.h - JSON of an API server, which has texts from inside of any pod. */
#ifndef HT_RUNNER_KUBERNETES_REPLY_H
#define HT_RUNNER_KUBERNETES_REPLY_H

#include "proto/base/arena.h"
#include "proto/base/text.h"

struct node;

/* The text as a tree in the arena; NULL when it is no JSON, or empty. A NUL in
 * a text (a pod may end with any message) becomes U+FFFD, also in `text`: our
 * reader has no such texts, and one pod must not hide all others. */
const struct node *kube_reply_read(struct arena *arena, struct text *text);

#endif
