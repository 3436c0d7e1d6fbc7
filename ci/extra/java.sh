#!/usr/bin/env bash
# Java programs at full size on lab/vm: each of lab/vm/java/programs in every space under every collector, and two public libraries of
# regular expressions from Maven's repository with a program that uses them. Each writes what HotSpot writes.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo build --release -p surefit-lab --features java
surefit=$target/release/surefit
java=lab/vm/java

spaces=(first-fit next-fit best-fit worst-fit tree-fit half-fit tlsf compact-fit)
for index in scan nht bitmap; do
  for coalesce in never deferred immediate; do
    for last in tree linear; do
      spaces+=("segregated:index=$index,coalesce=$coalesce,last=$last")
    done
  done
done

# Runs a program in a space under a collector; what it writes must be in a file.
same() { # JAR MAIN SPACE COLLECTOR HEAP EXPECTED ARGUMENTS...
  if ! "$surefit" gc java "$1" --main "$2" --space "$3" --collect "$4" --heap "$5" -- "${@:7}" >"$work/out" 2>"$work/err" ||
    ! cmp "$work/out" "$6"; then
    cat "$work/err"
    echo "FAILED: $2 in $3, $4"
    exit 1
  fi
  runs=$((runs + 1))
}

runs=0
for main in Compile Compress Database Generate Raytrace RaytraceThreads Rules; do
  for space in "${spaces[@]}"; do
    collectors=(full steps generations)
    case $space in
    *coalesce=never*) collectors=(full) ;;
    compact-fit) collectors+=(nursery) ;;
    esac
    for collector in "${collectors[@]}"; do
      same "$java/programs.jar" "$main" "$space" "$collector" 16M "$java/expected/$main.txt"
    done
  done
  echo "$main: $runs runs so far, in ${#spaces[@]} spaces"
done

for tool in mvn javac unzip; do
  command -v "$tool" >/dev/null || { echo "NOT RUN: libraries of somebody else (no $tool here)" && exit 0; }
done
mkdir "$work/classes"
for artifact in oro:oro:2.0.8 regexp:regexp:1.3; do
  if ! mvn -q -B dependency:copy -Dartifact="$artifact" -DoutputDirectory="$work/jars" >"$work/log" 2>&1; then
    echo "NOT RUN: libraries of somebody else ($artifact: $(tail -n 1 "$work/log"))"
    exit 0
  fi
done
for jar in "$work"/jars/*.jar; do unzip -qo "$jar" -d "$work/classes"; done
javac -nowarn -Xlint:none --release 8 -cp "$work/classes" -d "$work/classes" ci/extra/java/Patterns.java 2>/dev/null
java -cp "$work/classes" Patterns 20 >"$work/expected"
for space in tlsf compact-fit segregated; do
  for collector in full steps generations; do
    same "$work/classes" Patterns "$space" "$collector" 4M "$work/expected" 20
  done
done
"$surefit" gc java "$work/classes" --main Patterns --heap 2x -- 20 2>&1 >/dev/null | sed "s,$work/classes,oro and regexp,"
echo "$runs runs wrote what HotSpot writes"
