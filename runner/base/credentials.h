/* credentials.h - the keys of Google's service accounts, which only the runner
 * has.
 *
 * In the folder of --credentials lies a file ACCOUNT.json for each account that
 * jobs may run as, and maybe default.json for jobs that name none. A file
 * counts when it is a JSON object in a regular file of the runner's user or of
 * root that is closed to other users; links are not followed.
 *
 * An attempt gets a copy of its own, beside the attempts' folders and for as
 * long as it has one: STATE/credentials/STUDY-TRIAL-ATTEMPT.json. Any user of
 * a container that it is mounted into can read it; the folder around it lets
 * no other user in. */
#ifndef HT_RUNNER_BASE_CREDENTIALS_H
#define HT_RUNNER_BASE_CREDENTIALS_H

#include "proto/base/arena.h"
#include "proto/base/error.h"
#include "runner/base/order.h"
#include "runner/base/site.h"

/* Where Google's libraries look. */
#define CREDENTIALS_VARIABLE "GOOGLE_APPLICATION_CREDENTIALS"

/* The accounts that there are files of, in order, in the arena; what is wrong
 * with the other files goes to the log. */
struct strings credentials_accounts(struct arena *arena,
                                    const struct site *site);

struct credentials {     /* of one attempt */
    const char *file;    /* its copy, absolute; NULL: it has none */
    const char *missing; /* why the account it names has none, else NULL */
};

/* Makes the attempt's copy; may be done again.
 * HT_IO  it cannot be written */
enum ht_status credentials_copy(struct arena *arena, const struct site *site,
                                const struct order *order,
                                struct credentials *given,
                                struct ht_error *err);

/* Where the attempt's copy lies if it was given one, in the arena. */
const char *credentials_path(struct arena *arena, const struct site *site,
                             const struct order_key *key);

/* Removes the copy, where there is one. */
void credentials_remove(const struct site *site, const struct order_key *key);

/* What of the copy no log may show, in the arena: private keys and the like.
 * Empty when there is no copy. */
struct strings credentials_secrets(struct arena *arena, const char *file);

#endif
