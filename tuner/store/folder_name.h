/* folder_name.h - the folder of a project in the store. A project may be called
 * anything; two never share a folder, whatever the file system takes for the
 * same name. */
#ifndef HT_TUNER_STORE_FOLDER_NAME_H
#define HT_TUNER_STORE_FOLDER_NAME_H

#include <stdbool.h>

#include "proto/base/error.h"
#include "proto/base/limits.h"

enum {
    FOLDER_NAME_BYTES = 256,
    /* Bytes of a project's name; twice as many digits have to fit. */
    FOLDER_MOST_PROJECT = 127
};

/* A name of a-z, 0-9, "-" and "_" is its own; another one is "=" and the hex
 * digits of its bytes. HT_INVALID: it is empty or too long. */
enum ht_status folder_name_make(const char *project,
                                char folder[FOLDER_NAME_BYTES],
                                struct ht_error *err);
/* The project of a folder; false: it is of none. */
bool folder_name_read(const char *folder, char project[HT_MAX_NAME + 1]);

#endif
