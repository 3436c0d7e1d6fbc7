#!/usr/bin/env bash
# Records real programs from Debian's packages, and prints for each: the events, the time of the program under the recorder and
# under heaptrack over its time alone (interleaved rounds: median, and in brackets the least and the greatest ratio), and what
# `surefit trace check` says of each trace. Arguments: the programs to record; without any, all of them. SUREFIT_ROUNDS: rounds, 5 without it.
#
# A program that is not there is installed, if this may; if it cannot be had, a line says NOT RUN. heaptrack runs with --raw, so
# that nothing but the recording takes time beside the program; it takes stacks too, and records the first process alone: of gcc
# not the compiler proper. At the end the traces are compared on two allocators.
set -euo pipefail
cd "$(dirname "$0")/../.."
rounds=${SUREFIT_ROUNDS:-5}
surefit=${SUREFIT:-}
if [ -z "$surefit" ]; then
  cargo build --locked --release -p surefit-lab
  surefit=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/surefit
fi
surefit=$(realpath "$surefit")
. ci/extra/debian.sh
work=$(mktemp -d)
port=$((20000 + $$ % 20000))
trap 'rm -rf "$work"' EXIT
failed=0

# Whether a command is there, after an attempt to install its package.
there() {
  command -v "$1" >/dev/null || { install_packages "$2" && command -v "$1" >/dev/null; }
}

# What each program does. A script of its own, so that it is the same under every recorder: `$work/NAME.run` is one command, in
# which `$@` stands before the program. It writes nothing to its output, where `record` prints what it did.
make_emacs() {
  cat >"$work/emacs.el" <<'EL'
(require 'json)
(require 'org)
(dotimes (i 30)
  (with-temp-buffer
    (dotimes (j 300) (insert (format "* heading %d\n  | a%d | b |\n  - [ ] item %d\n" j j (* i j))))
    (org-mode)
    (goto-char (point-min))
    (while (re-search-forward "item" nil t) (replace-match "thing"))
    (sort-lines nil (point-min) (point-max))))
(dotimes (i 60)
  (let ((table (make-hash-table :test 'equal)))
    (dotimes (j 2000) (puthash (format "key-%d" j) (make-string (mod (* i j) 300) ?x) table))
    (json-encode table)))
EL
  echo 'exec "$@" emacs -Q --batch -l "$work/emacs.el"'
}
make_python3() {
  cat >"$work/job.py" <<'PY'
import ast, glob, json, os
folder = os.path.dirname(os.__file__)
for name in sorted(glob.glob(folder + "/*.py"))[:40]:
    with open(name, encoding="utf-8", errors="replace") as file:
        tree = ast.parse(file.read())
    nodes = [type(node).__name__ for node in ast.walk(tree)]
    json.loads(json.dumps({str(i): node for i, node in enumerate(nodes)}))
PY
  echo 'PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1 exec "$@" python3 "$work/job.py"'
}
make_redis_server() {
  cat >"$work/load.sh" <<LOAD
for _ in \$(seq 200); do redis-cli -p $port ping >/dev/null 2>&1 && break; sleep 0.05; done
redis-benchmark -p $port -q -n 30000 -c 10 -r 20000 -d 200 -t set,lpush,hset,zadd >/dev/null
redis-benchmark -p $port -q -n 30000 -c 10 -r 20000 -t get,lrange_100 >/dev/null
redis-cli -p $port shutdown nosave >/dev/null 2>&1 || true
LOAD
  echo 'bash "$work/load.sh" & "$@" redis-server --port '"$port"' --bind 127.0.0.1 --save "" --daemonize no --logfile /dev/null; wait'
}
make_git() {
  # Two thousand commits that change one of forty files each.
  git init -q "$work/repository"
  awk 'BEGIN { for (i = 1; i <= 2000; i++) {
    text = ""; for (j = 0; j < 60; j++) text = text "line " j " of " (j == i % 60 ? i : 0) "\n"
    message = "commit " i "\n"
    printf "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata %d\n%s", 1600000000 + i, length(message), message
    printf "M 100644 inline file-%d\ndata %d\n%s\n", i % 40, length(text), text
  } }' | git -C "$work/repository" fast-import --quiet
  echo 'exec "$@" git -C "$work/repository" --no-pager log -p --stat --output=/dev/null main'
}
make_node() {
  cat >"$work/job.js" <<'JS'
const zlib = require('zlib'), crypto = require('crypto');
for (let i = 0; i < 3000; i++) {
  const text = Buffer.from(JSON.stringify(Array.from({ length: 50 }, (_, j) => ({ i, j, s: 'x'.repeat((i * j) % 200) }))));
  zlib.inflateSync(zlib.deflateSync(text, { level: 1 }));
  crypto.createHash('sha256').update(text).digest();
}
JS
  echo 'exec "$@" node "$work/job.js"'
}
make_java() {
  cat >"$work/Job.java" <<'JAVA'
import java.util.*;
import java.util.zip.*;
public class Job {
  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 400; i++) {
      byte[] bytes = new byte[4000];
      new Random(i).nextBytes(bytes);
      Deflater deflater = new Deflater();
      deflater.setInput(bytes);
      deflater.finish();
      deflater.deflate(new byte[8000]);
      deflater.end();
      String.format("%d %s", i, Arrays.hashCode(bytes)).chars().sum();
    }
  }
}
JAVA
  echo 'exec "$@" java -XX:+UseSerialGC "$work/Job.java"'
}
make_gcc() {
  awk 'BEGIN { print "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>"; for (i = 0; i < 700; i++)
    printf "struct s%d { int a[%d]; struct s%d *next; };\nint f%d(struct s%d *s, int n) { int t = 0; for (int i = 0; i < n; i++) { switch (i %% 7) { case 0: t += s->a[i %% %d]; break; case 3: t ^= i * %d; break; default: t -= (int)strlen(\"text %d\"); } } return s->next ? t + f%d(s->next, n - 1) : t; }\n", i, i % 9 + 1, i, i, i, i % 9 + 1, i, i, i }' >"$work/job.c"
  echo 'exec "$@" gcc -O2 -w -c "$work/job.c" -o "$work/job.o"'
}

# Seconds of a command, of whose output nothing is kept.
seconds() {
  local before after
  before=$(date +%s%N)
  "$@" >/dev/null 2>"$work/errors" || { cat "$work/errors" >&2; return 1; }
  after=$(date +%s%N)
  awk -v t=$((after - before)) 'BEGIN { printf "%.4f\n", t / 1e9 }'
}

run_bare() { work=$work bash "$work/$1.run"; }
run_recorded() {
  rm -rf "$work/traces-$1" && mkdir "$work/traces-$1"
  work=$work bash "$work/$1.run" "$surefit" record -o "$work/traces-$1/$1.sft" --format json -- >"$work/$1.json"
}
run_heaptrack() {
  rm -f "$work/heaptrack."*
  work=$work bash "$work/$1.run" heaptrack --raw -o "$work/heaptrack"
}

# Median, least and greatest of the ratios of two columns of a file.
ratio() {
  awk -v a="$2" -v b="$3" '$a != "-" { print $a / $b }' "$1" | sort -g | awk '
    { r[NR] = $1 }
    END { if (NR == 0) print "-"; else printf "%.2f [%.2f-%.2f]", r[int((NR + 1) / 2)], r[1], r[NR] }'
}

one() {
  local name=$1 round bare recorded program heaptrack own events
  for round in $(seq "$rounds"); do
    bare=$(seconds run_bare "$name")
    recorded=$(seconds run_recorded "$name")
    program=$(sed -n 's/.*"program_seconds": \([0-9.e-]*\).*/\1/p' "$work/$name.json")
    heaptrack=-
    if [ -n "$has_heaptrack" ]; then heaptrack=$(seconds run_heaptrack "$name"); fi
    echo "$bare $program $recorded $heaptrack" >>"$work/$name.times"
  done
  "$surefit" trace check "$work/traces-$name"/*.sft >"$work/$name.check" || { echo "FAILED: $name: a trace is not sound"; failed=1; }
  own=$(awk '/"unknown_frees": /  { unknown += $2 } /"missed_frees": / { missed += $2 }
    END { printf "%d unknown and %d missed frees", unknown, missed }' "$work/$name.json")
  events=$(sed -n 's/.*sound, \([0-9,]*\) events.*/\1/p' "$work/$name.check" | tr -d , | sort -n | tail -1)
  printf '%-13s %11s %7.2f s  %-19s %-19s %-19s %s traces sound, %s\n' "$name" "$events" \
    "$(sort -g "$work/$name.times" | head -1 | cut -d' ' -f1)" "$(ratio "$work/$name.times" 2 1)" \
    "$(ratio "$work/$name.times" 3 1)" "$(ratio "$work/$name.times" 4 1)" "$(grep -c sound "$work/$name.check")" "$own"
}

has_heaptrack=1
there heaptrack heaptrack || { has_heaptrack= && echo "NOT RUN: heaptrack: it cannot be installed here"; }
printf '%-13s %11s %9s  %-19s %-19s %-19s %s\n' program "most events" "alone" "recorded" "with conversion" "heaptrack" ""
[ $# -gt 0 ] || set -- emacs python3 redis-server git node java gcc
done_with=()
for name in "$@"; do
  case $name in
    emacs) package=emacs-nox ;;
    redis-server) package=redis-server && there redis-benchmark redis-tools || true ;;
    node) package=nodejs ;;
    java) package=default-jdk-headless ;;
    *) package=$name ;;
  esac
  there "$name" "$package" || { echo "NOT RUN: $name: $package cannot be installed here" && continue; }
  make=make_${name//-/_}
  $make >"$work/$name.run"
  one "$name"
  done_with+=("$work/traces-$name/$name.sft")
done
[ ${#done_with[@]} -eq 0 ] || "$surefit" compare "${done_with[@]}" --allocators tlsf,cf --rounds 1
exit $failed
