/* notify.h - telling the service manager how the server is, by the datagram
 * protocol of sd_notify(3), without linking libsystemd. */
#ifndef HT_TUNER_NOTIFY_H
#define HT_TUNER_NOTIFY_H

/* Sends `state` ("READY=1") to the socket that NOTIFY_SOCKET names; nothing
 * happens when there is none or nobody listens. */
void notify_manager(const char *state);

#endif
