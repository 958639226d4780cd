/* nvml - stands for libnvidia-ml.so.1, under whose name a test puts it: GPU 0
 * works at 75 %, with 3 GiB in use; GPU-one at 40 %, with 1 GiB; there are no
 * others. */
#include <string.h>

typedef struct {
    unsigned int gpu, memory;
} utilization;
typedef struct {
    unsigned long long total, free, used;
} memory;

static const struct gpu {
    const char *uuid;
    unsigned int percent;
    unsigned long long used;
} gpus[] = {{"GPU-zero", 75, 3ULL << 30}, {"GPU-one", 40, 1ULL << 30}};

enum { GPUS = sizeof gpus / sizeof *gpus, NOT_FOUND = 6 };

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByUUID(const char *uuid, const void **device);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, const void **device);
int nvmlDeviceGetUtilizationRates(const void *device, utilization *rates);
int nvmlDeviceGetMemoryInfo(const void *device, memory *info);

int nvmlInit_v2(void)
{
    return 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, const void **device)
{
    if (index >= GPUS)
        return NOT_FOUND;
    *device = &gpus[index];
    return 0;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, const void **device)
{
    for (unsigned int i = 0; i < GPUS; i++)
        if (strcmp(gpus[i].uuid, uuid) == 0)
            return nvmlDeviceGetHandleByIndex_v2(i, device);
    return NOT_FOUND;
}

int nvmlDeviceGetUtilizationRates(const void *device, utilization *rates)
{
    const struct gpu *gpu = device;
    *rates = (utilization){.gpu = gpu->percent, .memory = 5};
    return 0;
}

int nvmlDeviceGetMemoryInfo(const void *device, memory *info)
{
    const struct gpu *gpu = device;
    *info = (memory){.total = 80ULL << 30, .used = gpu->used};
    return 0;
}
