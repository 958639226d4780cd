#include "runner/cluster/place.h"

#include "proto/base/text.h"
#include "runner/base/disk.h"
#include "runner/base/json.h"

const char place_file[] = "slot.json";

enum ht_status place_write(const char *attempt_folder,
                           const struct place *place, struct ht_error *err)
{
    struct text out = {0};
    json_open(&out, NULL);
    json_put_string(&out, "batch", place->batch);
    json_put_int(&out, "element", place->element);
    json_put_int(&out, "turn", place->turn);
    json_close(&out);
    const enum ht_status status =
        disk_write(attempt_folder, place_file, out.data, out.len, 0600, err);
    text_free(&out);
    return status;
}

enum ht_status place_read(struct arena *arena, const char *attempt_folder,
                          struct place *place, struct ht_error *err)
{
    const struct node *map = NULL;
    const enum ht_status status =
        disk_read_json(arena, attempt_folder, place_file, &map, err);
    if (status != HT_OK)
        return status;
    const struct place read = {
        .batch = node_get_string(map, "batch", ""),
        .element = (int)node_get_int(map, "element", -1),
        .turn = (int)node_get_int(map, "turn", 0),
    };
    if (read.turn <= 0)
        return ht_fail(err, HT_CORRUPT, "%s/%s names no turn", attempt_folder,
                       place_file);
    *place = read;
    return HT_OK;
}
