#include "tuner/http/sessions.h"

#include <string.h>

#include "tests/check.h"
#include "tuner/base/session_board.h"

static const char secret[] = "0123456789abcdef0123456789abcdef";
static const unsigned char opener[TOKEN_HASH_BYTES] = {1, 2, 254, 255};

static void a_link_lets_in_once(void)
{
    struct sessions *sessions = sessions_new(secret, NULL);
    char code[SESSION_CODE_BYTES];
    unsigned char token[TOKEN_HASH_BYTES] = {0};
    sessions_invite(sessions, opener, 1000, code);
    CHECK(strlen(code) == SESSION_CODE_BYTES - 1);
    CHECK(!sessions_redeem(sessions, "", 1000, token));
    CHECK(!sessions_redeem(sessions, code + 1, 1000, token));
    CHECK(sessions_redeem(sessions, code, 1000 + SESSION_CODE_MS, token));
    CHECK(token_equal(token, opener));
    CHECK(!sessions_redeem(sessions, code, 1001, token));
    sessions_free(sessions);
}

static void an_old_link_lets_nobody_in(void)
{
    struct sessions *sessions = sessions_new(secret, NULL);
    char code[SESSION_CODE_BYTES];
    unsigned char token[TOKEN_HASH_BYTES];
    sessions_invite(sessions, opener, 1000, code);
    CHECK(!sessions_redeem(sessions, code, 1001 + SESSION_CODE_MS, token));
    CHECK(!sessions_redeem(sessions, code, 1000, token));
    sessions_free(sessions);
}

static void the_oldest_of_many_links_gives_way(void)
{
    struct sessions *sessions = sessions_new(secret, NULL);
    char first[SESSION_CODE_BYTES], later[SESSION_CODE_BYTES];
    unsigned char token[TOKEN_HASH_BYTES];
    sessions_invite(sessions, opener, 0, first);
    for (int i = 0; i < 32; i++)
        sessions_invite(sessions, opener, 0, later);
    CHECK(!sessions_redeem(sessions, first, 0, token));
    CHECK(sessions_redeem(sessions, later, 0, token));
    sessions_free(sessions);
}

static void a_cookie_outlives_the_server_and_ends_in_time(void)
{
    char cookie[SESSION_COOKIE_BYTES];
    struct session session;
    struct sessions *before = sessions_new(secret, NULL);
    sessions_seal(before, opener, 5000, cookie);
    struct sessions *after = sessions_new(secret, NULL);
    CHECK_TEXT(sessions_name(after), sessions_name(before));
    CHECK(sessions_open(after, cookie, 5000, &session));
    CHECK(token_equal(session.token, opener));
    CHECK(session.id > 0 && session.until_s == 5000 + SESSION_SECONDS);
    CHECK(sessions_open(after, cookie, 5000 + SESSION_SECONDS, &session));
    CHECK(!sessions_open(after, cookie, 5001 + SESSION_SECONDS, &session));
    sessions_free(before);
    sessions_free(after);
}

static void nobody_else_can_make_a_cookie(void)
{
    char cookie[SESSION_COOKIE_BYTES], changed[SESSION_COOKIE_BYTES];
    struct session session;
    struct sessions *ours = sessions_new(secret, NULL);
    struct sessions *others = sessions_new("another token", NULL);
    sessions_seal(ours, opener, 5000, cookie);
    CHECK(strcmp(sessions_name(ours), sessions_name(others)) != 0);
    CHECK(!sessions_open(others, cookie, 5000, &session));
    for (size_t i = 0; cookie[i] != '\0'; i++) {
        memcpy(changed, cookie, sizeof changed);
        changed[i] = changed[i] == '7' ? '8' : '7';
        CHECK(!sessions_open(ours, changed, 5000, &session));
    }
    CHECK(!sessions_open(ours, "", 5000, &session));
    CHECK(!sessions_open(ours, ".", 5000, &session));
    sessions_free(ours);
    sessions_free(others);
}

static void one_that_was_left_opens_nothing_and_another_still_does(void)
{
    char first[SESSION_COOKIE_BYTES], second[SESSION_COOKIE_BYTES];
    struct session session;
    struct session_board *board = session_board_new();
    struct sessions *sessions = sessions_new(secret, board);
    sessions_seal(sessions, opener, 5000, first);
    sessions_seal(sessions, opener, 5000, second);
    CHECK(sessions_open(sessions, first, 5000, &session));
    const struct left_session left = {session.id, session.until_s};
    CHECK(session_board_add(board, &left, 5000));
    CHECK(!sessions_open(sessions, first, 5000, &session));
    CHECK(sessions_open(sessions, second, 5000, &session));
    sessions_free(sessions);
    session_board_free(board);
}

int main(void)
{
    RUN(a_link_lets_in_once);
    RUN(an_old_link_lets_nobody_in);
    RUN(the_oldest_of_many_links_gives_way);
    RUN(a_cookie_outlives_the_server_and_ends_in_time);
    RUN(nobody_else_can_make_a_cookie);
    RUN(one_that_was_left_opens_nothing_and_another_still_does);
    return check_done();
}
