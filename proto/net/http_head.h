/* http_head.h - whether the bytes of an HTTP/1 client are requests of which
 * every server finds the same bounds.
 *
 * Servers repair what is malformed, each in its own way, and two that differ
 * on where a request ends can be made to see different requests (smuggling).
 * This check repairs nothing: it follows RFC 9112, refuses wherever the RFC
 * lets a recipient choose, and passes on no byte behind the first that is
 * wrong. It keeps a connection's place in the grammar, no text, and allocates
 * nothing. What it is stricter in than the RFC asks: docs/http.md. */
#ifndef HT_PROTO_NET_HTTP_HEAD_H
#define HT_PROTO_NET_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTTP_HEAD_WORD = 24 }; /* the longest name or value that counts */

/* One connection's; all zero before its first byte. */
struct http_head {
    /* for the caller */
    int refused; /* the status to answer, 400, 431, 501 or 505; 0: none */
    const char *reason; /* of a refusal, a sentence; a constant */
    int64_t requests;   /* whose heads were complete */
    bool ended;         /* by a request that closes the connection: what follows
                           is of no request */

    /* its own */
    int state;
    size_t head_len, word_len;
    char word[HTTP_HEAD_WORD]; /* lower case */
    int field;                 /* of enum http_field */
    unsigned seen;             /* fields of this head, bits */
    bool is_1_0, closes, keeps, in_trailer;
    int64_t left; /* bytes of the body or the chunk */
    int digits;
};

/* Follows n bytes and returns how many of them may be passed on: all, unless
 * `refused` or `ended` is set afterwards. Not to be called again then. */
size_t http_head_follow(struct http_head *head, const char *bytes, size_t n);

/* Whether the connection may end here: between two requests. */
bool http_head_is_between(const struct http_head *head);

#endif
