#include "proto/base/machine_id.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "" where the file is missing or empty, as in some images. */
static void read_file(char *text, int bytes)
{
    FILE *file = fopen("/etc/machine-id", "re");
    text[0] = '\0';
    if (file == NULL)
        return;
    if (fgets(text, bytes, file) == NULL)
        text[0] = '\0';
    (void)fclose(file);
    text[strcspn(text, " \t\r\n")] = '\0';
}

void machine_id(char id[TOKEN_TEXT_BYTES], const char *name)
{
    char own[256] = "";
    char text[512];
    unsigned char hash[TOKEN_HASH_BYTES];
    if (name == NULL)
        read_file(own, sizeof own);
    if (name == NULL && own[0] == '\0')
        gethostname(own, sizeof own - 1);
    snprintf(text, sizeof text, "hypertune:%s", name != NULL ? name : own);
    token_sha256(hash, text, strlen(text));
    token_hex(id, hash);
}
