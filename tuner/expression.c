#include "tuner/expression.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* Every byte of an expression makes at most four steps: "." does. */
enum { STEPS_MOST = 4 * EXPRESSION_MOST + 1, DEPTH_MOST = 32, BYTES = 256 };

enum action {
    TAKE,   /* a byte of the set */
    FORK,   /* go on at both */
    BEGIN,  /* only before the first byte */
    END,    /* only behind the last one */
    BORDER, /* only between a byte of a word and another */
    NO_BORDER,
    FOUND
};

struct set {
    uint64_t bits[BYTES / 64];
};

struct step {
    enum action action;
    int first, second;     /* FORK: from this step; first of all others: 1 */
    const struct set *set; /* TAKE */
};

struct expression {
    size_t n;
    struct step steps[STEPS_MOST];
};

struct compiler {
    struct arena *arena;
    const char *at;
    bool folds; /* without regard to case */
    int depth;
    struct expression *made;
    struct ht_error *err;
};

/* --- sets of bytes --- */

static bool has(const struct set *set, unsigned char byte)
{
    return (set->bits[byte / 64] >> (byte % 64) & 1) != 0;
}

static void add(struct set *set, unsigned char byte)
{
    set->bits[byte / 64] |= UINT64_C(1) << (byte % 64);
}

static bool is_continuation(int byte)
{
    return (byte & 0xC0) == 0x80;
}

static bool is_word(int byte)
{
    return byte < 0x80 && (isalnum(byte) || byte == '_');
}

struct class_name {
    const char *name;
    int (*is_in)(int byte);
};

static int is_word_byte(int byte)
{
    return is_word(byte);
}

/* Of [:name:]; those of \d, \s and \w are among them. */
static const struct class_name classes[] = {
    {"digit", isdigit},     {"space", isspace},
    {"word", is_word_byte}, {"alpha", isalpha},
    {"alnum", isalnum},     {"upper", isupper},
    {"lower", islower},     {"punct", ispunct},
    {"xdigit", isxdigit},   {"blank", isblank},
    {"cntrl", iscntrl},     {"graph", isgraph},
    {"print", isprint},     {0}};

static void add_class(struct set *set, const struct class_name *class)
{
    for (int byte = 0; byte < 0x80; byte++)
        if (class->is_in(byte))
            add(set, (unsigned char)byte);
}

/* The class of \d, \s, \w or their negations; NULL of another letter. */
static const struct class_name *find_escaped(char letter)
{
    static const char letters[] = "dsw";
    const char *found = strchr(letters, tolower((unsigned char)letter));
    return letter != '\0' && found != NULL ? &classes[found - letters] : NULL;
}

static void fold(struct set *set)
{
    for (int byte = 'a'; byte <= 'z'; byte++) {
        const int upper = toupper(byte);
        if (has(set, (unsigned char)byte) || has(set, (unsigned char)upper)) {
            add(set, (unsigned char)byte);
            add(set, (unsigned char)upper);
        }
    }
}

/* --- steps --- */

static struct step *insert(struct compiler *compiler, size_t at,
                           enum action action)
{
    struct expression *made = compiler->made;
    memmove(&made->steps[at + 1], &made->steps[at],
            (made->n - at) * sizeof *made->steps);
    made->n++;
    made->steps[at] = (struct step){.action = action, .first = 1};
    return &made->steps[at];
}

static struct step *append(struct compiler *compiler, enum action action)
{
    return insert(compiler, compiler->made->n, action);
}

static void append_take(struct compiler *compiler, const struct set *set)
{
    struct set *copy = arena_alloc(compiler->arena, 1, sizeof *copy);
    *copy = *set;
    if (compiler->folds)
        fold(copy);
    append(compiler, TAKE)->set = copy;
}

/* The bytes that are not in the set; of a character of several, all. */
static void append_negated(struct compiler *compiler, struct set *set)
{
    struct set first = {0}, rest = {0};
    if (compiler->folds)
        fold(set);
    for (int byte = 0; byte < BYTES; byte++) {
        if (is_continuation(byte))
            add(&rest, (unsigned char)byte);
        else if (!has(set, (unsigned char)byte))
            add(&first, (unsigned char)byte);
    }
    append_take(compiler, &first);
    append(compiler, FORK)->second = 3;
    append_take(compiler, &rest);
    append(compiler, FORK)->first = -2;
    compiler->made->steps[compiler->made->n - 1].second = -2;
}

static void append_byte(struct compiler *compiler, char byte)
{
    struct set set = {0};
    add(&set, (unsigned char)byte);
    append_take(compiler, &set);
}

/* --- reading --- */

static enum ht_status refuse(const struct compiler *compiler, const char *why)
{
    return ht_fail(compiler->err, HT_INVALID, "%s", why);
}

/* [:name:] at `at`, or NULL. */
static const struct class_name *take_class(struct compiler *compiler)
{
    const struct class_name *each = classes;
    for (; each->name != NULL; each++) {
        const size_t len = strlen(each->name);
        const char *name = compiler->at + 2;
        if (strncmp(name, each->name, len) != 0 ||
            strncmp(name + len, ":]", 2) != 0)
            continue;
        compiler->at = name + len + 2;
        return each;
    }
    return NULL;
}

/* A byte of a set, perhaps behind a backslash; false when it is none. */
static bool take_member(struct compiler *compiler, unsigned char *byte)
{
    compiler->at += *compiler->at == '\\';
    *byte = (unsigned char)*compiler->at;
    if (*byte == '\0' || *byte >= 0x80 ||
        (compiler->at[-1] == '\\' && isalnum(*byte)))
        return false;
    compiler->at++;
    return true;
}

static enum ht_status take_range(struct compiler *compiler, struct set *set)
{
    unsigned char from, to;
    if (!take_member(compiler, &from))
        return refuse(compiler, "has a [ ] that does not end, or names bytes "
                                "other than ASCII in it");
    to = from;
    if (compiler->at[0] == '-' && compiler->at[1] != ']') {
        compiler->at++;
        if (!take_member(compiler, &to) || to < from)
            return refuse(compiler, "has a range in [ ] that is none");
    }
    for (int byte = from; byte <= to; byte++)
        add(set, (unsigned char)byte);
    return HT_OK;
}

static enum ht_status take_part(struct compiler *compiler, struct set *set)
{
    const struct class_name *class = NULL;
    if (strncmp(compiler->at, "[:", 2) == 0) {
        class = take_class(compiler);
        if (class == NULL)
            return refuse(compiler, "has a [: :] that is not known");
    } else if (*compiler->at == '\\' &&
               islower((unsigned char)compiler->at[1])) {
        class = find_escaped(compiler->at[1]);
        if (class == NULL)
            return refuse(compiler, "has an escape in [ ] other than \\d \\s "
                                    "\\w");
        compiler->at += 2;
    }
    if (class == NULL)
        return take_range(compiler, set);
    add_class(set, class);
    return HT_OK;
}

/* [...], where ] stands for itself as the first. */
static enum ht_status take_set(struct compiler *compiler)
{
    struct set set = {0};
    const bool is_negated = *++compiler->at == '^';
    compiler->at += is_negated;
    do {
        const enum ht_status status = take_part(compiler, &set);
        if (status != HT_OK)
            return status;
    } while (*compiler->at != ']');
    compiler->at++;
    if (is_negated)
        append_negated(compiler, &set);
    else
        append_take(compiler, &set);
    return HT_OK;
}

static enum ht_status take_escape(struct compiler *compiler)
{
    const char letter = *++compiler->at;
    const struct class_name *class = find_escaped(letter);
    struct set set = {0};
    if (letter == 'b' || letter == 'B')
        append(compiler, letter == 'b' ? BORDER : NO_BORDER);
    else if (class != NULL) {
        add_class(&set, class);
        if (isupper((unsigned char)letter))
            append_negated(compiler, &set);
        else
            append_take(compiler, &set);
    } else if (letter == '\0' || isalnum((unsigned char)letter))
        return refuse(compiler, "has a \\ before what has no meaning with it");
    else
        append_byte(compiler, letter);
    compiler->at++;
    return HT_OK;
}

static enum ht_status take_choice(struct compiler *compiler);

static enum ht_status take_group(struct compiler *compiler)
{
    if (++compiler->depth > DEPTH_MOST)
        return refuse(compiler, "has too many ( in each other");
    compiler->at += strncmp(compiler->at, "(?:", 3) == 0 ? 3 : 1;
    const enum ht_status status = take_choice(compiler);
    if (status != HT_OK)
        return status;
    if (*compiler->at != ')')
        return refuse(compiler, "has a ( that does not end");
    compiler->at++;
    compiler->depth--;
    return HT_OK;
}

static enum ht_status take_atom(struct compiler *compiler)
{
    struct set nothing = {0};
    switch (*compiler->at) {
    case '(':
        return take_group(compiler);
    case '[':
        return take_set(compiler);
    case '\\':
        return take_escape(compiler);
    case '*':
    case '+':
    case '?':
        return refuse(compiler, "has a * + or ? behind nothing");
    case '{':
        return refuse(compiler, "has a { }, which is not known here; \\{ is "
                                "the byte");
    case '.':
        append_negated(compiler, &nothing);
        break;
    case '^':
        append(compiler, BEGIN);
        break;
    case '$':
        append(compiler, END);
        break;
    default:
        append_byte(compiler, *compiler->at);
    }
    compiler->at++;
    return HT_OK;
}

/* An atom and the one repetition behind it. */
static enum ht_status take_repeated(struct compiler *compiler)
{
    const size_t start = compiler->made->n;
    const enum ht_status status = take_atom(compiler);
    const int len = (int)(compiler->made->n - start);
    if (status != HT_OK)
        return status;
    switch (*compiler->at) {
    case '*':
        insert(compiler, start, FORK)->second = len + 2;
        append(compiler, FORK)->first = -len - 1;
        compiler->made->steps[compiler->made->n - 1].second = -len - 1;
        break;
    case '+':
        append(compiler, FORK)->second = -len;
        break;
    case '?':
        insert(compiler, start, FORK)->second = len + 1;
        break;
    default:
        return HT_OK;
    }
    compiler->at++;
    return strchr("*+?", *compiler->at) == NULL || *compiler->at == '\0'
               ? HT_OK
               : refuse(compiler, "has two of * + ? behind each other");
}

static enum ht_status take_choice(struct compiler *compiler)
{
    const size_t start = compiler->made->n;
    enum ht_status status = HT_OK;
    while (status == HT_OK && strchr("|)", *compiler->at) == NULL)
        status = take_repeated(compiler);
    if (status != HT_OK || *compiler->at != '|')
        return status;
    compiler->at++;
    int len = (int)(compiler->made->n - start);
    insert(compiler, start, FORK)->second = len + 2;
    const size_t jump = compiler->made->n;
    append(compiler, FORK);
    status = take_choice(compiler);
    len = (int)(compiler->made->n - jump);
    compiler->made->steps[jump].first = len;
    compiler->made->steps[jump].second = len;
    return status;
}

enum ht_status expression_read(struct arena *arena, const char *text,
                               const struct expression **expression,
                               struct ht_error *err)
{
    struct compiler compiler = {.arena = arena, .at = text, .err = err};
    if (strlen(text) > EXPRESSION_MOST)
        return refuse(&compiler, "is longer than 256 bytes");
    compiler.made = arena_alloc(arena, 1, sizeof *compiler.made);
    compiler.folds = strncmp(text, "(?i)", 4) == 0;
    compiler.at += compiler.folds ? 4 : 0;
    const enum ht_status status = take_choice(&compiler);
    if (status != HT_OK)
        return status;
    if (*compiler.at != '\0')
        return refuse(&compiler, "has a ) without its (");
    append(&compiler, FOUND);
    *expression = compiler.made;
    return HT_OK;
}

/* --- matching --- */

/* The steps that wait for the next byte. */
struct states {
    size_t n;
    uint16_t items[STEPS_MOST];
};

struct matcher {
    const struct expression *expression;
    const char *text, *at;
    uint64_t round, reached[STEPS_MOST]; /* the round each was reached in */
};

static bool is_border(const struct matcher *matcher)
{
    const bool before =
        matcher->at > matcher->text && is_word((unsigned char)matcher->at[-1]);
    return before != is_word((unsigned char)*matcher->at);
}

static bool may_pass(const struct matcher *matcher, enum action action)
{
    switch (action) {
    case BEGIN:
        return matcher->at == matcher->text;
    case END:
        return *matcher->at == '\0';
    case BORDER:
        return is_border(matcher);
    case NO_BORDER:
        return !is_border(matcher);
    case TAKE:
    case FORK:
    case FOUND:
        break;
    }
    return true;
}

/* Adds the step, or what it leads to without a byte; true when it is found. */
static bool reach(struct matcher *matcher, size_t step, struct states *states)
{
    uint16_t waiting[2 * STEPS_MOST];
    size_t n = 0;
    waiting[n++] = (uint16_t)step;
    while (n > 0) {
        const size_t i = waiting[--n];
        const struct step *at = &matcher->expression->steps[i];
        if (matcher->reached[i] == matcher->round)
            continue;
        matcher->reached[i] = matcher->round;
        if (at->action == FOUND)
            return true;
        if (at->action == TAKE)
            states->items[states->n++] = (uint16_t)i;
        else if (may_pass(matcher, at->action))
            waiting[n++] = (uint16_t)(i + (size_t)at->first);
        if (at->action == FORK)
            waiting[n++] = (uint16_t)(i + (size_t)at->second);
    }
    return false;
}

bool expression_is_found(const struct expression *expression, const char *text)
{
    struct matcher matcher = {
        .expression = expression, .text = text, .at = text, .round = 1};
    struct states all[2];
    struct states *now = &all[0], *next = &all[1];
    now->n = 0;
    for (;; matcher.at++) {
        const unsigned char byte = (unsigned char)*matcher.at;
        /* In the round in which the states were reached behind the byte
         * before. */
        if (reach(&matcher, 0, now))
            return true;
        if (byte == '\0')
            return false;
        matcher.round++;
        next->n = 0;
        matcher.at++;
        bool is_found = false;
        for (size_t i = 0; i < now->n && !is_found; i++)
            if (has(expression->steps[now->items[i]].set, byte))
                is_found = reach(&matcher, now->items[i] + 1u, next);
        matcher.at--;
        if (is_found)
            return true;
        struct states *swapped = now;
        now = next;
        next = swapped;
    }
}
