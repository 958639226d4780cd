# lib.sh - what the scripts of this folder share; sourced by them.

# call SOCKET METHOD PATH [CURL-OPTION...]: one request to an engine.
call() {
    called=$1 method=$2 path=$3
    shift 3
    curl -fsS --max-time 60 --unix-socket "$called" -X "$method" "$@" \
        "http://engine/v1.41$path"
}

is_up() { # socket
    [ -S "$1" ] && call "$1" GET /_ping >/dev/null 2>&1
}

# await_up SOCKET PID: until the engine answers, fails when it has died.
await_up() {
    for _ in $(seq 300); do
        is_up "$1" && return 0
        kill -0 "$2" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

# end PID-FILE SECONDS: SIGTERM to the process of the file, then SIGKILL.
end() {
    [ -s "$1" ] || return 0
    pid=$(cat "$1")
    kill "$pid" 2>/dev/null
    for _ in $(seq $((10 * $2))); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null
    rm -f "$1"
}

# Without CAP_SYS_RESOURCE no one may raise a limit above its hard value, and
# the engines would try.
open_files() {
    limit=$(ulimit -Hn)
    if [ "$limit" = unlimited ] || [ "$limit" -gt 4096 ]; then
        limit=4096
    fi
    echo "$limit"
}

# A range for the networks of one instance, so that several instances on a
# machine keep apart: chosen by the folder.
address_pool() { # folder
    number=$(printf %s "$1" | cksum | cut -d' ' -f1)
    echo "10.$((160 + number % 90)).0.0/16"
}

remove_folder() { # folder, with what is still mounted below it
    cut -d' ' -f2 /proc/self/mounts | grep "^$1/" | sort -r |
        while read -r mounted; do
            umount -l "$mounted" 2>/dev/null
        done
    rm -rf "$1"
}
