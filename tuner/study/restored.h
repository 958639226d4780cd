/* restored.h - the first start of a server that was restored from a copy: what
 * ran when the copy was made is fenced. */
#ifndef HT_TUNER_STUDY_RESTORED_H
#define HT_TUNER_STUDY_RESTORED_H

#include "proto/base/error.h"

struct core;

/* Ends all open attempts as lost with their machine, so that their trials start
 * again or end by the rules, and their runners and trainers are refused. Every
 * study gets an event. In one transaction of its own, before the core's thread;
 * nothing is done when the file was not restored, or that has been done. */
enum ht_status restored_fence(struct core *core, struct ht_error *err);

#endif
