/* crc32c.h - the checksum CRC-32C (Castagnoli), of TensorBoard's
 * records. */
#ifndef HT_PROTO_BASE_CRC32C_H
#define HT_PROTO_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Of `data` behind what `crc` is of; 0: of nothing. */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);

#endif
