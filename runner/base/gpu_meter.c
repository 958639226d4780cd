#include "runner/base/gpu_meter.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/clock.h"
#include "proto/base/memory.h"
#include "runner/base/gpu_models.h"
#include "runner/base/nvml.h"

enum { EVERY_MS = 1000, END_MS = 2000 };

struct metered { /* one GPU */
    char *name;  /* as the site has it */
    char *id;    /* as NVML knows it for certain */
    bool known;
    double busy_us;
    struct gpu_metered now;
};

struct gpu_meter {
    pthread_t thread;
    pthread_mutex_t mutex; /* of what follows */
    pthread_cond_t changed;
    bool ending;
    size_t n;
    struct metered *gpus; /* the names do not change */
};

static void free_all(struct gpu_meter *meter)
{
    for (size_t i = 0; i < meter->n; i++) {
        free(meter->gpus[i].name);
        free(meter->gpus[i].id);
    }
    free(meter->gpus);
    pthread_cond_destroy(&meter->changed);
    pthread_mutex_destroy(&meter->mutex);
    free(meter);
}

static struct timespec after_ms(clockid_t clock, int ms)
{
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_sec += ms / 1000;
    return at;
}

/* Unlocked while it asks. */
static void measure(struct gpu_meter *meter, struct nvml *nvml,
                    struct metered *gpu)
{
    double used = 0;
    int64_t memory = 0;
    pthread_mutex_unlock(&meter->mutex);
    const bool known = nvml_read(nvml, gpu->id, &used, &memory);
    pthread_mutex_lock(&meter->mutex);
    const int64_t now = clock_monotonic_ms();
    if (gpu->known)
        gpu->busy_us += used * 1000 * (double)(now - gpu->now.at_ms);
    gpu->known = known;
    gpu->now = (struct gpu_metered){
        .at_ms = now, .busy_us = (int64_t)gpu->busy_us, .memory = memory};
}

static void *run(void *context)
{
    struct gpu_meter *meter = context;
    struct nvml *nvml = nvml_open();
    pthread_mutex_lock(&meter->mutex);
    while (nvml != NULL && !meter->ending) {
        for (size_t i = 0; i < meter->n && !meter->ending; i++)
            measure(meter, nvml, &meter->gpus[i]);
        const struct timespec next = after_ms(CLOCK_MONOTONIC, EVERY_MS);
        while (!meter->ending &&
               pthread_cond_timedwait(&meter->changed, &meter->mutex, &next) !=
                   ETIMEDOUT)
            continue;
    }
    pthread_mutex_unlock(&meter->mutex);
    nvml_close(nvml);
    return NULL;
}

static struct gpu_meter *make(const struct site *site)
{
    pthread_condattr_t monotonic;
    struct gpu_meter *meter = ht_xcalloc(1, sizeof *meter);
    meter->n = site->gpus.n;
    meter->gpus = ht_xcalloc(meter->n, sizeof *meter->gpus);
    for (size_t i = 0; i < meter->n; i++) {
        const char *name = site->gpus.items[i];
        const struct gpu_model *model = gpu_models_find(&site->models, name);
        meter->gpus[i].name = ht_xstrdup(name);
        meter->gpus[i].id = ht_xstrdup(model != NULL ? model->uuid : name);
    }
    pthread_mutex_init(&meter->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&meter->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return meter;
}

struct gpu_meter *gpu_meter_start(const struct site *site)
{
    if (site->gpus.n == 0)
        return NULL;
    struct gpu_meter *meter = make(site);
    if (pthread_create(&meter->thread, NULL, run, meter) == 0)
        return meter;
    free_all(meter);
    return NULL;
}

void gpu_meter_stop(struct gpu_meter *meter)
{
    if (meter == NULL)
        return;
    pthread_mutex_lock(&meter->mutex);
    meter->ending = true;
    pthread_cond_signal(&meter->changed);
    pthread_mutex_unlock(&meter->mutex);
    const struct timespec end = after_ms(CLOCK_REALTIME, END_MS);
    if (pthread_timedjoin_np(meter->thread, NULL, &end) == 0)
        free_all(meter);
}

bool gpu_meter_read(struct gpu_meter *meter, const char *gpu,
                    struct gpu_metered *metered)
{
    bool found = false;
    pthread_mutex_lock(&meter->mutex);
    for (size_t i = 0; i < meter->n && !found; i++) {
        found = meter->gpus[i].known && strcmp(meter->gpus[i].name, gpu) == 0;
        if (found)
            *metered = meter->gpus[i].now;
    }
    pthread_mutex_unlock(&meter->mutex);
    return found;
}
