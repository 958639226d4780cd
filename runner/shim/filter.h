/* filter.h - system calls that the shim gives up once its trainer runs: it
 * starts no program and opens no connection any more. */
#ifndef HT_RUNNER_SHIM_FILTER_H
#define HT_RUNNER_SHIM_FILTER_H

/* From now on these calls fail with EPERM. A filter is inherited, so the
 * trainer must have been started. A kernel without filters does nothing. */
void filter_install(void);

#endif
