/* yaml_scalar.h - what a plain scalar means in the YAML 1.2 core schema. */
#ifndef HT_PROTO_DOC_YAML_SCALAR_H
#define HT_PROTO_DOC_YAML_SCALAR_H

#include "proto/base/arena.h"
#include "proto/doc/node.h"

/* The kind of a scalar written without quotes; *text is what a node of that
 * kind holds, either `plain` itself, a constant, or memory of the arena.
 * Numbers become JSON's form: 0x1F and 0o37 are "31", +.5 is "0.5". Numbers
 * that JSON has no form for (.inf, .nan, more than 64 bits of hexadecimal)
 * stay text, for the reader above to refuse. */
enum node_kind yaml_scalar(struct arena *arena, const char *plain,
                           const char **text);

/* Whether YAML 1.2 ignores zeros in front of this plain number: 007, -01. */
bool yaml_scalar_has_leading_zero(const char *plain);

#endif
