/* Part of a PodSpec laid over another one. */
#include <string.h>

#include "proto/base/arena.h"
#include "proto/doc/json.h"
#include "proto/doc/node.h"
#include "proto/job/pod_overlay.h"
#include "tests/check.h"

static const struct {
    const char *base, *over, *merged;
} cases[] = {
    /* members */
    {"{}", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":1}}"},
    {"{\"a\":{\"b\":1}}", "{\"a\":{\"c\":2.50}}",
     "{\"a\":{\"b\":1,\"c\":2.50}}"},
    {"{\"a\":1}", "{\"a\":{\"b\":true}}", "{\"a\":{\"b\":true}}"},
    {"{\"a\":{\"b\":1},\"c\":2}", "{\"a\":null}", "{\"c\":2}"},
    {"{\"a\":{\"b\":1}}", "{\"a\":{\"b\":null}}", "{\"a\":{}}"},
    /* named items */
    {"{\"containers\":[{\"name\":\"trial\",\"image\":\"i\"}]}",
     "{\"containers\":[{\"name\":\"log\"},{\"name\":\"trial\",\"tty\":true}]}",
     "{\"containers\":[{\"name\":\"trial\",\"image\":\"i\",\"tty\":true},"
     "{\"name\":\"log\"}]}"},
    {"{\"containers\":[{\"name\":\"trial\",\"env\":[{\"name\":\"A\"}],"
     "\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]}]}",
     "{\"containers\":[{\"name\":\"trial\",\"env\":[{\"name\":\"B\"}],"
     "\"volumeMounts\":[{\"name\":\"w\",\"mountPath\":\"/v\"},"
     "{\"name\":\"w\",\"mountPath\":\"/w\"}]}]}",
     "{\"containers\":[{\"name\":\"trial\",\"env\":[{\"name\":\"A\"},"
     "{\"name\":\"B\"}],\"volumeMounts\":[{\"name\":\"w\",\"mountPath\":"
     "\"/v\"},{\"name\":\"w\",\"mountPath\":\"/w\"}]}]}"},
    {"{\"ports\":[{\"containerPort\":80}]}",
     "{\"ports\":[{\"containerPort\":80,\"name\":\"http\"},"
     "{\"containerPort\":81}]}",
     "{\"ports\":[{\"containerPort\":80,\"name\":\"http\"},"
     "{\"containerPort\":81}]}"},
    /* other lists */
    {"{\"tolerations\":[{\"key\":\"a\"}]}",
     "{\"tolerations\":[{\"key\":\"a\"}]}",
     "{\"tolerations\":[{\"key\":\"a\"},{\"key\":\"a\"}]}"},
    {"{\"args\":[\"a\",\"b\"]}", "{\"args\":[\"c\"]}", "{\"args\":[\"c\"]}"},
    {"{\"volumes\":[{\"name\":\"v\"}]}", "{\"volumes\":null}", "{}"},
    {"{\"volumes\":[{\"name\":\"v\"}]}", "{}",
     "{\"volumes\":[{\"name\":\"v\"}]}"},
};

static void maps_and_named_items_are_merged(void)
{
    struct arena *arena = arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *base = json_of_node(node_read_stored(arena, cases[i].base));
        pod_overlay(base, node_read_stored(arena, cases[i].over));
        const char *text = json_text(arena, base);
        CHECK_TEXT(text, cases[i].merged);
    }
    arena_free(arena);
}

int main(void)
{
    json_init();
    RUN(maps_and_named_items_are_merged);
    return check_done();
}
