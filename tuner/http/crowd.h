/* crowd.h - how many connections an address or a principal has, which of them
 * may end for a new one, and the log's lines about those that did.
 *
 * A crowd exists as long as it has a member, or something that is to be logged.
 * Not locked: peers.c guards it. */
#ifndef HT_TUNER_HTTP_CROWD_H
#define HT_TUNER_HTTP_CROWD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tuner/base/budget.h"
#include "tuner/base/links.h"
#include "tuner/core/principal.h"

enum { CROWD_KEY_BYTES = PRINCIPAL_NAME_BYTES, CROWD_LOG_MS = 60000 };

struct crowd {
    struct crowd *next;        /* in its bucket */
    char key[CROWD_KEY_BYTES]; /* an address, or a principal's name */
    enum budget budget;        /* HALF_OPEN: of an address; CONNECTIONS */
    size_t n;                  /* members */
    struct links waiting;      /* these wait for a request, the oldest first */
    struct links working;      /* these have sent one that is not answered */
    int64_t bytes;             /* of bodies that are being received */
    int64_t ended;      /* members ended since the last line of the log */
    int64_t logged_ms;  /* monotonic */
    struct links noted; /* in the list of those that are to be logged */
};

struct crowds;

struct crowds *crowds_new(void);
void crowds_free(struct crowds *crowds); /* accepts NULL */

/* The one with this key, which is cut to fit; made when it is new. */
struct crowd *crowd_of(struct crowds *crowds, enum budget budget,
                       const char *key);
/* One member less. The crowd may be gone afterwards. */
void crowd_leave(struct crowds *crowds, struct crowd *crowd);

/* A connection was ended or a request refused for the crowd's budget: counts
 * it, and logs it at most once in CROWD_LOG_MS. */
void crowd_note(struct crowds *crowds, struct crowd *crowd, int64_t now_ms);
/* Logs what is due. False: nothing is left to be logged later. */
bool crowds_tick(struct crowds *crowds, int64_t now_ms);

#endif
