/* login.h - who we are at a cluster, for each request anew: a token that is
 * read from its file, or what an exec plugin gives until it ends. Clients share
 * one, so that many of them run such a program once. Any thread may call. */
#ifndef HT_RUNNER_KUBERNETES_LOGIN_H
#define HT_RUNNER_KUBERNETES_LOGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/text.h"
#include "runner/kubernetes/kubeconfig.h"

struct kube_login;

/* The config must outlive it. */
struct kube_login *kube_login_new(const struct kube_config *config);
/* One more owner, who frees it as well. */
struct kube_login *kube_login_share(struct kube_login *login);
void kube_login_free(struct kube_login *login); /* accepts NULL */

const struct kube_config *kube_login_config(const struct kube_login *login);

/* What a request needs beside the config's own password and files. */
struct kube_ticket {
    struct text token;     /* empty: none */
    struct text cert, key; /* PEM; empty: none */
    uint64_t pass;         /* number of what an exec plugin gave; 0: none */
};
/* An exec plugin may run meanwhile; others wait for it. The ticket is for
 * kube_ticket_wipe(), also after a failure.
 * HT_INVALID, HT_IO   the file of a token has none, or cannot be read
 * and the errors of kube_exec_run() */
enum ht_status kube_login_get(struct kube_login *login,
                              struct kube_ticket *ticket, struct ht_error *err);
void kube_ticket_wipe(struct kube_ticket *ticket);

/* The cluster did not accept the ticket of that pass. True: the next one is
 * another, so that one more try makes sense. */
bool kube_login_refused(struct kube_login *login, uint64_t pass);

/* "the token in FILE": what the cluster did not accept; borrowed. */
const char *kube_login_words(const struct kube_login *login);

#endif
