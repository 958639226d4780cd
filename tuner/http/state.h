/* state.h - what the HTTP server's thread and its calls share. */
#ifndef HT_TUNER_HTTP_STATE_H
#define HT_TUNER_HTTP_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tuner/http/http.h"
#include "tuner/http/refused.h"

struct MHD_Daemon;
struct call;

struct http {
    struct http_options options;
    struct MHD_Daemon *daemon;
    struct peers *peers;
    struct refused_log refused; /* the HTTP thread's */
    pthread_mutex_t lock;       /* guards calls and what follows */
    pthread_cond_t changed;
    struct call *posted;
    int n_unfinished; /* posted or answered, not yet sent */
    bool stopping;    /* new calls are refused */
    bool closed;      /* posting is refused, too */
    bool clock_stopping;
    pthread_t clock;
    _Atomic int64_t active_ms;
};

#endif
