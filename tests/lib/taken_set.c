#include "tests/lib/taken_set.h"

#include <stdlib.h>

#include "algorithms/finite.h"
#include "proto/arena.h"

static bool has_mark(void *context, const struct value point[])
{
    const struct taken_set *set = context;
    return set->marks[finite_index(set->space, point)] != 0;
}

void taken_set_init(struct taken_set *set, const struct space *space)
{
    set->space = space;
    set->size = space_size(space);
    set->marks = ht_xcalloc(set->size, 1);
    set->taken = (struct taken){has_mark, set, 0};
}

void taken_set_fini(struct taken_set *set)
{
    free(set->marks);
}

bool taken_set_add(struct taken_set *set, const struct value point[])
{
    unsigned char *mark = &set->marks[finite_index(set->space, point)];
    bool was_free = *mark == 0;
    *mark = 1;
    set->taken.n += was_free;
    return was_free;
}

static bool has_none(void *context, const struct value point[])
{
    (void)context, (void)point;
    return false;
}

const struct taken taken_nothing = {has_none, NULL, 0};
