#include "proto/base/machine.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/check.h"

/* The same for all programs, and not the id itself, which is a secret. */
static void a_machine_is_known_by_a_hash(void)
{
    char first[TOKEN_TEXT_BYTES], second[TOKEN_TEXT_BYTES], own[256] = "";
    unsigned char hash[TOKEN_HASH_BYTES];
    machine_id(first);
    machine_id(second);
    CHECK_TEXT(first, second);
    CHECK(strlen(first) == 64 && token_unhex(hash, first));
    FILE *file = fopen("/etc/machine-id", "re");
    if (file == NULL)
        SKIP("this machine has no id");
    CHECK(fgets(own, sizeof own, file) != NULL);
    (void)fclose(file);
    own[strcspn(own, "\n")] = '\0';
    CHECK(strstr(first, own) == NULL);
    char named[300];
    snprintf(named, sizeof named, "hypertune:%s", own);
    token_sha256(hash, named, strlen(named));
    token_hex(second, hash);
    CHECK_TEXT(first, second);
}

int main(void)
{
    RUN(a_machine_is_known_by_a_hash);
    return check_done();
}
