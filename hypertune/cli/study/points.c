#include "hypertune/cli/study/points.h"

#include <string.h>

#include "hypertune/cli/frame/csv.h"
#include "proto/base/words.h"
#include "proto/doc/json.h"
#include "proto/space/part.h"

/* False, with a fault in that line of a file (0: of the command line) that
 * suggests a name, when there is no such one. */
static bool check_name(struct cli_points *points, int line, const char *name)
{
    if (space_find(points->constraints->space, name) >= 0)
        return true;
    struct arena *arena = points->diag->arena;
    const char *near =
        words_nearest(name, space_names(arena, points->constraints->space));
    diag_error(points->diag, line, line > 0 ? 1 : 0, name,
               "the study has no such parameter");
    if (near != NULL)
        diag_hint(points->diag, "did you mean \"%s\"?", near);
    return false;
}

static struct node *add_member(struct arena *arena, struct node *map,
                               const char *key)
{
    struct node *member = arena_alloc(arena, 1, sizeof *member);
    member->key = key;
    member->next = map->first;
    map->first = member;
    map->count++;
    return member;
}

/* The values with their origin, whatever line their own document gave them. */
static size_t list_values(struct cli_points *points, int line,
                          const struct node *map, struct named_value named[])
{
    struct node *copies =
        arena_alloc(points->diag->arena, map->count + 1, sizeof *copies);
    size_t n = 0;
    NODE_EACH (one, map->first) {
        copies[n] = *one;
        copies[n].line = line;
        copies[n].column = line > 0 ? 1 : 0;
        named[n] = (struct named_value){one->key, {&copies[n], one->key}};
        n++;
    }
    return n;
}

static void add_point(struct cli_points *points, int line, struct node *map)
{
    struct arena *arena = points->diag->arena;
    const struct space *space = points->constraints->space;
    const struct field_reader reader = {.diag = points->diag, .arena = arena};
    struct named_value *named =
        arena_alloc(arena, map->count + 1, sizeof *named);
    struct value *given = arena_alloc(arena, space->n + 1, sizeof *given);
    struct subspace part;
    bool known = true;
    NODE_EACH (one, map->first)
        known = check_name(points, line, one->key) && known;
    if (!known)
        return;
    const size_t n = list_values(points, line, map, named);
    map->line = line;
    map->column = line > 0 ? 1 : 0;
    if (part_read(&reader, space, n, named, given, &part) &&
        part_check(&reader, (struct place){map, NULL}, points->constraints,
                   &part)) {
        points->items =
            arena_grow(arena, points->items, points->n, sizeof(struct value *));
        points->items[points->n++] = given;
    }
}

void cli_points_words(struct cli_points *points, const struct words *words)
{
    struct arena *arena = points->diag->arena;
    struct node map = {.kind = NODE_MAP};
    for (size_t i = 0; i < words->n; i++) {
        const char *word = words->items[i];
        size_t len = strcspn(word, "=");
        char *name = arena_strndup(arena, word, len);
        if (node_find(&map, name) != NULL) {
            diag_error(points->diag, 0, 0, name, "is given twice");
            return;
        }
        struct node *member = add_member(arena, &map, name);
        member->kind = NODE_STRING;
        member->text = word + len + (word[len] == '=');
    }
    add_point(points, 0, &map);
}

static void add_json(struct cli_points *points, const struct node *read,
                     int line)
{
    if (read->kind != NODE_MAP) {
        diag_error(points->diag, line, 1, NULL,
                   "a point is an object such as {\"lr\": 0.1}, not %s",
                   node_kind_name(read->kind));
        return;
    }
    struct node map = *read;
    add_point(points, line, &map);
}

/* One value a line; faults get the line's number. */
static void read_json_line(struct cli_points *points, const char *line,
                           size_t len, int number)
{
    struct arena *arena = points->diag->arena;
    struct diag faults;
    if (line[strspn(line, " \t\r")] == '\n' || strspn(line, " \t\r") >= len)
        return;
    diag_init(&faults, arena, NULL, NULL, 0);
    const struct node *read = node_read_json(arena, line, len, &faults);
    if (read != NULL)
        add_json(points, read, number);
    else if (faults.first != NULL)
        diag_error(points->diag, number, faults.first->column, NULL, "%s",
                   faults.first->text);
}

static void read_json(struct cli_points *points, const char *text)
{
    if (text[strspn(text, " \t\r\n")] == '[') {
        const struct node *list = node_read_json(points->diag->arena, text,
                                                 strlen(text), points->diag);
        NODE_EACH (one, node_items(list))
            add_json(points, one, one->line);
        return;
    }
    for (int number = 1; *text != '\0'; number++) {
        size_t len = strcspn(text, "\n");
        read_json_line(points, text, len, number);
        text += len + (text[len] == '\n');
    }
}

/* All of the titles are checked before the first row. */
static bool check_titles(struct cli_points *points,
                         const struct csv_record *titles)
{
    bool known = true;
    const int line = titles->line;
    for (size_t i = 0; i < titles->n; i++) {
        known = check_name(points, line, titles->fields[i]) && known;
        for (size_t j = 0; known && j < i; j++) {
            if (strcmp(titles->fields[i], titles->fields[j]) != 0)
                continue;
            diag_error(points->diag, line, 1, titles->fields[i],
                       "names two columns");
            known = false;
        }
    }
    return known;
}

static void read_csv(struct cli_points *points, const char *text)
{
    struct arena *arena = points->diag->arena;
    struct csv_reader reader = {.at = text, .line = 1};
    struct csv_record titles, row;
    if (!csv_read(&reader, arena, &titles) || !check_titles(points, &titles))
        return;
    while (csv_read(&reader, arena, &row)) {
        struct node map = {.kind = NODE_MAP};
        if (row.n != titles.n) {
            diag_error(points->diag, row.line, 1, NULL,
                       "has %zu fields, the first line has %zu", row.n,
                       titles.n);
            continue;
        }
        for (size_t i = 0; i < row.n; i++) {
            if (row.fields[i][0] == '\0')
                continue;
            struct node *member = add_member(arena, &map, titles.fields[i]);
            member->kind = NODE_STRING;
            member->text = row.fields[i];
        }
        add_point(points, row.line, &map);
    }
}

void cli_points_file(struct cli_points *points, const char *text)
{
    char first = text[strspn(text, " \t\r\n")];
    if (first == '{' || first == '[')
        read_json(points, text);
    else
        read_csv(points, text);
}

cJSON *cli_points_json(const struct space *space, const struct value point[])
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < space->n; i++) {
        if (point[i].absent)
            continue;
        cJSON *item = json_push_object(list);
        cJSON *value = cJSON_CreateArray();
        json_add_string(item, "parameterId", space->params[i].name);
        space_value_push_json(&space->params[i], point[i], value);
        cJSON_AddItemToObject(item, "value",
                              cJSON_DetachItemFromArray(value, 0));
        cJSON_Delete(value);
    }
    return list;
}
