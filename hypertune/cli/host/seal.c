/* seal.c - `hypertune unseal`: what a sealed file of the data folder says. */

#include "hypertune/cli/host/seal.h"

#include <stdlib.h>

#include "hypertune/cli/frame/commands.h"
#include "proto/base/secret_file.h"

enum ht_status cli_seal_use(struct cli *cli, struct ht_error *err)
{
    const char *file = cli->set.key_file != NULL
                           ? cli->set.key_file
                           : cli_variable(cli, "HYPERTUNED_KEY_FILE");
    const char *data = cli_state_folder(cli);
    struct seal_key *key = arena_alloc(cli->lasting, 1, sizeof *key);
    char *real = data != NULL ? realpath(data, NULL) : NULL;
    const char *folder = real != NULL ? arena_strdup(cli->lasting, real) : NULL;
    free(real);
    if (file == NULL) {
        secret_file_use((struct seal_keys){NULL, NULL}, folder);
        return HT_OK;
    }
    const enum ht_status status = seal_key_read(file, true, key, err);
    if (status == HT_OK)
        secret_file_use((struct seal_keys){key, NULL}, folder);
    return status;
}

int cli_unseal(struct cli *cli)
{
    const char *file = cli->args.words.items[0], *data = cli_state_folder(cli);
    struct text secret = {0};
    struct ht_error err;
    if (file[0] != '/' && data != NULL)
        file = arena_printf(cli->arena, "%s/%s", data, file);
    if (cli_seal_use(cli, &err) != HT_OK ||
        secret_file_read(file, &secret, &err) != HT_OK)
        return cli_fail_error(cli, &err);
    return cli_print(&secret);
}
