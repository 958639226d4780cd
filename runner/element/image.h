/* image.h - what a job of Slurm needs to run a replica in a container image:
 * image.json in the replica's folder, and the way to run images in the batch's.
 *
 * FOLDER/inside is for both sides of the container: launch.json of the trainer
 * there, `begun` once the container has started, exit.json where either side
 * knows better than the exit code why the trainer has ended, `tool` with the
 * path of the program where a container may outlive its processes. */
#ifndef HT_RUNNER_ELEMENT_IMAGE_H
#define HT_RUNNER_ELEMENT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"

/* The word of argv in whose place the image's entry point comes; with nothing
 * behind it also the image's own arguments. */
#define IMAGE_ENTRY "{entrypoint}"

/* A folder or file of the shared file system in the container. */
struct image_mount {
    const char *source, *target;
    bool read_only;
};

/* image.json; texts are in the arena that it was read into. */
struct image_order {
    const char *image;
    const char *name; /* of the container */
    const char *pull; /* "missing", "always", "never" */
    const char *user; /* NULL: the image's own */
    bool read_only;   /* the image's files */
    int64_t shm_bytes;
    size_t n_mounts;
    const struct image_mount *mounts;
};

/* Whether the replica runs in an image. */
bool image_is_wanted(const char *folder);
/* HT_IO  it cannot be written */
enum ht_status image_write(const char *folder, const struct image_order *order,
                           struct ht_error *err);
/* HT_NOT_FOUND, HT_IO  as of disk_read()
 * HT_CORRUPT           it names no image */
enum ht_status image_read(struct arena *arena, const char *folder,
                          struct image_order *order, struct ht_error *err);

/* The member `container` of the section `slurm` as words, kept in
 * BATCH/container.json: one is the name of a tool, more are a command with
 * {image} and {command}. Reading gives none where nothing was said. HT_IO */
enum ht_status image_way_write(const char *batch, const struct strings *words,
                               struct ht_error *err);
struct strings image_way_read(struct arena *arena, const char *batch);

/* FOLDER/inside, in the arena. */
const char *image_inside(struct arena *arena, const char *folder);

#endif
