# The server in an image, from the root of the repository:
#
#   docker build -t hypertune .
#   docker run -d --name hypertune -p 127.0.0.1:8470-8472:8470-8472 \
#     -v hypertune-data:/data hypertune
#   docker exec hypertune cat /data/token
#
# It keeps everything in /data and runs no trials itself: runners on the
# machines that do connect to it. docs/containers.md shows how.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
WORKDIR /src
COPY .ci/deps .ci/deps
RUN .ci/deps build
COPY . .
RUN make -j"$(nproc)" install PREFIX=/usr DESTDIR=/out

FROM ${BASE}
RUN apt-get update && apt-get install -y --no-install-recommends \
        libcjson1 libcurl4 libgnutls30 libgsl27 libmicrohttpd12 libnettle8 \
        libnng1 libopenblas0-serial libpcre2-8-0 libsqlite3-0 libyaml-0-2 \
        zlib1g && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --system --user-group --home-dir /data hypertune && \
    install -d -o hypertune -g hypertune -m 700 /data
COPY --from=build /out /
USER hypertune
VOLUME /data
EXPOSE 8470 8471 8472
# `hypertune` in this container speaks to the server beside it.
ENV HYPERTUNE_SERVER=http://127.0.0.1:8470 HYPERTUNE_TOKEN_FILE=/data/token
HEALTHCHECK --interval=30s --timeout=10s --start-period=20s \
    CMD ["hypertune", "list", "-o", "name"]
# What reaches the container's network is docker's -p, which decides: publish to
# 127.0.0.1, or behind a proxy with TLS.
ENTRYPOINT ["hypertuned", "--data", "/data", "--listen", "0.0.0.0:8470", \
    "--report-listen", "tcp://0.0.0.0:8471", "--insecure"]
CMD ["--runner", "none"]
