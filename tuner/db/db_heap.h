/* db_heap.h - SQLite's memory comes from our heap, with its reserve. */
#ifndef HT_TUNER_DB_DB_HEAP_H
#define HT_TUNER_DB_DB_HEAP_H

/* Before SQLite is used; later it has no effect. */
void db_heap_give(void);

#endif
