/* scene.h - what the live view knows about the trials of a study: those
 * that run with their curves, those that ended last, the best so far, and the
 * slots of all runners. Filled once from the server, then kept by events. */
#ifndef HT_HYPERTUNE_CLI_LIVE_SCENE_H
#define HT_HYPERTUNE_CLI_LIVE_SCENE_H

#include "hypertune/cli/live/picture.h"

struct cli_scene {
    struct cli *cli;
    const char *study;  /* its name; both are borrowed */
    struct frame frame; /* trials and slots are kept here, the terminal's
                           members are the caller's */
    int64_t slots_ms;   /* monotonic, when slots were asked for */
};

/* Reads everything that has happened up to now. What cannot be read is not
 * shown. */
void scene_load(struct cli_scene *scene, const struct cli_study *study);
void scene_fini(struct cli_scene *scene);

/* Takes one event of the study. */
void scene_event(struct cli_scene *scene, const struct node *event);
/* Asks for the slots again when the last answer is some seconds old. */
void scene_refresh(struct cli_scene *scene);

#endif
