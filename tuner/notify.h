/* notify.h - sends the server's state to the service manager by the datagram
 * protocol of sd_notify(3), without linking libsystemd. */
#ifndef HT_TUNER_NOTIFY_H
#define HT_TUNER_NOTIFY_H

/* Sends `state` ("READY=1") to the socket that NOTIFY_SOCKET names; does
 * nothing when there is none or it is closed. */
void notify_manager(const char *state);

#endif
