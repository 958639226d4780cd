/* reporter.h - the one reporter of a process, which the functions of
 * hypertune.h and the commands in a trial use.
 *
 * One reporter per process, made at the first call of any function and made
 * anew after a fork. It reads the environment once. */
#ifndef HT_HYPERTUNE_LIB_REPORTER_H
#define HT_HYPERTUNE_LIB_REPORTER_H

#include <stdbool.h>

/* Is any variable of a trial set, such as HYPERTUNE_REPORT_FILE? */
bool reporter_in_trial(void);

/* HYPERTUNE_TRIAL_DIR, or NULL. */
const char *reporter_trial_folder(void);

/* errno of what keeps reports from being confirmed, 0 when there is nothing to
 * tell: ENOTCONN no report address, ESHUTDOWN the attempt has ended, EACCES
 * the token was refused, else what the connection said. */
int reporter_trouble(void);

/* Were this process's reports written to the report file? */
bool reporter_has_file(void);

#endif
