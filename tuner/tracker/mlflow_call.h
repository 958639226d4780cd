/* mlflow_call.h - one request to an MLflow server's REST API 2.0, and the names
 * that it takes.
 *
 * The address is the admin's, so it may be of any network; redirects and
 * proxies are not followed, for the request may hold a password. */
#ifndef HT_TUNER_TRACKER_MLFLOW_CALL_H
#define HT_TUNER_TRACKER_MLFLOW_CALL_H

#include <stdatomic.h>

#include <cjson/cJSON.h>
#include <curl/curl.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"

struct mlflow_server {
    const char *url;             /* without a "/" at its end */
    const char *login_file;      /* TOKEN or USER:PASSWORD; NULL: see login */
    const char *login;           /* the same itself; NULL: none */
    const char *folder;          /* that a relative login_file counts from */
    const atomic_bool *stopping; /* ends a request under way */
    CURL *curl;
};

/* Checks an address: http or https, without user and password.
 * HT_INVALID with the reason */
enum ht_status mlflow_url_check(const char *url, struct ht_error *err);

/* A GET of `path` such as "runs/get?run_id=1", or where `body` is not NULL a
 * POST of it, which is freed. *answer is in the arena.
 * HT_NOT_FOUND     there is no such thing
 * HT_EXISTS        there is already one of that name
 * HT_PRECONDITION  MLflow refuses it, and says why
 * HT_UNAVAILABLE   no answer, or one that says nothing of this request: it may
 *                  have been done */
enum ht_status mlflow_call(struct mlflow_server *server, struct arena *arena,
                           const char *path, cJSON *body,
                           const struct node **answer, struct ht_error *err);

/* The name of a parameter or metric as MLflow takes it: what it refuses in a
 * name becomes "_xHH_", so that two names never become one. */
const char *mlflow_name(struct arena *arena, const char *name);

/* In a query. */
const char *mlflow_quoted(struct mlflow_server *server, struct arena *arena,
                          const char *text);

#endif
