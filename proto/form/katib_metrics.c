/* katib_metrics.c - the metrics collector of a Katib Experiment: patterns of
 * lines, a file, or event files of TensorBoard. */

#include "proto/form/katib.h"

#include <ctype.h>
#include <string.h>

#include "proto/base/limits.h"
#include "proto/base/text.h"
#include "proto/job/metrics_file.h"
#include "proto/job/pattern.h"

/* Where a container has its trial's folder. */
#define IN_CONTAINER "/hypertune/trial/"
/* The file where Katib's spec names none. */
#define KATIB_FILE "/var/log/katib/metrics.log"
#define KATIB_EVENTS "/var/log/katib/tfevent"
#define STDOUT "/dev/stdout"

/* ---- patterns ---- */

/* What is around the name and the value of a metric in a line, as parts of a
 * pattern: BEFORE NAME BETWEEN VALUE BEHIND. */
struct around {
    const char *before, *between, *behind;
};

struct metrics {
    struct katib *katib;
    size_t n;
    const struct node *names[HT_MAX_METRICS];
    size_t n_around;
    struct around around[HT_MAX_METRICS];
    struct grown patterns;
};

static void put_literal(struct text *out, char c)
{
    if (c == '{' || c == '}')
        text_append(out, &c, 1); /* doubled, it is itself */
    text_append(out, &c, 1);
}

static void put_item(struct text *out, const struct around *around,
                     const char *metric)
{
    text_puts(out, around->before);
    for (const char *c = metric; *c; c++)
        put_literal(out, *c);
    text_printf(out, "%s{%s}%s", around->between, metric, around->behind);
}

static void put_pattern(struct metrics *metrics, const struct around *around,
                        const struct node *one, const char *apart,
                        const struct node *other)
{
    struct text out = {0};
    if (metrics->patterns.node->count >= HT_MAX_METRICS)
        return;
    put_item(&out, around, one->text);
    if (other != NULL) {
        text_puts(&out, apart);
        put_item(&out, around, other->text);
    }
    foreign_put_text(metrics->katib->arena, &metrics->patterns, NULL,
                     text_string(&out), one);
    text_free(&out);
}

/* The first pattern that matches reads a line, so those of the objective with
 * its first companion come before those of one metric, as far as all of the
 * latter have room. */
static void put_patterns(struct metrics *metrics)
{
    static const char *const apart[] = {" ", ", ", ";"};
    enum { N_APART = sizeof apart / sizeof *apart };
    const size_t n = metrics->n_around;
    const size_t singles = n * metrics->n;
    size_t room = singles < HT_MAX_METRICS ? HT_MAX_METRICS - singles : 0;
    for (size_t i = 0; i < N_APART && metrics->n > 1; i++)
        for (size_t k = 0; k < n && room >= 2; k++, room -= 2) {
            put_pattern(metrics, &metrics->around[k], metrics->names[0],
                        apart[i], metrics->names[1]);
            put_pattern(metrics, &metrics->around[k], metrics->names[1],
                        apart[i], metrics->names[0]);
        }
    for (size_t i = 0; i < metrics->n; i++)
        for (size_t k = 0; k < n; k++)
            put_pattern(metrics, &metrics->around[k], metrics->names[i], NULL,
                        NULL);
    if (singles > HT_MAX_METRICS)
        field_warning(&metrics->katib->reader, metrics->katib->additional,
                      "only the first %d of the %zu patterns that read them "
                      "are used",
                      HT_MAX_METRICS, singles);
}

/* ---- filters ---- */

/* The end of the group that begins at `c`, behind its parenthesis; NULL: it has
 * none. */
static const char *group_end(const char *c)
{
    int depth = 0;
    bool in_set = false;
    for (; *c != '\0'; c++) {
        if (*c == '\\' && c[1] != '\0')
            c++;
        else if (in_set || *c == '[')
            in_set = *c != ']';
        else if (*c == '(')
            depth++;
        else if (*c == ')' && --depth == 0)
            return c + 1;
    }
    return NULL;
}

/* What stands for blanks that may be missing. */
struct blanks {
    const char *first; /* where a part begins */
    const char *later;
};

/* Copies literal text of an expression up to a group or its end. NULL: it is
 * more than literal text and blanks. */
static const char *take_literal(const char *c, const struct blanks *blanks,
                                struct text *out)
{
    text_puts(out, "");
    for (; *c != '\0' && *c != '('; c++) {
        if (c[0] == '\\' && c[1] == 's') {
            text_puts(out, c[2] != '*'     ? " "
                           : out->len == 0 ? blanks->first
                                           : blanks->later);
            c += c[2] == '*' || c[2] == '+' ? 2 : 1;
        } else if (c[0] == '\\' && ispunct((unsigned char)c[1])) {
            put_literal(out, *++c);
        } else if (strchr("\\.[]|?*+^$", *c) != NULL) {
            return NULL;
        } else {
            put_literal(out, *c);
        }
    }
    return c;
}

/* An expression with a group for the name and one for the value, as in
 * "metric: ([\w|-]+) is ((-?\d+)(\.\d+)?)". */
static bool read_filter(struct arena *arena, const char *filter,
                        const struct blanks *blanks, struct around *around)
{
    struct text parts[3] = {{0}};
    const char *c = filter;
    for (size_t i = 0; i < 3 && c != NULL; i++) {
        c = take_literal(c, blanks, &parts[i]);
        if (c != NULL && i < 2)
            c = *c == '(' ? group_end(c) : NULL;
    }
    const bool good = c != NULL && *c == '\0' && parts[1].len > 0;
    *around = (struct around){text_take(&parts[0], arena),
                              text_take(&parts[1], arena),
                              text_take(&parts[2], arena)};
    return good;
}

static bool is_same(const struct around *a, const struct around *b)
{
    return strcmp(a->before, b->before) == 0 &&
           strcmp(a->between, b->between) == 0 &&
           strcmp(a->behind, b->behind) == 0;
}

/* With no blanks where they may be missing, with all, and as in "loss: 0.3". */
static bool add_filter(struct metrics *metrics, const char *filter)
{
    static const struct blanks blanks[] = {{"", ""}, {" ", " "}, {"", " "}};
    enum { N_BLANKS = sizeof blanks / sizeof *blanks };
    struct around around[N_BLANKS];
    for (size_t i = 0; i < N_BLANKS; i++)
        if (metrics->n_around + N_BLANKS > HT_MAX_METRICS ||
            !read_filter(metrics->katib->arena, filter, &blanks[i], &around[i]))
            return false;
    for (size_t i = 0; i < N_BLANKS; i++) {
        size_t k = 0;
        while (k < i && !is_same(&around[k], &around[i]))
            k++;
        if (k == i)
            metrics->around[metrics->n_around++] = around[i];
    }
    return true;
}

static void read_filters(struct metrics *metrics)
{
    struct katib *katib = metrics->katib;
    const struct place at = katib->filters;
    for (const struct place *one = field_items(&katib->reader, at); one->node;
         one++) {
        const char *filter = node_string(one->node);
        if (filter != NULL && add_filter(metrics, filter))
            continue;
        field_warning(&katib->reader, *one,
                      "this filter is more than literal text around a name and "
                      "a value, and has no effect here");
        diag_hint(katib->reader.diag, "add --metric 'loss: {loss}'");
    }
}

/* ---- collectors ---- */

static bool is_kind(const struct katib *katib, const char *kind)
{
    const struct place at = katib->collector;
    return strcmp(at.node == NULL         ? "StdOut"
                  : at.node->text != NULL ? at.node->text
                                          : "",
                  kind) == 0;
}

static void put_stdout(struct metrics *metrics)
{
    struct katib *katib = metrics->katib;
    struct grown map =
        foreign_begin(katib->arena, NODE_MAP, katib->metric.node);
    metrics->patterns =
        foreign_begin(katib->arena, NODE_LIST, katib->metric.node);
    if (katib->filters.node != NULL) {
        read_filters(metrics);
    } else { /* as Katib's own filter */
        metrics->around[0] = (struct around){"", "=", ""};
        metrics->around[1] = (struct around){"", " = ", ""};
        metrics->around[2] = (struct around){"", "= ", ""};
        metrics->n_around = 3;
    }
    put_patterns(metrics);
    if (metrics->patterns.node->count == 0)
        return;
    foreign_put(katib->arena, &map, "stdout", metrics->patterns.node);
    foreign_put(katib->arena, &katib->native, "metrics", map.node);
}

const char *katib_names_file(const struct katib_file *file, const char *word)
{
    const size_t len = file->theirs != NULL ? strlen(file->theirs) : 0;
    const char *equals = strrchr(word, '=');
    const char *path = equals != NULL ? equals + 1 : word;
    if (len == 0 || strncmp(path, file->theirs, len) != 0)
        return NULL;
    return path[len] == '\0' || (file->has_more && path[len] == '/') ? path
                                                                     : NULL;
}

/* Whether any text of the tree has the path as a word may have it. */
static bool is_mentioned(const struct katib_file *file, const struct node *node)
{
    if (node->kind == NODE_STRING)
        return katib_names_file(file, node->text) != NULL;
    bool found = false;
    if (node->kind == NODE_MAP || node->kind == NODE_LIST)
        for (const struct node *one = node->first; one != NULL; one = one->next)
            found = found || is_mentioned(file, one);
    return found;
}

static size_t length_above(const char *path, size_t len)
{
    while (len > 0 && path[len - 1] != '/')
        len--;
    while (len > 0 && path[len - 1] == '/')
        len--;
    return len;
}

/* The trainer's word may be the folder itself or one above it, as where
 * "--logs=/logs" has what is read in /logs/test. */
static struct katib_file find_folder(const struct katib *katib,
                                     const char *path)
{
    const size_t all = strlen(path);
    const struct katib_file whole = {
        .theirs = path, .below = "", .has_more = true};
    struct katib_file found = whole;
    for (size_t len = all; katib->trial_spec.node != NULL && len > 0;
         len = length_above(path, len)) {
        found.theirs = arena_strndup(katib->arena, path, len);
        found.below = path + len + (len < all);
        found.has_more = len == all;
        if (is_mentioned(&found, katib->trial_spec.node))
            return found;
    }
    return whole;
}

static void plan_events(struct katib *katib)
{
    const struct place at = katib->file;
    const char *path = KATIB_EVENTS;
    if (at.node != NULL && node_string(at.node) == NULL)
        field_wrong_kind(&katib->reader, at, "a path");
    else if (at.node != NULL)
        path = at.node->text;
    size_t len = strlen(path);
    while (len > 0 && path[len - 1] == '/')
        len--;
    if (len == 0 || path[0] != '/') {
        field_error(&katib->reader, at, "must be a folder's absolute path");
        return;
    }
    path = arena_strndup(katib->arena, path, len);
    katib->metrics_file = find_folder(katib, path);
    katib->metrics_file.ours =
        arena_printf(katib->arena, TRIAL_DIR_REFERENCE "%s",
                     strrchr(katib->metrics_file.theirs, '/'));
}

/* A path in words is that of a file in the trial's own folder, which is read as
 * it grows, or for text lines the standard output, which patterns read. */
void katib_plan_metrics(struct katib *katib)
{
    static const struct field_choice formats[] = {
        {"TEXT", -1, 0}, {"JSON", -1, 1}, {NULL, 0, 0}};
    const struct field row = {.name = "format", .choices = formats};
    const struct place at = katib->file;
    const char *base, *slash;
    katib->reads_output = is_kind(katib, "StdOut");
    if (is_kind(katib, "TensorFlowEvent"))
        plan_events(katib);
    if (!is_kind(katib, "File"))
        return;
    const struct field_choice *format =
        katib->format.node ? field_choice(&katib->reader, katib->format, &row)
                           : formats;
    katib->metrics_file.theirs = KATIB_FILE;
    if (at.node != NULL && node_string(at.node) == NULL)
        field_wrong_kind(&katib->reader, at, "a path");
    else if (at.node != NULL)
        katib->metrics_file.theirs = at.node->text;
    slash = strrchr(katib->metrics_file.theirs, '/');
    base = slash != NULL ? slash + 1 : katib->metrics_file.theirs;
    if (base[0] == '\0')
        field_error(&katib->reader, at, "must be a file's path");
    katib->metrics_file.ours =
        format != NULL && format->value != 0
            ? arena_printf(katib->arena, TRIAL_DIR_REFERENCE "/%s", base)
            : STDOUT;
}

/* Where a container writes below its trial's folder, nothing has to be moved.
 */
static const char *in_trial(struct katib *katib, const char *path)
{
    const size_t len = sizeof IN_CONTAINER - 1;
    return strncmp(path, IN_CONTAINER, len) != 0
               ? NULL
               : arena_printf(katib->arena, TRIAL_DIR_REFERENCE "/%s",
                              path + len);
}

static void refuse_file(struct katib *katib, struct place at)
{
    field_error(&katib->reader, at,
                "no word of the command is %s, so nothing can read it here",
                katib->metrics_file.theirs);
    diag_hint(katib->reader.diag, "let the trainer print NAME=VALUE, and leave "
                                  "out metricsCollectorSpec");
}

static void put_json_file(struct katib *katib, struct place at)
{
    const char *file = katib->metrics_file.is_named
                           ? katib->metrics_file.ours
                           : in_trial(katib, katib->metrics_file.theirs);
    if (file == NULL) {
        refuse_file(katib, at);
        return;
    }
    if (katib->metrics_file.is_named)
        field_warning(&katib->reader, at,
                      "is %s in the trial's words, its own folder", file);
    if (katib->filters.node != NULL)
        foreign_no_effect(&katib->reader, katib->filters, NULL, NULL);
    struct grown map = foreign_begin(katib->arena, NODE_MAP, at.node);
    foreign_put_text(katib->arena, &map, "file", file, at.node);
    foreign_put(katib->arena, &katib->native, "metrics", map.node);
}

static void put_events(struct katib *katib, struct place at)
{
    const struct katib_file *file = &katib->metrics_file;
    if (file->ours == NULL)
        return; /* an error */
    const char *folder = in_trial(katib, file->theirs);
    if (file->is_named)
        folder = *file->below == '\0' ? file->ours
                                      : arena_printf(katib->arena, "%s/%s",
                                                     file->ours, file->below);
    if (folder == NULL) {
        field_error(&katib->reader, at,
                    "no word of the command is %s, so nothing can read its "
                    "event files here",
                    file->theirs);
        diag_hint(katib->reader.diag,
                  "name the folder in a word or a variable of the container");
        return;
    }
    if (file->is_named)
        field_warning(&katib->reader, at,
                      "is %s in the trial's words, in its own folder", folder);
    if (katib->filters.node != NULL)
        foreign_no_effect(&katib->reader, katib->filters, NULL, NULL);
    struct grown map = foreign_begin(katib->arena, NODE_MAP, at.node);
    foreign_put_text(katib->arena, &map, "events", folder, at.node);
    foreign_put(katib->arena, &katib->native, "metrics", map.node);
}

static void add_name(struct metrics *metrics, struct place at)
{
    struct katib *katib = metrics->katib;
    struct pattern *pattern;
    const char *name = node_string(at.node);
    if (name == NULL || metrics->n == HT_MAX_METRICS)
        return;
    if (pattern_compile(katib->arena, arena_printf(katib->arena, "{%s}", name),
                        &pattern, NULL) == HT_OK)
        metrics->names[metrics->n++] = at.node;
    else if (at.node == katib->metric.node)
        field_error(&katib->reader, at,
                    "a metric of this name cannot be read from lines");
    else
        field_warning(&katib->reader, at,
                      "a metric of this name cannot be read from lines");
}

static void find_names(struct metrics *metrics)
{
    struct katib *katib = metrics->katib;
    const char *objective = katib->metric.node->text;
    add_name(metrics, katib->metric);
    if (katib->additional.node == NULL)
        return;
    for (const struct place *one =
             field_items(&katib->reader, katib->additional);
         one->node; one++)
        if (one->node->text != NULL && strcmp(one->node->text, objective) != 0)
            add_name(metrics, *one);
}

static void put_text_file(struct metrics *metrics, struct place at)
{
    struct katib *katib = metrics->katib;
    if (!katib->metrics_file.is_named) {
        refuse_file(katib, at);
        return;
    }
    field_warning(&katib->reader, at,
                  "is " STDOUT " in the trial's words: its lines are printed");
    find_names(metrics);
    put_stdout(metrics);
}

static void refuse_collector(struct katib *katib, const char *kind)
{
    const char *metric = katib->metric.node->text;
    field_error(&katib->reader, katib->collector,
                "nothing here collects metrics as %s does", kind);
    diag_hint(katib->reader.diag,
              "leave out metricsCollectorSpec, and print %s=VALUE or call "
              "hypertune.report()",
              metric);
}

void katib_put_metrics(struct katib *katib)
{
    const struct place at = katib->file.node ? katib->file : katib->collector;
    struct metrics metrics = {.katib = katib};
    if (is_kind(katib, "StdOut")) {
        if (katib->file.node != NULL)
            foreign_no_effect(&katib->reader, katib->file, NULL, NULL);
        find_names(&metrics);
        put_stdout(&metrics);
    } else if (is_kind(katib, "TensorFlowEvent")) {
        put_events(katib, at);
    } else if (!is_kind(katib, "File")) {
        refuse_collector(katib, katib->collector.node->text
                                    ? katib->collector.node->text
                                    : "this");
    } else if (strcmp(katib->metrics_file.ours, STDOUT) == 0) {
        put_text_file(&metrics, at);
    } else {
        put_json_file(katib, at);
    }
}
