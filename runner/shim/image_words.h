/* image_words.h - the command by which each tool runs an image. Pure. */
#ifndef HT_RUNNER_SHIM_IMAGE_WORDS_H
#define HT_RUNNER_SHIM_IMAGE_WORDS_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"

enum image_tool {
    IMAGE_APPTAINER, /* or singularity */
    IMAGE_PODMAN,
    IMAGE_CHARLIECLOUD,
    IMAGE_TEMPLATE /* a site's own words */
};

/* By this label a container names the process that it belongs to. */
#define IMAGE_LABEL "hypertune.shim"

struct image_call {
    enum image_tool tool;
    const char *program; /* its path; not of a template */
    const struct image_order *order;
    struct strings command;   /* what the container runs */
    const char *label;        /* value of IMAGE_LABEL; podman's alone */
    const char *files;        /* "nofile=1024:4096", the limits of the job: */
    const char *processes;    /* "nproc=...", podman's alone */
    struct strings words;     /* of a template */
    bool gpus;                /* Slurm has given some */
    bool in_cgroup;           /* it stays in the cgroup of the job: podman's */
    bool has_own_environment; /* the image has a list of variables:
                                 charliecloud's */
};

/* In the arena. */
struct strings image_words(struct arena *arena, const struct image_call *call);

#endif
