/* credentials.h - the keys of Google's service accounts, which only the runner
 * has.
 *
 * The folder of --credentials has a file ACCOUNT.json for each account that
 * jobs may run as, and maybe default.json for jobs that name none. A file is
 * used when it is a JSON object in a regular file of the runner's user or of
 * root without rights for others; links are not followed.
 *
 * An attempt has its own copy while its folder exists:
 * STATE/credentials/STUDY-TRIAL-ATTEMPT.json. Every user of a container that it
 * is mounted into can read it; no other user can enter its folder. */
#ifndef HT_RUNNER_BASE_CREDENTIALS_H
#define HT_RUNNER_BASE_CREDENTIALS_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

/* The variable with the file's path that Google's libraries read. */
#define CREDENTIALS_VARIABLE "GOOGLE_APPLICATION_CREDENTIALS"

/* The accounts with a usable file, in order, in the arena; faults of the other
 * files are logged. */
struct strings credentials_accounts(struct arena *arena,
                                    const struct site *site);

struct credentials {     /* of one attempt */
    const char *file;    /* its copy, absolute; NULL: it has none */
    const char *missing; /* why its account has no credentials, else NULL */
};

/* Makes the attempt's copy; can be repeated.
 * HT_IO  it cannot be written */
enum ht_status credentials_copy(struct arena *arena, const struct site *site,
                                const struct order *order,
                                struct credentials *given,
                                struct ht_error *err);

/* The path of the attempt's copy, which need not exist; in the arena. */
const char *credentials_path(struct arena *arena, const struct site *site,
                             const struct order_key *key);

/* Removes the copy, if there is one. */
void credentials_remove(const struct site *site, const struct order_key *key);

/* Values of the copy that no log may show, in the arena: private keys and the
 * like. Empty when there is no copy. */
struct strings credentials_secrets(struct arena *arena, const char *file);

#endif
