/* rules.h - what hello says this runner can do and its admin allows:
 * `rules` of proto/README.md section 4. */
#ifndef HT_RUNNER_TALK_RULES_H
#define HT_RUNNER_TALK_RULES_H

#include "proto/base/text.h"
#include "runner/attempt/engine.h"
#include "runner/base/site.h"

/* Appends the object; the engine is open. */
void talk_rules_text(const struct site *site, const struct engine *engine,
                     struct text *out);

#endif
