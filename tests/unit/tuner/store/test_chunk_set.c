#include "tuner/store/chunk_set.h"

#include "proto/base/token.h"
#include "tests/check.h"

static struct tree_hash hash_of(int number)
{
    struct tree_hash hash;
    token_sha256(hash.bytes, &number, sizeof number);
    return hash;
}

static void what_was_added_is_there_and_nothing_else(void)
{
    enum { N = 5000 };
    struct chunk_set set = {0};
    const struct tree_hash first = hash_of(0);
    CHECK(!chunk_set_has(&set, &first));
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < N; i++) {
            const struct tree_hash hash = hash_of(i);
            chunk_set_add(&set, &hash);
        }
    CHECK(set.n == N);
    for (int i = 0; i < 2 * N; i++) {
        const struct tree_hash hash = hash_of(i);
        CHECK(chunk_set_has(&set, &hash) == (i < N));
    }
    chunk_set_free(&set);
    CHECK(!chunk_set_has(&set, &first));
}

static void a_hash_that_begins_with_zeros_is_one_too(void)
{
    struct chunk_set set = {0};
    const struct tree_hash zeros = {{0}};
    chunk_set_add(&set, &zeros);
    CHECK(set.n == 1 && chunk_set_has(&set, &zeros));
    chunk_set_free(&set);
}

int main(void)
{
    RUN(what_was_added_is_there_and_nothing_else);
    RUN(a_hash_that_begins_with_zeros_is_one_too);
    return check_done();
}
