/* own_folder.h - a test's files by names without a folder. */
#ifndef HT_TESTS_LIB_OWN_FOLDER_H
#define HT_TESTS_LIB_OWN_FOLDER_H

/* Changes to a new folder; tests/run.sh removes it with TMPDIR. */
void own_folder_enter(void);

#endif
