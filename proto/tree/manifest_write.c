/* manifest_write.c - a manifest as text. */

#include "proto/tree/manifest.h"

#include <string.h>

#include "proto/base/text.h"

static const char escaped[] = "\"\\\b\f\n\r\t";
static const char escapes[] = "\"\\bfnrt";

static void write_string(struct text *out, const char *string)
{
    text_puts(out, "\"");
    for (const char *at = string; *at != '\0'; at++) {
        const char *found = strchr(escaped, *at);
        if (found != NULL)
            text_printf(out, "\\%c", escapes[found - escaped]);
        else if ((unsigned char)*at < 0x20)
            text_printf(out, "\\u%04x", (unsigned)*at);
        else
            text_append(out, at, 1);
    }
    text_puts(out, "\"");
}

static void write_file(const struct tree_entry *entry, struct text *out)
{
    text_printf(out, ",\"mode\":%u,\"bytes\":%lld,\"chunks\":[", entry->mode,
                (long long)entry->bytes);
    for (size_t i = 0; i < entry->n_chunks; i++) {
        char name[TREE_NAME];
        token_hex(name, entry->chunks[i].bytes);
        text_printf(out, "%s\"%s\"", i > 0 ? "," : "", name);
    }
    text_puts(out, "]}");
}

void tree_manifest_write(const struct tree_manifest *manifest, struct text *out)
{
    text_puts(out, "{\"entries\":[");
    for (size_t i = 0; i < manifest->n; i++) {
        const struct tree_entry *entry = &manifest->entries[i];
        text_puts(out, i > 0 ? ",{\"path\":" : "{\"path\":");
        write_string(out, entry->path);
        if (entry->kind == TREE_FILE) {
            write_file(entry, out);
        } else if (entry->kind == TREE_LINK) {
            text_puts(out, ",\"link\":");
            write_string(out, entry->target);
            text_puts(out, "}");
        } else {
            text_puts(out, ",\"folder\":true}");
        }
    }
    text_puts(out, "]}");
}
