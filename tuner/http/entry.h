/* entry.h - whether a request may enter: where it comes from, its token or
 * session, role and scope, before its body is read. */
#ifndef HT_TUNER_HTTP_ENTRY_H
#define HT_TUNER_HTTP_ENTRY_H

#include <stdbool.h>

#include "proto/base/error.h"

struct call;
struct session;

/* Finds the route, and who asks: call->route, allow, secure, req->from, scope.
 * HT_INVALID        no Host, or a forwarded header or type that does not fit
 * HT_MISDIRECTED    the Host is not this server
 * HT_PRECONDITION   our own client's release does not work with this server
 * HT_UNAUTHENTICATED  no token or session that is valid
 * HT_DENIED         the Origin is not this server, or the role does not suffice
 * HT_NOT_FOUND, HT_NO_METHOD  no such route, or of another project */
enum ht_status entry_check(struct call *call, const char *method,
                           const char *path, struct ht_error *err);
/* The body may come long after the head, and the token end meanwhile.
 * HT_UNAUTHENTICATED */
enum ht_status entry_check_again(const struct call *call, struct ht_error *err);
/* The session that its cookie names; false: there is none. */
bool entry_session(const struct call *call, struct session *session);

#endif
