/* secrets.h - the key of the secrets at rest: where it comes from, and that
 * each file with a secret in the data folder is sealed with it (secret_file.h).
 */
#ifndef HT_TUNER_SECRETS_H
#define HT_TUNER_SECRETS_H

#include "proto/base/error.h"
#include "proto/base/seal.h"
#include "tuner/base/failpoint.h"
#include "tuner/base/secrets_state.h"
#include "tuner/options.h"

struct secrets {
    struct seal_key key, old;
    struct secrets_state state;
    struct failpoint fail;
};

/* Reads the keys of the options, or of systemd's credential; before there are
 * threads. Then seals what is plain or by the old key, and says in the log what
 * stays plain where there is no key. `folder` is borrowed, and `secrets` stays
 * where it is until secrets_close(). `fail` arms the failpoint "sealed", after
 * each file; NULL: none.
 * HT_PRECONDITION  a key is no key, open to others or in the data folder, or a
 *                  file is sealed with a key that was not given
 * HT_INVALID       a sealed file was changed, or lies in another's place
 * HT_IO            a file cannot be read or written */
enum ht_status secrets_open(struct secrets *secrets,
                            const struct options *options, const char *folder,
                            const char *fail, struct ht_error *err);
void secrets_close(struct secrets *secrets);

#endif
