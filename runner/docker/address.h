/* address.h - what a docker_address holds, for the module that connects.
 * Making and naming one: docker.h. */
#ifndef HT_RUNNER_DOCKER_ADDRESS_H
#define HT_RUNNER_DOCKER_ADDRESS_H

#include "runner/docker/docker.h"

struct docker_address {
    char *text;            /* as it was said, for messages */
    char *socket;          /* path of a unix socket, or NULL */
    char *base;            /* of URLs, "https://HOST:PORT", without a path */
    char *ca, *cert, *key; /* files of TLS, each NULL when absent */
};

#endif
