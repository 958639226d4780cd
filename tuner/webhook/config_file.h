/* config_file.h - webhooks.json in the data folder, as it is in force.
 *
 * It is read again at each look, with the files of secrets that it names, and
 * compared: a few files that are hardly ever there cost less than watching
 * them. What is wrong leaves in force what was. One thread. */
#ifndef HT_TUNER_WEBHOOK_CONFIG_FILE_H
#define HT_TUNER_WEBHOOK_CONFIG_FILE_H

#include <stdbool.h>

#include "tuner/webhook/rules.h"

struct webhook_file;

/* Nothing is in force before the first look. The folder is copied. */
struct webhook_file *webhook_file_new(const char *folder);
void webhook_file_free(struct webhook_file *file); /* accepts NULL */

/* Looks at the file and says in the log what it found, when that is something
 * new. True: other rules are in force than before. */
bool webhook_file_look(struct webhook_file *file);

/* Valid until a look that gives others. */
const struct webhook_rules *webhook_file_rules(const struct webhook_file *file);
/* Why the file as it is now is not in force; NULL: it is. Until the next look,
 * too. */
const char *webhook_file_complaint(const struct webhook_file *file);

#endif
