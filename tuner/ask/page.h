/* page.h - numbers, choices and pages in the query of a request. */
#ifndef HT_TUNER_ASK_PAGE_H
#define HT_TUNER_ASK_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "tuner/core/request.h"

enum { PAGE_DEFAULT = 100, PAGE_MOST = 1000 };

struct page {
    size_t size;   /* elements wanted, at least 1 */
    int64_t token; /* id of the last element of the page before; 0: none */
};

struct page_sizes { /* of one list */
    size_t usual;   /* when nothing is asked for */
    size_t most;
};

/* As Google's lists do: a size of 0 is the usual one, too large is the most. A
 * token goes with the list and the filter that it was given for.
 * HT_INVALID  pageSize is no size, or pageToken none of this list; told as a
 *             violation, too */
enum ht_status page_read_sized(struct request *req,
                               const struct page_sizes *sizes,
                               struct page *page, struct ht_error *err);
/* So many of the elements wanted as the server gives in a page. */
size_t page_most(const struct request *req, size_t wanted);
/* With PAGE_DEFAULT and PAGE_MOST. */
enum ht_status page_read(struct request *req, struct page *page,
                         struct ht_error *err);

/* An integer of the query within [min, max]; `fallback` when absent.
 * HT_INVALID when it is no such number; told as a violation, too. */
struct number_range {
    int64_t min, max, fallback;
};
enum ht_status page_number(struct request *req, const char *name,
                           const struct number_range *range, int64_t *value,
                           struct ht_error *err);

/* The place of a word of the query among the choices, which NULL ends; absent,
 * it is the first one. HT_INVALID when it is none; told as a violation, too. */
enum ht_status page_choice(struct request *req, const char *name,
                           const char *const choices[], size_t *choice,
                           struct ht_error *err);

/* Ends a streamed list: closes the array, adds the token of the last element
 * by its id (0: nothing is left) and the brace. */
void page_end(struct request *req, int64_t id);

#endif
