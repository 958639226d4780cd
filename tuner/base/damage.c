#include "tuner/base/damage.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "proto/base/error.h"
#include "proto/base/log.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char first[sizeof((struct ht_error *)0)->text];
static _Atomic(const char *) found;

void damage_note(const char *why)
{
    pthread_mutex_lock(&lock);
    const bool is_first = damage_found() == NULL;
    if (is_first) {
        snprintf(first, sizeof first, "%s", why);
        atomic_store(&found, first);
    }
    pthread_mutex_unlock(&lock);
    if (is_first)
        log_event(LOG_ERROR, "database.damaged", "reason=\"%s\"", first);
}

const char *damage_found(void)
{
    return atomic_load(&found);
}
