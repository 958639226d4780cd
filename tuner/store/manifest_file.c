#include "tuner/store/manifest_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum ht_status manifest_file_check(int fd, const char *tree,
                                   struct ht_error *err)
{
    char name[TREE_NAME] = "";
    struct stat found;
    void *bytes = MAP_FAILED;
    if (fstat(fd, &found) == 0 && found.st_size > 0)
        bytes =
            mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
        tree_manifest_name(bytes, (size_t)found.st_size, name);
        munmap(bytes, (size_t)found.st_size);
    }
    return strcmp(name, tree) == 0
               ? HT_OK
               : ht_fail(err, HT_CORRUPT,
                         "the store is damaged: the manifest of tree %.64s",
                         tree);
}

enum ht_status manifest_file_visit(struct arena *arena, int fd,
                                   tree_visit *visit, void *context,
                                   struct ht_error *err)
{
    struct stat found;
    if (fstat(fd, &found) != 0)
        return ht_fail_errno(err, errno, "cannot read a manifest");
    if (found.st_size == 0)
        return ht_fail(err, HT_INVALID, "the manifest is empty");
    const size_t len = (size_t)found.st_size;
    void *bytes = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return ht_fail_errno(err, errno, "cannot read a manifest");
    const enum ht_status status =
        tree_manifest_visit(arena, bytes, len, visit, context, err);
    munmap(bytes, len);
    return status;
}
