/* The id of a machine. */
#include "tests/check.h"

#include "proto/base/machine_id.h"

static void a_name_gives_the_hash_that_every_program_computes(void)
{
    char id[TOKEN_TEXT_BYTES];
    machine_id(id, "box");
    /* printf %s hypertune:box | sha256sum */
    CHECK_TEXT(
        id, "d22a26fbe76130e4174460ba485ff200a9fe521f1227d2920caa216810783f7a");
}

static void without_a_name_it_is_the_same_each_time(void)
{
    char first[TOKEN_TEXT_BYTES], second[TOKEN_TEXT_BYTES];
    machine_id(first, NULL);
    machine_id(second, NULL);
    CHECK_TEXT(first, second);
    CHECK(strlen(first) == 64);
    machine_id(second, "");
    CHECK(strcmp(first, second) != 0);
}

int main(void)
{
    RUN(a_name_gives_the_hash_that_every_program_computes);
    RUN(without_a_name_it_is_the_same_each_time);
    return check_done();
}
