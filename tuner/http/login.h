/* login.h - how a browser gets its session.
 *
 * A user with a token requests a link (`hypertune ui`); the dashboard exchanges
 * the link's code, or the token itself, for a cookie, and deletes it at logout,
 * which the core stores (tuner/api/sessions.h). The rest happens on the HTTP
 * thread. */
#ifndef HT_TUNER_HTTP_LOGIN_H
#define HT_TUNER_HTTP_LOGIN_H

#include <stdbool.h>

#include "proto/base/error.h"

struct gate;
struct sessions;

struct login {
    const struct gate *gate;
    bool secure; /* the request came by https */
    struct sessions *sessions;
    struct request *req; /* has the client; the handler fills its reply */
    const char *cookie;  /* Set-Cookie of the answer, or NULL; in the arena */
};

typedef enum ht_status login_handler(struct login *login, struct ht_error *err);

login_handler login_invite; /* {"code","path","expireTime"} */
login_handler login_enter;  /* body {"code"} or {"token"}; {"roles"} */
login_handler login_leave;
login_handler
    login_show; /* {"auth","roles","name","project","study"} of the client */

#endif
