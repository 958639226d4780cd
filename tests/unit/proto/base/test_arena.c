#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proto/base/arena.h"
#include "tests/check.h"

static void memory_is_zeroed_and_aligned(void)
{
    struct arena *arena = arena_new();
    for (size_t n = 1; n < 100; n++) {
        unsigned char *memory = arena_alloc(arena, n, 1);
        CHECK((uintptr_t)memory % _Alignof(max_align_t) == 0);
        for (size_t i = 0; i < n; i++)
            CHECK(memory[i] == 0);
        memset(memory, 0xA5, n);
    }
    arena_free(arena);
}

static void pieces_do_not_overlap_across_blocks(void)
{
    enum { PIECES = 400, BYTES = 100 };
    struct arena *arena = arena_new();
    unsigned char *pieces[PIECES];
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = arena_alloc(arena, BYTES, 1);
        memset(pieces[i], i & 0xFF, BYTES);
    }
    for (int i = 0; i < PIECES; i++) {
        CHECK(pieces[i][0] == (i & 0xFF));
        CHECK(pieces[i][BYTES - 1] == (i & 0xFF));
    }
    arena_free(arena);
}

static void a_piece_may_exceed_a_block(void)
{
    enum { LARGE = 1024 * 1024 };
    struct arena *arena = arena_new();
    char *large = arena_alloc(arena, LARGE, 1);
    large[LARGE - 1] = 'x';
    char *small = arena_strdup(arena, "small");
    CHECK(large[LARGE - 1] == 'x');
    CHECK_TEXT(small, "small");
    arena_free(arena);
}

static void reset_gives_zeroed_memory_again(void)
{
    struct arena *arena = arena_new();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 50; i++) {
            char *memory = arena_alloc(arena, 500, 1);
            CHECK(memory[0] == 0 && memory[499] == 0);
            memset(memory, 'x', 500);
        }
        arena_reset(arena);
    }
    arena_free(arena);
}

static void strings_are_copied_and_formatted(void)
{
    struct arena *arena = arena_new();
    CHECK_TEXT(arena_strndup(arena, "digits", 3), "dig");
    CHECK_TEXT(arena_strdup(arena, ""), "");
    CHECK_TEXT(arena_printf(arena, "%s-%d", "trial", 7), "trial-7");
    CHECK(strlen(arena_printf(arena, "%*s", 20000, "")) == 20000);
    arena_free(arena);
}

static void its_bytes_are_counted(void)
{
    struct arena *arena = arena_new();
    const size_t empty = arena_bytes(arena);
    arena_alloc(arena, 1, 100000);
    CHECK(empty > 0 && arena_bytes(arena) >= empty + 100000);
    arena_reset(arena);
    CHECK(arena_bytes(arena) == empty && arena_bytes(NULL) == 0);
    arena_free(arena);
}

static void free_accepts_null(void)
{
    arena_free(NULL);
}

/* The exit code of a child that asks for what cannot be had. */
static int exit_code_of(void (*ask)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL)
            _exit(99);
        ask();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void ask_for_a_product_that_overflows(void)
{
    arena_alloc(arena_new(), SIZE_MAX / 2, 3);
}

static void ask_the_heap_for_a_product_that_overflows(void)
{
    ht_xrealloc(NULL, SIZE_MAX / 2, 3);
}

static void running_out_of_memory_ends_the_program(void)
{
    CHECK(exit_code_of(ask_for_a_product_that_overflows) == 1);
    CHECK(exit_code_of(ask_the_heap_for_a_product_that_overflows) == 1);
    CHECK(exit_code_of(ht_out_of_memory) == 1);
}

static void heap_helpers_return_memory_even_for_nothing(void)
{
    int *numbers = ht_xcalloc(0, sizeof *numbers);
    numbers = ht_xrealloc(numbers, 3, sizeof *numbers);
    numbers[2] = 5;
    CHECK(numbers[2] == 5);
    free(numbers);
    char *copy = ht_xstrdup("copy");
    CHECK_TEXT(copy, "copy");
    free(copy);
}

static void an_array_keeps_its_items_while_it_grows(void)
{
    struct arena *arena = arena_new();
    int *numbers = NULL;
    bool kept = true;
    for (int n = 0; n < 100; n++) {
        numbers = arena_grow(arena, numbers, (size_t)n, sizeof *numbers);
        numbers[n] = n;
    }
    for (int n = 0; n < 100; n++)
        kept = kept && numbers[n] == n;
    CHECK(kept);
    arena_free(arena);
}

int main(void)
{
    RUN(memory_is_zeroed_and_aligned);
    RUN(pieces_do_not_overlap_across_blocks);
    RUN(a_piece_may_exceed_a_block);
    RUN(reset_gives_zeroed_memory_again);
    RUN(strings_are_copied_and_formatted);
    RUN(its_bytes_are_counted);
    RUN(free_accepts_null);
    RUN(running_out_of_memory_ends_the_program);
    RUN(heap_helpers_return_memory_even_for_nothing);
    RUN(an_array_keeps_its_items_while_it_grows);
    return check_done();
}
