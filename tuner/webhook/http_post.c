#include "tuner/webhook/http_post.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"
#include "proto/base/token.h"

enum {
    CONNECT_MS = 5000,
    WHOLE_MS = 15000,
    ANSWER_BYTES = 65536 /* more of it ends the attempt */
};

struct webhook_post {
    CURL *curl;
    struct arena *arena; /* of the headers' texts */
    struct curl_slist *headers, *resolve;
    size_t bytes; /* of the answer, so far */
    bool local, refused;
};

/* --- addresses --- */

struct network {
    uint32_t first; /* 32 bits of its addresses */
    int bits;       /* of those, that all addresses share; 0: end of a list */
};

/* Not reachable from outside, by IANA's special-purpose registries. */
static const struct network closed4[] = {
    {0x00000000, 8},  /* this network */
    {0x0a000000, 8},  /* private */
    {0x64400000, 10}, /* shared by a provider's customers */
    {0x7f000000, 8},  /* loopback */
    {0xa9fe0000, 16}, /* link-local, with the clouds' metadata */
    {0xac100000, 12}, /* private */
    {0xc0000000, 24}, /* protocol assignments */
    {0xc0000200, 24}, /* documentation */
    {0xc0586300, 24}, /* 6to4 relays */
    {0xc0a80000, 16}, /* private */
    {0xc6120000, 15}, /* benchmarks */
    {0xc6336400, 24}, /* documentation */
    {0xcb007100, 24}, /* documentation */
    {0xe0000000, 4},  /* multicast */
    {0xf0000000, 4},  /* reserved, broadcast */
    {0, 0}};

/* Only 2000::/3 is public at all; these parts of it are not. */
static const struct network open6[] = {{0x20000000, 3}, {0, 0}};
static const struct network closed6[] = {
    {0x20010000, 23}, /* protocol assignments, Teredo among them */
    {0x20010db8, 32}, /* documentation */
    {0x3fff0000, 20}, /* documentation */
    {0, 0}};

static bool is_in(uint32_t address, const struct network *networks)
{
    for (; networks->bits > 0; networks++)
        if ((address ^ networks->first) >> (32 - networks->bits) == 0)
            return true;
    return false;
}

static uint32_t bits_of(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | at[3];
}

static bool is_public6(const unsigned char address[16])
{
    static const unsigned char nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    const uint32_t first = bits_of(address);
    if (memcmp(address, nat64, sizeof nat64) == 0)
        return !is_in(bits_of(address + 12), closed4);
    if (first >> 16 == 0x2002) /* 6to4 */
        return !is_in(bits_of(address + 2), closed4);
    /* Mapped and compatible addresses are outside of it, too. */
    return is_in(first, open6) && !is_in(first, closed6);
}

bool webhook_address_is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, address, sizeof four);
        return !is_in(ntohl(four.sin_addr.s_addr), closed4);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, address, sizeof six);
        return is_public6(six.sin6_addr.s6_addr);
    }
    return false;
}

/* --- the request --- */

static size_t count_bytes(char *data, size_t size, size_t n, void *context)
{
    struct webhook_post *post = context;
    (void)data;
    post->bytes += size * n;
    return post->bytes <= ANSWER_BYTES ? size * n : 0;
}

/* Checks the address that is really connected to: a name may resolve to
 * another one each time. */
static curl_socket_t open_socket(void *context, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    struct webhook_post *post = context;
    (void)purpose;
    if (!post->local && !webhook_address_is_public(&address->addr)) {
        post->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC,
                  address->protocol);
}

__attribute__((format(printf, 2, 3))) static void
add_header(struct webhook_post *post, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct curl_slist *longer = curl_slist_append(
        post->headers, arena_vprintf(post->arena, format, args));
    va_end(args);
    if (longer == NULL)
        ht_out_of_memory();
    post->headers = longer;
}

/* The time is signed with the body: a copy of a delivery is useless later. */
static void add_headers(struct webhook_post *post,
                        const struct webhook *webhook,
                        const struct webhook_delivery *delivery, int64_t time_s)
{
    add_header(post, "Content-Type: application/json");
    add_header(post, "X-Hypertune-Event: %s", delivery->event);
    add_header(post, "X-Hypertune-Delivery: %lld", (long long)delivery->id);
    add_header(post, "X-Hypertune-Timestamp: %lld", (long long)time_s);
    if (webhook->secret == NULL)
        return;
    unsigned char mac[TOKEN_HASH_BYTES];
    char hex[TOKEN_TEXT_BYTES];
    const char *text =
        arena_printf(post->arena, "%lld.%s", (long long)time_s, delivery->body);
    token_hmac(mac, webhook->secret, text, strlen(text));
    token_hex(hex, mac);
    add_header(post, "X-Hypertune-Signature: sha256=%s", hex);
}

/* A connection is not used again: its address was checked for one webhook. */
static void set_rules(struct webhook_post *post)
{
    CURL *curl = post->curl;
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR,
                     post->local ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L); /* waits for no resolver */
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)WHOLE_MS);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, post);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, count_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, post);
}

struct webhook_post *webhook_post_new(const struct webhook *webhook,
                                      const struct webhook_delivery *delivery,
                                      int64_t time_ms, const char *resolve)
{
    struct webhook_post *post = ht_xcalloc(1, sizeof *post);
    post->arena = arena_new();
    post->local = webhook->local;
    post->curl = curl_easy_init();
    if (post->curl == NULL)
        ht_out_of_memory();
    add_headers(post, webhook, delivery, time_ms / 1000);
    if (resolve != NULL)
        post->resolve = curl_slist_append(NULL, resolve);
    set_rules(post);
    curl_easy_setopt(post->curl, CURLOPT_URL, webhook->url);
    curl_easy_setopt(post->curl, CURLOPT_USERAGENT, "hypertune/" HT_VERSION);
    curl_easy_setopt(post->curl, CURLOPT_HTTPHEADER, post->headers);
    curl_easy_setopt(post->curl, CURLOPT_POSTFIELDS, delivery->body);
    curl_easy_setopt(post->curl, CURLOPT_RESOLVE, post->resolve);
    return post;
}

CURL *webhook_post_handle(const struct webhook_post *post)
{
    return post->curl;
}

void webhook_post_free(struct webhook_post *post)
{
    if (post == NULL)
        return;
    curl_easy_cleanup(post->curl);
    curl_slist_free_all(post->headers);
    curl_slist_free_all(post->resolve);
    arena_free(post->arena);
    free(post);
}

enum ht_status webhook_post_result(const struct webhook_post *post,
                                   CURLcode code, struct ht_error *err)
{
    long status = 0;
    curl_easy_getinfo(post->curl, CURLINFO_RESPONSE_CODE, &status);
    if (post->refused)
        return ht_fail(err, HT_UNAVAILABLE,
                       "its address is not public, and it is not \"local\"");
    if (code != CURLE_OK)
        return ht_fail(err, HT_UNAVAILABLE, "%s",
                       post->bytes > ANSWER_BYTES ? "its answer is too long"
                                                  : curl_easy_strerror(code));
    if (status == 410)
        return ht_fail(err, HT_PRECONDITION, "answered 410, gone for good");
    return status >= 200 && status < 300
               ? HT_OK
               : ht_fail(err, HT_UNAVAILABLE, "answered %ld", status);
}
