/* export_folder.h - a study as a folder that `hypertune import` and
 * `hypertune submit` take again. */
#ifndef HT_HYPERTUNE_CLI_TRANSFER_EXPORT_FOLDER_H
#define HT_HYPERTUNE_CLI_TRANSFER_EXPORT_FOLDER_H

#include "hypertune/cli/frame/cli.h"
#include "hypertune/cli/study/study.h"

/* The files of it. */
#define EXPORT_SPEC "spec.yaml"         /* native, where that form can say it */
#define EXPORT_STUDY "study.json"       /* the resource */
#define EXPORT_TRIALS "trials.jsonl"    /* with their measurements */
#define EXPORT_METADATA "metadata.json" /* texts kept with them, if any */
#define EXPORT_EVENTS "events.jsonl"

/* Makes the folder `path`, which must not be there, with all but the trials.
 * Returns CLI_DONE, or the exit code after having said why. */
int cli_export_folder(struct cli *cli, const struct cli_study *study,
                      const char *path);

#endif
