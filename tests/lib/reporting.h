/* reporting.h - a process per case, and a server to report to.
 *
 * Every case is its own process, because the library reads its
 * environment once. */
#ifndef HT_TESTS_LIB_REPORTING_H
#define HT_TESTS_LIB_REPORTING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/check.h"

extern char reporting_folder[300]; /* of this case */
extern char reporting_file[320];   /* its report file */
extern char reporting_store[320];  /* what its server has */

/* A clock that only goes forward. */
long reporting_now_ms(void);

/* Runs the body in a process with its own folder; the case's faults are those
 * of the body. Returns how long it took, with its exit, in ms. */
long reporting_run(void (*body)(void));

/* ---- a server in its own process ---- */

struct reporting_server {
    pid_t pid;
    int port;
    int stdin_fd; /* it ends when this closes */
};

/* Starts rep_server at a port, 0 for any; returns once it listens. */
void reporting_server_start(struct reporting_server *server, int port,
                            const char *mode);

/* Kills it, as a crash would. */
void reporting_server_kill(struct reporting_server *server);

/* Sets the variables that a trial's process finds. */
void reporting_enter(const struct reporting_server *server);

/* Reports acc=value at a step; the status of the library. */
int reporting_report(double value, int64_t step);

/* ---- what is in a file of records ---- */

enum { MAX_WRITERS = 32 };

struct reporting_summary {
    int lines, torn, writers, doubles;
    char names[MAX_WRITERS][17];
    int count[MAX_WRITERS], highest[MAX_WRITERS];
    double last; /* acc of the last line */
};

/* Reads a file of records; zeros when it is absent. */
struct reporting_summary reporting_summary_of(const char *path);

/* The library's threads in this process, by name, as a sanitizer may have
 * others; the id of one goes to `id`. */
int reporting_threads(char id[16]);

/* Makes the folder of all cases. The server program is a tool of the tests,
 * found from the folder of the programs. */
bool reporting_init(const char *programs);

/* The exit code of the test program. */
int reporting_done(void);

#endif
