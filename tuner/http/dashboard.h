/* dashboard.h - the dashboard's files, which are part of the program.
 *
 * tuner/web/embed.sh makes their table at build time. None of them holds data,
 * so anyone may read them; they get their data from the API. */
#ifndef HT_TUNER_HTTP_DASHBOARD_H
#define HT_TUNER_HTTP_DASHBOARD_H

#include <stddef.h>

#include "proto/base/error.h"

struct MHD_Connection;

struct dashboard_file {
    const char *name; /* "main.js" */
    const char *type; /* Content-Type */
    const char *etag; /* quoted, of its bytes */
    const unsigned char *plain, *plain_end;
    const unsigned char *packed, *packed_end; /* by gzip */
};

extern const struct dashboard_file pages[]; /* generated */
extern const size_t page_count;

/* Queues the file, NULL: the first page. HT_NOT_FOUND: there is no such one. */
enum ht_status dashboard_answer(struct MHD_Connection *connection,
                                const char *name, struct ht_error *err);

#endif
