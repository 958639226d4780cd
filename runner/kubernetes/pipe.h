/* pipe.h - a program in a running container of a pod, with its stdin, stdout
 * and stderr over one connection, as `kubectl exec -i` has it.
 *
 * Its stdin cannot be closed alone: the protocol (v4.channel.k8s.io) has no
 * word for that. It ends with the pipe, also with a connection that is cut. A
 * program that ends with more of its stdin unread than the cluster has room for
 * (1 MB is too much) may never be seen to end, as with kubectl. One thread at a
 * time per pipe; the client is used during kube_pipe_open() only, and
 * kube_abort() ends an open that is under way. */
#ifndef HT_RUNNER_KUBERNETES_PIPE_H
#define HT_RUNNER_KUBERNETES_PIPE_H

#include <stdbool.h>
#include <sys/types.h>

#include "proto/base/error.h"

struct kube;
struct kube_pipe;

struct kube_command {
    const char *namespace, *pod, *container;
    const char *const *argv; /* ends with NULL */
};

/* Starts it. Blocks for KUBE_PATIENCE_MS at most. A try that fails may have
 * started it, too. Errors of kube_call(), among them
 * HT_NOT_FOUND  there is no such pod
 * HT_INVALID    the pod has no such container, or no node yet
 * HT_INTERNAL   the container does not run (now) */
enum ht_status kube_pipe_open(struct kube *kube,
                              const struct kube_command *command,
                              struct kube_pipe **pipe, struct ht_error *err);
void kube_pipe_close(struct kube_pipe *pipe); /* accepts NULL */

int kube_pipe_fd(const struct kube_pipe *pipe); /* for poll(); borrowed */

/* As read(2) of its stdout, never blocking: 0 at its end, -1 with EAGAIN. Call
 * it until EAGAIN, since bytes may wait here and not at the descriptor. */
ssize_t kube_pipe_read(struct kube_pipe *pipe, char *bytes, size_t len);

/* As write(2) to its stdin, never blocking: -1 with EAGAIN or EPIPE. What it
 * took is sent by later calls of read or write. */
ssize_t kube_pipe_write(struct kube_pipe *pipe, const char *bytes, size_t len);
/* Bytes wait here: poll for POLLOUT, then write with len 0. */
bool kube_pipe_is_full(const struct kube_pipe *pipe);

/* After the end: its exit code (-1: not known), and *words, valid until close:
 * the last line of its stderr, or where the code is not known why the
 * connection ended; "": nothing. Before the end -1 and "". */
int kube_pipe_result(const struct kube_pipe *pipe, const char **words);

#endif
