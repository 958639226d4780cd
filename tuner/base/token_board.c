#include "tuner/base/token_board.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/arena.h"

enum { SLOTS = 4096 }; /* a power of two over 2 * TOKENS_MOST */

/* The table of hashes has each secret of each row; it is made anew by every
 * change, which are rare. */
struct slot {
    const unsigned char *hash; /* NULL: empty */
    size_t row;
};

struct token_board {
    pthread_mutex_t lock;
    size_t n;
    struct token_row rows[TOKENS_MOST];
    struct slot slots[SLOTS];
};

struct token_board *token_board_new(void)
{
    struct token_board *board = ht_xcalloc(1, sizeof *board);
    pthread_mutex_init(&board->lock, NULL);
    return board;
}

void token_board_free(struct token_board *board)
{
    if (board == NULL)
        return;
    pthread_mutex_destroy(&board->lock);
    free(board);
}

/* SHA-256 of 32 random bytes is spread evenly. */
static size_t first_slot(const unsigned char *hash)
{
    return ((size_t)hash[0] << 8 | hash[1]) % SLOTS;
}

static void add_hash(struct token_board *board, const unsigned char *hash,
                     size_t row)
{
    size_t at = first_slot(hash);
    while (board->slots[at].hash != NULL)
        at = (at + 1) % SLOTS;
    board->slots[at] = (struct slot){hash, row};
}

static void make_slots(struct token_board *board)
{
    memset(board->slots, 0, sizeof board->slots);
    for (size_t i = 0; i < board->n; i++) {
        add_hash(board, board->rows[i].hash, i);
        if (board->rows[i].old_until_ms > 0)
            add_hash(board, board->rows[i].old_hash, i);
    }
}

static size_t place_of(const struct token_board *board, int64_t id)
{
    size_t i = 0;
    while (i < board->n && board->rows[i].id != id)
        i++;
    return i;
}

bool token_board_put(struct token_board *board, const struct token_row *row)
{
    pthread_mutex_lock(&board->lock);
    const size_t at = place_of(board, row->id);
    const bool fits = at < TOKENS_MOST;
    if (fits) {
        board->rows[at] = *row;
        board->n += at == board->n;
        make_slots(board);
    }
    pthread_mutex_unlock(&board->lock);
    return fits;
}

void token_board_drop(struct token_board *board, int64_t id)
{
    pthread_mutex_lock(&board->lock);
    const size_t at = place_of(board, id);
    if (at < board->n) {
        board->rows[at] = board->rows[--board->n];
        make_slots(board);
    }
    pthread_mutex_unlock(&board->lock);
}

static enum token_verdict judge(const struct token_row *row,
                                const unsigned char *hash, int64_t now_ms)
{
    if (row->revoked_ms > 0)
        return TOKEN_REVOKED;
    if (!token_equal(hash, row->hash) && now_ms >= row->old_until_ms)
        return TOKEN_REPLACED;
    return row->expires_ms > 0 && now_ms >= row->expires_ms ? TOKEN_EXPIRED
                                                            : TOKEN_VALID;
}

enum token_verdict
token_board_find(struct token_board *board,
                 const unsigned char secret[TOKEN_HASH_BYTES], int64_t now_ms,
                 struct token_row *row)
{
    enum token_verdict verdict = TOKEN_UNKNOWN;
    if (board == NULL)
        return verdict;
    pthread_mutex_lock(&board->lock);
    for (size_t at = first_slot(secret);
         verdict == TOKEN_UNKNOWN && board->slots[at].hash != NULL;
         at = (at + 1) % SLOTS) {
        if (!token_equal(secret, board->slots[at].hash))
            continue;
        *row = board->rows[board->slots[at].row];
        verdict = judge(row, secret, now_ms);
    }
    pthread_mutex_unlock(&board->lock);
    return verdict;
}

bool token_board_has_runner(struct token_board *board, const char *runner)
{
    bool found = false;
    if (board == NULL || runner[0] == '\0')
        return false;
    pthread_mutex_lock(&board->lock);
    for (size_t i = 0; !found && i < board->n; i++)
        found = strcmp(board->rows[i].runner, runner) == 0;
    pthread_mutex_unlock(&board->lock);
    return found;
}

const char *token_role_name(enum token_role role)
{
    static const char *const names[TOKEN_ROLES] = {"admin",  "submit", "read",
                                                   "runner", "join",   "share"};
    return names[role];
}
