/* writer_id.h - the name of one reporting process: 16 random hex digits.
 *
 * (writer, seq) is what makes a report that arrives twice count once, so two
 * processes must never share a name, not even a parent and its fork. */
#ifndef HT_HYPERTUNE_LIB_WRITER_ID_H
#define HT_HYPERTUNE_LIB_WRITER_ID_H

enum { WRITER_ID_BYTES = 17 }; /* 16 hex digits and a NUL */

/* Fills `text`; never "0000000000000000", which means "from a foreign file".
 * Cannot fail: without entropy from the kernel it mixes clocks and pid. */
void writer_id_make(char text[WRITER_ID_BYTES]);

#endif
