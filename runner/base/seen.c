#include "runner/base/seen.h"

#include "runner/base/safe_path.h"

const char *seen_path(struct arena *arena, const struct site *site,
                      const char *path)
{
    if (path == NULL || site->seen_state == NULL)
        return path;
    const char *rest = safe_path_rest(site->state, path);
    if (rest == NULL)
        return path;
    return *rest != '\0' ? arena_printf(arena, "%s/%s", site->seen_state, rest)
                         : site->seen_state;
}
