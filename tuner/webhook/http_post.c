#include "tuner/webhook/http_post.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "proto/base/arena.h"
#include "proto/base/text.h"
#include "proto/base/token.h"
#include "tuner/webhook/allowed_address.h"

enum {
    CONNECT_MS = 5000,
    WHOLE_MS = 15000,
    ANSWER_BYTES = 65536 /* more of it ends the attempt */
};

struct webhook_post {
    CURL *curl;
    struct curl_slist *headers, *known;
    size_t bytes; /* of the answer, so far */
    bool local, refused;
};

static size_t skip(char *data, size_t size, size_t n, void *context)
{
    struct webhook_post *post = context;
    (void)data;
    post->bytes += size * n;
    return post->bytes <= ANSWER_BYTES ? size * n : 0;
}

/* The last moment at which the address is known: what a name resolved to when
 * it was looked at before may be another one by now. */
static curl_socket_t open_socket(void *context, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    struct webhook_post *post = context;
    (void)purpose;
    if (!post->local && !webhook_target_is_public(&address->addr)) {
        post->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC,
                  address->protocol);
}

static struct curl_slist *add_header(struct curl_slist *list,
                                     const struct text *line)
{
    struct curl_slist *longer = curl_slist_append(list, line->data);
    if (longer == NULL)
        ht_out_of_memory();
    return longer;
}

/* The time is signed with the body, so that an old letter cannot be sent
 * again by who saw it. */
static void add_signature(const struct webhook_post_parts *parts,
                          struct text *line)
{
    struct text told = {0};
    unsigned char mac[TOKEN_HASH_BYTES];
    char hex[TOKEN_TEXT_BYTES];
    text_printf(&told, "%lld.%s", (long long)(parts->time_ms / 1000),
                parts->letter->body);
    token_hmac(mac, parts->webhook->secret, told.data, told.len);
    token_hex(hex, mac);
    text_printf(line, "X-Hypertune-Signature: sha256=%s", hex);
    text_free(&told);
}

static struct curl_slist *make_headers(const struct webhook_post_parts *parts)
{
    struct curl_slist *list = NULL;
    struct text line = {0};
    text_puts(&line, "Content-Type: application/json");
    list = add_header(list, &line);
    text_clear(&line);
    text_printf(&line, "X-Hypertune-Event: %s", parts->letter->event);
    list = add_header(list, &line);
    text_clear(&line);
    text_printf(&line, "X-Hypertune-Delivery: %lld",
                (long long)parts->letter->id);
    list = add_header(list, &line);
    text_clear(&line);
    text_printf(&line, "X-Hypertune-Timestamp: %lld",
                (long long)(parts->time_ms / 1000));
    list = add_header(list, &line);
    if (parts->webhook->secret != NULL) {
        text_clear(&line);
        add_signature(parts, &line);
        list = add_header(list, &line);
    }
    text_free(&line);
    return list;
}

/* No connection is used again: it was checked for the webhook that opened
 * it. */
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
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, skip);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, post);
}

struct webhook_post *webhook_post_new(const struct webhook_post_parts *parts)
{
    struct webhook_post *post = ht_xcalloc(1, sizeof *post);
    post->local = parts->webhook->local;
    post->curl = curl_easy_init();
    if (post->curl == NULL)
        ht_out_of_memory();
    post->headers = make_headers(parts);
    if (parts->resolve != NULL)
        post->known = curl_slist_append(NULL, parts->resolve);
    set_rules(post);
    curl_easy_setopt(post->curl, CURLOPT_URL, parts->webhook->url);
    curl_easy_setopt(post->curl, CURLOPT_USERAGENT, "hypertune/" HT_VERSION);
    curl_easy_setopt(post->curl, CURLOPT_HTTPHEADER, post->headers);
    curl_easy_setopt(post->curl, CURLOPT_POSTFIELDS, parts->letter->body);
    curl_easy_setopt(post->curl, CURLOPT_RESOLVE, post->known);
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
    curl_slist_free_all(post->known);
    free(post);
}

enum ht_status webhook_post_judge(const struct webhook_post *post,
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
