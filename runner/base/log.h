/* log.h - what the runner says: on stderr one line per event, and of a replica
 * in a stream of its logs.
 *
 *     info attempt.started attempt=7/3/1 name=ht-ab12cd34-7-3-1
 *
 * A line is one write; control bytes in it are escaped. Any thread. Never pass
 * a token. */
#ifndef HT_RUNNER_BASE_LOG_H
#define HT_RUNNER_BASE_LOG_H

enum runner_log_level { RUNNER_INFO, RUNNER_WARN, RUNNER_ERROR };

/* `event` is a stable dotted id, `format` its key=value pairs ("" for none).
 * errno is preserved. */
__attribute__((format(printf, 3, 4))) void
runner_log(enum runner_log_level level, const char *event, const char *format,
           ...);

/* What the runner has to say about a replica: the stream "runner" of its logs,
 * a file in its folder like those of the shim. The folder may be the trial's to
 * write: nothing there is followed or believed, and the file stays short. */
#define RUNNER_STREAM "runner"

/* Appends a line; what cannot be written is lost. */
__attribute__((format(printf, 2, 3))) void
runner_log_of_replica(const char *replica_folder, const char *format, ...);

#endif
