/* failing_memory.c - allocations that fail when a test says so, for any
 * program: LD_PRELOAD this library, with FAILING_MEMORY naming a file of
 * `struct orders` that the test maps, too. See tests/lib/failing_memory.py.
 *
 * While `armed`, allocations of all threads are counted; the `skip` first ones
 * succeed, the `fail` next ones return NULL, and so on again when `every` is
 * set. Freeing always works. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct orders {
    _Atomic int64_t armed, skip, fail; /* said by the test */
    _Atomic int64_t asked, failed;     /* allocations since */
};

static struct orders *orders;

/* dlsym() may allocate before the functions that it looks for are known. */
static unsigned char early[65536];
static size_t early_used;

static void *take_early(size_t bytes)
{
    const size_t at = early_used;
    early_used += (bytes + 15) / 16 * 16;
    return early_used <= sizeof early ? early + at : NULL;
}

static bool is_early(const void *memory)
{
    const unsigned char *at = memory;
    return at >= early && at < early + sizeof early;
}

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static void (*real_free)(void *);
static bool is_finding;

static void find_all(void)
{
    if (real_free != NULL || is_finding)
        return;
    is_finding = true;
    *(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
    *(void **)&real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    *(void **)&real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
    *(void **)&real_free = dlsym(RTLD_NEXT, "free");
    is_finding = false;
}

__attribute__((constructor)) static void begin(void)
{
    find_all();
    const char *path = getenv("FAILING_MEMORY");
    const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *at =
        mmap(NULL, sizeof *orders, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (at != MAP_FAILED)
        orders = at;
}

static bool must_fail(void)
{
    if (orders == NULL || atomic_load(&orders->armed) == 0)
        return false;
    const int64_t number = atomic_fetch_add(&orders->asked, 1);
    const int64_t skip = atomic_load(&orders->skip);
    if (number < skip || number >= skip + atomic_load(&orders->fail))
        return false;
    atomic_fetch_add(&orders->failed, 1);
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    find_all();
    if (real_malloc == NULL)
        return take_early(bytes);
    return must_fail() ? NULL : real_malloc(bytes);
}

void *calloc(size_t n, size_t size)
{
    find_all();
    if (real_calloc == NULL)
        return take_early(n * size);
    return must_fail() ? NULL : real_calloc(n, size);
}

void *realloc(void *memory, size_t bytes)
{
    find_all();
    if (is_early(memory)) {
        void *moved = malloc(bytes);
        if (moved != NULL)
            memcpy(moved, memory, bytes);
        return moved;
    }
    return must_fail() ? NULL : real_realloc(memory, bytes);
}

/* glibc's own would call its own realloc(). */
void *reallocarray(void *memory, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(memory, bytes);
}

char *strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy == NULL ? NULL : memcpy(copy, text, bytes);
}

char *strndup(const char *text, size_t most)
{
    const size_t len = strnlen(text, most);
    char *copy = malloc(len + 1);
    if (copy != NULL) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    find_all();
    return must_fail() ? ENOMEM : real_posix_memalign(memory, alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    find_all();
    return must_fail() ? NULL : real_aligned_alloc(alignment, bytes);
}

void free(void *memory)
{
    find_all();
    if (!is_early(memory) && real_free != NULL)
        real_free(memory);
}
