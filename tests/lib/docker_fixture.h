/* docker_fixture.h - a runner with the engine "docker" beside a fake one, whose
 * containers are processes of this machine. */
#ifndef HT_TESTS_LIB_DOCKER_FIXTURE_H
#define HT_TESTS_LIB_DOCKER_FIXTURE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "runner/attempt/attempt.h"
#include "runner/attempt/attempts.h"
#include "runner/base/folder.h"
#include "runner/base/site.h"
#include "tests/lib/fake_engine.h"

struct docker_fixture {
    struct fake_engine fake; /* its folder has all of the runner's, too */
    char state[PATH_MAX + 16], kit[PATH_MAX];
    const char *dialect; /* "docker", "podman" */
    struct site site;
    struct attempts attempts;
};

struct docker_fixture_attempt { /* what of a lease the tests vary */
    const char *script;         /* of the master */
    const char *worker;         /* NULL: there is none */
    const char *members;        /* of the lease, each with a comma behind */
    const char *replica;        /* members of each replica, likewise */
};

/* Starts both with that script of the fake engine's. */
void docker_fixture_open(struct docker_fixture *fixture, const char *dialect,
                         const char *script);
void docker_fixture_close(struct docker_fixture *fixture);

/* The engine alone: its containers survive it. */
void docker_fixture_start_engine(struct docker_fixture *fixture);
void docker_fixture_kill_engine(struct docker_fixture *fixture);

/* The runner alone; restart is end, begin, and the adoption of the attempt. */
void docker_fixture_begin(struct docker_fixture *fixture);
void docker_fixture_end(struct docker_fixture *fixture);
struct attempt *docker_fixture_restart(struct docker_fixture *fixture);

/* Leases the attempt to the runner. */
struct attempt *docker_fixture_start(struct docker_fixture *fixture,
                                     const struct docker_fixture_attempt *what);

/* These two let the attempt look first. */
bool docker_fixture_is_running(struct attempt *attempt);
bool docker_fixture_has_file(struct attempt *attempt, const char *name);
/* Whether the runner's lines about the master have the words. */
bool docker_fixture_has_logged(const struct attempt *attempt,
                               const char *words);

/* Containers and networks that the engine has. */
size_t docker_fixture_count_left(const struct docker_fixture *fixture);
/* How often the words are in the engine's journal. */
size_t docker_fixture_count_calls(const struct docker_fixture *fixture,
                                  const char *words);
/* A call as of another client; its status is not of interest. */
void docker_fixture_call(const struct docker_fixture *fixture,
                         const char *method, const char *path,
                         const char *json);

/* Runs one to its end; the reason is checked, and that nothing is left. */
void docker_fixture_expect(const char *dialect, const char *script,
                           const struct docker_fixture_attempt *what,
                           enum outcome outcome, const char *reason);

#endif
