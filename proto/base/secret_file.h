/* secret_file.h - files that hold a secret: plain, or sealed (seal.h) with the
 * key of this process.
 *
 * A sealed file belongs to its path in the data folder, elsewhere to its name.
 * "next-" in front of a name does not count: the next key of TLS becomes the
 * present one by another name. */
#ifndef HT_PROTO_BASE_SECRET_FILE_H
#define HT_PROTO_BASE_SECRET_FILE_H

#include "proto/base/seal.h"

/* Before there are threads. The keys are borrowed; `folder` is the data
 * folder, absolute, borrowed too. Without this call there is no key. */
void secret_file_use(struct seal_keys keys, const char *folder);

/* Appends what the file says; the caller wipes it by secret_wipe().
 * HT_IO            it cannot be read
 * HT_INVALID       it was changed since it was sealed, or has another's place
 * HT_PRECONDITION  it is sealed with a key that is not here */
enum ht_status secret_file_read(const char *path, struct text *secret,
                                struct ht_error *err);
/* The same of a file whose text was read already. */
enum ht_status secret_file_open(const char *path, const char *text,
                                struct text *secret, struct ht_error *err);
/* Writes the file whole or not at all, with mode 0600, sealed where there is a
 * key. HT_IO. */
enum ht_status secret_file_write(const char *path, const char *bytes,
                                 size_t len, struct ht_error *err);

/* False of what is absent, or no regular file. */
bool secret_file_is_sealed(const char *path);

enum secret_state { SECRET_ABSENT, SECRET_PLAIN, SECRET_SEALED };
/* With a key: seals a plain file and one that the old key has sealed, and looks
 * whether the others open. Without one a sealed file is an error. A link is
 * left as it is and counts as absent. Errors as above. */
enum ht_status secret_file_settle(const char *path, enum secret_state *state,
                                  struct ht_error *err);

/* Frees the text, and leaves nothing of it in memory. */
void secret_wipe(struct text *secret);

#endif
