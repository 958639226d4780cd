/* text.h - a byte string that grows, for whatever is printed piece by piece.
 *
 * struct text is open: read data and len, leave the rest to the functions.
 * data is always NUL-terminated once something was appended. */
#ifndef HT_PROTO_BASE_TEXT_H
#define HT_PROTO_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* All zeroes is an empty text. Copies of the struct share its bytes. */
struct text {
    char *data; /* NULL until the first append; owned */
    size_t len; /* bytes before the NUL */
    size_t cap; /* bytes of data */
};

void text_free(struct text *text); /* releases data; the struct is reusable */
void text_clear(struct text *text);
/* Its bytes, "" before the first append. */
const char *text_string(const struct text *text);
/* Moves them into the arena: releases data, returns the copy, which the arena
 * owns; `text` is empty afterwards. */
char *text_take(struct text *text, struct arena *arena);
/* `bytes` may contain NULs, and must not be in `text` itself. */
void text_append(struct text *text, const char *bytes, size_t len);
void text_puts(struct text *text, const char *string);
__attribute__((format(printf, 2, 3))) void text_printf(struct text *text,
                                                       const char *format, ...);

/* Appends a number in the fewest digits (15 to 17) that read back to the same
 * bits; "NaN", "Infinity" or "-Infinity" when it is not finite. */
void text_double(struct text *text, double value);

/* The same into `buffer`, with a NUL; returns buffer. */
enum { TEXT_DOUBLE_BYTES = 32 };
char *text_of_double(char buffer[TEXT_DOUBLE_BYTES], double value);

/* Whether a terminal may take the code point for an order: control characters
 * (C0, DEL, C1, where U+009B begins commands like ESC does) and the marks that
 * reorder what is shown. */
bool text_steers_terminal(uint32_t code);

/* Appends the string with what steers a terminal and bytes outside UTF-8
 * written as \xNN or \uNNNN. */
void text_escape(struct text *text, const char *string);
/* Appends as text_printf() does, with each %s escaped; besides %s it takes
 * %lld, %zu and %.Ng. */
__attribute__((format(printf, 2, 3))) void
text_print_safe(struct text *text, const char *format, ...);

/* Appends the bytes with every one outside UTF-8 replaced by U+FFFD. */
void text_clean(struct text *out, const char *s, size_t len);

/* Appends words and a line's end, with a further line that begins at `indent`
 * wherever one would pass column 78; the text is at `indent` already. */
void text_wrap(struct text *text, const char *words, size_t indent);

/* Appends one word as a POSIX shell would have to see it: bare when every byte
 * is safe, otherwise in single quotes. */
void text_shell_word(struct text *text, const char *word);

/* ---- texts that others own ---- */

/* Items may be NULL when n is 0. */
struct strings {
    size_t n;
    const char *const *items;
};

struct pair { /* one variable, label or option */
    const char *name, *value;
};

struct pairs {
    size_t n;
    const struct pair *items;
};

#endif
