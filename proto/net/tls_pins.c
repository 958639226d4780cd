/* tls_pins.c - lists of pins as text. */
#include <string.h>

#include "proto/net/tls.h"

enum { SCHEME_LEN = sizeof TLS_PIN_SCHEME - 1, BASE64_LEN = 44 };

/* As long as a SHA-256 in Base64 is, and nothing else: 43 digits, the last with
 * four bits, and the padding. */
static bool is_pin(const char *text, size_t len)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *base64 = text + SCHEME_LEN;
    if (len != SCHEME_LEN + BASE64_LEN ||
        strncmp(text, TLS_PIN_SCHEME, SCHEME_LEN) != 0 ||
        strspn(base64, digits) != BASE64_LEN - 1)
        return false;
    const char *last = strchr(digits, base64[BASE64_LEN - 2]);
    return (last - digits) % 4 == 0 && base64[BASE64_LEN - 1] == '=';
}

enum ht_status tls_pins_read(const char *text, struct tls_pins *pins,
                             struct ht_error *err)
{
    struct tls_pins read = {.n = 0};
    while (*text != '\0') {
        const size_t len = strcspn(text, ";");
        if (!is_pin(text, len))
            return ht_fail(err, HT_INVALID,
                           "\"%.*s\" is no pin: it is sha256// and the SHA-256 "
                           "of the public key in Base64, see `hypertune tls "
                           "show` on the server",
                           (int)(len < 80 ? len : 80), text);
        if (read.n == TLS_PINS)
            return ht_fail(err, HT_INVALID, "more than %d pins", TLS_PINS);
        memcpy(read.items[read.n], text, len);
        read.items[read.n++][len] = '\0';
        text += len + (text[len] == ';');
    }
    if (read.n == 0)
        return ht_fail(err, HT_INVALID, "no pin is given");
    *pins = read;
    return HT_OK;
}

bool tls_pins_have(const struct tls_pins *pins, const char *pin)
{
    size_t i = 0;
    while (i < pins->n && strcmp(pins->items[i], pin) != 0)
        i++;
    return i < pins->n;
}
