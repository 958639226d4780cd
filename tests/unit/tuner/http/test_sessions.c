#include "tuner/http/sessions.h"

#include <string.h>

#include "tests/check.h"

static const char secret[] = "0123456789abcdef0123456789abcdef";
enum { ROLES = 6 };

static void a_link_lets_in_once(void)
{
    struct sessions *sessions = sessions_new(secret);
    char code[SESSION_CODE_BYTES];
    unsigned roles = 0;
    sessions_invite(sessions, ROLES, 1000, code);
    CHECK(strlen(code) == SESSION_CODE_BYTES - 1);
    CHECK(!sessions_redeem(sessions, "", 1000, &roles));
    CHECK(!sessions_redeem(sessions, code + 1, 1000, &roles));
    CHECK(sessions_redeem(sessions, code, 1000 + SESSION_CODE_MS, &roles));
    CHECK(roles == ROLES);
    CHECK(!sessions_redeem(sessions, code, 1001, &roles));
    sessions_free(sessions);
}

static void an_old_link_lets_nobody_in(void)
{
    struct sessions *sessions = sessions_new(secret);
    char code[SESSION_CODE_BYTES];
    unsigned roles;
    sessions_invite(sessions, ROLES, 1000, code);
    CHECK(!sessions_redeem(sessions, code, 1001 + SESSION_CODE_MS, &roles));
    CHECK(!sessions_redeem(sessions, code, 1000, &roles));
    sessions_free(sessions);
}

static void the_oldest_of_many_links_gives_way(void)
{
    struct sessions *sessions = sessions_new(secret);
    char first[SESSION_CODE_BYTES], later[SESSION_CODE_BYTES];
    unsigned roles;
    sessions_invite(sessions, ROLES, 0, first);
    for (int i = 0; i < 32; i++)
        sessions_invite(sessions, ROLES, 0, later);
    CHECK(!sessions_redeem(sessions, first, 0, &roles));
    CHECK(sessions_redeem(sessions, later, 0, &roles));
    sessions_free(sessions);
}

static void a_cookie_outlives_the_server_and_ends_in_time(void)
{
    char cookie[SESSION_COOKIE_BYTES];
    struct sessions *before = sessions_new(secret);
    sessions_seal(before, ROLES, 5000, cookie);
    struct sessions *after = sessions_new(secret);
    CHECK_TEXT(sessions_name(after), sessions_name(before));
    CHECK(sessions_open(after, cookie, 5000) == ROLES);
    CHECK(sessions_open(after, cookie, 5000 + SESSION_SECONDS) == ROLES);
    CHECK(sessions_open(after, cookie, 5001 + SESSION_SECONDS) == 0);
    sessions_free(before);
    sessions_free(after);
}

static void nobody_else_can_make_a_cookie(void)
{
    char cookie[SESSION_COOKIE_BYTES], changed[SESSION_COOKIE_BYTES];
    struct sessions *ours = sessions_new(secret);
    struct sessions *others = sessions_new("another token");
    sessions_seal(ours, ROLES, 5000, cookie);
    CHECK(strcmp(sessions_name(ours), sessions_name(others)) != 0);
    CHECK(sessions_open(others, cookie, 5000) == 0);
    for (size_t i = 0; cookie[i] != '\0'; i++) {
        memcpy(changed, cookie, sizeof changed);
        changed[i] = changed[i] == '7' ? '8' : '7';
        CHECK(sessions_open(ours, changed, 5000) == 0);
    }
    CHECK(sessions_open(ours, "", 5000) == 0);
    CHECK(sessions_open(ours, ".", 5000) == 0);
    sessions_free(ours);
    sessions_free(others);
}

int main(void)
{
    RUN(a_link_lets_in_once);
    RUN(an_old_link_lets_nobody_in);
    RUN(the_oldest_of_many_links_gives_way);
    RUN(a_cookie_outlives_the_server_and_ends_in_time);
    RUN(nobody_else_can_make_a_cookie);
    return check_done();
}
