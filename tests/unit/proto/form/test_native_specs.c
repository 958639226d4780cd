/* The native form and what stands about it in files: a folder of broken specs,
 * a folder of good ones, and the schema against the reader's own tables. Runs
 * in the source tree. */
#include <dirent.h>
#include <stdlib.h>

#include "proto/doc/json.h"
#include "proto/form/form.h"
#include "proto/form/native.h"
#include "tests/check.h"
#include "tests/lib/spec.h"

#define BROKEN "tests/specs/broken"
#define GOOD "tests/specs/good"

static struct arena *arena;

static struct job *read_text(const char *text, struct diag *diag)
{
    return spec_read(arena, native_read, text, diag);
}

/* ---- broken ---- */

static int is_spec(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".json") == 0);
}

/* "LINE:COLUMN error|warning PATH: FRAGMENT", in the first line of a YAML
 * file and beside a JSON one. */
static void expectation(const char *path, const char *spec, struct text *want)
{
    static const char mark[] = "# expect ";
    if (strncmp(spec, mark, sizeof mark - 1) == 0) {
        text_append(want, spec + sizeof mark - 1,
                    strcspn(spec, "\n") - (sizeof mark - 1));
        return;
    }
    const char *beside =
        spec_file(arena, arena_printf(arena, "%s.expect", path));
    text_append(want, beside, strcspn(beside, "\n"));
}

static bool has_item(const struct diag *diag, const char *want)
{
    char kind[16], path[256];
    int line, column, used = 0;
    bool empty_path = strstr(want, " error : ") != NULL;
    if (empty_path
            ? sscanf(want, "%d:%d error : %n", &line, &column, &used) != 2
            : sscanf(want, "%d:%d %15s %n", &line, &column, kind, &used) != 3)
        return false;
    path[0] = '\0';
    const char *rest = want + used, *colon = strstr(rest, ": ");
    if (!empty_path) {
        if (colon == NULL || (size_t)(colon - rest) >= sizeof path)
            return false;
        snprintf(path, sizeof path, "%.*s", (int)(colon - rest), rest);
        rest = colon + 2;
    } else {
        snprintf(kind, sizeof kind, "error");
    }
    enum diag_kind wanted =
        strcmp(kind, "warning") == 0 ? DIAG_WARNING : DIAG_ERROR;
    for (const struct diag_item *item = diag->first; item; item = item->next)
        if (item->kind == wanted && item->line == line &&
            item->column == column && strcmp(item->path, path) == 0 &&
            (strstr(item->text, rest) ||
             (item->hint && strstr(item->hint, rest))))
            return true;
    return false;
}

static void check_broken(const char *name)
{
    struct text want = {0}, said = {0};
    struct diag diag;
    const char *path = arena_printf(arena, BROKEN "/%s", name);
    const char *spec = spec_file(arena, path);
    expectation(path, spec, &want);
    const struct job *job = read_text(spec, &diag);
    bool warning = want.data && strstr(want.data, " warning ") != NULL;
    CHECK((job != NULL) == warning);
    CHECK((diag.errors == 0) == warning);
    const bool named = want.data != NULL && has_item(&diag, want.data);
    CHECK(named); /* the fault, with its place */
    if (!named) {
        diag_print(&diag, &said);
        printf("# %s: wanted %s\n# got %s\n", name,
               want.data ? want.data : "(no expectation)",
               said.data ? said.data : "(nothing)");
    }
    text_free(&want);
    text_free(&said);
}

static void every_broken_spec_gets_its_fault(void)
{
    struct dirent **entries;
    int n = scandir(BROKEN, &entries, is_spec, alphasort);
    CHECK(n >= 45);
    for (int i = 0; i < n; i++) {
        check_broken(entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* ---- good ---- */

static void print_vertex(const struct job *job, struct text *out)
{
    json_print(vertex_write(job), out);
}

/* Writing natively and reading that again changes nothing. */
static void check_good(const char *name)
{
    struct text native = {0}, one = {0}, two = {0};
    struct diag diag;
    const char *path = arena_printf(arena, GOOD "/%s", name);
    struct job *job = read_text(spec_file(arena, path), &diag);
    CHECK(job != NULL && diag.errors == 0);
    if (job) {
        json_print(native_write(job), &native);
        struct job *again = read_text(native.data, &diag);
        CHECK(again != NULL);
        print_vertex(job, &one);
        if (again)
            print_vertex(again, &two);
        CHECK_TEXT(two.data, one.data);
    }
    text_free(&native);
    text_free(&one);
    text_free(&two);
}

static void every_good_spec_survives_the_native_form(void)
{
    struct dirent **entries;
    int n = scandir(GOOD, &entries, is_spec, alphasort);
    CHECK(n >= 5);
    for (int i = 0; i < n; i++) {
        check_good(entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* ---- schema ---- */

/* What a schema of one value says, wherever it stands. */
static const struct node *resolve(const struct node *root,
                                  const struct node *schema)
{
    const struct node *alternatives = node_find(schema, "oneOf");
    for (const struct node *one = alternatives ? alternatives->first : NULL;
         one; one = one->next)
        if (node_find(one, "$ref"))
            schema = one;
    const char *name = node_string(node_find(schema, "$ref"));
    return name ? node_find(node_find(root, "$defs"), strrchr(name, '/') + 1)
                : schema;
}

/* The schema of a field such as "until.time" or "parameters.*.min". */
static const struct node *schema_of(const struct node *root, const char *field)
{
    const struct node *schema = root;
    while (*field) {
        const size_t len = strcspn(field, ".");
        const char *part = arena_strndup(arena, field, len);
        const struct node *map = node_find(resolve(root, schema), "properties");
        const struct node *found = node_find(map, part);
        schema = found
                     ? found
                     : resolve(root, node_find(schema, "additionalProperties"));
        if (found == NULL && strcmp(part, "*") != 0 &&
            schema != node_find(node_find(root, "$defs"), "replica"))
            return NULL;
        field += len + (field[len] == '.');
    }
    return schema;
}

static size_t count_properties(const struct node *map)
{
    const struct node *properties = node_find(map, "properties");
    size_t n = properties ? properties->count : 0;
    for (const struct node *child = properties ? properties->first : NULL;
         child; child = child->next)
        n += count_properties(child);
    return n;
}

/* Same names, same number, and words and an example for each. */
static void schema_and_reader_list_the_same_fields(void)
{
    struct text fields = {0};
    struct diag diag;
    const char *text = spec_file(arena, "proto/native.schema.json");
    diag_init(&diag, arena, "schema", text, strlen(text));
    const struct node *root = node_read_json(arena, text, strlen(text), &diag);
    CHECK(root != NULL);
    native_fields(&fields);
    size_t n = 0;
    for (char *field = strtok(fields.data, "\n"); field;
         field = strtok(NULL, "\n"), n++) {
        const struct node *schema = schema_of(root, field);
        const char *words = node_string(node_find(schema, "description"));
        const struct node *examples = node_find(schema, "examples");
        if (schema == NULL || words == NULL || examples == NULL ||
            examples->count == 0)
            CHECK_TEXT("no such field, or no description and example", field);
        bool last =
            words && (strstr(words, "Default") || strstr(words, "Required") ||
                      strstr(words, "What is not said here") ||
                      strncmp(field, "parameters.", 11) == 0);
        if (!last)
            CHECK_TEXT("no default in the description", field);
    }
    const struct node *definitions = node_find(root, "$defs");
    const size_t types = 3; /* of replicas: one definition for all */
    CHECK(n == count_properties(root) + types +
                   count_properties(node_find(definitions, "parameter")) +
                   count_properties(node_find(definitions, "secret")) +
                   count_properties(node_find(definitions, "workdir")) +
                   count_properties(node_find(definitions, "earlyStopping")) +
                   count_properties(node_find(definitions, "replica")));
    text_free(&fields);
}

int main(void)
{
    json_init();
    arena = arena_new();
    RUN(every_broken_spec_gets_its_fault);
    RUN(every_good_spec_survives_the_native_form);
    RUN(schema_and_reader_list_the_same_fields);
    arena_free(arena);
    return check_done();
}
