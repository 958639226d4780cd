/* pieces.h - an answer that its lane gives piece by piece.
 *
 * The call is posted again for each piece once the one before is on its way,
 * so the memory an answer takes does not grow with its length. */
#ifndef HT_TUNER_HTTP_PIECES_H
#define HT_TUNER_HTTP_PIECES_H

#include <stdbool.h>

struct call;

/* Begins the answer with the piece in call->req->reply; false when there is no
 * memory. A later piece that fails cuts the connection, as the status line is
 * gone by then. */
bool pieces_begin(struct call *call, bool close);

#endif
