/* registry_auth.h - credentials of a registry, from the docker command's own
 * config file: DOCKER_CONFIG/config.json or HOME/.docker/config.json. Never
 * logged, never kept. */
#ifndef HT_RUNNER_DOCKER_REGISTRY_AUTH_H
#define HT_RUNNER_DOCKER_REGISTRY_AUTH_H

#include <stdbool.h>
#include <stddef.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"

struct registry_login {          /* all NULL: there is none */
    const char *user, *password; /* both or none */
    const char *identity;        /* a token in their place */
};

/* The same file's login for an image's registry, in the arena. Errors of
 * registry_auth_find(). */
enum ht_status registry_auth_login(struct arena *arena, const char *image,
                                   char *(*lookup)(const char *name),
                                   struct registry_login *login,
                                   struct ht_error *err);
/* That of another such config, of which "auths" counts alone: from elsewhere,
 * it starts no program here.
 * HT_INVALID  it is damaged */
enum ht_status registry_auth_login_of(struct arena *arena, const char *image,
                                      const struct node *config,
                                      struct registry_login *login,
                                      struct ht_error *err);
bool registry_auth_has_any(const struct registry_login *login);

/* The value of X-Registry-Auth (base64url of JSON) for an image's registry, in
 * the arena; *auth is NULL when the file has none. Reads "auths" (auth,
 * username and password, identitytoken) and asks the programs of "credHelpers"
 * and "credsStore" (docker-credential-NAME get).
 * HT_INVALID  the file is damaged
 * HT_IO       it cannot be read, or a helper failed */
enum ht_status registry_auth_find(struct arena *arena, const char *image,
                                  char *(*lookup)(const char *name),
                                  const char **auth, struct ht_error *err);

/* "registry.example.com:5000" of "registry.example.com:5000/a/b:tag";
 * "docker.io" when the name has none. */
const char *registry_auth_host(struct arena *arena, const char *image);

/* Base64 of RFC 4648 with - and _ (section 5), padded; in the arena. */
const char *registry_auth_encode(struct arena *arena, const char *bytes,
                                 size_t len);

/* Reads base64 with + and / (section 4), with or without padding. NULL when it
 * is none; else the bytes with a NUL behind them, in the arena. */
const char *registry_auth_decode(struct arena *arena, const char *text,
                                 size_t *len);

/* ---- a program that keeps a user's passwords ----
 *
 * docker-credential-NAME, with the protocol of docker-credential-helpers: the
 * server on stdin, JSON on stdout. */

/* Asks for the credentials of `server`; *found is {"Username", "Secret"} in the
 * arena, NULL when the helper has none. The helper and what it started are
 * killed after `limit_ms`.
 * HT_INVALID  the name is no name of a program
 * HT_IO       the helper is not installed, failed, or was too slow */
enum ht_status registry_auth_ask_helper(struct arena *arena, const char *name,
                                        const char *server, int limit_ms,
                                        const struct node **found,
                                        struct ht_error *err);

#endif
