/* yaml_hint.h - how to write what YAML cannot read as it is written. */
#ifndef HT_PROTO_DOC_YAML_HINT_H
#define HT_PROTO_DOC_YAML_HINT_H

#include "proto/base/arena.h"

/* The hint for the fault at `at`, a place in the document text..end; NULL: none
 * of the mistakes that are known. In the arena or constant. */
const char *yaml_hint(struct arena *arena, const char *text, const char *at,
                      const char *end);

#endif
