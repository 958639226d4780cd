#include "hypertune/cli/frame/trust.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <curl/curl.h>
#include <netinet/in.h>

#include "hypertune/cli/frame/server.h"

/* The host between "//" and the port, without brackets; false: none fits. */
static bool host_of(const char *url, char host[INET6_ADDRSTRLEN * 2])
{
    const char *start = strstr(url, "://");
    start = start != NULL ? start + 3 : url;
    if (memchr(start, '@', strcspn(start, "/?#")) != NULL)
        return false; /* the host is behind a name and a password */
    const bool bracketed = start[0] == '[';
    start += bracketed;
    const size_t len = strcspn(start, bracketed ? "]" : ":/?#@");
    if (len == 0 || len >= (size_t)INET6_ADDRSTRLEN * 2 || start[len] == '@')
        return false;
    memcpy(host, start, len);
    host[len] = '\0';
    return true;
}

bool cli_trust_is_loopback(const char *url)
{
    char host[INET6_ADDRSTRLEN * 2];
    return host_of(url, host) && cli_server_is_loopback(host);
}

/* "sha256//" and 32 bytes in base64, one or more of them. */
static bool is_pin_list(const char *pins)
{
    enum { DIGITS = 43 };
    static const char kind[] = "sha256//";
    for (;;) {
        size_t n = 0;
        if (strncmp(pins, kind, sizeof kind - 1) != 0)
            return false;
        pins += sizeof kind - 1;
        while (isalnum((unsigned char)pins[n]) || pins[n] == '+' ||
               pins[n] == '/')
            n++;
        if (n != DIGITS || pins[n] != '=')
            return false;
        pins += n + 1;
        if (*pins == '\0')
            return true;
        if (*pins++ != ';')
            return false;
    }
}

enum ht_status cli_trust_check(const struct cli_trust *trust, const char *url,
                               bool has_token, struct ht_error *err)
{
    if (strncasecmp(url, "https://", 8) != 0) {
        if (!has_token || trust->insecure || cli_trust_is_loopback(url))
            return HT_OK;
        return ht_fail(err, HT_DENIED,
                       "http shows the token to everyone between here and "
                       "%.100s; use https:// (docs/operations.md, \"On a "
                       "network\"), or --insecure",
                       url);
    }
    if (trust->pin != NULL && !is_pin_list(trust->pin))
        return ht_fail(err, HT_INVALID,
                       "a pin is sha256//BASE64 of 32 bytes, several by ';', "
                       "not \"%.100s\"",
                       trust->pin);
    if (trust->ca != NULL && access(trust->ca, R_OK) != 0)
        return ht_fail_errno(err, errno, "cannot read the authority's file %s",
                             trust->ca);
    return HT_OK;
}

void cli_trust_apply(const struct cli_trust *trust, void *easy)
{
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (trust->ca != NULL) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, trust->ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (trust->pin == NULL)
        return;
    curl_easy_setopt(easy, CURLOPT_PINNEDPUBLICKEY, trust->pin);
    if (trust->ca != NULL)
        return;
    /* The key is known itself: neither an issuer nor a name adds to that. */
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
}

bool cli_trust_is_lacking(int curl_code)
{
    return curl_code == CURLE_PEER_FAILED_VERIFICATION ||
           curl_code == CURLE_SSL_PINNEDPUBKEYNOTMATCH ||
           curl_code == CURLE_SSL_CACERT_BADFILE;
}
