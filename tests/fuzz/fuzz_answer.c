/* Any bytes as what a server sends to libhypertune: the answer to a batch of
 * reports, and frames of nng's SP protocol on its connection. What the library
 * makes of them is within its limits, and all else is an errno.
 *
 * fuzz-with: hypertune */
#include "hypertune/lib/report_answer.h"
#include "hypertune/lib/spreq.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CAP = 512, SILENT_MS = 1000, REQUESTS = 3 };

static void check_answer(const char *text, size_t size)
{
    const struct report_answer answer =
        report_answer_read(text, size, "00000000000000aa");
    if (answer.retry_ms < 0 || answer.thin < 1 || answer.have < -1)
        abort();
    if (answer.status == ANSWER_OK &&
        (size == 0 || memchr(text, '{', size) == NULL))
        abort();
}

/* Connected, greeted, and the peer has sent all of the input and ends. */
static int connect_to(struct spreq *req, const uint8_t *data, size_t size)
{
    int ends[2];
    struct stat facts;
    if (spreq_init(req, "tcp://127.0.0.1:9") != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
        fstat(ends[0], &facts) != 0 ||
        send(ends[1], data, size, MSG_NOSIGNAL) != (ssize_t)size ||
        shutdown(ends[1], SHUT_WR) != 0)
        abort();
    req->fd = ends[0];
    req->inode = facts.st_ino;
    req->id = 0;
    return ends[1];
}

static void receive(const uint8_t *data, size_t size)
{
    struct spreq req;
    char *bytes = malloc(CAP); /* exact: overruns are seen */
    struct spreq_buffer answer = {.data = bytes, .cap = CAP};
    const int peer = connect_to(&req, data, size);
    size_t read = 0;
    for (int i = 0; i < REQUESTS && req.fd >= 0; i++) {
        answer.len = 0;
        const int rc = spreq_request(&req, "{}", 2, &answer, SILENT_MS);
        if (rc != 0 && rc != ETIMEDOUT && rc != ECONNRESET)
            abort();
        read += answer.len;
        if (answer.len > CAP || read > size || (rc != 0 && req.error == 0))
            abort();
        if (rc == 0)
            check_answer(answer.data, answer.len);
    }
    spreq_close(&req);
    close(peer);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size > 0 ? size : 1); /* exact: overreads are seen */
    memcpy(text, data, size);
    check_answer(text, size);
    receive(data, size);
    free(text);
    return 0;
}
