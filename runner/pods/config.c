#include "runner/pods/config.h"

#include <stdlib.h>

enum ht_status pods_config(const struct site *site, struct arena *arena,
                           struct kube_config *config, struct ht_error *err)
{
    const struct kube_config_wish wish = {.file = site->kube_config,
                                          .context = site->kube_context,
                                          .namespace = site->kube_namespace,
                                          .lookup = getenv};
    return kube_config_find(&wish, arena, config, err);
}
