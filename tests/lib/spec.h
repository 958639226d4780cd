/* spec.h - job documents as tests read them. */
#ifndef HT_TESTS_LIB_SPEC_H
#define HT_TESTS_LIB_SPEC_H

#include "proto/job/job.h"

/* The file's text, in the arena; a file that cannot be read ends the test
 * program. */
const char *spec_file(struct arena *arena, const char *path);

typedef struct job *spec_reader(const struct node *root, struct diag *diag);

/* Reads a text, named "spec" in messages; NULL after errors. Job and
 * diagnostics are in the arena and need the text. */
struct job *spec_read(struct arena *arena, spec_reader *reader,
                      const char *text, struct diag *diag);

#endif
