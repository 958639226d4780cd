/* image.h - pulls a container image, with lines of its progress, and reads its
 * settings (entry point, environment, folder) as the engine has them, before
 * the runner adds anything. */
#ifndef HT_RUNNER_DOCKER_IMAGE_H
#define HT_RUNNER_DOCKER_IMAGE_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/doc/node.h"
#include "proto/job/job.h"
#include "runner/docker/docker.h"

/* What containers of an image start with, unless they say otherwise. */
struct image {
    const char *id;     /* "sha256:...", containers are made from it */
    const char *digest; /* of the registry, else the id; for the record */
    struct strings entrypoint; /* maybe empty */
    struct strings command;
    struct pairs env;
    const char *workdir; /* NULL: "/" */
};

/* What a config of an image says (Entrypoint, Cmd, Env, WorkingDir), without id
 * and digest; in the arena. */
struct image image_read_config(struct arena *arena, const struct node *config);

/* Whether it has the letters of names, tags and digests alone.
 * HT_PRECONDITION  it has not */
enum ht_status image_check_name(const char *name, struct ht_error *err);

/* Gets lines of progress in the calling thread: the first, the last, and others
 * at least 2 s apart. */
typedef void image_progress(void *context, const char *line);

struct image_request {
    const char *name;
    enum job_pull pull;
    image_progress *progress; /* may be NULL */
    void *context;
    /* Finds DOCKER_CONFIG, HOME; NULL: getenv(). */
    char *(*lookup)(const char *name);
    int pause_ms; /* before a pull's second try, longer before the third; 0: 2 s
                   */
};

/* Makes sure that the engine has the image, pulls it when the policy asks for
 * it, and describes it, in the arena. Blocks as long as a pull lasts.
 * Credentials come from the docker config file, see registry_auth.h.
 * HT_PRECONDITION  there is no such image, or no access to it: another try does
 *                  not help; the text names a remedy
 * HT_UNAVAILABLE   registry or engine cannot be reached, or the pull broke */
enum ht_status image_get(struct docker *docker, struct arena *arena,
                         const struct image_request *request,
                         struct image *image, struct ht_error *err);

#endif
