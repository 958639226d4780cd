/* reader.h - the one thread that reads images from their registries, each once
 * for the life of the runner.
 *
 * What a registry does not answer now is asked again, four times in all. */
#ifndef HT_RUNNER_REGISTRY_READER_H
#define HT_RUNNER_REGISTRY_READER_H

#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "runner/docker/image.h"
#include "runner/docker/registry_auth.h"

struct registry_reader;

/* Finds the login for an image, in the arena; all NULL: without one. `scope` is
 * that of registry_reader_look(). In the reader's thread. After HT_UNAVAILABLE
 * it is asked again. */
typedef enum ht_status registry_find_login(void *context, struct arena *arena,
                                           const char *image, const char *scope,
                                           struct registry_login *login,
                                           struct ht_error *err);

/* HT_IO  no thread */
enum ht_status registry_reader_start(registry_find_login *find, void *context,
                                     struct registry_reader **reader,
                                     struct ht_error *err);
/* Waits for the request under way; accepts NULL. */
void registry_reader_stop(struct registry_reader *reader);

enum registry_state {
    REGISTRY_WAITS,  /* *words: why it was not read so far; "" at first */
    REGISTRY_READ,   /* *image is valid until registry_reader_stop() */
    REGISTRY_CLOSED, /* *words: why: no access, or no answer; the cluster may
                        have the image, and it is asked anew after a minute */
    REGISTRY_REFUSED /* *words: why: it is not there, or wrong; the same */
};

/* Has the image read where it was not asked for before with this scope, which
 * says whose logins count; returns at once. */
enum registry_state registry_reader_look(struct registry_reader *reader,
                                         const char *name, const char *scope,
                                         struct image *image,
                                         char words[HT_MAX_REASON]);

#endif
