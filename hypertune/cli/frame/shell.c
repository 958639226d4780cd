#include "hypertune/cli/frame/shell.h"

#include <ctype.h>
#include <string.h>

#include "proto/doc/diag.h"
#include "proto/doc/json.h"

const char *shell_value(char *const environment[], const char *name)
{
    size_t len = strlen(name);
    for (char *const *entry = environment; *entry != NULL; entry++) {
        if (strncmp(*entry, name, len) == 0 && (*entry)[len] == '=')
            return *entry + len + 1;
    }
    return NULL;
}

const struct shell_variable *shell_find(const struct shell_change *change,
                                        const char *name)
{
    for (size_t i = 0; i < change->n; i++) {
        if (strcmp(change->items[i].name, name) == 0)
            return &change->items[i];
    }
    return NULL;
}

static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return name[0] != '\0' && !isdigit((unsigned char)name[0]) &&
           name[strspn(name, letters)] == '\0';
}

void shell_set(struct shell_change *change, const char *name, const char *value)
{
    size_t i = 0;
    while (i < change->n && strcmp(change->items[i].name, name) != 0)
        i++;
    if (i == SHELL_MAX_VARIABLES || !is_name(name))
        return;
    change->items[i] = (struct shell_variable){name, value};
    change->n += i == change->n;
}

/* Within single quotes fish has the escapes \' and \\ alone. */
static void print_fish_word(const char *word, struct text *out)
{
    text_puts(out, "'");
    for (; *word != '\0'; word++) {
        if (*word == '\'' || *word == '\\')
            text_puts(out, "\\");
        text_append(out, word, 1);
    }
    text_puts(out, "'");
}

static void print_variable(const struct shell_variable *variable, bool fish,
                           struct text *out)
{
    if (variable->value == NULL) {
        text_printf(out, fish ? "set -e %s;\n" : "unset %s;\n", variable->name);
        return;
    }
    text_printf(out, fish ? "set -gx %s " : "export %s=", variable->name);
    if (fish)
        print_fish_word(variable->value, out);
    else
        text_shell_word(out, variable->value);
    text_puts(out, ";\n");
}

void shell_print(const struct shell_change *change, enum shell_syntax syntax,
                 struct text *out)
{
    for (size_t i = 0; i < change->n; i++)
        print_variable(&change->items[i], syntax == SHELL_FISH, out);
}

void shell_print_record(const struct shell_change *change, struct text *out)
{
    cJSON *record = cJSON_CreateObject();
    for (size_t i = 0; i < change->n; i++)
        json_add_string(record, change->items[i].name, change->items[i].value);
    json_print(record, out);
}

void shell_read_record(struct arena *arena, const char *record,
                       struct shell_change *change)
{
    struct diag diag;
    diag_init(&diag, arena, "record", NULL, 0);
    const struct node *root =
        node_read_json(arena, record, strlen(record), &diag);
    *change = (struct shell_change){0};
    if (root == NULL || root->kind != NODE_MAP)
        return;
    NODE_EACH (item, root->first) {
        if (item->kind == NODE_STRING || item->kind == NODE_NULL)
            shell_set(change, item->key,
                      item->kind == NODE_STRING ? item->text : NULL);
    }
}
