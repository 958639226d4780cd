/* image_pull.h - the way of an image from its registry to the engine. */
#ifndef HT_RUNNER_DOCKER_IMAGE_PULL_H
#define HT_RUNNER_DOCKER_IMAGE_PULL_H

#include "runner/docker/image.h"

/* Pulls wish->name, three times at most where a repeat may help, and tells of
 * the progress. A name without tag means :latest. Statuses of image_get(). */
enum ht_status image_pull(struct docker *docker, const struct image_wish *wish,
                          struct ht_error *err);

#endif
