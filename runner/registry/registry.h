/* registry.h - reads what an image says of itself (entry point, command) from
 * its registry, by the OCI distribution API, where no engine is at hand.
 *
 * Without TLS only a registry of this machine is asked. What is read by its
 * digest, or gets one here, is hashed. */
#ifndef HT_RUNNER_REGISTRY_REGISTRY_H
#define HT_RUNNER_REGISTRY_REGISTRY_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/docker/image.h"
#include "runner/docker/registry_auth.h"

/* Asks about "registry.example.org/a/b:tag". *image is in the arena: `digest`
 * is "registry.example.org/a/b@sha256:...", `id` that of the config. Of a list
 * for several platforms the digest is the list's and the config the one for
 * `arch`, such as "amd64". `login` is only used, never kept. Blocks for half a
 * minute for each of four requests at most.
 * HT_PRECONDITION  there is no such image, or it is not what its digest says
 * HT_DENIED        no access to it; the text names a remedy
 * HT_UNAVAILABLE   the registry cannot be reached now */
enum ht_status registry_read(struct arena *arena, const char *name,
                             const char *arch,
                             const struct registry_login *login,
                             struct image *image, struct ht_error *err);

#endif
