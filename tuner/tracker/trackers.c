#include "tuner/tracker/trackers.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/text.h"
#include "tuner/tracker/mirror.h"
#include "tuner/tracker/mlflow.h"
#include "tuner/tracker/tensorboard.h"

struct trackers {
    char *folder, *logs, *url;
    atomic_bool stopping;
    struct tracker_board *board;
    struct mlflow mlflow;
    struct tensorboard tensorboard;
    struct mirror *mirrors[TRACKERS]; /* NULL: this server has it not */
};

static char *below(const char *folder, const char *name)
{
    struct text path = {0};
    text_printf(&path, "%s/%s", folder, name);
    return path.data;
}

static void add(struct trackers *trackers, enum tracker_name name,
                const struct tracker *tracker, void *self, const char *place)
{
    const struct mirror_options options = {.name = name,
                                           .tracker = tracker,
                                           .self = self,
                                           .folder = trackers->folder,
                                           .place = place,
                                           .stopping = &trackers->stopping,
                                           .board = trackers->board};
    trackers->mirrors[name] = mirror_new(&options);
}

static void add_mlflow(struct trackers *trackers,
                       const struct trackers_options *options)
{
    char *url = ht_xstrdup(options->mlflow);
    for (size_t len = strlen(url); len > 0 && url[len - 1] == '/'; len--)
        url[len - 1] = '\0';
    trackers->url = url;
    trackers->mlflow.server =
        (struct mlflow_server){.url = url,
                               .login_file = options->login_file,
                               .login = options->login,
                               .folder = trackers->folder,
                               .stopping = &trackers->stopping,
                               .curl = curl_easy_init()};
    if (trackers->mlflow.server.curl == NULL)
        ht_out_of_memory();
    add(trackers, TRACKER_MLFLOW, &mlflow_tracker, &trackers->mlflow, url);
}

enum ht_status trackers_new(const struct trackers_options *options,
                            struct trackers **trackers, struct ht_error *err)
{
    if (options->mlflow != NULL) {
        const enum ht_status status = mlflow_url_check(options->mlflow, err);
        if (status != HT_OK)
            return ht_wrap(err, status, "--mlflow");
    }
    struct trackers *made = ht_xcalloc(1, sizeof *made);
    made->folder = ht_xstrdup(options->folder);
    made->logs = below(options->folder, "tensorboard");
    made->tensorboard.folder = made->logs;
    made->board = tracker_board_new();
    add(made, TRACKER_TENSORBOARD, &tensorboard_tracker, &made->tensorboard,
        made->logs);
    if (options->mlflow != NULL)
        add_mlflow(made, options);
    *trackers = made;
    return HT_OK;
}

enum ht_status trackers_start(struct trackers *trackers, const char *server_id,
                              struct ht_error *err)
{
    enum ht_status status = HT_OK;
    for (int i = 0; status == HT_OK && i < TRACKERS; i++)
        if (trackers->mirrors[i] != NULL)
            status = mirror_start(trackers->mirrors[i], server_id, err);
    return status;
}

void trackers_stop(struct trackers *trackers)
{
    for (int i = 0; i < TRACKERS; i++)
        mirror_stop(trackers->mirrors[i]);
}

void trackers_free(struct trackers *trackers)
{
    if (trackers == NULL)
        return;
    for (int i = 0; i < TRACKERS; i++)
        mirror_free(trackers->mirrors[i]);
    if (trackers->mlflow.server.curl != NULL)
        curl_easy_cleanup(trackers->mlflow.server.curl);
    free(trackers->mlflow.experiment);
    free(trackers->mlflow.experiment_id);
    tracker_board_free(trackers->board);
    free(trackers->url);
    free(trackers->logs);
    free(trackers->folder);
    free(trackers);
}

void trackers_note(struct trackers *trackers, int64_t study)
{
    for (int i = 0; i < TRACKERS; i++)
        if (trackers->mirrors[i] != NULL)
            mirror_note(trackers->mirrors[i], study);
}

struct tracker_board *trackers_board(struct trackers *trackers)
{
    return trackers->board;
}
