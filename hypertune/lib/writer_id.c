#include "hypertune/lib/writer_id.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

/* For kernels and sandboxes without getrandom(2): nanoseconds of two clocks
 * and the pid, spread by the finaliser of SplitMix64 (Steele, Lea, Flood,
 * 2014). Unique among the processes of one trial is enough. */
static uint64_t mixed_bits(void)
{
    struct timespec wall;
    struct timespec boot;
    clock_gettime(CLOCK_REALTIME, &wall);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    uint64_t bits = (uint64_t)wall.tv_sec * 1000000007u;
    bits ^= (uint64_t)wall.tv_nsec << 20 ^ (uint64_t)boot.tv_nsec;
    bits ^= (uint64_t)getpid() << 40;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
}

void writer_id_make(char text[WRITER_ID_BYTES])
{
    uint64_t bits = 0;
    /* Non-blocking: early in the boot of a machine entropy may be missing, and
     * a report must not wait for it. */
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits)
        bits = mixed_bits();
    if (bits == 0)
        bits = 1;
    snprintf(text, WRITER_ID_BYTES, "%016" PRIx64, bits);
}
