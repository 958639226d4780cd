/* parts.h - the table of the parts of the server that run on the core's thread.
 */
#ifndef HT_TUNER_PARTS_H
#define HT_TUNER_PARTS_H

#include "tuner/core/options.h"

/* For core_options.parts. */
extern const struct core_part server_parts[CORE_PARTS];

#endif
