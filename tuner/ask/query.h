/* query.h - the query of a request: the names that its route takes, and the
 * numbers, choices and pages in it. */
#ifndef HT_TUNER_ASK_QUERY_H
#define HT_TUNER_ASK_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/core/request.h"

enum { PAGE_DEFAULT = 100, PAGE_MOST = 1000 };

/* What a client asks of a list. */
struct query_page {
    size_t size;   /* elements wanted, at least 1 */
    int64_t token; /* id of the last element of the page before; 0: none */
};

struct query_page_sizes { /* of one list */
    size_t usual;         /* when nothing is asked for */
    size_t most;
};

/* As Google's lists do: a size of 0 is the usual one, too large is the most. A
 * token goes with the list and the filter that it was given for.
 * HT_INVALID  pageSize is no size, or pageToken not of this list; also added
 *             as a violation */
enum ht_status query_page_sized(struct request *req,
                                const struct query_page_sizes *sizes,
                                struct query_page *page, struct ht_error *err);
/* So many of the elements wanted as the server gives in a page. */
size_t query_page_most(const struct request *req, size_t wanted);
/* With PAGE_DEFAULT and PAGE_MOST. */
enum ht_status query_page(struct request *req, struct query_page *page,
                          struct ht_error *err);

/* An integer of the query within [min, max]; `fallback` when absent.
 * HT_INVALID when it is no such number; also added as a violation. */
struct number_range {
    int64_t min, max, fallback;
};
enum ht_status query_number(struct request *req, const char *name,
                            const struct number_range *range, int64_t *value,
                            struct ht_error *err);

/* The place of a word of the query among the choices, which NULL ends; absent,
 * it is the first one. HT_INVALID when it is none; also a violation. */
enum ht_status query_choice(struct request *req, const char *name,
                            const char *const choices[], size_t *choice,
                            struct ht_error *err);

/* Whether the query says true of it; absent or false: no. HT_INVALID when it
 * says something else; also a violation. */
enum ht_status query_flag(struct request *req, const char *name, bool *flag,
                          struct ht_error *err);

/* The token of the page after the element with that id, in the request's arena.
 */
const char *query_page_token(const struct request *req, int64_t id);
/* Ends a streamed list: closes the array, adds the token of the last element
 * by its id (0: nothing is left) and the brace. */
void query_page_end(struct request *req, int64_t id);

/* For a route that ignores its query and so accepts any. */
#define QUERY_ANYTHING "*"

/* Fills req->query with those of the decoded pairs that the route takes, such
 * as "pageSize pageToken"; NULL: none. A name in snake_case is the camelCase
 * one. Google's parameters of every method, such as alt and all that begin with
 * $, are accepted and have no effect.
 * HT_INVALID  there is another name, or one twice; each is also added as a
 *             violation */
enum ht_status query_take(struct request *req, const char *takes,
                          const struct pairs *said, struct ht_error *err);

#endif
