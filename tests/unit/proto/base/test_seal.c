/* Sealed texts: what opens them, and what does not. */
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/secret_file.h"
#include "tests/lib/own_folder.h"

static const char digits[] =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

static void write_file(const char *name, mode_t mode, const char *text)
{
    FILE *file = fopen(name, "w");
    CHECK(file != NULL && fputs(text, file) >= 0);
    if (file != NULL)
        fclose(file);
    CHECK(chmod(name, mode) == 0);
}

static struct seal_key key_of(const char *text)
{
    struct seal_key key = {.id = ""};
    struct ht_error err = {0};
    write_file("key", 0600, text);
    CHECK(seal_key_read("key", true, &key, &err) == HT_OK);
    CHECK_TEXT(err.text, "");
    return key;
}

static struct seal_key other_key(void)
{
    char other[sizeof digits];
    memcpy(other, digits, sizeof digits);
    other[63] = 'e';
    return key_of(other);
}

/* Made by Python's cryptography.hazmat, ChaCha20Poly1305(key).encrypt(): the
 * nonce 40 to 4b, "the secret", the name "tls/key.pem". */
static const char known[] =
    "sealed:1:f6116a5a:QEFCQ0RFRkdISUpLjDwZoQEvjXM9u12+Ae+0RDZ1+izkd/gLULg=\n";

static void a_text_of_another_implementation_opens(void)
{
    const struct seal_key key = key_of(digits);
    const struct seal_keys keys = {&key, NULL};
    struct text open = {0};
    CHECK(seal_open(keys, "tls/key.pem", known, &open, NULL) == HT_OK);
    CHECK_TEXT(text_string(&open), "the secret");
    secret_wipe(&open);
}

static void the_same_text_is_sealed_differently_each_time(void)
{
    const struct seal_key key = key_of(digits);
    const struct seal_keys keys = {&key, NULL};
    struct text one = {0}, other = {0}, open = {0};
    seal_close(&key, "name", "with a \0 byte", 13, &one);
    seal_close(&key, "name", "with a \0 byte", 13, &other);
    CHECK(strcmp(one.data, other.data) != 0);
    CHECK(strlen(one.data) == one.len);
    CHECK(seal_is_on(one.data) && seal_is_by(one.data, &key));
    CHECK(seal_open(keys, "name", one.data, &open, NULL) == HT_OK);
    CHECK(open.len == 13 && memcmp(open.data, "with a \0 byte", 13) == 0);
    text_free(&one);
    text_free(&other);
    secret_wipe(&open);
}

/* Any other character of Base64 but the last, whose low bits may not count. */
static void no_changed_character_passes(void)
{
    const struct seal_key key = key_of(digits);
    const struct seal_keys keys = {&key, NULL};
    char changed[sizeof known];
    struct text open = {0};
    for (size_t i = 0; i < sizeof known - 3; i++) {
        memcpy(changed, known, sizeof known);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        if (seal_is_on(changed))
            CHECK(seal_open(keys, "tls/key.pem", changed, &open, NULL) !=
                  HT_OK);
    }
    for (size_t len = 0; len < sizeof known - 3; len++) {
        memcpy(changed, known, len);
        changed[len] = '\0';
        if (seal_is_on(changed))
            CHECK(seal_open(keys, "tls/key.pem", changed, &open, NULL) !=
                  HT_OK);
    }
    CHECK(open.len == 0);
    text_free(&open);
}

static void it_opens_under_its_name_and_key_only(void)
{
    const struct seal_key key = key_of(digits), other = other_key();
    struct text open = {0};
    struct ht_error err = {0};
    CHECK(strcmp(key.id, other.id) != 0);
    CHECK(seal_open((struct seal_keys){&key, NULL}, "tls/ca-key.pem", known,
                    &open, &err) == HT_INVALID);
    CHECK(seal_open((struct seal_keys){NULL, NULL}, "tls/key.pem", known, &open,
                    &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "give it by --key-file") != NULL);
    CHECK(strstr(err.text, key.id) != NULL);
    CHECK(seal_open((struct seal_keys){&other, NULL}, "tls/key.pem", known,
                    &open, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, other.id) != NULL);
    CHECK(open.len == 0);
    CHECK(seal_open((struct seal_keys){&other, &key}, "tls/key.pem", known,
                    &open, &err) == HT_OK);
    secret_wipe(&open);
}

static void a_key_is_64_digits_of_its_owner(void)
{
    static const char *const wrong[] = {
        "", "00",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c"
        "1d1e1g",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f00",
        "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"};
    struct seal_key key;
    struct ht_error err = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_file("key", 0600, wrong[i]);
        CHECK(seal_key_read("key", true, &key, &err) == HT_PRECONDITION);
        CHECK(strstr(err.text, "holds no key") != NULL);
    }
    write_file("key", 0640, digits);
    CHECK(seal_key_read("key", true, &key, &err) == HT_PRECONDITION);
    CHECK(strstr(err.text, "open to other users (mode 640)") != NULL);
    CHECK(seal_key_read("key", false, &key, &err) == HT_OK);
    CHECK(seal_key_read("absent", true, &key, &err) == HT_IO);
}

static void a_file_is_settled_once_and_keeps_what_it_says(void)
{
    const struct seal_key key = key_of(digits), other = other_key();
    enum secret_state state;
    struct text open = {0};
    write_file("next-a", 0600, "the secret\n");
    CHECK(secret_file_settle("next-a", &state, NULL) == HT_OK);
    CHECK(state == SECRET_PLAIN && !secret_file_is_sealed("next-a"));
    secret_file_use((struct seal_keys){&key, NULL}, NULL);
    CHECK(secret_file_settle("next-a", &state, NULL) == HT_OK);
    CHECK(state == SECRET_SEALED && secret_file_is_sealed("next-a"));
    CHECK(rename("next-a", "a") == 0);
    CHECK(secret_file_read("a", &open, NULL) == HT_OK);
    CHECK_TEXT(text_string(&open), "the secret\n");
    CHECK(link("a", "b") == 0);
    CHECK(secret_file_settle("b", &state, NULL) == HT_INVALID);
    secret_file_use((struct seal_keys){&other, &key}, NULL);
    CHECK(secret_file_settle("a", &state, NULL) == HT_OK);
    secret_file_use((struct seal_keys){&other, NULL}, NULL);
    CHECK(secret_file_settle("a", &state, NULL) == HT_OK);
    CHECK(symlink("a", "c") == 0 && !secret_file_is_sealed("c"));
    CHECK(secret_file_settle("c", &state, NULL) == HT_OK);
    CHECK(state == SECRET_ABSENT);
    secret_file_use((struct seal_keys){NULL, NULL}, NULL);
    CHECK(secret_file_settle("a", &state, NULL) == HT_PRECONDITION);
    secret_wipe(&open);
}

int main(void)
{
    own_folder_enter();
    RUN(a_text_of_another_implementation_opens);
    RUN(the_same_text_is_sealed_differently_each_time);
    RUN(no_changed_character_passes);
    RUN(it_opens_under_its_name_and_key_only);
    RUN(a_key_is_64_digits_of_its_owner);
    RUN(a_file_is_settled_once_and_keeps_what_it_says);
    return check_done();
}
