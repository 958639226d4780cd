/* stop_limit.h - a stop that takes too long ends the program. */
#ifndef HT_TUNER_STOP_LIMIT_H
#define HT_TUNER_STOP_LIMIT_H

/* From now on the program has that long, unless the limit is lifted. */
void stop_limit_set(unsigned seconds);
void stop_limit_lift(void);

#endif
