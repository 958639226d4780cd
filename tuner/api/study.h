/* study.h - the life of a study: creation, commands, trials wanted,
 * its end.
 *
 * The request_handlers are what the HTTP routes name. Each reads req->body,
 * req->study and so on, and replies with the job as view.h renders it. */
#ifndef HT_TUNER_API_STUDY_H
#define HT_TUNER_API_STUDY_H

#include "tuner/core/request.h"

/* Body: Vertex's resource, which may carry "hypertune" */
request_handler study_create, study_create_custom, study_create_vizier;
/* Body: {"spec", "loadIfExists"}, the search in the native form */
request_handler study_create_from_spec;

request_handler study_cancel;
request_handler study_delete; /* a done Operation */
request_handler study_pause;
request_handler study_resume;
request_handler study_stop;

/* study_change.c */
request_handler study_change; /* PATCH, see docs/http.md */

/* study_read_logs.c: stores what read_printed (tuner/read/reader.h) found */
request_handler study_read_logs;

/* study_confirm.c; body: {"top", "seeds"}; replies with the confirmation */
request_handler study_confirm;

/* --- what was sent --- */

/* A member of a job as it was sent, but with the names of enumerations that
 * requests may give as numbers. */
const char *study_sent(struct arena *arena, const struct node *sent,
                       const struct job *job, const char *member);
/* The trialJobSpec or jobSpec of a resource of Vertex; "" when the job came in
 * another form, of which that is our own writing, or has no replicas. */
const char *study_sent_spec(struct arena *arena, const struct node *sent,
                            const struct job *job);

#endif
