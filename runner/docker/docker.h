/* docker.h - a connection to a container engine with Docker's HTTP API:
 * dockerd or Podman's service.
 *
 * Blocking calls, each bounded in time; a handle belongs to one thread at a
 * time, docker_cancel() alone may come from another. API facts: Docker Engine
 * API 1.41; what the two engines do differently is noted where it matters. */
#ifndef HT_RUNNER_DOCKER_DOCKER_H
#define HT_RUNNER_DOCKER_DOCKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"

/* Where an engine is, and its TLS files; immutable, shared by all handles. */
struct docker_address {
    struct arena *arena;         /* of all below */
    const char *text;            /* as it was given, for messages */
    const char *socket;          /* path of a unix socket, or NULL */
    const char *base;            /* of URLs, "https://HOST:PORT", no path */
    const char *ca, *cert, *key; /* files of TLS, each NULL when absent */
};

/* From `host` ("unix:///run/docker.sock", "tcp://HOST:PORT", https://...), else
 * DOCKER_HOST, else the first of the usual sockets of dockerd and Podman that
 * exists. TLS as the docker command has it: DOCKER_TLS_VERIFY, DOCKER_CERT_PATH
 * with ca.pem, cert.pem, key.pem. `lookup` is getenv or a test's.
 * HT_INVALID    the text is no such address
 * HT_NOT_FOUND  there is neither an address nor a usual socket */
enum ht_status docker_address_find(const char *host,
                                   char *(*lookup)(const char *name),
                                   struct docker_address **address,
                                   struct ht_error *err);
void docker_address_free(struct docker_address *address); /* accepts NULL */

struct docker;
/* Connects with the first call. The address must outlive the handle; exits
 * when curl or a descriptor cannot be had. */
struct docker *docker_new(const struct docker_address *address);
void docker_free(struct docker *docker); /* accepts NULL */

/* Makes a running and every later call of the handle end at once with
 * HT_UNAVAILABLE. From any thread. */
void docker_cancel(struct docker *docker);
/* For good: a cancelled handle is of no further use. Any thread. */
bool docker_is_cancelled(const struct docker *docker);
/* Waits that long; returns false at once when the handle is cancelled. */
bool docker_pause(struct docker *docker, int ms);

/* Percent-encoded for a path or the value of a query; '/' stays. */
const char *docker_escape(struct arena *arena, const char *text);

/* One request; all is borrowed for the call. */
struct docker_call {
    const char *method; /* "GET", "POST", "DELETE" */
    const char *path;   /* "/containers/json", without the version */
    const char *body;   /* JSON, NULL: none */
    const char *auth;   /* value of X-Registry-Auth, NULL: none */
    int timeout_ms;     /* of the whole call; 0: the usual 30 s */
};

/* One whole JSON answer, in the arena; NULL when it is empty. `answer` may be
 * NULL: the status is enough. The engine may
 * see a request twice when it closes a connection that was kept.
 * The status follows the HTTP code, err has the engine's message:
 * HT_OK           2xx, and 304: already in that state (started, stopped)
 * HT_NOT_FOUND    404, and 500 of Podman with such a message
 * HT_CONFLICT     409, and 500 of Podman with such a message: name in use,
 *                 network exists, wrong state; 403 for a network
 *                 with containers
 * HT_INVALID      any other 4xx
 * HT_INTERNAL     5xx; the answer is not JSON or has more than 16 MiB
 * HT_UNAVAILABLE  no connection, no answer in time, the answer was cut off,
 *                 cancelled; Podman lost a race with itself, and the next try
 *                 may succeed */
enum ht_status docker_call(struct docker *docker, struct arena *arena,
                           const struct docker_call *call,
                           const struct node **answer, struct ht_error *err);

/* The usual GET. */
enum ht_status docker_get(struct docker *docker, struct arena *arena,
                          const char *path, const struct node **answer,
                          struct ht_error *err);

/* Each JSON object of a stream, as it comes; false ends the call. */
typedef bool docker_take(void *context, const struct node *item);

/* For answers of JSON objects one after another (pull, build, events). The
 * timeout is for each pause, not for the whole call. Statuses as above. */
enum ht_status docker_stream(struct docker *docker,
                             const struct docker_call *call, docker_take *take,
                             void *context, struct ht_error *err);

/* What an engine is and can do, on the machine that it runs on. */
struct docker_facts {
    bool podman;         /* ignores DeviceRequests, never reports OOM kills */
    bool rootless;       /* this machine cannot reach its networks */
    bool gpus;           /* has the runtime of NVIDIA's GPUs */
    const char *version; /* "Podman 4.3.1", "Docker 20.10.24" */
    int64_t cpus, memory;
};

/* Asks /version and /info, 30 s each at most. */
enum ht_status docker_ask_facts(struct docker *docker, struct arena *arena,
                                struct docker_facts *facts,
                                struct ht_error *err);

/* Fails with the status that docker_call() promises for an answer of that HTTP
 * code and body ({"message"}, Podman's {"cause", "message"}, or anything). */
enum ht_status docker_refusal(struct arena *arena, long code, const char *body,
                              size_t len, struct ht_error *err);

/* A foreign message on one line without control bytes, in the arena. */
const char *docker_clean_words(struct arena *arena, const char *words);

#endif
