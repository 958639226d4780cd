/* pipe.c - channels of v4.channel.k8s.io in the messages of a WebSocket. Facts:
 * apimachinery, util/httpstream/wsstream and util/remotecommand. */
#include "runner/kubernetes/pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "proto/base/text.h"
#include "runner/docker/docker.h"
#include "runner/kubernetes/objects.h"
#include "runner/kubernetes/reply.h"
#include "runner/kubernetes/upgrade.h"
#include "runner/kubernetes/ws.h"

enum {
    IN_BYTES = 2 * UPGRADE_HEAD, /* read at once */
    OUT_BYTES = 32 * 1024,       /* of stdin in one message */
    OUT_MOST = 256 * 1024,       /* that wait; then nothing more is taken */
    MOST_STATUS = 64 * 1024      /* bytes of the last word on channel 3 */
};

enum channel {
    STDIN,
    STDOUT,
    STDERR,
    STATUS,
    NO_CHANNEL /* the message has not had its first byte */
};

struct line {
    char text[240];
    size_t len;
    bool ended; /* the next byte begins another */
};

struct kube_pipe {
    CURL *curl;
    struct ws_reader reader;
    char in[IN_BYTES]; /* from `in_at` on not read yet */
    size_t in_at, in_len;
    /* From `sent` on not sent yet. What OpenSSL could not send has to be at the
     * same place the next time, so that nothing is appended to it. */
    struct text sending;
    size_t sent;
    struct text out; /* behind that */
    enum channel channel;
    struct line line;   /* the last one of stderr */
    struct text status; /* JSON */
    bool deaf;          /* the other side takes nothing more */
    bool ended;
    int exit;
    struct arena *arena; /* of `words` */
    const char *words;   /* once it has ended */
};

/* ---- the end ---- */

static int find_exit(const struct node *status)
{
    if (strcmp(node_get_string(status, "status", ""), "Success") == 0)
        return 0;
    NODE_EACH (cause, node_first(node_find(status, "details"), "causes")) {
        const char *code = node_get_string(cause, "message", "");
        char *end;
        const long value = strtol(code, &end, 10);
        if (strcmp(node_get_string(cause, "reason", ""), "ExitCode") == 0 &&
            end != code && *end == '\0' && value >= 0 && value <= 255)
            return (int)value;
    }
    return -1;
}

/* `why`: of the connection; a Status says more. */
static void end(struct kube_pipe *pipe, const char *why)
{
    const struct node *status = kube_reply_read(pipe->arena, &pipe->status);
    const char *message = node_get_string(status, "message", "");
    pipe->ended = true;
    pipe->exit = find_exit(status);
    if (pipe->exit >= 0)
        why = arena_strndup(pipe->arena, pipe->line.text, pipe->line.len);
    else if (message[0] != '\0')
        why = message;
    pipe->words = docker_clean_words(pipe->arena, why);
}

int kube_pipe_result(const struct kube_pipe *pipe, const char **words)
{
    *words = pipe->ended ? pipe->words : "";
    return pipe->ended ? pipe->exit : -1;
}

/* ---- sending ---- */

bool kube_pipe_is_full(const struct kube_pipe *pipe)
{
    return !pipe->deaf && (pipe->sent < pipe->sending.len || pipe->out.len > 0);
}

/* What cannot be sent is dropped: why, the other direction says, which may have
 * bytes left. */
static void flush(struct kube_pipe *pipe)
{
    while (kube_pipe_is_full(pipe)) {
        if (pipe->sent == pipe->sending.len) {
            const struct text done = pipe->sending;
            pipe->sending = pipe->out;
            pipe->out = done;
            text_clear(&pipe->out);
            pipe->sent = 0;
        }
        size_t n = 0;
        const CURLcode code =
            curl_easy_send(pipe->curl, pipe->sending.data + pipe->sent,
                           pipe->sending.len - pipe->sent, &n);
        if (code == CURLE_AGAIN)
            break;
        pipe->deaf = code != CURLE_OK;
        pipe->sent += n;
    }
    if (!kube_pipe_is_full(pipe)) { /* trees are large, what follows is not */
        text_free(&pipe->sending);
        text_free(&pipe->out);
        pipe->sent = 0;
    }
}

static void write_message(struct kube_pipe *pipe, const char *bytes, size_t len)
{
    char message[OUT_BYTES + 1] = {STDIN};
    memcpy(message + 1, bytes, len);
    ws_write(&pipe->out, WS_BINARY, message, len + 1);
}

ssize_t kube_pipe_write(struct kube_pipe *pipe, const char *bytes, size_t len)
{
    flush(pipe);
    size_t taken = 0;
    while (taken < len && !pipe->deaf && !pipe->ended &&
           pipe->out.len < OUT_MOST) {
        const size_t n = len - taken < OUT_BYTES ? len - taken : OUT_BYTES;
        write_message(pipe, bytes + taken, n);
        taken += n;
    }
    flush(pipe);
    if (taken > 0 || len == 0)
        return (ssize_t)taken;
    errno = pipe->deaf || pipe->ended ? EPIPE : EAGAIN;
    return -1;
}

/* ---- reading ---- */

static void take_stderr(struct line *line, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r') {
            line->ended = true;
            continue;
        }
        if (line->ended)
            line->len = 0;
        line->ended = false;
        if (line->len < sizeof line->text)
            line->text[line->len++] = bytes[i];
    }
}

/* Some of a message; returns how many bytes of stdout are at *out. */
static size_t take_data(struct kube_pipe *pipe, const struct ws_part *part,
                        const char **out)
{
    const char *bytes = part->bytes;
    size_t n = part->n;
    if (part->begins)
        pipe->channel = NO_CHANNEL;
    if (pipe->channel == NO_CHANNEL && n > 0) {
        pipe->channel = (enum channel)(unsigned char)bytes[0];
        bytes++;
        n--;
    }
    if (pipe->channel == STDERR)
        take_stderr(&pipe->line, bytes, n);
    if (pipe->channel == STATUS && pipe->status.len + n <= MOST_STATUS)
        text_append(&pipe->status, bytes, n);
    *out = bytes;
    return pipe->channel == STDOUT ? n : 0;
}

static void take_close(struct kube_pipe *pipe, const struct ws_part *part)
{
    struct text why = {0};
    text_puts(&why, "the API server closed the connection");
    if (part->n >= 2)
        text_printf(&why, " (%d)",
                    (unsigned char)part->bytes[0] << 8 |
                        (unsigned char)part->bytes[1]);
    if (part->n > 2)
        text_printf(&why, ": %.*s", (int)part->n - 2, part->bytes + 2);
    end(pipe, why.data);
    ws_write(&pipe->out, WS_CLOSE, part->bytes, part->n < 2 ? part->n : 2);
    flush(pipe);
    text_free(&why);
}

/* RFC 6455, 5.5.3: the last ping alone needs an answer. */
static void answer_ping(struct kube_pipe *pipe, const struct ws_part *part)
{
    if (pipe->out.len >= OUT_MOST)
        return;
    ws_write(&pipe->out, WS_PONG, part->bytes, part->n);
    flush(pipe);
}

/* From what is here already; 0: nothing of stdout, or it has ended. */
static size_t read_in(struct kube_pipe *pipe, char *bytes, size_t len)
{
    size_t n = 0;
    while (n == 0 && !pipe->ended) {
        const size_t there = pipe->in_len - pipe->in_at;
        const char *out;
        struct ws_part part;
        size_t used;
        /* No more than the caller has room for. */
        ws_read(&pipe->reader, pipe->in + pipe->in_at,
                there < len ? there : len, &used, &part);
        pipe->in_at += used;
        switch (part.got) {
        case WS_NOTHING:
            if (there <= len)
                return 0;
            break;
        case WS_DATA:
            n = take_data(pipe, &part, &out);
            if (n > 0)
                memcpy(bytes, out, n);
            break;
        case WS_PINGED:
            answer_ping(pipe, &part);
            break;
        case WS_CLOSED:
            take_close(pipe, &part);
            break;
        case WS_BROKEN:
            end(pipe, part.bytes);
            break;
        }
    }
    return n;
}

/* False: there is nothing to read now. */
static bool fill(struct kube_pipe *pipe)
{
    size_t n = 0;
    const CURLcode code = curl_easy_recv(pipe->curl, pipe->in, IN_BYTES, &n);
    if (code == CURLE_AGAIN)
        return false;
    pipe->in_at = 0;
    pipe->in_len = n;
    if (code != CURLE_OK)
        end(pipe, curl_easy_strerror(code));
    else if (n == 0)
        end(pipe, "the connection ended before the program did");
    return true;
}

ssize_t kube_pipe_read(struct kube_pipe *pipe, char *bytes, size_t len)
{
    flush(pipe);
    while (len > 0) {
        const size_t n = read_in(pipe, bytes, len);
        if (n > 0)
            return (ssize_t)n;
        if (pipe->ended)
            return 0;
        if (!fill(pipe))
            break;
    }
    errno = EAGAIN;
    return -1;
}

/* ---- opening and closing ---- */

static const char *path_of(struct arena *arena,
                           const struct kube_command *command)
{
    const struct kube_object pod = {.kind = &kube_pods,
                                    .namespace = command->namespace,
                                    .name = command->pod};
    struct text path = {0};
    text_printf(&path,
                "%s/exec?container=%s&stdin=true&stdout=true&stderr=true",
                kube_path(arena, &pod), kube_escape(arena, command->container));
    for (size_t i = 0; command->argv[i] != NULL; i++)
        text_printf(&path, "&command=%s", kube_escape(arena, command->argv[i]));
    return text_take(&path, arena);
}

enum ht_status kube_pipe_open(struct kube *kube,
                              const struct kube_command *command,
                              struct kube_pipe **pipe, struct ht_error *err)
{
    struct arena *arena = arena_new();
    struct kube_socket socket;
    const enum ht_status status = kube_upgrade(
        kube, path_of(arena, command), "v4.channel.k8s.io", &socket, err);
    if (status != HT_OK) {
        arena_free(arena);
        return status;
    }
    struct kube_pipe *made = ht_xcalloc(1, sizeof *made);
    made->curl = socket.curl;
    made->arena = arena;
    made->channel = NO_CHANNEL;
    made->exit = -1;
    made->in_len = socket.early.len;
    if (socket.early.len > 0)
        memcpy(made->in, socket.early.data, socket.early.len);
    text_free(&socket.early);
    *pipe = made;
    return HT_OK;
}

void kube_pipe_close(struct kube_pipe *pipe)
{
    if (pipe == NULL)
        return;
    if (!pipe->ended && !pipe->deaf) {
        ws_write(&pipe->out, WS_CLOSE, "\x03\xe8", 2); /* 1000: normal */
        flush(pipe);
    }
    curl_easy_cleanup(pipe->curl);
    text_free(&pipe->sending);
    text_free(&pipe->out);
    text_free(&pipe->status);
    arena_free(pipe->arena);
    free(pipe);
}

int kube_pipe_fd(const struct kube_pipe *pipe)
{
    curl_socket_t fd = CURL_SOCKET_BAD;
    curl_easy_getinfo(pipe->curl, CURLINFO_ACTIVESOCKET, &fd);
    return fd;
}
