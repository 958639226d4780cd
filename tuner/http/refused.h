/* refused.h - the log's lines about refused requests, so many a second. */
#ifndef HT_TUNER_HTTP_REFUSED_H
#define HT_TUNER_HTTP_REFUSED_H

#include <stdint.h>

/* One thread's; zeroes at first. */
struct refused_log {
    int64_t second; /* monotonic, of the newest lines */
    int64_t lines;  /* in it */
    int64_t rest;   /* refusals without a line */
};

struct refused {
    int status;                /* that answers it */
    const char *why;           /* a sentence */
    const char *method, *path; /* as they came, without the query */
    const char *peer;          /* its address */
    const char *principal;     /* its name; "": not known */
};

/* Writes "http.refused", at most the budget's lines a second; the next line
 * after that says how many more there were. */
void refused_write(struct refused_log *log, const struct refused *refused,
                   int64_t now_ms);

#endif
