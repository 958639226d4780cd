/* gcloud_config.h - gcloud's folder of settings: what a person has set in
 * theirs, and one of ours, which keeps gcloud to the server it is given. */
#ifndef HT_HYPERTUNE_CLI_HOST_GCLOUD_CONFIG_H
#define HT_HYPERTUNE_CLI_HOST_GCLOUD_CONFIG_H

#include "proto/base/arena.h"
#include "proto/base/error.h"

/* A property such as {"core", "project"} in the configuration `name` (NULL:
 * the active one) of a folder of gcloud's; NULL when it says nothing. The
 * folder is only read. */
const char *gcloud_config_get(struct arena *arena, const char *folder,
                              const char *name, const char *section,
                              const char *key);

/* Makes the folder `gcloud` in the absolute folder `state`, both 0700, so that
 * gcloud neither looks for a metadata server nor meets the settings and
 * credentials of its user. May be done again at any time. HT_IO */
enum ht_status gcloud_config_make(struct arena *arena, const char *state,
                                  const char **folder, struct ht_error *err);

#endif
