/* Any bytes as a JSON and as a YAML document. */
#include "tests/fuzz/reread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reread_check(node_read_json, data, size);
    return reread_check(node_read_yaml, data, size);
}
