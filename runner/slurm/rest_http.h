/* rest_http.h - requests to one slurmrestd, in any version, on a unix socket or
 * over HTTP with a token. One thread at a time. */
#ifndef HT_RUNNER_SLURM_REST_HTTP_H
#define HT_RUNNER_SLURM_REST_HTTP_H

#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"
#include "runner/slurm/rest_json.h"
#include "runner/slurm/slurm.h"

struct rest_http;

/* HT_INVALID  settings->rest is no address */
enum ht_status rest_http_new(const struct slurm_settings *settings,
                             struct rest_http **http, struct ht_error *err);
void rest_http_free(struct rest_http *http); /* accepts NULL */
/* For any thread: the request under way and all later ones fail. */
void rest_http_abort(struct rest_http *http);
const char *rest_http_address(const struct rest_http *http);

struct rest_request {
    const char *method, *path; /* "/slurm/v0.0.38/jobs" */
    const char *body;          /* JSON or NULL */
};
/* One request, until `deadline_ms` of the monotonic clock. *answer is in the
 * arena, also of a refusal; NULL when there is no JSON. Errors of rest_check(),
 * and HT_INVALID or HT_IO for the file of the token. */
enum ht_status rest_http_call(struct rest_http *http,
                              const struct rest_request *request,
                              int64_t deadline_ms, struct arena *arena,
                              const struct node **answer, struct ht_error *err);

/* Whose jobs they are: on a unix socket of who this process is, else of the
 * token's user. Errors for the file of the token. */
enum ht_status rest_http_user(const struct rest_http *http, struct arena *arena,
                              struct rest_user *user, struct ht_error *err);

#endif
