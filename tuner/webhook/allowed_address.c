#include "tuner/webhook/allowed_address.h"

#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

#include <curl/curl.h>

/* IANA's special-purpose registries: what is not to be reached from outside. */
static const struct {
    uint32_t network;
    int bits;
} closed4[] = {
    {0x00000000, 8},  /* this network */
    {0x0a000000, 8},  /* private */
    {0x64400000, 10}, /* shared by a provider's customers */
    {0x7f000000, 8},  /* loopback */
    {0xa9fe0000, 16}, /* link-local, with the clouds' metadata */
    {0xac100000, 12}, /* private */
    {0xc0000000, 24}, /* protocol assignments */
    {0xc0000200, 24}, /* documentation */
    {0xc0586300, 24}, /* 6to4 relays */
    {0xc0a80000, 16}, /* private */
    {0xc6120000, 15}, /* benchmarks */
    {0xc6336400, 24}, /* documentation */
    {0xcb007100, 24}, /* documentation */
    {0xe0000000, 4},  /* multicast */
    {0xf0000000, 4},  /* reserved, broadcast */
};

/* Only 2000::/3 is public at all; these parts of it are not. */
static const struct {
    uint32_t network; /* the first 32 bits */
    int bits;
} closed6[] = {
    {0x20010000, 23}, /* protocol assignments, Teredo among them */
    {0x20010db8, 32}, /* documentation */
    {0x3fff0000, 20}, /* documentation */
};

static uint32_t bits_of(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
           (uint32_t)at[2] << 8 | at[3];
}

static bool is_in(uint32_t address, uint32_t network, int bits)
{
    return (address ^ network) >> (32 - bits) == 0;
}

static bool is_public4(uint32_t address)
{
    for (size_t i = 0; i < sizeof closed4 / sizeof *closed4; i++)
        if (is_in(address, closed4[i].network, closed4[i].bits))
            return false;
    return true;
}

static bool is_public6(const unsigned char address[16])
{
    static const unsigned char nat64[12] = {0x00, 0x64, 0xff, 0x9b};
    const uint32_t first = bits_of(address);
    if (memcmp(address, nat64, sizeof nat64) == 0)
        return is_public4(bits_of(address + 12));
    if (first >> 16 == 0x2002) /* 6to4 */
        return is_public4(bits_of(address + 2));
    /* Mapped and compatible addresses are outside of it, too. */
    if (!is_in(first, 0x20000000, 3))
        return false;
    for (size_t i = 0; i < sizeof closed6 / sizeof *closed6; i++)
        if (is_in(first, closed6[i].network, closed6[i].bits))
            return false;
    return true;
}

bool webhook_target_is_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in known;
        memcpy(&known, address, sizeof known);
        return is_public4(ntohl(known.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 known;
        memcpy(&known, address, sizeof known);
        return is_public6(known.sin6_addr.s6_addr);
    }
    return false;
}

static bool has_part(CURLU *url, CURLUPart which)
{
    char *text = NULL;
    const bool has = curl_url_get(url, which, &text, 0) == CURLUE_OK;
    curl_free(text);
    return has;
}

static bool has_scheme(CURLU *url, bool local)
{
    char *scheme = NULL;
    if (curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK)
        return false;
    const bool fits =
        strcmp(scheme, "https") == 0 || (local && strcmp(scheme, "http") == 0);
    curl_free(scheme);
    return fits;
}

enum ht_status webhook_target_check(const char *text, bool local,
                                    struct ht_error *err)
{
    CURLU *url = curl_url();
    enum ht_status status = HT_OK;
    if (url == NULL || curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK ||
        !has_part(url, CURLUPART_HOST))
        status = ht_fail(err, HT_INVALID, "\"%.100s\" is no URL", text);
    else if (!has_scheme(url, local))
        status = ht_fail(err, HT_INVALID,
                         "\"%.100s\" is not https (http is for a webhook with "
                         "\"local\": true)",
                         text);
    else if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
        status = ht_fail(err, HT_INVALID,
                         "a webhook's URL has no user and no password");
    curl_url_cleanup(url);
    return status;
}

const char *webhook_target_host(struct arena *arena, const char *text)
{
    CURLU *url = curl_url();
    char *host = NULL;
    if (url == NULL || curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK)
        ht_out_of_memory();
    const char *kept = arena_strdup(arena, host);
    curl_free(host);
    curl_url_cleanup(url);
    return kept;
}
