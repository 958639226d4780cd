/* http_heads MOST - the requests that http_head finds in its stdin.
 *
 * Reads frames of a 32-bit length in the byte order of the machine and as many
 * bytes, each the whole input of a connection, which is given in pieces of at
 * most MOST bytes (0: whole). Prints one line for each: the offset where each
 * request ends, then "refused STATUS", "ended", "between" or "open". */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/net/http_head.h"

/* The ends are found byte by byte: where the connection may end. */
static void print_ends(const char *bytes, size_t n)
{
    struct http_head head = {0};
    int64_t requests = 0;
    for (size_t at = 0; at < n && head.refused == 0 && !head.ended; at++) {
        http_head_follow(&head, bytes + at, 1);
        if (head.requests > requests && http_head_is_between(&head)) {
            requests = head.requests;
            printf("%zu ", at + 1);
        }
    }
}

static void print_outcome(const char *bytes, size_t n, size_t most)
{
    struct http_head head = {0};
    for (size_t at = 0; at < n && head.refused == 0 && !head.ended;) {
        const size_t piece = most == 0 || n - at < most ? n - at : most;
        at += http_head_follow(&head, bytes + at, piece);
    }
    if (head.refused != 0)
        printf("refused %d\n", head.refused);
    else
        puts(head.ended                    ? "ended"
             : http_head_is_between(&head) ? "between"
                                           : "open");
}

int main(int argc, char **argv)
{
    const size_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    uint32_t n;
    while (fread(&n, sizeof n, 1, stdin) == 1 && n < 1 << 24) {
        char *bytes = malloc(n + 1);
        if (bytes == NULL || fread(bytes, 1, n, stdin) != n)
            return 1;
        print_ends(bytes, n);
        print_outcome(bytes, n, most);
        free(bytes);
    }
    return 0;
}
