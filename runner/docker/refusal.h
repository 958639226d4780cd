/* refusal.h - what an engine means when it does not do as asked: its
 * code and words as one of our statuses. */
#ifndef HT_RUNNER_DOCKER_REFUSAL_H
#define HT_RUNNER_DOCKER_REFUSAL_H

#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"

/* Fails with the status that docker.h promises for an answer of that HTTP code
 * and body ({"message"}, Podman's {"cause", "message"}, or anything). */
enum ht_status docker_refusal(struct arena *arena, long code, const char *body,
                              size_t len, struct ht_error *err);

/* Foreign words on one line without control bytes, in the arena. */
const char *docker_clean_words(struct arena *arena, const char *words);

#endif
