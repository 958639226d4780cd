/* credential_helper.h - a program that keeps a person's registry passwords,
 * docker-credential-NAME, asked by the protocol of docker-credential-helpers:
 * the server on stdin, JSON on stdout. */
#ifndef HT_RUNNER_DOCKER_CREDENTIAL_HELPER_H
#define HT_RUNNER_DOCKER_CREDENTIAL_HELPER_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"

/* Asks for the credentials of `server`; *found is {"Username", "Secret"} in the
 * arena, NULL when the helper has none. What it started is killed after
 * `limit_ms`.
 * HT_INVALID  the name is no name of a program
 * HT_IO       the helper is not installed, failed, or was too slow */
enum ht_status credential_helper_get(struct arena *arena, const char *name,
                                     const char *server, int limit_ms,
                                     const struct node **found,
                                     struct ht_error *err);

#endif
