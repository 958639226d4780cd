/* Keys, certificates and lists of revoked ones in files. */
#include "tests/check.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/clock.h"
#include "proto/net/tls_files.h"
#include "tests/lib/own_folder.h"

static const char *const hosts[] = {"tuner.example", "10.0.0.5", "::1"};

static enum ht_status make(const char *cert, const char *key,
                           const char *const names[], size_t n,
                           struct ht_error *err)
{
    const struct tls_certificate wanted = {.cert = cert,
                                           .key = key,
                                           .ca = "ca.pem",
                                           .ca_key = "ca-key.pem",
                                           .name = "tuner",
                                           .hosts = names,
                                           .n_hosts = n,
                                           .days = 30};
    return tls_make_certificate(&wanted, err);
}

static unsigned mode_of(const char *file)
{
    struct stat found = {0};
    CHECK(stat(file, &found) == 0);
    return found.st_mode & 07777;
}

static void a_key_is_its_owners_and_a_certificate_everyones(void)
{
    CHECK(make("a.pem", "a-key.pem", hosts, 3, NULL) == HT_OK);
    CHECK(mode_of("a-key.pem") == 0600);
    CHECK(mode_of("ca-key.pem") == 0600);
    CHECK(mode_of("a.pem") == 0644);
    CHECK(tls_check_key_file("a-key.pem", NULL) == HT_OK);
    CHECK(access("a.pem.new", F_OK) != 0);
}

static void a_renewal_keeps_the_key_and_so_the_pin(void)
{
    char before[TLS_PIN_BYTES], after[TLS_PIN_BYTES], key[TLS_PIN_BYTES];
    struct tls_file_facts first, second;
    CHECK(make("b.pem", "b-key.pem", hosts, 3, NULL) == HT_OK);
    CHECK(tls_pin_of_file("b.pem", before, NULL) == HT_OK);
    CHECK(tls_facts_of_file("b.pem", &first, NULL) == HT_OK);
    CHECK(make("b.pem", "b-key.pem", hosts, 3, NULL) == HT_OK);
    CHECK(tls_pin_of_file("b.pem", after, NULL) == HT_OK);
    CHECK(tls_facts_of_file("b.pem", &second, NULL) == HT_OK);
    CHECK(tls_pin_of_file("b-key.pem", key, NULL) == HT_OK);
    CHECK_TEXT(after, before);
    CHECK_TEXT(key, before);
    CHECK(strcmp(first.fingerprint, second.fingerprint) != 0);
    CHECK(tls_make_key("b-key.pem", NULL) == HT_OK);
    CHECK(tls_pin_of_file("b-key.pem", key, NULL) == HT_OK);
    CHECK(strcmp(key, before) != 0);
}

static void a_file_says_what_its_certificate_is_for(void)
{
    enum { DAY_MS = 86400000 };
    struct tls_file_facts facts, ca;
    CHECK(make("c.pem", "c-key.pem", hosts, 3, NULL) == HT_OK);
    CHECK(tls_facts_of_file("c.pem", &facts, NULL) == HT_OK);
    CHECK(tls_facts_of_file("ca.pem", &ca, NULL) == HT_OK);
    CHECK_TEXT(facts.hosts, "tuner.example,10.0.0.5,::1");
    CHECK_TEXT(facts.name, "CN=tuner");
    CHECK_TEXT(ca.name, "CN=house");
    CHECK(strlen(facts.fingerprint) == 95);
    const int64_t now_ms = clock_wall_ms();
    CHECK(facts.begins < now_ms && facts.begins > now_ms - DAY_MS);
    CHECK(facts.ends > now_ms + INT64_C(29) * DAY_MS);
    CHECK(facts.ends <= now_ms + INT64_C(30) * DAY_MS);
}

static void a_host_is_a_name_or_an_address(void)
{
    static const char *const wrong[] = {"",    "a b",  "a/b",
                                        "a,b", "a\nb", "http://a"};
    struct ht_error err;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(make("d.pem", "d-key.pem", &wrong[i], 1, &err) == HT_INVALID);
        CHECK(strstr(err.text, "is no DNS name or IP address") != NULL);
    }
    CHECK(access("d.pem", F_OK) != 0 && access("d-key.pem", F_OK) != 0);
}

static void a_file_that_cannot_be_used_is_named(void)
{
    struct tls_file_facts facts;
    struct ht_error err;
    char pin[TLS_PIN_BYTES];
    const struct tls_certificate orphan = {.cert = "e.pem",
                                           .key = "e-key.pem",
                                           .ca = "none.pem",
                                           .ca_key = "ca-key.pem",
                                           .name = "e"};
    CHECK(tls_facts_of_file("none.pem", &facts, &err) == HT_IO);
    CHECK(strstr(err.text, "none.pem") != NULL);
    CHECK(tls_facts_of_file("ca-key.pem", &facts, &err) == HT_INVALID);
    CHECK(strstr(err.text, "ca-key.pem") != NULL);
    CHECK(tls_pin_of_file("none.pem", pin, &err) == HT_IO);
    CHECK(tls_make_certificate(&orphan, &err) == HT_IO);
    CHECK(access("e.pem", F_OK) != 0);
    CHECK(tls_make_key("none/key.pem", &err) == HT_IO);
    CHECK(strstr(err.text, "none/key.pem") != NULL);
}

static enum ht_status add_revoked(const char *cert, const char *ca,
                                  struct ht_error *err)
{
    return tls_revoke("crl.pem", cert, ca, "ca-key.pem", err);
}

static void a_list_grows_and_a_fault_leaves_it_as_it_was(void)
{
    struct ht_error err;
    struct stat first, second, third;
    CHECK(make("f.pem", "f-key.pem", hosts, 3, NULL) == HT_OK);
    CHECK(make("g.pem", "g-key.pem", hosts, 3, NULL) == HT_OK);
    CHECK(add_revoked("none.pem", "ca.pem", &err) == HT_IO);
    CHECK(access("crl.pem", F_OK) != 0);
    CHECK(add_revoked("f.pem", "ca.pem", NULL) == HT_OK);
    CHECK(stat("crl.pem", &first) == 0);
    CHECK(add_revoked("g.pem", "ca.pem", NULL) == HT_OK);
    CHECK(stat("crl.pem", &second) == 0);
    CHECK(second.st_size > first.st_size);
    CHECK(add_revoked("f-key.pem", "ca.pem", &err) == HT_INVALID);
    CHECK(strstr(err.text, "f-key.pem") != NULL);
    CHECK(stat("crl.pem", &third) == 0);
    CHECK(third.st_ino == second.st_ino && third.st_size == second.st_size);
    FILE *file = fopen("crl.pem", "we");
    CHECK(file != NULL && fclose(file) == 0);
    CHECK(add_revoked("f.pem", "ca.pem", &err) == HT_INVALID); /* no new list */
    CHECK(strstr(err.text, "crl.pem") != NULL);
}

int main(void)
{
    own_folder_enter();
    CHECK(tls_make_ca("ca.pem", "ca-key.pem", "house", 30, NULL) == HT_OK);
    RUN(a_key_is_its_owners_and_a_certificate_everyones);
    RUN(a_renewal_keeps_the_key_and_so_the_pin);
    RUN(a_file_says_what_its_certificate_is_for);
    RUN(a_host_is_a_name_or_an_address);
    RUN(a_file_that_cannot_be_used_is_named);
    RUN(a_list_grows_and_a_fault_leaves_it_as_it_was);
    return check_done();
}
