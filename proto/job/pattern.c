#include "proto/job/pattern.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/base/limits.h"

enum piece_kind { PIECE_LITERAL, PIECE_METRIC, PIECE_STEP, PIECE_ANY };

struct piece {
    enum piece_kind kind;
    const char *text; /* LITERAL: blanks squeezed to one; METRIC: the name */
    size_t len;       /* of a literal */
    size_t metric;    /* METRIC: its index */
};

struct pattern {
    size_t n_pieces;
    struct piece *pieces;
    size_t n_names;
    const char **names;
};

/* ---- compiling ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_field(const struct piece *piece)
{
    return piece->kind != PIECE_LITERAL;
}

static bool is_dot_star(const char *c)
{
    return c[0] == '.' && c[1] == '*';
}

static enum ht_status name_piece(struct arena *arena, struct pattern *pattern,
                                 const char *name, struct piece *piece,
                                 struct ht_error *err)
{
    size_t len = strlen(name);
    if (strcmp(name, "*") == 0 || strcmp(name, "step") == 0) {
        piece->kind = name[0] == '*' ? PIECE_ANY : PIECE_STEP;
        return HT_OK;
    }
    if (len == 0 || len > HT_MAX_NAME || strpbrk(name, "{ \t\"'"))
        return ht_fail(err, HT_INVALID, "{%.64s} names no metric", name);
    for (size_t i = 0; i < pattern->n_names; i++)
        if (strcmp(pattern->names[i], name) == 0)
            return ht_fail(err, HT_INVALID, "{%s} is there twice", name);
    if (pattern->n_names == HT_MAX_METRICS)
        return ht_fail(err, HT_INVALID, "has more than %d metrics",
                       HT_MAX_METRICS);
    piece->kind = PIECE_METRIC;
    piece->metric = pattern->n_names;
    piece->text = arena_strdup(arena, name);
    pattern->names[pattern->n_names++] = piece->text;
    return HT_OK;
}

/* A number ends by itself, so that {*} may follow it at once. */
static enum ht_status add_piece(struct pattern *pattern,
                                const struct piece *piece, struct ht_error *err)
{
    size_t n = pattern->n_pieces;
    enum piece_kind before =
        n > 0 ? pattern->pieces[n - 1].kind : PIECE_LITERAL;
    if (before != PIECE_LITERAL &&
        (piece->kind != PIECE_ANY || before == PIECE_ANY))
        return ht_fail(err, HT_INVALID,
                       "two fields side by side need text between them");
    pattern->pieces[pattern->n_pieces++] = *piece;
    return HT_OK;
}

/* Adds the field that begins at *c, which is '{'. */
static enum ht_status add_field(struct arena *arena, struct pattern *pattern,
                                const char **c, struct ht_error *err)
{
    const char *close = strchr(*c, '}');
    if (close == NULL)
        return ht_fail(err, HT_INVALID, "a brace is not closed");
    struct piece piece = {0};
    const char *name = arena_strndup(arena, *c + 1, (size_t)(close - *c) - 1);
    enum ht_status status = name_piece(arena, pattern, name, &piece, err);
    *c = close + 1;
    return status == HT_OK ? add_piece(pattern, &piece, err) : status;
}

/* Adds the literal text up to the next field; a run of blanks becomes one. */
static void add_literal(struct arena *arena, struct pattern *pattern,
                        const char **c)
{
    char *text = arena_alloc(arena, strlen(*c) + 1, 1);
    size_t len = 0;
    while (**c && !(**c == '{' && (*c)[1] != '{') && !is_dot_star(*c)) {
        bool doubled = (**c == '{' || **c == '}') && (*c)[1] == **c;
        char byte = **c;
        if (is_blank(byte))
            byte = ' ';
        if (byte != ' ' || len == 0 || text[len - 1] != ' ')
            text[len++] = byte;
        *c += doubled ? 2 : 1;
    }
    pattern->pieces[pattern->n_pieces++] =
        (struct piece){.kind = PIECE_LITERAL, .text = text, .len = len};
}

enum ht_status pattern_compile(struct arena *arena, const char *text,
                               struct pattern **pattern, struct ht_error *err)
{
    struct pattern *made = arena_alloc(arena, 1, sizeof *made);
    made->pieces = arena_alloc(arena, strlen(text) + 1, sizeof *made->pieces);
    made->names = arena_alloc(arena, HT_MAX_METRICS, sizeof *made->names);
    for (const char *c = text; *c;) {
        enum ht_status status = HT_OK;
        if (is_dot_star(c)) {
            status = add_piece(made, &(struct piece){.kind = PIECE_ANY}, err);
            c += 2;
        } else if (*c == '{' && c[1] != '{') {
            status = add_field(arena, made, &c, err);
        } else {
            add_literal(arena, made, &c);
        }
        if (status != HT_OK)
            return status;
    }
    if (made->n_names == 0)
        return ht_fail(err, HT_INVALID, "has no {name} of a metric");
    *pattern = made;
    return HT_OK;
}

const char *const *pattern_names(const struct pattern *pattern, size_t *n)
{
    *n = pattern->n_names;
    return pattern->names;
}

/* ---- matching ---- */

struct match {
    double values[HT_MAX_METRICS];
    int64_t step;
    bool has_step;
};

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Bytes of `literal` found at the front of the line, with runs of blanks
 * equal; -1 when it is not there. */
static ptrdiff_t take_literal(const struct piece *piece, const char *line,
                              const char *end)
{
    const char *c = line;
    for (size_t i = 0; i < piece->len; i++) {
        if (c == end)
            return -1;
        if (piece->text[i] == ' ') {
            if (!is_blank(*c))
                return -1;
            while (c < end && is_blank(*c))
                c++;
        } else if (*c++ != piece->text[i]) {
            return -1;
        }
    }
    return c - line;
}

/* nan, inf, infinity as C, Python, Java and JavaScript print them. */
static ptrdiff_t take_special(const char *line, size_t len, double *value)
{
    static const struct {
        const char *text;
        size_t len;
        double value;
    } special[] = {
        {"infinity", 8, INFINITY}, {"inf", 3, INFINITY}, {"nan", 3, NAN}};
    size_t sign = len > 0 && (*line == '-' || *line == '+');
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        size_t end = sign + special[i].len;
        if (end > len ||
            strncasecmp(line + sign, special[i].text, special[i].len) != 0 ||
            (end < len && is_word_byte(line[end])))
            continue;
        *value = *line == '-' ? -special[i].value : special[i].value;
        return (ptrdiff_t)end;
    }
    return -1;
}

/* Length of digits [. digits] [e digits] or .digits at the front, or 0. */
static size_t scan_number(const char *line, size_t len)
{
    size_t i = 0, digits = 0;
    if (i < len && (line[i] == '-' || line[i] == '+'))
        i++;
    for (; i < len && isdigit((unsigned char)line[i]); i++)
        digits++;
    if (i + 1 < len && line[i] == '.' && isdigit((unsigned char)line[i + 1]))
        i++;
    else if (digits > 0 && i < len && line[i] == '.')
        return i; /* "0.93." ends a sentence */
    for (; i < len && isdigit((unsigned char)line[i]); i++)
        digits++;
    if (digits == 0)
        return 0;
    size_t e = i;
    if (e < len && (line[e] == 'e' || line[e] == 'E')) {
        e++;
        if (e < len && (line[e] == '-' || line[e] == '+'))
            e++;
        if (e < len && isdigit((unsigned char)line[e]))
            for (i = e; i < len && isdigit((unsigned char)line[i]);)
                i++;
    }
    return i;
}

static ptrdiff_t take_number(const char *line, const char *end, double *value)
{
    size_t len = scan_number(line, (size_t)(end - line));
    if (len == 0)
        return take_special(line, (size_t)(end - line), value);
    /* Longer than any number that a program prints: not one. */
    char digits[512];
    if (len >= sizeof digits)
        return -1;
    memcpy(digits, line, len);
    digits[len] = '\0';
    *value = strtod(digits, NULL);
    return (ptrdiff_t)len;
}

static ptrdiff_t take_piece(const struct piece *piece, const char *line,
                            const char *end, struct match *match)
{
    double value;
    if (piece->kind == PIECE_LITERAL)
        return take_literal(piece, line, end);
    ptrdiff_t len = take_number(line, end, &value);
    if (len < 0)
        return -1;
    if (piece->kind == PIECE_METRIC) {
        match->values[piece->metric] = value;
        return len;
    }
    if (!(value >= 0 && value <= 0x1p53) || value != floor(value))
        return -1; /* no count: negative, a fraction, NaN, or out of range */
    match->step = (int64_t)value;
    match->has_step = true;
    return len;
}

/* Whether a piece may begin at `c`: the middle of a word or of a number is no
 * beginning for one that starts with such a byte itself. */
static bool may_begin(const struct piece *piece, const char *line,
                      const char *c)
{
    bool wordy = is_field(piece) || is_word_byte(piece->text[0]);
    if (c == line || !wordy)
        return true;
    if (is_field(piece) && c[-1] == '-')
        return false; /* the sign belongs to the number */
    if (c - line > 1 && c[-1] == '-' &&
        (isalpha((unsigned char)c[-2]) || c[-2] == '_'))
        return false; /* "val-loss" is a name of its own */
    return !is_word_byte(c[-1]);
}

/* Matches pieces from `from` up to the next {*} at exactly `c`; the place
 * after them, or NULL. */
static const char *match_run(const struct pattern *pattern, size_t from,
                             const char *c, const char *end,
                             struct match *match)
{
    for (size_t i = from;
         i < pattern->n_pieces && pattern->pieces[i].kind != PIECE_ANY; i++) {
        ptrdiff_t len = take_piece(&pattern->pieces[i], c, end, match);
        if (len < 0)
            return NULL;
        c += len;
    }
    return c;
}

static size_t next_any(const struct pattern *pattern, size_t from)
{
    while (from < pattern->n_pieces && pattern->pieces[from].kind != PIECE_ANY)
        from++;
    return from;
}

/* The first place from `c` on where the run fits. As later runs only need
 * what is behind, the earliest fit of each run is the right one and nothing
 * has to be tried again: time is line times pattern. */
static const char *find_run(const struct pattern *pattern, size_t from,
                            const char *line, const char *c, const char *end,
                            struct match *match)
{
    bool first = from == 0;
    for (; c <= end; c++) {
        if (first && !may_begin(&pattern->pieces[0], line, c))
            continue;
        const char *after = match_run(pattern, from, c, end, match);
        if (after)
            return after;
    }
    return NULL;
}

static bool match_line(const struct pattern *pattern, const char *line,
                       size_t len, struct match *match)
{
    const char *c = line, *end = line + len;
    for (size_t from = 0; from < pattern->n_pieces;) {
        if (pattern->pieces[from].kind == PIECE_ANY) {
            from++;
            continue;
        }
        c = find_run(pattern, from, line, c, end, match);
        if (c == NULL)
            return false;
        from = next_any(pattern, from);
    }
    return true;
}

bool pattern_match(struct arena *arena, const struct pattern *pattern,
                   const char *line, size_t len, struct report *report)
{
    struct match match = {0};
    if (!match_line(pattern, line, len, &match))
        return false;
    struct report_metric *metrics =
        arena_alloc(arena, pattern->n_names, sizeof *metrics);
    for (size_t i = 0; i < pattern->n_names; i++)
        metrics[i] = (struct report_metric){pattern->names[i], match.values[i]};
    report->metrics = metrics;
    report->n_metrics = pattern->n_names;
    report->has_step = match.has_step;
    report->step = match.step;
    return true;
}
