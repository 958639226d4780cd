/* runner_stream.h - what the runner itself has to say about a replica: the
 * stream "runner" of its logs, a file in its folder like those of the shim.
 *
 * The folder may be the trial's to write: nothing there is followed or
 * believed, and the file stays short. */
#ifndef HT_RUNNER_REPORTS_RUNNER_STREAM_H
#define HT_RUNNER_REPORTS_RUNNER_STREAM_H

#define WORDS_STREAM "runner"

/* Appends a line; what cannot be written is lost. */
__attribute__((format(printf, 2, 3))) void
runner_stream_write(const char *replica_folder, const char *format, ...);

#endif
