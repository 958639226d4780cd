/* upgrade.c - written by hand: the libcurl of Debian 12 has no WebSocket. */
#include "runner/kubernetes/upgrade.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nettle/base64.h>
#include <nettle/sha1.h>

#include "proto/base/clock.h"
#include "proto/base/secret_file.h"
#include "proto/base/token.h"

enum {
    PIECE = 4096, /* read at once */
    KEY_BYTES = 16,
    KEY_TEXT = BASE64_ENCODE_RAW_LENGTH(KEY_BYTES) + 1,
    ACCEPT_TEXT = BASE64_ENCODE_RAW_LENGTH(SHA1_DIGEST_SIZE) + 1
};

/* ---- bytes ---- */

/* Waits for the socket; CURLE_OK: try again. */
static CURLcode wait_for(const struct kube_upgrade *upgrade, short events)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_easy_getinfo(upgrade->curl, CURLINFO_ACTIVESOCKET, &fd);
    const int64_t left_ms = upgrade->deadline_ms - clock_monotonic_ms();
    if (fd == CURL_SOCKET_BAD)
        return CURLE_GOT_NOTHING;
    if (left_ms <= 0)
        return CURLE_OPERATION_TIMEDOUT;
    struct pollfd all[] = {{.fd = fd, .events = events},
                           {.fd = upgrade->abort_fd, .events = POLLIN}};
    const int n = poll(all, 2, (int)left_ms);
    if (n < 0 && errno != EINTR)
        return CURLE_RECV_ERROR;
    return all[1].revents != 0 ? CURLE_ABORTED_BY_CALLBACK : CURLE_OK;
}

static CURLcode send_all(const struct kube_upgrade *upgrade,
                         const struct text *bytes)
{
    for (size_t at = 0; at < bytes->len;) {
        size_t n = 0;
        CURLcode code = curl_easy_send(upgrade->curl, bytes->data + at,
                                       bytes->len - at, &n);
        if (code == CURLE_AGAIN)
            code = wait_for(upgrade, POLLOUT);
        if (code != CURLE_OK)
            return code;
        at += n;
    }
    return CURLE_OK;
}

/* Appends what has come; CURLE_GOT_NOTHING: it has ended. */
static CURLcode receive(const struct kube_upgrade *upgrade, struct text *bytes)
{
    char some[PIECE];
    size_t n = 0;
    const CURLcode code = curl_easy_recv(upgrade->curl, some, sizeof some, &n);
    if (code == CURLE_AGAIN)
        return wait_for(upgrade, POLLIN);
    text_append(bytes, some, n);
    return code == CURLE_OK && n == 0 ? CURLE_GOT_NOTHING : code;
}

/* ---- the request ---- */

static void make_key(char key[KEY_TEXT])
{
    const uint64_t bytes[] = {token_random64(), token_random64()};
    base64_encode_raw(key, KEY_BYTES, (const uint8_t *)bytes);
    key[KEY_TEXT - 1] = '\0';
}

static void make_accept(char accept[ACCEPT_TEXT], const char *key)
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    uint8_t hash[SHA1_DIGEST_SIZE];
    struct sha1_ctx context;
    sha1_init(&context);
    sha1_update(&context, strlen(key), (const uint8_t *)key);
    sha1_update(&context, strlen(guid), (const uint8_t *)guid);
    sha1_digest(&context, sizeof hash, hash);
    base64_encode_raw(accept, sizeof hash, hash);
    accept[ACCEPT_TEXT - 1] = '\0';
}

static CURLcode send_request(const struct kube_upgrade *upgrade,
                             const char *key)
{
    struct text request = {0};
    text_printf(&request, "GET %s HTTP/1.1\r\n", upgrade->target);
    for (const struct curl_slist *one = upgrade->headers; one; one = one->next)
        text_printf(&request, "%s\r\n", one->data);
    text_printf(&request,
                "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n"
                "Sec-WebSocket-Protocol: %s\r\n\r\n",
                key, upgrade->protocol);
    const CURLcode code = send_all(upgrade, &request);
    secret_wipe(&request);
    return code;
}

/* ---- the answer ---- */

/* The value of a header, "" where it is not there; in `room`. */
static const char *find_header(const char *head, const char *name, char *room,
                               size_t size)
{
    const size_t n_name = strlen(name);
    room[0] = '\0';
    for (const char *line = strstr(head, "\r\n"); line != NULL;
         line = strstr(line, "\r\n")) {
        line += 2;
        if (strncasecmp(line, name, n_name) != 0 || line[n_name] != ':')
            continue;
        const char *value = line + n_name + 1;
        value += strspn(value, " \t");
        size_t len = strcspn(value, "\r\n");
        while (len > 0 && strchr(" \t", value[len - 1]) != NULL)
            len--;
        (void)snprintf(room, size, "%.*s", (int)len, value);
    }
    return room;
}

/* The head as a text, and what came behind it. */
static CURLcode read_head(const struct kube_upgrade *upgrade,
                          struct text *bytes, struct text *rest)
{
    static const char blank[] = "\r\n\r\n";
    char *end = NULL;
    while (end == NULL) {
        const CURLcode code = bytes->len <= UPGRADE_HEAD - PIECE
                                  ? receive(upgrade, bytes)
                                  : CURLE_WEIRD_SERVER_REPLY;
        if (code != CURLE_OK)
            return code;
        if (bytes->len > 0)
            end = memmem(bytes->data, bytes->len, blank, strlen(blank));
    }
    char *behind = end + strlen(blank);
    text_append(rest, behind, bytes->len - (size_t)(behind - bytes->data));
    end[2] = '\0'; /* each line still ends with \r\n */
    return CURLE_OK;
}

/* From chunks to the bytes in them (RFC 9112, 7.1), as many as are there; true:
 * the last one, too. */
static bool join_chunks(const struct text *chunks, struct text *out)
{
    const char *at = text_string(chunks), *end = at + chunks->len;
    for (;;) {
        char *line;
        const unsigned long len = strtoul(at, &line, 16);
        const char *data = strstr(line, "\r\n");
        if (line == at || data == NULL)
            return false;
        data += 2;
        if (len == 0)
            return true;
        if (len > (size_t)(end - data))
            return false;
        text_append(out, data, len);
        at = data + len + strspn(data + len, "\r\n");
    }
}

/* Of a refusal. One that does not come whole, or has more than `most` bytes, is
 * taken as it is: the code matters more than the words. */
static void read_body(const struct kube_upgrade *upgrade, const char *head,
                      size_t most, struct text *rest)
{
    char value[32];
    const bool chunked =
        strcasecmp(find_header(head, "Transfer-Encoding", value, sizeof value),
                   "chunked") == 0;
    find_header(head, "Content-Length", value, sizeof value);
    const size_t length = value[0] != '\0' ? strtoul(value, NULL, 10) : most;
    struct text joined = {0};
    for (;;) {
        text_clear(&joined);
        const bool whole =
            chunked ? join_chunks(rest, &joined) : rest->len >= length;
        if (whole || rest->len >= most || receive(upgrade, rest) != CURLE_OK)
            break;
    }
    if (chunked) {
        text_free(rest);
        *rest = joined;
    } else {
        text_free(&joined);
    }
}

static CURLcode check_switch(const struct kube_upgrade *upgrade,
                             const char *head, const char *key, char *words)
{
    char accept[ACCEPT_TEXT], value[128];
    make_accept(accept, key);
    const char *wrong = NULL;
    if (strcmp(find_header(head, "Sec-WebSocket-Accept", value, sizeof value),
               accept) != 0)
        wrong = "Sec-WebSocket-Accept";
    else if (strcmp(find_header(head, "Sec-WebSocket-Protocol", value,
                                sizeof value),
                    upgrade->protocol) != 0)
        wrong = "Sec-WebSocket-Protocol";
    if (wrong == NULL)
        return CURLE_OK;
    (void)snprintf(words, CURL_ERROR_SIZE,
                   "its answer to a WebSocket has a wrong %s", wrong);
    return CURLE_WEIRD_SERVER_REPLY;
}

CURLcode kube_upgrade_ask(const struct kube_upgrade *upgrade, size_t most,
                          struct kube_upgraded *answer, char *words)
{
    struct text head = {0};
    char key[KEY_TEXT], value[32];
    make_key(key);
    CURLcode code = send_request(upgrade, key);
    if (code == CURLE_OK)
        code = read_head(upgrade, &head, &answer->rest);
    if (code == CURLE_OK && strncmp(head.data, "HTTP/1.1 ", 9) != 0)
        code = CURLE_WEIRD_SERVER_REPLY;
    if (code == CURLE_OK) {
        answer->code = (int)strtol(head.data + 9, NULL, 10);
        answer->retry_s =
            strtol(find_header(head.data, "Retry-After", value, sizeof value),
                   NULL, 10);
        if (answer->code == 101)
            code = check_switch(upgrade, head.data, key, words);
        else
            read_body(upgrade, head.data, most, &answer->rest);
    }
    text_free(&head);
    return code;
}
