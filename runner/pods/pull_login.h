/* pull_login.h - the login for the registry of an image, where the kubelet has
 * its own from: the pull secrets of the pod, else those of its service account.
 * Where they have none, or may not be read, that of the docker command on the
 * runner's machine. */
#ifndef HT_RUNNER_PODS_PULL_LOGIN_H
#define HT_RUNNER_PODS_PULL_LOGIN_H

#include "proto/base/arena.h"
#include "runner/base/order.h"
#include "runner/registry/reader.h"

struct kube;

struct pull_login {
    struct kube *kube; /* of the reader's thread */
    const char *namespace;
};

/* Whose secrets count for the trial's pods, as a scope of the reader, in the
 * arena. */
const char *pull_scope(struct arena *arena, const struct order *order);

/* `context` is a struct pull_login. */
registry_find_login pull_login_find;

#endif
