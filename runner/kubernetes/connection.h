/* connection.h - how an API server is reached and who asks there: one way for
 * requests and for streams. */
#ifndef HT_RUNNER_KUBERNETES_CONNECTION_H
#define HT_RUNNER_KUBERNETES_CONNECTION_H

#include <curl/curl.h>

#include "runner/kubernetes/login.h"

/* "HOST:PORT" of "https://HOST:PORT/PATH"; the caller's. */
char *kube_connection_host(const char *server);

/* The URL of a path of the API: the server's own path is before it. What it
 * returns is freed by curl_slist_free_all() after the transfer; may be NULL. */
struct curl_slist *kube_connection_route(CURL *curl,
                                         const struct kube_config *config,
                                         const char *path);

/* Times, proxy, TLS with what is trusted, and the client certificate. The
 * options have copies of what is in the ticket. */
void kube_connection_set(CURL *curl, const struct kube_config *config,
                         const struct kube_ticket *ticket);

/* Host, and who asks: each is "Name: value". */
struct curl_slist *kube_connection_headers(const struct kube_config *config,
                                           const struct kube_ticket *ticket);
struct curl_slist *kube_connection_add(struct curl_slist *headers,
                                       const char *name, const char *value);
/* Wipes them, too; accepts NULL. */
void kube_connection_drop(struct curl_slist *headers);

#endif
