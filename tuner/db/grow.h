/* grow.h - an array in an arena that doubles, for rows read one by one. */
#ifndef HT_TUNER_DB_GROW_H
#define HT_TUNER_DB_GROW_H

#include <stddef.h>

#include "proto/base/arena.h"

/* Returns `rows` with room for one more than its n entries; to be called
 * before every single addition, with n from 0 on. */
void *db_grow(struct arena *arena, void *rows, size_t n, size_t size);

#endif
