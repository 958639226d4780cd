#include "tuner/placement/demand.h"

#include "tuner/placement/placement.h"

/* ---- one study ---- */

static int64_t at_least_0(int64_t n)
{
    return n > 0 ? n : 0;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What of one study this runner gets. */
struct part {
    int64_t kept;    /* slots that run; fewer when too many do */
    int64_t asking;  /* ... that ask and may get a trial */
    int64_t further; /* ... that could be made */
};

static struct part part_of(const struct demand_study *study)
{
    struct part part = {0};
    int64_t rest = at_least_0(study->most - study->running);
    part.kept = smaller(study->here,
                        at_least_0(study->most - study->running + study->here));
    for (size_t i = 0; i < study->n; i++) {
        const int64_t asking = smaller(study->asking[i], rest);
        rest -= asking;
        if (i == study->at)
            part.asking = asking;
    }
    rest = at_least_0(rest - study->elsewhere);
    const int64_t n = (int64_t)study->n;
    if (n > 0)
        part.further = rest / n + ((int64_t)study->at < rest % n);
    return part;
}

/* ---- all of them ---- */

struct wish {
    struct demand_study *study;
    int64_t n; /* slots that it still wants */
};

/* The wishes of one project, as a heap with the first one on top. */
struct queue {
    size_t n;
    struct wish *wishes;
};

static bool is_before(const struct demand_study *a,
                      const struct demand_study *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    return a->slots != b->slots ? a->slots < b->slots : a->id < b->id;
}

static void sink(struct queue *queue, size_t at)
{
    struct wish *wishes = queue->wishes;
    for (;;) {
        size_t first = at;
        for (size_t i = 2 * at + 1; i <= 2 * at + 2 && i < queue->n; i++)
            if (is_before(wishes[i].study, wishes[first].study))
                first = i;
        if (first == at)
            return;
        const struct wish wish = wishes[at];
        wishes[at] = wishes[first];
        wishes[first] = wish;
        at = first;
    }
}

/* Drops wishes from the top that the project has no quota for. */
static void skip_refused(struct queue *queue,
                         const struct placement_project *project)
{
    while (queue->n > 0 &&
           !placement_has_quota(project, queue->wishes[0].study->needs)) {
        queue->wishes[0] = queue->wishes[--queue->n];
        sink(queue, 0);
    }
}

static void take_first(struct queue *queue, struct placement_project *project)
{
    struct wish *wish = &queue->wishes[0];
    wish->study->slots++;
    project->slots++;
    project->gpus += placement_gpus_of(wish->study->needs);
    if (--wish->n == 0)
        queue->wishes[0] = queue->wishes[--queue->n];
    sink(queue, 0);
}

static double claim_of(const struct placement_project *project)
{
    return (double)project->slots / project->share;
}

/* Grants the wishes as far as `left` slots reach. */
static void grant(size_t n, struct queue queues[],
                  struct placement_project *projects, int64_t *left)
{
    for (; *left > 0; --*left) {
        size_t best = n;
        for (size_t i = 0; i < n; i++) {
            skip_refused(&queues[i], &projects[i]);
            if (queues[i].n > 0 && (best == n || claim_of(&projects[i]) <
                                                     claim_of(&projects[best])))
                best = i;
        }
        if (best == n)
            return;
        take_first(&queues[best], &projects[best]);
    }
}

/* One turn for the slots that ask, another for further ones. */
static void grant_parts(struct arena *arena, const struct demand *demand,
                        bool asking, int64_t *left)
{
    const size_t n = demand->n_projects;
    struct queue *queues = arena_alloc(arena, n + 1, sizeof *queues);
    for (size_t i = 0; i < demand->n; i++) {
        struct demand_study *study = &demand->studies[i];
        const struct part part = part_of(study);
        const struct wish wish = {study, asking ? part.asking : part.further};
        struct queue *queue = &queues[study->project];
        if (wish.n == 0)
            continue;
        queue->wishes =
            arena_grow(arena, queue->wishes, queue->n, sizeof *queue->wishes);
        queue->wishes[queue->n++] = wish;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = queues[i].n / 2; k-- > 0;)
            sink(&queues[i], k);
    grant(n, queues, demand->projects, left);
}

void demand_divide(struct arena *arena, const struct demand *demand)
{
    int64_t left = demand->most;
    for (size_t i = 0; i < demand->n; i++) {
        demand->studies[i].slots = part_of(&demand->studies[i]).kept;
        left -= demand->studies[i].here;
    }
    grant_parts(arena, demand, true, &left);
    grant_parts(arena, demand, false, &left);
}
