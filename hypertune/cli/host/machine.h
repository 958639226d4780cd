/* machine.h - this machine as trials will find it. */
#ifndef HT_HYPERTUNE_CLI_HOST_MACHINE_H
#define HT_HYPERTUNE_CLI_HOST_MACHINE_H

#include "hypertune/cli/frame/findings.h"

/* Looks at our programs, cores, memory, the disk of `folder` (the server's;
 * NULL: it has none), GPUs, clock and interpreters. */
void machine_examine(struct findings *findings, const char *folder);

#endif
