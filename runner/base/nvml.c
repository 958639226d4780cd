#include "runner/base/nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"

/* From the NVML API Reference Guide, docs.nvidia.com/deploy/nvml-api: a result
 * is 0 or an error, a device is a pointer, and these two structures. */
typedef int nvml_result;
typedef void *nvml_device;
struct nvml_utilization { /* nvmlUtilization_t: percent */
    unsigned int gpu, memory;
};
struct nvml_memory { /* nvmlMemory_t: bytes */
    unsigned long long total, free, used;
};

struct nvml {
    void *library;
    nvml_result (*init)(void);
    nvml_result (*shutdown)(void);
    nvml_result (*by_uuid)(const char *uuid, nvml_device *device);
    nvml_result (*by_index)(unsigned int index, nvml_device *device);
    nvml_result (*utilization)(nvml_device device,
                               struct nvml_utilization *utilization);
    nvml_result (*memory)(nvml_device device, struct nvml_memory *memory);
};

/* POSIX has dlsym() return functions as pointers to objects. */
static bool find(struct nvml *nvml, const char *name, void *function)
{
    void *found = dlsym(nvml->library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

struct nvml *nvml_open(void)
{
    struct nvml *nvml = ht_xcalloc(1, sizeof *nvml);
    nvml->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (nvml->library != NULL && find(nvml, "nvmlInit_v2", &nvml->init) &&
        find(nvml, "nvmlShutdown", &nvml->shutdown) &&
        find(nvml, "nvmlDeviceGetHandleByUUID", &nvml->by_uuid) &&
        find(nvml, "nvmlDeviceGetHandleByIndex_v2", &nvml->by_index) &&
        find(nvml, "nvmlDeviceGetUtilizationRates", &nvml->utilization) &&
        find(nvml, "nvmlDeviceGetMemoryInfo", &nvml->memory) &&
        nvml->init() == 0)
        return nvml;
    if (nvml->library != NULL)
        dlclose(nvml->library);
    free(nvml);
    return NULL;
}

void nvml_close(struct nvml *nvml)
{
    if (nvml == NULL)
        return;
    nvml->shutdown();
    dlclose(nvml->library);
    free(nvml);
}

bool nvml_read(struct nvml *nvml, const char *name, double *used,
               int64_t *memory)
{
    nvml_device device;
    struct nvml_utilization utilization;
    struct nvml_memory bytes;
    int64_t index;
    const bool numbered = number_int64(name, &index) && index >= 0;
    const nvml_result found = numbered
                                  ? nvml->by_index((unsigned int)index, &device)
                                  : nvml->by_uuid(name, &device);
    if (found != 0 || nvml->utilization(device, &utilization) != 0 ||
        nvml->memory(device, &bytes) != 0)
        return false;
    *used = utilization.gpu / 100.0;
    *memory = (int64_t)bytes.used;
    return true;
}
