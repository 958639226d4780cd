/* old_database - makes an empty hypertune.db of an earlier version.
 *
 *     old_database FILE VERSION
 */
#include <stdio.h>
#include <stdlib.h>

/* For its migrations, of which so many are made. */
#include "tuner/db/schema.c"

int main(int argc, char *argv[])
{
    if (argc != 3) {
        fprintf(stderr, "usage: old_database FILE VERSION\n");
        return 2;
    }
    struct db_kind old = kind;
    old.versions = atoi(argv[2]);
    struct db *db;
    struct ht_error err;
    if (old.versions > kind.versions ||
        db_file_open(argv[1], true, &old, &db, &err) != HT_OK) {
        fprintf(stderr, "old_database: no version %s\n", argv[2]);
        return 1;
    }
    db_close(db);
    printf("%d\n", kind.versions);
    return 0;
}
