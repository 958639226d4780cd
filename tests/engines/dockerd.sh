#!/bin/sh
# dockerd.sh start|stop|kill FOLDER - a dockerd for tests, with everything it
# keeps in FOLDER and its socket at FOLDER/engine.sock. `start` prints its
# DOCKER_HOST; `stop` ends what runs in it and removes FOLDER; `kill` is a crash:
# containers continue, `start` brings the daemon back.
#
# It has no default bridge, so that another dockerd keeps its own; containers
# use networks that were made for them, or none. With HT_ENGINE_PRIVATE set it
# leaves the machine's packet filter alone, whose chains it would make anew at
# each start, while another dockerd uses them.
set -u
cd "$(dirname "$0")" && . ./lib.sh
[ $# -eq 2 ] || { echo "usage: dockerd.sh start|stop|kill FOLDER" >&2; exit 2; }
mkdir -p "$2" && folder=$(cd "$2" && pwd) || exit 2
socket=$folder/engine.sock

# Its containerd dies with it, and a new dockerd would wait in vain for one that
# no one has reaped yet.
forget_containerd() {
    file=$folder/exec/containerd/containerd.pid
    if [ -s "$file" ] && ! readlink "/proc/$(cat "$file")/exe" >/dev/null; then
        rm -f "$file"
    fi
}

launch() {
    rm -f "$socket" "$folder/dockerd.pid"
    forget_containerd
    # Its processes are not the test's: nothing of it may look like a leftover
    # of the test that happened to start it.
    env -u TMPDIR setsid dockerd --config-file "$folder/daemon.json" \
        --data-root "$folder/data" --exec-root "$folder/exec" \
        --pidfile "$folder/dockerd.pid" --host "unix://$socket" \
        --exec-opt native.cgroupdriver=cgroupfs --live-restore \
        --default-ulimit "nofile=$files:$files" --bridge none \
        --default-address-pool "base=$(address_pool "$folder"),size=24" \
        >>"$folder/log" 2>&1 </dev/null &
    echo $! >"$folder/pid"
    await_up "$socket" $!
}

start() {
    echo "{${HT_ENGINE_PRIVATE:+\"iptables\": false}}" >"$folder/daemon.json"
    files=$(open_files)
    # After a crash it may find a state that makes it panic once; whoever has
    # it supervised would start it again, too.
    is_up "$socket" || launch || launch || launch || {
        echo "dockerd does not start:" >&2
        grep -E 'level=(fatal|error)|^(panic|failed)' "$folder/log" |
            tail -n 3 >&2
        exit 1
    }
    echo "unix://$socket"
}

stop() {
    if is_up "$socket"; then
        for id in $(call "$socket" GET '/containers/json?all=1' |
            grep -o '"Id":"[0-9a-f]*"' | cut -d'"' -f4); do
            call "$socket" DELETE "/containers/$id?force=1&v=1" >/dev/null 2>&1
        done
        call "$socket" POST /networks/prune >/dev/null 2>&1
    fi
    end "$folder/pid" 15
    end "$folder/exec/containerd/containerd.pid" 5
    remove_folder "$folder"
}

case $1 in
start) start ;;
stop) stop ;;
kill)
    kill -9 "$(cat "$folder/pid")"
    end "$folder/exec/containerd/containerd.pid" 1
    ;;
*) echo "dockerd.sh: unknown command $1" >&2; exit 2 ;;
esac
