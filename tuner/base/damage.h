/* damage.h - whether a page or a row of hypertune.db was found damaged, or one
 * of its files was taken away. From then on, until its end, the server changes
 * nothing and acknowledges nothing. Any thread. */
#ifndef HT_TUNER_BASE_DAMAGE_H
#define HT_TUNER_BASE_DAMAGE_H

/* With its text, for requests that would change something. */
#define DAMAGE_REFUSAL                                                         \
    "the server is read-only, its database is damaged: %.160s"

/* Only the first is kept; it is also logged. The text is copied. */
void damage_note(const char *why);
/* NULL: none; else lasts as long as the program. */
const char *damage_found(void);

#endif
