#include "hypertune/cli/frame/store.h"

#include "hypertune/cli/frame/cli.h"

enum ht_status cli_store_find(void *context, struct transfer_server *server,
                              struct ht_error *err)
{
    const struct cli *cli = context;
    (void)err;
    *server = (struct transfer_server){.url = cli_http_url(cli->http),
                                       .token = cli_http_token(cli->http),
                                       .trust = *cli_http_trust(cli->http)};
    return HT_OK;
}
