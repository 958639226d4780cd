#include "proto/base/program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "tests/check.h"

static void a_program_is_found_beside_this_one(void)
{
    struct arena *arena = arena_new();
    const char *path = program_find(arena, "test_program");
    CHECK(path[0] == '/' && access(path, X_OK) == 0);
    CHECK_TEXT(program_find(arena, "no-such-program"), "no-such-program");
    arena_free(arena);
}

static void a_lock_is_held_by_an_open_file_that_locked_it(void)
{
    char lock[] = "/tmp/ht-program-XXXXXX";
    const int fd = mkstemp(lock);
    CHECK(fd >= 0);
    CHECK(!program_holds(lock));
    CHECK(flock(fd, LOCK_EX | LOCK_NB) == 0);
    CHECK(program_holds(lock));
    close(fd);
    CHECK(!program_holds(lock));
    unlink(lock);
    CHECK(!program_holds(lock));
}

int main(void)
{
    RUN(a_program_is_found_beside_this_one);
    RUN(a_lock_is_held_by_an_open_file_that_locked_it);
    return check_done();
}
