/* findings.h - the results of `doctor`: one line each, with the repair of a
 * fault. */
#ifndef HT_HYPERTUNE_CLI_HOST_FINDINGS_H
#define HT_HYPERTUNE_CLI_HOST_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>

enum finding_level {
    FINDING_OK,
    FINDING_NOTE, /* worth knowing, nothing to repair */
    FINDING_WARN, /* some trials cannot run */
    FINDING_FAIL  /* no trial can run here */
};

struct finding {
    enum finding_level level;
    const char *subject; /* one word: "memory" */
    const char *text;
    const char *repair; /* what to do, NULL: nothing */
};

struct findings {
    struct cli *cli; /* its arena has all texts */
    size_t n;
    struct finding *items;
};

/* Adds one; `repair` is copied, too. */
__attribute__((format(printf, 5, 6))) void
findings_add(struct findings *findings, enum finding_level level,
             const char *subject, const char *repair, const char *format, ...);
/* Whether one is of FINDING_FAIL; warnings do not count. */
bool findings_failed(const struct findings *findings);

/* Prints them in the format that was asked for: a table, or objects with
 * level, subject, text and repair. Returns an exit code. */
int findings_print(const struct findings *findings);

/* Looks at our programs, cores, memory, the disk of `folder` (the server's;
 * NULL: it has none), GPUs, clock and interpreters. */
void machine_examine(struct findings *findings, const char *folder);
/* Looks at the Slurm cluster that this machine has a way to, if any. */
void slurm_examine(struct findings *findings);
/* The same of a Kubernetes cluster that the environment names. */
void kubernetes_examine(struct findings *findings);

#endif
