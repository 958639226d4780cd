/* facts.h - what an attempt runs on, for `started`: images, GPUs, git, Python,
 * host. */
#ifndef HT_RUNNER_TALK_FACTS_H
#define HT_RUNNER_TALK_FACTS_H

#include "proto/base/text.h"
#include "runner/attempt/attempt.h"
#include "runner/attempt/git_commit.h"
#include "runner/attempt/python_facts.h"

struct facts {
    bool whole; /* nothing more will be known */
    struct git_commit_answer git;
    struct python_facts python;
};

/* What is known now; texts are in the arena. */
struct facts facts_find(struct probes *probes, struct arena *arena,
                        const struct attempt *attempt, int64_t now_ms);
/* Appends the members `facts` and, of a folder with changes that are not
 * committed, a piece of `changes` from where the server has them on, about
 * `most` bytes (proto/README.md, section 4). */
void facts_put(struct text *out, const struct attempt *attempt,
               const struct facts *facts, const char *host, size_t most);
/* How many bytes of changes the server should have. */
int64_t facts_changes(const struct facts *facts);

#endif
