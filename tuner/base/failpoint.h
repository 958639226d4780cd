/* failpoint.h - named places where a crash test can end the program.
 *
 * Armed by one text "name:n": the n-th time that the place is reached the
 * process ends at once, as kill -9 would end it. */
#ifndef HT_TUNER_BASE_FAILPOINT_H
#define HT_TUNER_BASE_FAILPOINT_H

#include <stdbool.h>
#include <stdint.h>

enum { FAILPOINT_EXIT = 86 }; /* exit code of a death on purpose */

struct failpoint {
    char name[32]; /* empty: never */
    int64_t left;  /* times it may still be reached, that one included */
};

/* NULL or "" disarms. False when the text is not name:n with n >= 1; the
 * failpoint is then disarmed too. */
bool failpoint_arm(struct failpoint *failpoint, const char *text);

/* Dies here when `name` is armed and its turn has come. */
void failpoint_reach(struct failpoint *failpoint, const char *name);

#endif
