/* name.h - the name of a study whose spec gives none. */
#ifndef HT_HYPERTUNE_CLI_SPEC_NAME_H
#define HT_HYPERTUNE_CLI_SPEC_NAME_H

#include "proto/base/arena.h"
#include "proto/job/job.h"

/* From the spec's path: "jobs/digits.yaml" is "digits"; a file that is called
 * spec, study, job or hypertune takes the name of `folder` (absolute). */
const char *cli_name_of_file(struct arena *arena, const char *path,
                             const char *folder);

/* From a command: the script among its words ("python src/train.py" is
 * "train", "python -m pkg.fit" is "pkg.fit"), else the program. */
const char *cli_name_of_command(struct arena *arena,
                                const struct strings *command);

/* From an image: "gcr.io/team/train:7" is "train". */
const char *cli_name_of_image(struct arena *arena, const char *image);

#endif
