/* upgrade.h - from a fresh connection to a WebSocket (RFC 6455, 4): the request
 * and what is answered. */
#ifndef HT_RUNNER_KUBERNETES_UPGRADE_H
#define HT_RUNNER_KUBERNETES_UPGRADE_H

#include <stddef.h>
#include <stdint.h>

#include <curl/curl.h>

#include "proto/base/text.h"

/* Of the answer's head; a longer one is no answer. */
enum { UPGRADE_HEAD = 16 * 1024 };

struct kube_upgrade {
    CURL *curl;                       /* connected with CONNECT_ONLY */
    const char *target;               /* "/api/v1/...?...", escaped */
    const struct curl_slist *headers; /* Host, and who asks */
    const char *protocol;             /* the one that the server must speak */
    int64_t deadline_ms;              /* of clock_monotonic_ms() */
    int abort_fd;                     /* readable: end at once */
};

struct kube_upgraded {
    int code;         /* of HTTP; 101: it is a WebSocket now */
    int64_t retry_s;  /* of Retry-After, 0: it does not say */
    struct text rest; /* behind the head: the first bytes of the WebSocket, at
                         most UPGRADE_HEAD, or the body of a refusal, at most
                         `most` bytes of it; the caller's */
};

/* Any code but CURLE_OK: there is no answer, or one that is wrong, and `words`
 * (CURL_ERROR_SIZE) may say more than the code. */
CURLcode kube_upgrade_ask(const struct kube_upgrade *upgrade, size_t most,
                          struct kube_upgraded *answer, char *words);

#endif
