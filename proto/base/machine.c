#include "proto/base/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool read_own(char *text, int size)
{
    FILE *file = fopen("/etc/machine-id", "re");
    if (file == NULL)
        return false;
    const bool read = fgets(text, size, file) != NULL;
    (void)fclose(file);
    text[strcspn(text, " \t\r\n")] = '\0';
    return read && text[0] != '\0';
}

void machine_id(char text[TOKEN_TEXT_BYTES])
{
    char own[128] = "", host[128] = "", named[256];
    unsigned char hash[TOKEN_HASH_BYTES];
    const bool has = read_own(own, sizeof own);
    if (!has)
        (void)gethostname(host, sizeof host - 1);
    (void)snprintf(named, sizeof named, "hypertune:%s%s",
                   has ? "" : "host:", has ? own : host);
    token_sha256(hash, named, strlen(named));
    token_hex(text, hash);
}
