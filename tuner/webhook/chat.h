/* chat.h - an event of a study as a message for people, in the form that the
 * incoming webhooks of chat programs take. */
#ifndef HT_TUNER_WEBHOOK_CHAT_H
#define HT_TUNER_WEBHOOK_CHAT_H

#include "proto/base/arena.h"
#include "proto/job/notify.h"

struct study_row;
struct trial_row;

enum webhook_format {
    WEBHOOK_EVENT, /* all of the event, for programs */
    WEBHOOK_SLACK, /* {"text"}, of Slack and of what takes the same, such as
                      Mattermost */
    WEBHOOK_TEAMS, /* a message with an Adaptive Card, of Teams' workflows */
    WEBHOOK_FORMATS
};

struct webhook_message { /* texts and rows are borrowed */
    enum notify_event what;
    const struct study_row *study;
    const struct trial_row *trial; /* that the event is about; NULL: none */
    const struct trial_row *best;  /* id 0: none */
    const char *metric;            /* of their objectives; NULL: none */
    const char *link;              /* to the study's page */
};

/* The body of the POST, in the arena; `format` is not WEBHOOK_EVENT. */
const char *webhook_chat_body(struct arena *arena, enum webhook_format format,
                              const struct webhook_message *message);

#endif
