#!/bin/sh
# env.sh COMMAND... - runs it with the programs of the system, whatever shell
# this is: /usr/bin comes first in PATH, nothing of the caller's PATH is left,
# and no variable of pyenv, conda, a virtual environment, pip, Jupyter or R.
#
# PYTHON names another python3 than /usr/bin/python3: its folder then comes
# before all, with all that a virtual environment has there.
set -u
wanted=${PYTHON:-/usr/bin/python3}
python=$(command -v "$wanted") || {
    echo "env.sh: there is no $wanted; PYTHON names a python3" >&2
    exit 2
}
[ "${python##*/}" = python3 ] || {
    echo "env.sh: PYTHON=$wanted is not called python3, as the tests call it;" \
        "name that of a virtual environment: $wanted -m venv FOLDER" >&2
    exit 2
}
folder=$(cd "${python%/*}" && pwd) || exit 2
export PYTHON="$folder/python3"
for name in $(env | sed -n 's/^\([A-Z_]*\)=.*/\1/p'); do
    case $name in
    PYTHON) ;;
    PYTHON* | VIRTUAL_ENV* | CONDA_* | _CE_* | MAMBA_* | PYENV_* | PIP_* | \
        JUPYTER_* | IPYTHONDIR | R_*) unset "$name" ;;
    esac
done
PATH=/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/usr/local/sbin
[ "$folder" = /usr/bin ] || PATH=$folder:$PATH
export PATH
exec "$@"
