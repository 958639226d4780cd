/* changed_studies.h - the studies that got a new revision or were deleted since
 * a thread last looked. Any thread adds, one takes. */
#ifndef HT_TUNER_BASE_CHANGED_STUDIES_H
#define HT_TUNER_BASE_CHANGED_STUDIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct changed_studies;

struct changed_studies *changed_studies_new(void);
void changed_studies_free(struct changed_studies *changed); /* accepts NULL */

/* True: it is the first since the last changed_studies_take(), so that the
 * thread has to be woken. */
bool changed_studies_add(struct changed_studies *changed, int64_t study);

/* Takes all of them, each once, by id; the caller frees *studies. */
size_t changed_studies_take(struct changed_studies *changed, int64_t **studies);

#endif
