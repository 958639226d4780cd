/* facts.h - what an attempt runs on, as `started` says it: `facts` of
 * proto/README.md section 4. */
#ifndef HT_RUNNER_TALK_FACTS_H
#define HT_RUNNER_TALK_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "runner/attempt/attempt.h"
#include "runner/attempt/git_commit.h"

/* Whether all is known that will ever be; asks for what is not. */
bool talk_facts_are_known(const struct attempt *run,
                          struct git_commit *provenance, int64_t now_ms);
/* Appends the object with what is known. */
void talk_facts_text(const struct attempt *run, struct git_commit *provenance,
                     const char *host, int64_t now_ms, struct text *out);

#endif
