/* project.h - what the store keeps of one project, in a folder of its own:
 *
 *   arriving/HEX        a whole chunk, perhaps not on the disk yet
 *   arriving/N.part     a chunk or a manifest that comes in
 *   chunks/ab/HEX       a chunk, on the disk
 *   trees/HEX           a manifest whose chunks are all in chunks/
 *
 * A file in arriving/ counts for nothing after a restart, which empties it. All
 * files are named by their SHA-256 and never changed. Any thread. */
#ifndef HT_TUNER_STORE_PROJECT_H
#define HT_TUNER_STORE_PROJECT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "proto/base/error.h"
#include "proto/base/limits.h"
#include "proto/tree/manifest.h"
#include "tuner/store/folder_name.h"

struct store_board;

struct project {
    struct project *next;
    char name[HT_MAX_NAME + 1];
    int root;                       /* descriptor of the store's folder */
    char folder[FOLDER_NAME_BYTES]; /* its own there */
    pthread_mutex_t lock;           /* guards what follows */
    bool counted;
    int64_t bytes; /* of its whole files */
};

/* The folder `store` of the data folder, which is made where it is missing.
 * HT_IO */
enum ht_status project_open_root(const char *data, int *root,
                                 struct ht_error *err);

/* Its folder below `root` is made where it is missing.
 * HT_INVALID      see folder_name.h
 * HT_NOT_FOUND    it has none, and `make` is false
 * HT_UNAVAILABLE  the disk */
enum ht_status project_open(int root, const char *name, bool make,
                            struct project **project, struct ht_error *err);
void project_close(struct project *project); /* accepts NULL */

/* Adds to its bytes, and the board's. The first call of project_count() looks
 * at all of its files. HT_UNAVAILABLE: they cannot be read. */
enum ht_status project_count(struct project *project, struct store_board *board,
                             struct ht_error *err);
void project_add(struct project *project, struct store_board *board,
                 int64_t bytes);
/* HT_UNAVAILABLE: so many bytes more would be over its budget. */
enum ht_status project_check_room(struct project *project, int64_t bytes,
                                  struct ht_error *err);

/* Below `root`: "FOLDER/chunks/ab/HEX", "FOLDER/arriving/NAME",
 * "FOLDER/trees/HEX", "FOLDER/NAME". */
enum { PROJECT_PATH_BYTES = FOLDER_NAME_BYTES + TREE_NAME + 32 };
struct project_path {
    char text[PROJECT_PATH_BYTES];
};
struct project_path project_chunk(const struct project *project,
                                  const char *chunk);
struct project_path project_arriving(const struct project *project,
                                     const char *name);
struct project_path project_tree(const struct project *project,
                                 const char *tree);
struct project_path project_path(const struct project *project,
                                 const char *name);

/* Length of a plain file at the path, -1: there is none. */
int64_t project_size(const struct project *project,
                     const struct project_path *path);
/* Whether it has the chunk, on the disk or not. */
bool project_has(const struct project *project, const char *chunk);
/* What its folder of that name lists is on the disk then; "": what it lists
 * itself. HT_UNAVAILABLE */
enum ht_status project_sync(const struct project *project, const char *folder,
                            struct ht_error *err);

/* "cannot WHAT: WHY": what the disk refuses may succeed later. */
enum ht_status project_fail(const char *what, int code, struct ht_error *err);

#endif
