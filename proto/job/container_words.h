/* container_words.h - checks the texts that are passed to a container engine,
 * such as image names.
 *
 * Each function returns NULL for a good word, otherwise what is wrong with it,
 * as a sentence's predicate in static memory: "is empty". */
#ifndef HT_PROTO_JOB_CONTAINER_WORDS_H
#define HT_PROTO_JOB_CONTAINER_WORDS_H

#include <stdbool.h>

/* A reference of an image: [HOST[:PORT]/]NAME[/NAME...][:TAG][@DIGEST], or the
 * id of one; or the absolute path of a file or folder, for Slurm alone. */
const char *container_image_fault(const char *image);

/* HOST:TARGET[:ro|rw], both absolute and without "..". The target is none of
 * the folders that a container cannot do without, and none of ours. */
const char *container_volume_fault(const char *volume);

/* UID[:GID], or names of the image in place of either. */
const char *container_user_fault(const char *user);

/* "none", "host" or the name of a network. */
const char *container_network_fault(const char *network);

/* The name of a machine type, such as n1-standard-4. */
const char *container_machine_fault(const char *machine);

/* The name of a file in the runner's folder of secrets: no path, not hidden. */
const char *container_secret_fault(const char *file);

/* A service account: its e-mail address, or another word that can name a file
 * in the runner's folder of credentials. */
const char *container_account_fault(const char *account);

/* NAME of the runner's variable HYPERTUNE_SECRET_NAME. */
const char *container_secret_variable_fault(const char *name);

/* Whether two volumes, both good, have one target. */
bool container_same_target(const char *a, const char *b);

#endif
