#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include <curl/curl.h>

#include "tests/check.h"
#include "tuner/webhook/config.h"
#include "tuner/webhook/http_post.h"

#define CHECK_ABOUT(condition, what)                                           \
    do {                                                                       \
        CHECK(condition);                                                      \
        if (!(condition))                                                      \
            printf("#   %s\n", (what));                                        \
    } while (0)

static bool is_public(const char *text)
{
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return webhook_address_is_public((const struct sockaddr *)&four);
    if (inet_pton(AF_INET6, text, &six.sin6_addr) != 1)
        return false;
    return webhook_address_is_public((const struct sockaddr *)&six);
}

static void only_public_addresses_are_public(void)
{
    static const char *const open[] = {
        "1.1.1.1",         "8.8.8.8",         "9.255.255.255",
        "11.0.0.0",        "100.63.255.255",  "100.128.0.0",
        "172.15.255.255",  "172.32.0.0",      "192.167.1.1",
        "192.169.0.0",     "198.17.0.1",      "198.20.0.0",
        "223.255.255.255", "2606:4700::1111", "2a00:1450::1",
        "2002:808:808::1", "64:ff9b::808:808"};
    static const char *const closed[] = {"0.0.0.0",
                                         "10.0.0.1",
                                         "100.64.0.1",
                                         "127.0.0.1",
                                         "127.255.1.1",
                                         "169.254.169.254",
                                         "172.16.0.1",
                                         "172.31.255.255",
                                         "192.0.0.1",
                                         "192.168.1.1",
                                         "198.18.0.1",
                                         "198.19.255.255",
                                         "224.0.0.1",
                                         "239.1.1.1",
                                         "240.0.0.1",
                                         "255.255.255.255",
                                         "::",
                                         "::1",
                                         "::ffff:8.8.8.8",
                                         "::ffff:127.0.0.1",
                                         "::127.0.0.1",
                                         "fc00::1",
                                         "fd12:3456::1",
                                         "fe80::1",
                                         "fec0::1",
                                         "ff02::1",
                                         "2001:db8::1",
                                         "2001::1",
                                         "2002:7f00:1::1",
                                         "2002:a00:1::",
                                         "64:ff9b::7f00:1",
                                         "64:ff9b::a00:1",
                                         "100::1"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        CHECK_ABOUT(is_public(open[i]), open[i]);
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++)
        CHECK_ABOUT(!is_public(closed[i]), closed[i]);
}

/* As for a webhook that webhooks.json names; both refuse what leads inside. */
static enum ht_status post(const char *url, const char *resolve,
                           struct ht_error *err)
{
    const struct webhook webhook = {.url = url};
    const struct webhook_delivery delivery = {.event = "study.ended",
                                              .body = "{}"};
    struct arena *arena = arena_new();
    const char *host;
    enum ht_status status = webhook_url_check(arena, url, false, &host, err);
    arena_free(arena);
    if (status != HT_OK)
        return status;
    struct webhook_post *sent =
        webhook_post_new(&webhook, &delivery, 0, resolve);
    const CURLcode code = curl_easy_perform(webhook_post_handle(sent));
    status = webhook_post_result(sent, code, err);
    webhook_post_free(sent);
    return status;
}

static void no_form_of_a_url_leads_inside(void)
{
    /* Decimal, octal, hexadecimal, short, mapped, with users, other schemes. */
    static const char *const urls[] = {
        "https://127.0.0.1:9/",
        "https://2130706433:9/",
        "https://0x7f000001:9/",
        "https://0177.0.0.1:9/",
        "https://0x7f.1:9/",
        "https://127.1:9/",
        "https://127.0.1:9/",
        "https://0:9/",
        "https://0.0.0.0:9/",
        "https://[::1]:9/",
        "https://[::]:9/",
        "https://[::ffff:127.0.0.1]:9/",
        "https://[::ffff:7f00:1]:9/",
        "https://[0:0:0:0:0:ffff:127.0.0.1]:9/",
        "https://[64:ff9b::7f00:1]:9/",
        "https://[2002:7f00:1::]:9/",
        "https://[fe80::1]:9/",
        "https://[fd00::1]:9/",
        "https://169.254.169.254/latest/meta-data/",
        "https://2852039166/",
        "https://10.0.0.1/",
        "https://192.168.0.1/",
        "https://172.16.0.1/",
        "https://100.64.0.1/",
        "https://224.0.0.1/",
        "https://255.255.255.255/",
        "https://localhost:9/",
        "https://user:pass@8.8.8.8/",
        "https://8.8.8.8@127.0.0.1:9/",
        "http://8.8.8.8/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_x",
        "ftp://8.8.8.8/",
        "dict://127.0.0.1:11211/",
        "https://",
        "not a url"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct ht_error err = {0};
        const bool sent = post(urls[i], NULL, &err) == HT_OK;
        CHECK_ABOUT(!sent, urls[i]);
        const bool refused = strstr(err.text, "not public") != NULL ||
                             strstr(err.text, "is not https") != NULL ||
                             strstr(err.text, "no user") != NULL ||
                             strstr(err.text, "is no URL") != NULL;
        CHECK_ABOUT(refused, err.text);
    }
}

static void a_name_that_resolves_to_us_is_refused_when_it_connects(void)
{
    struct ht_error err = {0};
    CHECK(post("https://hook.test/", "hook.test:443:127.0.0.1", &err) ==
          HT_UNAVAILABLE);
    CHECK_ABOUT(strstr(err.text, "not public") != NULL, err.text);
    CHECK(post("https://hook.test/", "hook.test:443:10.1.2.3", &err) ==
          HT_UNAVAILABLE);
    CHECK_ABOUT(strstr(err.text, "not public") != NULL, err.text);
}

int main(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    RUN(only_public_addresses_are_public);
    RUN(no_form_of_a_url_leads_inside);
    RUN(a_name_that_resolves_to_us_is_refused_when_it_connects);
    curl_global_cleanup();
    return check_done();
}
