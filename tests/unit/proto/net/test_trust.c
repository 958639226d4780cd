/* Where a token may go, and what curl's words for a refusal mean. */
#include "tests/check.h"

#include <sys/stat.h>

#include <curl/curl.h>

#include "proto/net/tls_files.h"
#include "proto/net/trust.h"
#include "tests/lib/own_folder.h"

static struct ht_error err;

static enum ht_status check(const struct trust *trust, const char *url)
{
    err = (struct ht_error){.text = ""};
    return trust_check(trust, url, true, &err);
}

static void a_token_leaves_this_machine_by_https_only(void)
{
    static const char *const here[] = {
        "http://127.0.0.1:1", "http://localhost:1", "http://[::1]:1",
        "https://tuner.example", "HTTPS://tuner.example"};
    static const char *const away[] = {
        "http://tuner.example", "http://10.0.0.1:1",
        "http://localhost.evil.example", "http://127.0.0.1.evil.example",
        "http://127.0.0.1@evil.example"};
    const struct trust none = {0}, insecure = {.insecure = true};
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        CHECK_TEXT(check(&none, here[i]) == HT_OK ? "" : here[i], "");
    for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
        CHECK_TEXT(check(&none, away[i]) == HT_DENIED ? "" : away[i], "");
        CHECK(strstr(err.text, "use https://") != NULL);
        CHECK(check(&insecure, away[i]) == HT_OK);
        CHECK(trust_check(&none, away[i], false, NULL) == HT_OK);
    }
}

static void what_cannot_be_used_is_found_before_the_first_request(void)
{
    static const char url[] = "https://tuner.example";
    struct trust wrong = {.pin = "sha256//x"};
    CHECK(check(&wrong, url) == HT_INVALID);
    CHECK(strstr(err.text, "sha256//x") != NULL);
    wrong = (struct trust){.ca = "none.pem"};
    CHECK(check(&wrong, url) == HT_IO);
    CHECK(strstr(err.text, "none.pem") != NULL);
    CHECK(tls_make_ca("a.pem", "key.pem", "a", 1, NULL) == HT_OK);
    wrong = (struct trust){.ca = "a.pem", .cert = "a.pem"};
    CHECK(check(&wrong, url) == HT_INVALID);
    CHECK(strstr(err.text, "--cert and --key") != NULL);
    wrong.key = "none.pem";
    CHECK(check(&wrong, url) == HT_IO);
    wrong.key = "key.pem";
    CHECK(check(&wrong, url) == HT_OK);
    CHECK(chmod("key.pem", 0604) == 0);
    CHECK(check(&wrong, url) == HT_INVALID);
    CHECK(strstr(err.text, "key.pem") != NULL);
}

static const char *meaning(const char *words)
{
    err = (struct ht_error){.text = ""};
    if (trust_check_refusal("https://t", words, &err) == HT_OK)
        return "none";
    CHECK(err.status == HT_DENIED);
    CHECK(strstr(err.text, "give --cert and --key") != NULL);
    return strstr(err.text, "refuses this one") != NULL ? "refused" : "missing";
}

static void an_alert_about_a_certificate_has_its_remedy(void)
{
#define READ "OpenSSL SSL_read: error:0A000412:SSL routines::"
    CHECK_TEXT(meaning(READ "tlsv13 alert certificate required, errno 0"),
               "missing");
    CHECK_TEXT(meaning(READ "sslv3 alert certificate expired, errno 0"),
               "refused");
    CHECK_TEXT(meaning(READ "sslv3 alert certificate revoked, errno 0"),
               "refused");
    CHECK_TEXT(meaning(READ "sslv3 alert unsupported certificate, errno 0"),
               "refused");
    CHECK_TEXT(meaning(READ "tlsv1 alert unknown ca, errno 0"), "refused");
    CHECK_TEXT(meaning(READ "sslv3 alert handshake failure"), "none");
    CHECK_TEXT(meaning("SSL certificate problem: certificate has expired"),
               "none");
    CHECK_TEXT(meaning(""), "none");
}

static void a_server_without_trust_is_told_from_one_that_is_away(void)
{
    CHECK(trust_is_lacking(CURLE_PEER_FAILED_VERIFICATION));
    CHECK(trust_is_lacking(CURLE_SSL_PINNEDPUBKEYNOTMATCH));
    CHECK(trust_is_lacking(CURLE_SSL_CACERT_BADFILE));
    CHECK(!trust_is_lacking(CURLE_COULDNT_CONNECT));
    CHECK(!trust_is_lacking(CURLE_OK));
}

int main(void)
{
    own_folder_enter();
    RUN(a_token_leaves_this_machine_by_https_only);
    RUN(what_cannot_be_used_is_found_before_the_first_request);
    RUN(an_alert_about_a_certificate_has_its_remedy);
    RUN(a_server_without_trust_is_told_from_one_that_is_away);
    return check_done();
}
