/* manifest_file.h - a manifest in a file, as bytes in memory that the system
 * may take back. */
#ifndef HT_TUNER_STORE_MANIFEST_FILE_H
#define HT_TUNER_STORE_MANIFEST_FILE_H

#include "proto/base/error.h"
#include "proto/tree/manifest.h"

struct arena;

/* HT_CORRUPT  it is not the manifest of that tree, or cannot be read */
enum ht_status manifest_file_check(int fd, const char *tree,
                                   struct ht_error *err);
/* Visits its entries as tree_manifest_visit() does.
 * HT_IO  it cannot be read */
enum ht_status manifest_file_visit(struct arena *arena, int fd,
                                   tree_visit *visit, void *context,
                                   struct ht_error *err);

#endif
