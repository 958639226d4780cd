#include "proto/net/http_head.h"

#include <string.h>

#include "proto/base/limits.h"

enum { /* states; the first is that of a new connection */
       AT_START,
       AT_START_LF, /* behind the CR of an empty line before a request */
       AT_METHOD,
       AT_TARGET,
       AT_VERSION,
       AT_LINE_LF,
       AT_FIELD, /* a line of fields begins */
       IN_NAME,
       BEFORE_VALUE,
       IN_VALUE,
       AFTER_VALUE, /* of a length or a coding, which have no blanks inside */
       AT_FIELD_LF,
       AT_END_LF,
       IN_BODY,
       AT_SIZE, /* a chunk's */
       IN_EXTENSION,
       AT_SIZE_LF,
       IN_CHUNK,
       AT_CHUNK_CR,
       AT_CHUNK_LF,
       STOPPED
};

enum http_field {
    FIELD_OTHER,
    FIELD_HOST,
    FIELD_LENGTH,
    FIELD_CODING,
    FIELD_CONNECTION,
    FIELDS
};

enum {
    MOST_LENGTH_DIGITS = 15, /* of a body; fits int64_t */
    MOST_SIZE_DIGITS = 12,   /* of a chunk, hexadecimal */
    MOST_EXTENSION = 256
};

static void refuse(struct http_head *head, int status, const char *reason)
{
    head->refused = status;
    head->reason = reason;
    head->state = STOPPED;
}

static void refuse_400(struct http_head *head, const char *reason)
{
    refuse(head, 400, reason);
}

/* --- characters, RFC 9110 section 5.6.2 and 5.5 --- */

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

static bool is_token(unsigned char c)
{
    return c > ' ' && c < 0x7f && strchr("\"(),/:;<=>?@[\\]{}", c) == NULL;
}

static bool is_value(unsigned char c)
{
    return c == '\t' || (c >= ' ' && c != 0x7f);
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

/* Longer words than all that count are cut, and equal none of them. */
static void add_to_word(struct http_head *head, unsigned char c)
{
    if (head->word_len < HTTP_HEAD_WORD)
        head->word[head->word_len] = (char)lower(c);
    head->word_len++;
}

static bool word_is(const struct http_head *head, const char *text)
{
    return head->word_len == strlen(text) && head->word_len <= HTTP_HEAD_WORD &&
           memcmp(head->word, text, head->word_len) == 0;
}

static void begin_word(struct http_head *head, int state)
{
    head->state = state;
    head->word_len = 0;
}

/* --- the request line --- */

static void end_method(struct http_head *head)
{
    if (word_is(head, "connect"))
        refuse(head, 501, "this server is no tunnel");
    else
        begin_word(head, AT_TARGET);
}

/* word_len counts its characters. */
static void follow_version(struct http_head *head, unsigned char c)
{
    static const char version[] = "HTTP/1.";
    const size_t at = head->word_len++;
    head->is_1_0 |= at == sizeof version - 1 && c == '0';
    if (at < sizeof version - 1 && c != (unsigned char)version[at])
        refuse(head, is_digit(c) ? 505 : 400,
               "the request line must end in HTTP/1.1 or HTTP/1.0");
    else if (at == sizeof version - 1 && c != '0' && c != '1')
        refuse(head, 505, "the version must be HTTP/1.1 or HTTP/1.0");
    else if (at == sizeof version)
        head->state = AT_LINE_LF;
    if (at == sizeof version && c != '\r')
        refuse_400(head, "CR LF must follow the version");
}

static void begin_request(struct http_head *head, unsigned char c)
{
    const struct http_head fresh = {
        .requests = head->requests, .head_len = 1, .state = AT_METHOD};
    *head = fresh;
    if (is_token(c))
        add_to_word(head, c);
    else
        refuse_400(head, "a request begins with its method");
}

static void follow_request_line(struct http_head *head, unsigned char c)
{
    switch (head->state) {
    case AT_METHOD:
        if (is_token(c))
            add_to_word(head, c);
        else if (c == ' ')
            end_method(head);
        else
            refuse_400(head, "the method is no token");
        break;
    case AT_TARGET:
        if (c > ' ' && c < 0x7f)
            head->word_len++;
        else if (c == ' ' && head->word_len > 0)
            begin_word(head, AT_VERSION);
        else
            refuse_400(head, "the request target has another character than "
                             "visible ones of ASCII");
        break;
    case AT_VERSION:
        follow_version(head, c);
        break;
    default:
        head->state = AT_FIELD;
        if (c != '\n')
            refuse_400(head, "a CR without LF ends the request line");
    }
}

/* --- fields --- */

static void begin_name(struct http_head *head, unsigned char c)
{
    begin_word(head, IN_NAME);
    add_to_word(head, c);
}

static void end_name(struct http_head *head)
{
    static const char *const names[FIELDS] = {
        [FIELD_HOST] = "host",
        [FIELD_LENGTH] = "content-length",
        [FIELD_CODING] = "transfer-encoding",
        [FIELD_CONNECTION] = "connection"};
    head->field = FIELD_OTHER;
    for (int i = FIELD_HOST; i < FIELDS; i++)
        if (word_is(head, names[i]))
            head->field = i;
    const unsigned bit = 1U << head->field;
    const bool once =
        head->field != FIELD_OTHER && head->field != FIELD_CONNECTION;
    begin_word(head, BEFORE_VALUE);
    if (head->in_trailer && head->field != FIELD_OTHER)
        refuse_400(head, "a trailer has no fields about the request itself");
    else if (once && (head->seen & bit) != 0)
        refuse_400(head, "Host, Content-Length and Transfer-Encoding are given "
                         "once");
    head->seen |= bit;
}

/* One item of Connection's list. */
static void end_option(struct http_head *head)
{
    head->closes |= word_is(head, "close");
    head->keeps |= word_is(head, "keep-alive");
    head->word_len = 0;
}

static void add_to_length(struct http_head *head, unsigned char c)
{
    if (!is_digit(c) || ++head->digits > MOST_LENGTH_DIGITS)
        refuse_400(head, "Content-Length must be a number of digits, at most "
                         "15");
    else
        head->left = head->left * 10 + (c - '0');
}

static void add_to_value(struct http_head *head, unsigned char c)
{
    const bool is_blank = c == ' ' || c == '\t';
    const bool is_word =
        head->field == FIELD_LENGTH || head->field == FIELD_CODING;
    head->state = is_blank && is_word ? AFTER_VALUE : IN_VALUE;
    if (head->state == AFTER_VALUE)
        return;
    if (head->field == FIELD_LENGTH)
        add_to_length(head, c);
    else if (head->field == FIELD_CONNECTION && c == ',')
        end_option(head);
    else if (head->field == FIELD_CODING ||
             (head->field == FIELD_CONNECTION && !is_blank))
        add_to_word(head, c);
}

static void end_value(struct http_head *head)
{
    head->state = AT_FIELD_LF;
    if (head->field == FIELD_LENGTH && head->digits == 0)
        refuse_400(head, "Content-Length is empty");
    else if (head->field == FIELD_CODING && !word_is(head, "chunked"))
        refuse(head, 501, "the only Transfer-Encoding here is chunked");
    else if (head->field == FIELD_CONNECTION)
        end_option(head);
    head->word_len = 0;
}

static void follow_field(struct http_head *head, unsigned char c)
{
    switch (head->state) {
    case AT_FIELD:
        if (c == '\r')
            head->state = AT_END_LF;
        else if (is_token(c))
            begin_name(head, c);
        else
            refuse_400(head, "a line of the head begins with the name of a "
                             "field");
        break;
    case IN_NAME:
        if (c == ':')
            end_name(head);
        else if (is_token(c))
            add_to_word(head, c);
        else
            refuse_400(head, "the name of a field is no token followed by a "
                             "colon");
        break;
    case BEFORE_VALUE:
    case IN_VALUE:
        if (c == '\r')
            end_value(head);
        else if (!is_value(c))
            refuse_400(head, "the value of a field has a control character");
        else if (head->state == IN_VALUE || (c != ' ' && c != '\t'))
            add_to_value(head, c);
        break;
    case AFTER_VALUE:
        if (c == '\r')
            end_value(head);
        else if (c != ' ' && c != '\t')
            refuse_400(head, "Content-Length and Transfer-Encoding have one "
                             "word");
        break;
    default:
        head->state = AT_FIELD;
        if (c != '\n')
            refuse_400(head, "a CR without LF ends a field");
    }
}

/* --- the body --- */

static bool has(const struct http_head *head, enum http_field field)
{
    return (head->seen & 1U << field) != 0;
}

static void end_request(struct http_head *head)
{
    head->state = AT_START;
    head->head_len = 0;
    head->ended = head->closes || (head->is_1_0 && !head->keeps);
    if (head->ended)
        head->state = STOPPED;
}

static void begin_chunk(struct http_head *head)
{
    head->state = AT_SIZE;
    head->left = 0;
    head->digits = 0;
    head->word_len = 0;
}

static void end_head(struct http_head *head)
{
    if (!has(head, FIELD_HOST) && !head->is_1_0)
        refuse_400(head, "a request needs the field Host");
    else if (has(head, FIELD_CODING) && has(head, FIELD_LENGTH))
        refuse_400(head, "Content-Length and Transfer-Encoding exclude each "
                         "other");
    else if (has(head, FIELD_CODING) && head->is_1_0)
        refuse_400(head, "HTTP/1.0 has no Transfer-Encoding");
    if (head->refused != 0)
        return;
    head->requests++;
    if (has(head, FIELD_CODING))
        begin_chunk(head);
    else if (head->left > 0)
        head->state = IN_BODY;
    else
        end_request(head);
}

static void end_size(struct http_head *head)
{
    if (head->left > 0) {
        head->state = IN_CHUNK;
        return;
    }
    head->state = AT_FIELD;
    head->in_trailer = true;
    head->head_len = 0;
}

static int hex_digit(unsigned char c)
{
    c = lower(c);
    if (is_digit(c))
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void follow_size(struct http_head *head, unsigned char c)
{
    const int digit = hex_digit(c);
    if (digit >= 0 && ++head->digits <= MOST_SIZE_DIGITS)
        head->left = head->left * 16 + digit;
    else if (head->digits > 0 && head->digits <= MOST_SIZE_DIGITS && c == '\r')
        head->state = AT_SIZE_LF;
    else if (head->digits > 0 && head->digits <= MOST_SIZE_DIGITS && c == ';')
        head->state = IN_EXTENSION;
    else
        refuse_400(head, "the size of a chunk is no hexadecimal number of at "
                         "most 12 digits");
}

static void follow_chunked(struct http_head *head, unsigned char c)
{
    switch (head->state) {
    case AT_SIZE:
        follow_size(head, c);
        break;
    case IN_EXTENSION:
        if (c == '\r')
            head->state = AT_SIZE_LF;
        else if (!is_value(c) || ++head->word_len > MOST_EXTENSION)
            refuse_400(head, "the extension of a chunk is too long or has a "
                             "control character");
        break;
    case AT_SIZE_LF:
        if (c == '\n')
            end_size(head);
        else
            refuse_400(head, "a CR without LF ends the size of a chunk");
        break;
    case AT_CHUNK_CR:
        head->state = AT_CHUNK_LF;
        if (c != '\r')
            refuse_400(head, "a chunk is longer than its size");
        break;
    default:
        begin_chunk(head);
        if (c != '\n')
            refuse_400(head, "a chunk is longer than its size");
    }
}

/* --- all of it --- */

static void follow_start(struct http_head *head, unsigned char c)
{
    if (head->state == AT_START_LF && c != '\n')
        refuse_400(head, "a CR without LF is before the request");
    else if (head->state == AT_START_LF)
        head->state = AT_START;
    else if (c == '\r' && head->head_len == 0)
        head->state = AT_START_LF, head->head_len = 1; /* one empty line */
    else
        begin_request(head, c);
}

static void follow_end(struct http_head *head, unsigned char c)
{
    if (c != '\n')
        refuse_400(head, "a CR without LF ends the head");
    else if (head->in_trailer)
        end_request(head);
    else
        end_head(head);
}

static bool is_in_head(const struct http_head *head)
{
    return head->state >= AT_METHOD && head->state <= AT_END_LF;
}

static void follow_one(struct http_head *head, unsigned char c)
{
    if (is_in_head(head) && ++head->head_len > HT_MAX_HEADER)
        refuse(head, 431, "the head is over 8192 bytes");
    else if (head->state <= AT_START_LF)
        follow_start(head, c);
    else if (head->state <= AT_LINE_LF)
        follow_request_line(head, c);
    else if (head->state <= AT_FIELD_LF)
        follow_field(head, c);
    else if (head->state == AT_END_LF)
        follow_end(head, c);
    else
        follow_chunked(head, c);
}

/* Bytes of a body are not looked at. */
static size_t skip(struct http_head *head, size_t n)
{
    const size_t taken = (uint64_t)head->left < n ? (size_t)head->left : n;
    head->left -= (int64_t)taken;
    if (head->left == 0 && head->state == IN_CHUNK)
        head->state = AT_CHUNK_CR;
    else if (head->left == 0)
        end_request(head);
    return taken;
}

size_t http_head_follow(struct http_head *head, const char *bytes, size_t n)
{
    size_t at = 0;
    while (at < n && head->state != STOPPED) {
        if (head->state == IN_BODY || head->state == IN_CHUNK) {
            at += skip(head, n - at);
            continue;
        }
        follow_one(head, (unsigned char)bytes[at]);
        at += head->refused == 0;
    }
    return at;
}

bool http_head_is_between(const struct http_head *head)
{
    return head->state == AT_START || (head->state == STOPPED && head->ended);
}
