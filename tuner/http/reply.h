/* reply.h - HTTP answers: JSON with the common headers, and every refusal as a
 * google.rpc.Status. */
#ifndef HT_TUNER_HTTP_REPLY_H
#define HT_TUNER_HTTP_REPLY_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "proto/doc/diag.h"

struct MHD_Connection;
struct MHD_Response;

/* Appends {"error":{...}}; `diag` (or NULL) becomes field violations, `missing`
 * (or NULL) a member beside it. */
void http_error_text(struct text *out, const struct ht_error *err,
                     const struct diag *diag, const struct strings *missing);

/* The head of an answer. */
struct http_reply {
    int code;           /* HTTP status */
    const char *allow;  /* Allow header, or NULL */
    const char *cookie; /* Set-Cookie header, or NULL */
    const char *type;   /* Content-Type, NULL: JSON */
    const char *range;  /* Content-Range, or NULL */
    const char *name;   /* of a file that is to be saved, which comes from a
                           foreign program; or NULL */
    bool close;         /* end the connection after this answer */
};

/* Makes the one answer that needs no memory later: the server has none. Once,
 * before the first request; false when that cannot be made. */
bool http_prepare_exhausted(void);
/* Queues it. False: the connection must end. */
bool http_queue_exhausted(struct MHD_Connection *connection);

/* Queues the body, which is taken over. False: the connection must end. */
bool http_queue(struct MHD_Connection *connection,
                const struct http_reply *reply, struct text *body);
/* Makes a response of unknown length fit for HEAD: the library would end the
 * body it does not send with a last chunk, which a client takes for the next
 * answer. So there are no chunks, and the connection ends. */
void http_fit_head(struct MHD_Response *response);

/* The same for a body that the caller made otherwise; takes the response. */
bool http_queue_response(struct MHD_Connection *connection,
                         const struct http_reply *reply,
                         struct MHD_Response *response);

#endif
