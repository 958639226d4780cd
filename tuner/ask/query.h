/* query.h - the names in the query of a request: those that its route takes,
 * each of them once. */
#ifndef HT_TUNER_ASK_QUERY_H
#define HT_TUNER_ASK_QUERY_H

#include "proto/base/error.h"
#include "proto/job/job.h"
#include "tuner/core/request.h"

/* What a route takes that looks at no query, and so lets all of it pass. */
#define QUERY_ANYTHING "*"

/* Fills req->query with those of the decoded pairs that the route takes, such
 * as "pageSize pageToken"; NULL: none. A name in snake_case is the camelCase
 * one. What Google lets stand beside the fields of any method, such as alt and
 * whatever begins with $, passes and has no effect.
 * HT_INVALID  there is another name, or one twice; each is told as a violation
 *             of the request, too */
enum ht_status query_take(struct request *req, const char *takes,
                          const struct pairs *said, struct ht_error *err);

#endif
