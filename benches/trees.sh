#!/usr/bin/env bash
# Snapshots and restores as ratios: against the barest walk over the same files, and against other programs that keep copies.
#
#   benches/trees.sh FOLDER [small|large] [ROUNDS, 5 unless told]
#
# FOLDER is on a disk (4 GB for the large tree, 500 MB for the small one). It gets the packages that the trees are made of
# (by `npm pack` and `pip download`) and the trees; a second run needs no network. Peers are used where they are installed:
#   apt-get install git restic borgbackup rsync
# All contestants of a row take turns in one run. Printed are medians of CPU time (user and system) and of wall time, in ms, and
# how many times the limit's CPU time that is. A contestant that takes longer than ten seconds runs once.
set -euo pipefail
cd "$(dirname "$0")/.."
# What is built is looked for here.
export CARGO_TARGET_DIR=$PWD/target
[ $# -gt 0 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 64; }
mkdir -p "$1"
folder=$(realpath "$1")
size=${2:-small}
rounds=${3:-5}

case $size in
small) packages="npm:ol@10.0.0 npm:mathjs@13.0.3" ;;
large) packages="npm:antd@5.20.0 npm:aws-sdk@2.1692.0 npm:core-js@3.38.0 npm:date-fns@3.6.0 npm:drizzle-orm@0.33.0 npm:effect@3.6.3
    npm:element-plus@2.8.0 npm:googleapis@140.0.1 npm:lodash@4.17.21 npm:mathjs@13.0.3 npm:monaco-editor@0.50.0 npm:next@14.2.5
    npm:ol@10.0.0 npm:rxjs@7.8.1 npm:three@0.167.0 npm:typescript@5.5.4 npm:viem@2.19.4
    pip:ansible==10.3.0 pip:django==5.1 pip:google-api-python-client==2.140.0 pip:sympy==1.13.2" ;;
*) echo "no tree $size: small or large" >&2; exit 64 ;;
esac

has() { command -v "$1" >/dev/null; }
need() { has "$1" || { echo "$1 is missing: install it, or put the packages into $folder/packages" >&2; exit 69; }; }

# One package, unpacked into a folder of its own.
unpack() {
    local name=${1#*:}
    local into=$2/${name%%[@=]*} kept=$folder/packages/${name//[@=]/-}
    mkdir -p "$into" "$kept"
    case $1 in
    npm:*)
        compgen -G "$kept/*.tgz" >/dev/null || { need npm; (cd "$kept" && npm pack --silent "$name" >/dev/null); }
        tar -xzf "$kept"/*.tgz -C "$into" --strip-components=1
        ;;
    pip:*)
        need python3
        compgen -G "$kept/*.whl" >/dev/null || python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$kept" "$name"
        python3 -m zipfile -e "$kept"/*.whl "$into"
        ;;
    esac
}

need git
tree=$folder/$size
as_us() { git -C "$tree" -c user.name=t -c user.email=t@example.org -c gc.auto=0 "$@"; }
if [ ! -e "$tree/.git/ready" ]; then
    rm -rf "$tree"
    mkdir "$tree"
    for package in $packages; do unpack "$package" "$tree"; done
    printf 'node_modules/\n*.log\n.venv/\n__pycache__/\n*.pyc\n.env\n/build/\ncoverage/\n' >"$tree/.gitignore"
    as_us init --quiet
    as_us add --all
    as_us commit --quiet --message base
    touch "$tree/.git/ready"
fi
as_us checkout --quiet --force HEAD -- .
rm -rf "$tree/.progress"

cargo build --quiet --release
ours=$PWD/target/release/highwater
bare=$(cargo bench --quiet --bench trees --no-run --message-format=json |
    sed -n 's/.*"name":"trees".*"executable":"\([^"]*\)".*/\1/p' | tail -1)
# Fresh folders for all that is written: ext4 is slow at making files where many were removed.
work=$(mktemp -d "$folder/run.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$tree"
export RESTIC_PASSWORD=p RESTIC_CACHE_DIR=$work/restic-cache BORG_BASE_DIR=$work/borg BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes

# The files whose sizes are nearest to 5 KB.
find . \( -name .git -o -name .progress \) -prune -o -type f -printf '%s\t%p\n' |
    awk -F'\t' '{ off = $1 - 5120; print (off < 0 ? -off : off) "\t" $2 }' | sort -n | cut -f2 | sed -n 1,500p >"$work/candidates"
# So many of them get another beginning, in place: ext4 without a journal makes a new file dear where many were just removed.
change() { head -n "$1" "$work/candidates" | while IFS= read -r file; do printf '// round %s\n' "$2" 1<>"$file"; done; }

TIMEFORMAT='%U %S %R'
# Times a command (a function of ours) for a row, and keeps CPU and wall time in ms.
measure() {
    local row=$1 name=$2 times
    shift 2
    local kept=$work/times.$row.$name
    if [ -s "$kept" ] && awk '$2 > 10000 { slow = 1 } END { exit !slow }' "$kept"; then return; fi
    times=$({ time "$@" >"$work/said" 2>&1; } 2>&1) || { echo "$name failed: $(tail -1 "$work/said")" >&2; exit 1; }
    awk '{ printf "%.0f %.0f\n", ($1 + $2) * 1000, $3 * 1000 }' <<<"$times" >>"$kept"
    grep -qx "$row $name" "$work/order" 2>/dev/null || echo "$row $name" >>"$work/order"
}
median() { sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }
# The contestants of a row; the first is the limit.
tell() {
    local limit name cpu wall
    printf '\n%s\n' "$2"
    while read -r row name; do
        [ "$row" = "$1" ] || continue
        cpu=$(cut -d' ' -f1 "$work/times.$row.$name" | median)
        wall=$(cut -d' ' -f2 "$work/times.$row.$name" | median)
        limit=${limit:-$cpu}
        printf '  %-26s %8d ms CPU %8d ms wall %7.2fx\n' "$name" "$cpu" "$wall" "$(awk -v a="$cpu" -v b="$limit" 'BEGIN { print a / (b ? b : 1) }')"
    done <"$work/order"
}

# git with an index and a repository of its own, as tools do that keep snapshots beside the user's repository.
shadow() { GIT_DIR=$work/$shadow GIT_WORK_TREE=$tree git -c gc.auto=0 -c core.excludesFile= "$@"; }
git_first() { shadow init --quiet && echo .progress >>"$work/$shadow/info/exclude" && git_snapshot; }
git_snapshot() { shadow add --all && shadow write-tree; }
git_commit() { shadow add --all && shadow -c user.name=t -c user.email=t@example.org commit --quiet --allow-empty --message n; }
git_restore() { git_snapshot && shadow read-tree -u --reset "$base_tree"; }
restic_first() { restic --quiet --repo "$work/$1" init && restic_snapshot "$1"; }
restic_snapshot() { restic --quiet --repo "$work/$1" backup --exclude .git --exclude .progress "$tree"; }
borg_first() { borg init --encryption none "$work/$1" && borg_snapshot "$1" first; }
borg_snapshot() { borg create --exclude '*/.git' --exclude '*/.progress' "$work/$1::$2" "$tree"; }
rsync_snapshot() { rsync --archive --delete --exclude=/.git --exclude=/.progress "$tree/" "$work/copy/"; }
rsync_restore() { rsync --archive --delete --exclude=/.git --exclude=/.progress "$work/copy/" "$tree/"; }
blocks() { du -sk "$1" | cut -f1; }

for peer in restic borg rsync; do has "$peer" || echo "$peer is not installed: left out"; done
echo "$size tree: $(find . -name .git -prune -o -type f -print | wc -l) files, $(($(du -sk --apparent-size --exclude=.git . | cut -f1) / 1024)) MiB," \
    "$(find . -name .git -prune -o -type d -print | wc -l) folders; median of $rounds"

for n in $(seq "$rounds"); do
    # borg tells the system to forget what it has read.
    "$bare" hash . >/dev/null
    measure first "read + BLAKE3" "$bare" hash .
    rm -rf .progress
    measure first snapshot "$bare" snapshot .
    rm -rf .progress
    measure first "highwater begin" "$ours" begin
    shadow=git$n measure first git git_first
    has restic && measure first restic restic_first "restic$n"
    has borg && measure first borg borg_first "borg$n"
done
tell first "first snapshot"
printf '\ndisk, first, KiB: .progress %d' "$(blocks .progress)"
before=$(blocks .progress)
export shadow=git1
has rsync && rsync_snapshot
git_commit
base_tree=$(git_snapshot)
printf ', git %d' "$(blocks "$work/git1")"
has restic && printf ', restic %d' "$(blocks "$work/restic1")"
has borg && printf ', borg %d' "$(blocks "$work/borg1")"
echo

for n in $(seq "$rounds"); do
    measure same "walk + lstat" "$bare" walk .
    measure same snapshot "$bare" snapshot .
    measure same "highwater record" "$ours" record
    measure same "git, own index" git_snapshot
    measure same "git commit" git_commit
    has restic && measure same restic restic_snapshot restic1
    has borg && measure same borg borg_snapshot borg1 "same$n"
    has rsync && measure same rsync rsync_snapshot
done
tell same "nothing changed"

for n in $(seq "$rounds"); do
    measure changed "walk + lstat" "$bare" walk .
    change 10 "$n alone"
    measure changed snapshot "$bare" snapshot .
    change 10 "$n"
    measure changed "highwater record" "$ours" record
    measure changed "git, own index" git_snapshot
    has restic && measure changed restic restic_snapshot restic1
    has borg && measure changed borg borg_snapshot borg1 "changed$n"
done
tell changed "10 files of 5 KB changed"

for n in $(seq 10); do
    change 10 "disk $n"
    "$ours" record >/dev/null 2>&1
done
objects=$(blocks .progress/objects)
for n in $(seq 10); do
    change 10 "disk again $n"
    "$ours" record >/dev/null 2>&1
done
printf '\ndisk, an iteration of 10 changed files, KiB: .progress %d, its packs %d (first: .progress %d)\n' \
    $((($(blocks .progress) - before) / (20 + rounds * 2))) $((($(blocks .progress/objects) - objects) / 10)) "$before"

last=$("$ours" log --json | tr ',' '\n' | sed -n 's/.*"iteration":\([0-9]*\).*/\1/p' | sort -n | tail -1)
for n in $(seq "$rounds"); do
    measure diff "highwater --version" "$ours" --version
    measure diff "highwater diff" "$ours" diff "$last" $((last - 1))
done
tell diff "diff of two iterations, 10 files"

for differ in 10 500; do
    for n in $(seq "$rounds"); do
        measure "restore$differ" "walk + lstat" "$bare" walk .
        change "$differ" "restored $n"
        measure "restore$differ" "highwater restore" "$ours" restore 0
        change "$differ" "restored $n"
        measure "restore$differ" "git add + read-tree" git_restore
        if has rsync; then
            change "$differ" "restored $n"
            measure "restore$differ" rsync rsync_restore
        fi
        git_restore >/dev/null 2>&1
    done
    tell "restore$differ" "restore, $differ files differ"
done
