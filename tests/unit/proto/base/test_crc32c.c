/* CRC-32C of what RFC 3720 and others computed. */
#include <string.h>

#include "proto/base/crc32c.h"
#include "tests/check.h"

static void known_sums_are_found(void)
{
    unsigned char bytes[32];
    memset(bytes, 0, sizeof bytes);
    CHECK(crc32c(0, bytes, 32) == 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    CHECK(crc32c(0, bytes, 32) == 0x62a8ab43);
    for (unsigned char i = 0; i < 32; i++)
        bytes[i] = i;
    CHECK(crc32c(0, bytes, 32) == 0x46dd794e);
    CHECK(crc32c(0, "123456789", 9) == 0xe3069283);
    CHECK(crc32c(0, "", 0) == 0);
}

static void a_sum_continues_another(void)
{
    CHECK(crc32c(crc32c(0, "1234", 4), "56789", 5) == 0xe3069283);
}

int main(void)
{
    RUN(known_sums_are_found);
    RUN(a_sum_continues_another);
    return check_done();
}
