#!/bin/sh
# podman.sh start|stop|kill FOLDER - a rootful Podman service for tests, with
# own storage, networks and configuration in FOLDER and its socket at
# FOLDER/engine.sock. The commands are those of dockerd.sh.
set -u
cd "$(dirname "$0")" && . ./lib.sh
[ $# -eq 2 ] || { echo "usage: podman.sh start|stop|kill FOLDER" >&2; exit 2; }
mkdir -p "$2" && folder=$(cd "$2" && pwd) || exit 2
socket=$folder/engine.sock
export CONTAINERS_CONF="$folder/containers.conf" \
    CONTAINERS_STORAGE_CONF="$folder/storage.conf" \
    CONTAINERS_REGISTRIES_CONF="$folder/registries.conf"

configure() {
    mkdir -p "$folder/tmp" "$folder/networks" "$folder/volumes"
    files=$(open_files)
    # runc, because crun refuses machines with both versions of cgroups.
    cat >"$CONTAINERS_CONF" <<END
[containers]
default_ulimits = ["nofile=$files:$files", "nproc=4096:4096"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "$folder/tmp"
volume_path = "$folder/volumes"
[network]
network_backend = "netavark"
network_config_dir = "$folder/networks"
default_subnet_pools = [{"base" = "$(address_pool "$folder")", "size" = 24}]
END
    cat >"$CONTAINERS_STORAGE_CONF" <<END
[storage]
driver = "overlay"
graphroot = "$folder/storage"
runroot = "$folder/run"
END
    cat >"$CONTAINERS_REGISTRIES_CONF" <<END
unqualified-search-registries = []
[[registry]] # as dockerd has it by default
location = "127.0.0.1"
insecure = true
END
}

start() {
    if ! is_up "$socket"; then
        rm -f "$socket"
        configure
        cd "$folder" || exit 1 # conmon leaves a file where it was started
        env -u TMPDIR setsid podman system service --time=0 "unix://$socket" \
            >>"$folder/log" 2>&1 </dev/null &
        echo $! >"$folder/pid"
        await_up "$socket" $! || {
            echo "podman does not start:" >&2
            tail -n 3 "$folder/log" >&2
            exit 1
        }
    fi
    echo "unix://$socket"
}

stop() {
    if [ -f "$CONTAINERS_CONF" ]; then
        podman rm --all --force --time 0 >/dev/null 2>&1
        for network in $(podman network ls --format '{{.Name}}' 2>/dev/null); do
            [ "$network" = podman ] ||
                podman network rm --force "$network" >/dev/null 2>&1
        done
    fi
    end "$folder/pid" 5
    remove_folder "$folder"
}

case $1 in
start) start ;;
stop) stop ;;
kill) kill -9 "$(cat "$folder/pid")" ;;
*) echo "podman.sh: unknown command $1" >&2; exit 2 ;;
esac
