/* operation.h - Google's long-running operations. Each is done when it is first
 * answered.
 *
 * The newest are kept in memory, so that a client may ask for one again; after
 * a restart of the server there are none. Core thread. */
#ifndef HT_TUNER_API_OPERATION_H
#define HT_TUNER_API_OPERATION_H

#include <cjson/cJSON.h>

#include "proto/base/error.h"
#include "tuner/core/request.h"

struct operation_table;

/* Empty; free() forgets all that it keeps. */
struct operation_table *operation_table_new(void);
void operation_table_free(
    struct operation_table *operations); /* accepts NULL */

/* The content of an operation. */
struct operation {
    const char *resource; /* what it worked on: "projects/P/.../studies/7" */
    cJSON *metadata;      /* owned until it is replied; NULL: none */
    cJSON *response;      /* the same; NULL: it failed */
    struct ht_error why;  /* when it failed */
};

/* A message of Google's API with its @type, such as "SuggestTrialsResponse", in
 * the version that the request asks; the caller owns it. */
cJSON *operation_message(const struct request *req, const char *type);
/* google.protobuf.Empty as a response; the caller owns it. */
cJSON *operation_empty(void);
/* Adds genericMetadata with both times to the metadata. */
void operation_add_times(struct core *core, cJSON *metadata);

/* Replies with the operation, done, and keeps it once it is committed, without
 * our own members of its trials: Google's clients reject unknown members in an
 * operation that they ask for again. */
void operation_reply(struct core *core, struct request *req,
                     struct operation *operation);

/* What can be asked of those kept: by id, below a project, a location, a study
 * or a trial. */
request_handler operation_get;    /* also `wait`: it is done */
request_handler operation_list;   /* newest first, in pages */
request_handler operation_delete; /* forgets it; {} */
request_handler operation_cancel; /* {}: too late, it is done */

#endif
