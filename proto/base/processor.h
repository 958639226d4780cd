/* processor.h - what these programs are compiled for. */
#ifndef HT_PROTO_BASE_PROCESSOR_H
#define HT_PROTO_BASE_PROCESSOR_H

/* As images of containers and the nodes of Kubernetes name it. */
#ifdef __aarch64__
#define PROCESSOR "arm64"
#else
#define PROCESSOR "amd64"
#endif

#endif
