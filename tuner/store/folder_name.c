#include "tuner/store/folder_name.h"

#include <string.h>

#include <nettle/base16.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";

enum ht_status folder_name_make(const char *project,
                                char folder[FOLDER_NAME_BYTES],
                                struct ht_error *err)
{
    const size_t len = strlen(project);
    if (len == 0 || len > FOLDER_MOST_PROJECT)
        return ht_fail(err, HT_INVALID,
                       "the store takes projects whose names have 1 to %d "
                       "bytes",
                       FOLDER_MOST_PROJECT);
    if (strspn(project, plain) == len) {
        memcpy(folder, project, len + 1);
        return HT_OK;
    }
    folder[0] = '=';
    base16_encode_update(folder + 1, len, (const unsigned char *)project);
    folder[1 + 2 * len] = '\0';
    return HT_OK;
}

bool folder_name_read(const char *folder, char project[HT_MAX_NAME + 1])
{
    char again[FOLDER_NAME_BYTES], name[FOLDER_MOST_PROJECT + 1];
    const size_t len = strlen(folder);
    size_t n = len;
    struct base16_decode_ctx hex;
    if (folder[0] == '=') {
        n = FOLDER_MOST_PROJECT;
        base16_decode_init(&hex);
        if (len > 2 * FOLDER_MOST_PROJECT + 1 ||
            !base16_decode_update(&hex, &n, (unsigned char *)name, len - 1,
                                  folder + 1) ||
            !base16_decode_final(&hex))
            return false;
    } else if (len > FOLDER_MOST_PROJECT) {
        return false;
    } else {
        memcpy(name, folder, len);
    }
    name[n] = '\0';
    if (strlen(name) != n || folder_name_make(name, again, NULL) != HT_OK ||
        strcmp(again, folder) != 0)
        return false;
    memcpy(project, name, n + 1);
    return true;
}
