/* changed_studies.h - the studies of which something new is to be read, each
 * once.
 *
 * The core adds, the thread of webhooks takes. */
#ifndef HT_TUNER_WEBHOOK_CHANGED_STUDIES_H
#define HT_TUNER_WEBHOOK_CHANGED_STUDIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct webhook_news;

struct webhook_news *webhook_news_new(void);
void webhook_news_free(struct webhook_news *news); /* accepts NULL */

/* True: there was none before, so whoever waits for some is to be woken. */
bool webhook_news_add(struct webhook_news *news, int64_t study);

/* Takes all of them out and returns how many; the caller frees *studies. */
size_t webhook_news_take(struct webhook_news *news, int64_t **studies);

#endif
