#include "hypertune/trial_pattern.h"

#include <math.h>
#include <string.h>

#include "hypertune/trial_words.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *after_blanks(const char *text)
{
    return text + strspn(text, " \t");
}

/* ---- compile ---- */

static bool is_any(const char *text)
{
    return text[0] == '.' && text[1] == '*';
}

/* Adds a piece whose text is copied to *room; what is wrong, or NULL. */
static const char *add_piece(struct trial_pattern *pattern, char **room,
                             enum trial_piece_kind kind, const char *text,
                             size_t len)
{
    if (pattern->n == TRIAL_PATTERN_PIECES)
        return "it has too many parts";
    enum trial_piece_kind before =
        pattern->n > 0 ? pattern->pieces[pattern->n - 1].kind : PIECE_LITERAL;
    /* A number knows where it ends, so that {*} may follow it at once. */
    if (kind != PIECE_LITERAL && before != PIECE_LITERAL &&
        (kind != PIECE_ANY || before == PIECE_ANY))
        return "two fields stand side by side";
    pattern->pieces[pattern->n++] = (struct trial_piece){kind, *room};
    memcpy(*room, text, len);
    (*room)[len] = '\0';
    *room += len + 1;
    return NULL;
}

static const char *add_field(struct trial_pattern *pattern, char **room,
                             const char *name, size_t len)
{
    if (len == 1 && *name == '*')
        return add_piece(pattern, room, PIECE_ANY, name, 0);
    bool is_step = len == 4 && memcmp(name, "step", 4) == 0;
    const char *fault = add_piece(
        pattern, room, is_step ? PIECE_STEP : PIECE_METRIC, name, len);
    if (fault != NULL)
        return fault;
    const char *own = pattern->pieces[pattern->n - 1].text;
    if (!record_name_is_valid(own))
        return "a name in braces is empty, too long or has control characters";
    for (size_t i = 0; i + 1 < pattern->n; i++)
        if (pattern->pieces[i].kind != PIECE_LITERAL &&
            strcmp(pattern->pieces[i].text, own) == 0)
            return "a name in braces stands there twice";
    return NULL;
}

static const char *check_metrics(const struct trial_pattern *pattern)
{
    size_t n = 0;
    for (size_t i = 0; i < pattern->n; i++)
        n += pattern->pieces[i].kind == PIECE_METRIC;
    if (n == 0)
        return "it has no {name}";
    return n > RECORD_METRICS ? "it has more than 16 metrics" : NULL;
}

const char *trial_pattern_compile(struct trial_pattern *pattern,
                                  const char *text)
{
    if (strnlen(text, TRIAL_PATTERN_BYTES) == TRIAL_PATTERN_BYTES)
        return "it is longer than 1023 bytes";
    pattern->n = 0;
    char *room = pattern->text;
    const char *fault = NULL;
    while (*text != '\0' && fault == NULL) {
        if (is_any(text)) {
            fault = add_piece(pattern, &room, PIECE_ANY, text, 0);
            text += 2;
        } else if (*text == '{') {
            size_t len = strcspn(text + 1, "{}");
            if (text[1 + len] != '}')
                return "a brace is not closed";
            fault = add_field(pattern, &room, text + 1, len);
            text += len + 2;
        } else {
            size_t len = 1;
            while (text[len] != '\0' && text[len] != '{' && !is_any(text + len))
                len++;
            fault = add_piece(pattern, &room, PIECE_LITERAL, text, len);
            text += len;
        }
    }
    return fault != NULL ? fault : check_metrics(pattern);
}

/* ---- match ---- */

/* The end of the literal at the start of `line`, or NULL. */
static const char *match_literal(const char *literal, const char *line)
{
    while (*literal != '\0') {
        if (is_blank(*literal)) {
            if (!is_blank(*line))
                return NULL;
            literal = after_blanks(literal);
            line = after_blanks(line);
        } else if (*literal++ != *line++) {
            return NULL;
        }
    }
    return line;
}

/* The place where the literal begins, or NULL; the rest when there is none. */
static const char *skip_any(const struct trial_pattern *pattern, size_t next,
                            const char *line)
{
    if (next == pattern->n)
        return line + strlen(line);
    for (; *line != '\0'; line++)
        if (match_literal(pattern->pieces[next].text, line) != NULL)
            return line;
    return NULL;
}

static const char *match_field(const struct trial_piece *piece,
                               const char *line, struct trial_match *match)
{
    double value;
    size_t len = trial_number(line, &value);
    if (len == 0)
        return NULL;
    if (piece->kind == PIECE_METRIC) {
        match->metrics[match->n++] =
            (struct hypertune_metric){piece->text, value};
        return line + len;
    }
    /* 2^53: beyond it a double is no count. */
    if (!(value >= 0 && value <= 9007199254740992.0) || value != floor(value))
        return NULL;
    match->step = (int64_t)value;
    return line + len;
}

static bool match_here(const struct trial_pattern *pattern, const char *line,
                       struct trial_match *match)
{
    match->n = 0;
    match->step = -1;
    for (size_t i = 0; i < pattern->n && line != NULL; i++) {
        const struct trial_piece *piece = &pattern->pieces[i];
        switch (piece->kind) {
        case PIECE_LITERAL:
            line = match_literal(piece->text, line);
            break;
        case PIECE_ANY:
            line = skip_any(pattern, i + 1, line);
            break;
        case PIECE_STEP:
        case PIECE_METRIC:
            line = match_field(piece, line, match);
            break;
        }
    }
    return line != NULL;
}

bool trial_pattern_match(const struct trial_pattern *pattern, const char *line,
                         struct trial_match *match)
{
    struct trial_match found;
    do {
        if (match_here(pattern, line, &found)) {
            *match = found;
            return true;
        }
    } while (*line++ != '\0');
    return false;
}
