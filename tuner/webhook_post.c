#include "tuner/webhook_post.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <curl/curl.h>

#include "proto/arena.h"
#include "proto/text.h"
#include "proto/token.h"
#include "tuner/webhook_target.h"

enum {
    CONNECT_MS = 5000,
    WHOLE_MS = 15000,
    ANSWER_BYTES = 65536 /* more of it ends the attempt */
};

struct answer {
    size_t bytes;
    bool local, refused;
};

static size_t skip(char *data, size_t size, size_t n, void *context)
{
    struct answer *answer = context;
    (void)data;
    answer->bytes += size * n;
    return answer->bytes <= ANSWER_BYTES ? size * n : 0;
}

/* The last moment at which the address is known: what a name resolved to when
 * it was looked at before may be another one by now. */
static curl_socket_t open_socket(void *context, curlsocktype purpose,
                                 struct curl_sockaddr *address)
{
    struct answer *answer = context;
    (void)purpose;
    if (!answer->local && !webhook_target_is_public(&address->addr)) {
        answer->refused = true;
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
static void add_signature(const struct webhook_letter *letter,
                          struct text *line)
{
    struct text told = {0};
    unsigned char mac[TOKEN_HASH_BYTES];
    char hex[TOKEN_TEXT_BYTES];
    text_printf(&told, "%lld.%s", (long long)(letter->time_ms / 1000),
                letter->body);
    token_hmac(mac, letter->secret, told.data, told.len);
    token_hex(hex, mac);
    text_printf(line, "X-Hypertune-Signature: sha256=%s", hex);
    text_free(&told);
}

static struct curl_slist *make_headers(const struct webhook_letter *letter)
{
    struct curl_slist *list = NULL;
    struct text line = {0};
    text_puts(&line, "Content-Type: application/json");
    list = add_header(list, &line);
    text_clear(&line);
    text_printf(&line, "X-Hypertune-Event: %s", letter->event);
    list = add_header(list, &line);
    text_clear(&line);
    text_printf(&line, "X-Hypertune-Delivery: %lld", (long long)letter->id);
    list = add_header(list, &line);
    text_clear(&line);
    text_printf(&line, "X-Hypertune-Timestamp: %lld",
                (long long)(letter->time_ms / 1000));
    list = add_header(list, &line);
    if (letter->secret != NULL) {
        text_clear(&line);
        add_signature(letter, &line);
        list = add_header(list, &line);
    }
    text_free(&line);
    return list;
}

static int look_at_stop(void *context, curl_off_t to_come, curl_off_t came,
                        curl_off_t to_go, curl_off_t gone)
{
    const atomic_bool *stop = context;
    (void)to_come;
    (void)came;
    (void)to_go;
    (void)gone;
    return atomic_load(stop) ? 1 : 0;
}

static void set_stop(CURL *curl, atomic_bool *stop)
{
    if (stop == NULL)
        return;
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, stop);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_at_stop);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

static void set_rules(CURL *curl, const struct webhook_letter *letter,
                      struct answer *answer)
{
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR,
                     letter->local ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)WHOLE_MS);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, answer);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, skip);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
}

static enum ht_status judge(CURL *curl, CURLcode code,
                            const struct answer *answer, struct ht_error *err)
{
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (answer->refused)
        return ht_fail(err, HT_UNAVAILABLE,
                       "its address is not public, and it is not \"local\"");
    if (code != CURLE_OK)
        return ht_fail(err, HT_UNAVAILABLE, "%s",
                       answer->bytes > ANSWER_BYTES ? "its answer is too long"
                                                    : curl_easy_strerror(code));
    if (status == 410)
        return ht_fail(err, HT_PRECONDITION, "answered 410, gone for good");
    return status >= 200 && status < 300
               ? HT_OK
               : ht_fail(err, HT_UNAVAILABLE, "answered %ld", status);
}

enum ht_status webhook_post(const struct webhook_letter *letter,
                            struct ht_error *err)
{
    struct answer answer = {.local = letter->local};
    enum ht_status status =
        webhook_target_check(letter->url, letter->local, err);
    if (status != HT_OK)
        return status;
    CURL *curl = curl_easy_init();
    if (curl == NULL)
        ht_out_of_memory();
    struct curl_slist *headers = make_headers(letter);
    struct curl_slist *known = letter->resolve != NULL
                                   ? curl_slist_append(NULL, letter->resolve)
                                   : NULL;
    set_rules(curl, letter, &answer);
    set_stop(curl, letter->stop);
    curl_easy_setopt(curl, CURLOPT_URL, letter->url);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "hypertune/" HT_VERSION);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, letter->body);
    curl_easy_setopt(curl, CURLOPT_RESOLVE, known);
    const CURLcode code = curl_easy_perform(curl);
    status = judge(curl, code, &answer, err);
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    curl_slist_free_all(known);
    return status;
}
