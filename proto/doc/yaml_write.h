/* yaml_write.h - a tree as YAML. */
#ifndef HT_PROTO_DOC_YAML_WRITE_H
#define HT_PROTO_DOC_YAML_WRITE_H

#include "proto/base/text.h"
#include "proto/doc/node.h"

/* Appends a node as block YAML 1.2; every text that could be read as another
 * kind is quoted. */
void yaml_write(const struct node *node, struct text *out);

#endif
