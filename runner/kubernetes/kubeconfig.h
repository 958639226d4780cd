/* kubeconfig.h - where a Kubernetes cluster is and who we are there, from the
 * files that kubectl reads, or as a pod's service account.
 *
 * Nothing here talks to a cluster. Facts: client-go, tools/clientcmd and
 * rest/config.go. */
#ifndef HT_RUNNER_KUBERNETES_KUBECONFIG_H
#define HT_RUNNER_KUBERNETES_KUBECONFIG_H

#include <stdbool.h>

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "proto/base/text.h"

/* A program that makes credentials; see exec_plugin.h. */
struct kube_exec {
    const char *command; /* NULL: there is none */
    const char *version; /* "client.authentication.k8s.io/v1" or v1beta1 */
    const char *hint;    /* how to install it, or NULL */
    struct strings args;
    struct pairs env; /* added to the runner's */
    bool cluster;     /* it wants to know the cluster */
};

/* Each is NULL or none where it was not given. */
struct kube_user {
    const char *token_file;      /* read at each use, before the token */
    const char *token;           /* a bearer token */
    const char *name, *password; /* both or none */
    const char *cert, *key;      /* PEM, before the files */
    const char *cert_file, *key_file;
    const char *as, *as_uid; /* who to be instead */
    struct strings as_groups;
    struct kube_exec exec; /* where there is neither token nor password */
};

/* All of it is in the arena of kube_config_find(). */
struct kube_config {
    const char *source;    /* the files, or "the pod's service account" */
    const char *context;   /* its name; NULL: in a pod */
    const char *server;    /* "https://HOST:PORT/PATH", without a last slash */
    const char *ca;        /* PEM, before the file */
    const char *ca_file;   /* both NULL: what this machine trusts */
    bool insecure;         /* the server's certificate is not checked */
    const char *tls_name;  /* that it is for; NULL: the server's */
    const char *proxy;     /* NULL: of the environment */
    const char *namespace; /* never NULL */
    struct kube_user user;
};

/* What is NULL is looked for. */
struct kube_config_wish {
    const char *file;                  /* alone, in place of KUBECONFIG */
    const char *context;               /* in place of current-context */
    const char *namespace;             /* in place of the context's */
    const char *account;               /* folder of a pod's service account */
    char *(*lookup)(const char *name); /* getenv or a test's; not NULL */
};

/* Reads the files of KUBECONFIG (several are merged: the first one that has a
 * name or a value wins; missing ones are left out), else ~/.kube/config, else
 * the service account of this pod. Paths in a file are relative to its folder.
 * HT_NOT_FOUND  there is none of these
 * HT_INVALID    a file is wrong, with its place; secrets are not in the words
 * HT_IO         a file cannot be read */
enum ht_status kube_config_find(const struct kube_config_wish *wish,
                                struct arena *arena, struct kube_config *config,
                                struct ht_error *err);

#endif
