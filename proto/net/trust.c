#include "proto/net/trust.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <curl/curl.h>

#include "proto/net/address.h"
#include "proto/net/tls.h"

static enum ht_status check_own(const struct trust *trust, struct ht_error *err)
{
    if ((trust->cert == NULL) != (trust->key == NULL))
        return ht_fail(err, HT_INVALID,
                       "--cert and --key are given together: a certificate "
                       "for this client and its key");
    if (trust->cert == NULL || trust->key == NULL)
        return HT_OK;
    if (access(trust->cert, R_OK) != 0)
        return ht_fail_errno(err, errno, "cannot read the certificate %s",
                             trust->cert);
    return tls_check_key_file(trust->key, err);
}

enum ht_status trust_check(const struct trust *trust, const char *url,
                           bool has_token, struct ht_error *err)
{
    if (strncasecmp(url, "https://", 8) != 0) {
        if (!has_token || trust->insecure || address_url_is_loopback(url))
            return HT_OK;
        return ht_fail(err, HT_DENIED,
                       "http shows the token to everyone between here and "
                       "%.100s; use https:// (docs/operations.md, \"On a "
                       "network\"), or --insecure",
                       url);
    }
    struct tls_pins pins;
    if (trust->pin != NULL && tls_pins_read(trust->pin, &pins, err) != HT_OK)
        return HT_INVALID;
    if (trust->ca != NULL && access(trust->ca, R_OK) != 0)
        return ht_fail_errno(err, errno, "cannot read the authority's file %s",
                             trust->ca);
    return check_own(trust, err);
}

void trust_apply(const struct trust *trust, void *easy)
{
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (trust->ca != NULL) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, trust->ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (trust->cert != NULL) {
        curl_easy_setopt(easy, CURLOPT_SSLCERT, trust->cert);
        curl_easy_setopt(easy, CURLOPT_SSLKEY, trust->key);
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

bool trust_is_lacking(int curl_code)
{
    return curl_code == CURLE_PEER_FAILED_VERIFICATION ||
           curl_code == CURLE_SSL_PINNEDPUBKEYNOTMATCH ||
           curl_code == CURLE_SSL_CACERT_BADFILE;
}

enum ht_status trust_check_refusal(const char *url, const char *words,
                                   struct ht_error *err)
{
    if (strstr(words, " alert ") == NULL ||
        (strstr(words, "certificate") == NULL &&
         strstr(words, "unknown ca") == NULL))
        return HT_OK;
    return ht_fail(err, HT_DENIED,
                   "%.100s asks clients for a certificate%s; get one made by "
                   "`hypertune tls client NAME` there, and give --cert and "
                   "--key",
                   url,
                   strstr(words, "required") != NULL
                       ? ""
                       : " and refuses this one as foreign, expired, revoked "
                         "or not for clients");
}
