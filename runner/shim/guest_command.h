/* guest_command.h - one command as a guest, without a folder of its own: what
 * the runner asks of a trial's programs, such as the version of its Python, is
 * the trial's code, too. */
#ifndef HT_RUNNER_SHIM_GUEST_COMMAND_H
#define HT_RUNNER_SHIM_GUEST_COMMAND_H

/* Runs `argv`, which ends with NULL, as the guest of the JSON text that
 * guest_write() makes, with this process's streams and environment, and waits
 * for its end. Returns its exit code, or SHIM_FAILED when it could not be
 * started or was killed. */
int guest_command_run(const char *json, char *const argv[]);

#endif
