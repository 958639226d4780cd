#include "tuner/http/refused.h"

#include "proto/base/log.h"
#include "tuner/base/budget.h"

void refused_write(struct refused_log *log, const struct refused *refused,
                   int64_t now_ms)
{
    if (now_ms / 1000 != log->second) {
        log->second = now_ms / 1000;
        log->lines = 0;
    }
    if (++log->lines > budget_of(BUDGET_REFUSED_LINES)) {
        log->rest++;
        budget_exceeded(BUDGET_REFUSED_LINES);
        return;
    }
    log_event(LOG_INFO, "http.refused",
              "status=%d method=\"%.32s\" path=\"%.256s\" peer=%s "
              "principal=\"%s\" unlogged=%lld why=\"%s\"",
              ht_status_http(refused->why->status), refused->method,
              refused->path, refused->peer, refused->principal,
              (long long)log->rest, refused->why->text);
    log->rest = 0;
}
