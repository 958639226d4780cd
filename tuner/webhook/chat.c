/* chat.c - an event of a study as a message for people.
 *
 * Slack:
 * https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and
 * /messaging/formatting-message-text, by which & < > alone are escaped. Teams:
 * https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors
 * /how-to/connectors-using: a workflow takes an Adaptive Card as the attachment
 * of a message. Its text is of TextRun, which has no Markdown, so that no name
 * of a study becomes a link. */
#include "tuner/webhook/chat.h"

#include <cjson/cJSON.h>

#include "proto/doc/json.h"
#include "tuner/db/rows.h"

/* --- the words --- */

static void add_objective(const struct webhook_message *message,
                          const struct trial_row *trial, struct text *out)
{
    if (message->metric == NULL || !trial->has_objective)
        return;
    text_printf(out, ", %s ", message->metric);
    text_double(out, trial->objective);
}

static void add_outcome(const char *state, const char *reason, struct text *out)
{
    text_puts(out, state);
    if (reason != NULL && reason[0] != '\0')
        text_printf(out, ", %s", reason);
}

static void add_trial(const struct webhook_message *message, struct text *out)
{
    const struct trial_row *trial = message->trial;
    text_printf(out, "trial %lld ", (long long)trial->id);
    if (message->what == NOTIFY_BEST_IMPROVED)
        text_puts(out, "is the best so far");
    else
        add_outcome(db_trial_state_name(trial->state), trial->reason, out);
    add_objective(message, trial, out);
}

/* "nile: SUCCEEDED, all 20 trials have ended. Best: trial 7, loss 0.031" */
static const char *words_of(struct arena *arena,
                            const struct webhook_message *message)
{
    struct text out = {0};
    text_printf(&out, "%s: ", message->study->name);
    if (message->trial != NULL) {
        add_trial(message, &out);
    } else {
        add_outcome(db_study_state_name(message->study->state),
                    message->study->reason, &out);
        if (message->best->id != 0) {
            text_printf(&out, ". Best: trial %lld",
                        (long long)message->best->id);
            add_objective(message, message->best, &out);
        }
    }
    const char *words = arena_strndup(arena, out.data, out.len);
    text_free(&out);
    return words;
}

/* --- Slack --- */

static void add_escaped(const char *words, struct text *out)
{
    for (const char *c = words; *c != '\0'; c++) {
        if (*c == '&')
            text_puts(out, "&amp;");
        else if (*c == '<')
            text_puts(out, "&lt;");
        else if (*c == '>')
            text_puts(out, "&gt;");
        else
            text_append(out, c, 1);
    }
}

static void write_slack(cJSON *body, const char *words, const char *link)
{
    struct text text = {0};
    add_escaped(words, &text);
    text_printf(&text, " <%s|Show it>", link);
    json_add_string(body, "text", text.data);
    text_free(&text);
}

/* --- Teams --- */

static cJSON *add_one(cJSON *object, const char *list, const char *type)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToArray(json_add_array(object, list), item);
    if (type != NULL)
        json_add_string(item, "type", type);
    return item;
}

static void write_teams(cJSON *body, const char *words, const char *link)
{
    json_add_string(body, "type", "message");
    cJSON *attachment = add_one(body, "attachments", NULL);
    json_add_string(attachment, "contentType",
                    "application/vnd.microsoft.card.adaptive");
    cJSON *card = json_add_object(attachment, "content");
    json_add_string(card, "type", "AdaptiveCard");
    json_add_string(card, "version", "1.2"); /* the first with TextRun */
    cJSON *block = add_one(card, "body", "RichTextBlock");
    json_add_string(add_one(block, "inlines", "TextRun"), "text", words);
    cJSON *action = add_one(card, "actions", "Action.OpenUrl");
    json_add_string(action, "title", "Show it");
    json_add_string(action, "url", link);
}

const char *webhook_chat_body(struct arena *arena, enum webhook_format format,
                              const struct webhook_message *message)
{
    cJSON *body = cJSON_CreateObject();
    const char *words = words_of(arena, message);
    if (format == WEBHOOK_SLACK)
        write_slack(body, words, message->link);
    else
        write_teams(body, words, message->link);
    return json_text(arena, body);
}
