/* landlock.h - rules of the kernel that a process gives itself: which files it
 * may use, and that it may signal only processes with the same rules.
 *
 * A rule allows a folder with all that is below it, so a folder is hidden by
 * allowing its neighbours and those of the folders above it. What is made there
 * later is not allowed. */
#ifndef HT_RUNNER_SHIM_LANDLOCK_H
#define HT_RUNNER_SHIM_LANDLOCK_H

#include <stdbool.h>

#include "runner/base/guest.h"

/* The version of the kernel's interface, 0: it has none. */
int landlock_version(void);

/* From the version on in which signals are stopped. */
enum { LANDLOCK_SIGNALS = 6 };

/* Takes from this process, for good, the guest's hidden paths. False with
 * errno. */
bool landlock_hide(const struct guest *guest);

#endif
