/* Any bytes of an HTTP client: no more is passed on than came, pieces of any
 * size give the same outcome, and a refusal or an end is final. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/net/http_head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t follow(struct http_head *head, const char *bytes, size_t size,
                     size_t most)
{
    size_t at = 0;
    while (at < size && head->refused == 0 && !head->ended) {
        const size_t piece = size - at < most ? size - at : most;
        const size_t taken = http_head_follow(head, bytes + at, piece);
        if (taken > piece ||
            (taken < piece && head->refused == 0 && !head->ended))
            abort();
        at += taken;
    }
    return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_head whole = {0}, parts = {0};
    const char *bytes = (const char *)data;
    const size_t most = size > 0 ? data[0] % 7 + 1U : 1;
    if (follow(&whole, bytes, size, size + 1) !=
            follow(&parts, bytes, size, most) ||
        whole.refused != parts.refused || whole.ended != parts.ended ||
        whole.requests != parts.requests ||
        (whole.refused != 0) != (whole.reason != NULL))
        abort();
    return 0;
}
