/* login.h - who we are at a cluster, for each request anew: a token that is
 * read from its file, or what an exec plugin gives until it ends. */
#ifndef HT_RUNNER_KUBERNETES_LOGIN_H
#define HT_RUNNER_KUBERNETES_LOGIN_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "runner/kubernetes/kubeconfig.h"

struct kube_login;

/* The config must outlive it. One thread at a time. */
struct kube_login *kube_login_new(const struct kube_config *config);
void kube_login_free(struct kube_login *login); /* accepts NULL */

/* What a request needs beside the config's own password and files. `token` is
 * the caller's, who wipes it; the certificate is borrowed until the next call
 * for the login. An exec plugin may run meanwhile.
 * HT_INVALID, HT_IO   the file of a token has none, or cannot be read
 * and the errors of kube_exec_run() */
struct kube_ticket {
    struct text token;      /* empty: none */
    const char *cert, *key; /* PEM, or NULL */
};
enum ht_status kube_login_get(struct kube_login *login,
                              struct kube_ticket *ticket, struct ht_error *err);

/* The cluster did not accept the last ticket. True: the next one is another,
 * so that one more try makes sense. */
bool kube_login_refused(struct kube_login *login);

/* "the token in FILE": what the cluster did not accept; borrowed. */
const char *kube_login_words(const struct kube_login *login);

#endif
