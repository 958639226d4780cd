#!/bin/sh
# slurm-24.11.sh FOLDER - makes FOLDER, in which Debian 13's Slurm 24.11 is
# beside the Slurm of this machine, unless it is there: its programs are in
# FOLDER/bin, its plugins in FOLDER/plugins. The packages, 30 MB, come from
# the mirror that apt uses.
#
# Each program runs with the loader and the libraries of Debian 13, but what a
# job starts is the system's own: nothing of this is in its environment.
set -eu
[ $# -eq 1 ] || { echo "usage: slurm-24.11.sh FOLDER" >&2; exit 2; }
[ ! -e "$1/complete" ] || exit 0
rm -rf "$1"
mkdir -p "$1" && folder=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
arch=$(gcc -print-multiarch)

mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(CREATED_BY)' |
    awk '$2 == "bookworm" && $3 == "Packages" { print $1; exit }')
[ -n "$mirror" ] || { echo "apt has no mirror of Debian" >&2; exit 1; }

# An apt whose system has no package, so that all that these need comes along.
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/parts"
: >"$work/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
    "$mirror trixie main" >"$work/sources"
cat >"$work/apt.conf" <<END
Dir::State::Lists "$work/lists";
Dir::State::Status "$work/status";
Dir::Cache "$work/cache";
Dir::Etc::SourceList "$work/sources";
Dir::Etc::SourceParts "$work/parts";
Acquire::Languages "none";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
END
export APT_CONFIG="$work/apt.conf"
{
    apt-get update &&
        apt-get install -y --no-install-recommends --download-only \
            slurmctld slurmd slurm-client slurmrestd munge \
            slurm-wlm-basic-plugins slurm-wlm-jwt-plugin
} >"$folder/log" 2>&1 || { grep -m 1 ^E: "$folder/log" >&2; exit 1; }
mkdir "$folder/root" "$folder/bin" "$folder/loader"
for package in "$work"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -C "$folder/root" -x \
        --exclude='./usr/share' --exclude='./var' --exclude='./etc'
done
ln -s "root/usr/lib/$arch/slurm-wlm" "$folder/plugins"

# write NAME PROGRAM [OPTION...]: found by PATH, so that $0 is its whole path.
# Slurm looks at the name by which it was called; a link of that name to the
# loader makes it the name of the process.
loader=$(cd "$folder/root/usr/lib/$arch" && echo ld-linux*.so.*)
write() {
    name=$1 program=$2
    shift 2
    ln -s "../root/usr/lib/$arch/$loader" "$folder/loader/$name"
    cat >"$folder/bin/$name" <<END
#!/bin/sh
folder=\${0%/bin/*}
libraries=\$folder/root/usr/lib/$arch
exec "\$folder/loader/$name" --argv0 "\$0" --library-path \\
    "\$libraries:\$libraries/slurm-wlm" "\$folder/root/usr/$program" $* "\$@"
END
    chmod 755 "$folder/bin/$name"
}
for name in sbatch scancel scontrol sinfo squeue srun; do
    write "$name" "bin/$name"
done
write munged sbin/munged
write slurmrestd sbin/slurmrestd
write slurmctld sbin/slurmctld-wlm
write slurmstepd sbin/slurmstepd-wlm
write slurmd sbin/slurmd-wlm -d '"${0%/*}/slurmstepd"'
"$folder/bin/slurmctld" -V >"$work/version"
mv "$work/version" "$folder/complete"
