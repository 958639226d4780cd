#include "runner/cluster/study.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/log.h"
#include "proto/base/memory.h"

enum { FIRST_WAIT_MS = 5000, LAST_WAIT_MS = 600000, MOST_DOUBLINGS = 8 };

struct study *study_find(struct study *first, int64_t study)
{
    while (first != NULL && first->plan.study != study)
        first = first->next;
    return first;
}

struct study *study_get(struct study **first, int64_t study)
{
    struct study *found = study_find(*first, study);
    if (found != NULL)
        return found;
    found = ht_xcalloc(1, sizeof *found);
    found->plan.study = study;
    found->next = *first;
    *first = found;
    return found;
}

static void free_need(struct study *study)
{
    free(study->hash);
    free(study->text);
    study->hash = study->text = NULL;
}

void study_free_all(struct study *first)
{
    while (first != NULL) {
        struct study *next = first->next;
        free_need(first);
        free(first->refused);
        free(first);
        first = next;
    }
}

void study_succeed(struct study *study)
{
    free(study->refused);
    study->refused = NULL;
    study->failures = 0;
    study->early = false;
    study->plan.try_at = 0;
}

static char *copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(ht_xcalloc(1, size), text, size);
}

void study_want(struct study *study, const struct engine_wanted *wanted)
{
    study->plan.wanted = wanted->slots;
    if (study->hash == NULL || strcmp(study->hash, wanted->need) != 0) {
        if (wanted->is == NULL)
            return; /* the server sends it when it sees what is known here */
        free_need(study);
        study->hash = copy(wanted->need);
        study->text = copy(wanted->is);
        study_succeed(study);
        study->plan.most = 0;
    }
    study->plan.need = study->hash;
}

void study_fail(struct study *study, int64_t now_ms, const char *format, ...)
{
    char reason[HT_MAX_REASON];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    const int doublings =
        study->failures < MOST_DOUBLINGS ? study->failures : MOST_DOUBLINGS;
    const int64_t wait = (int64_t)FIRST_WAIT_MS << doublings;
    if (now_ms >= study->plan.try_at) { /* what fails together counts once */
        study->failures++;
        study->plan.try_at =
            now_ms + (wait < LAST_WAIT_MS ? wait : LAST_WAIT_MS);
    }
    free(study->refused);
    study->refused = copy(reason);
    log_event(LOG_WARN, "slots.refused", "study=%lld reason=\"%s\"",
              (long long)study->plan.study, reason);
}
