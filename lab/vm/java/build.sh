#!/usr/bin/env bash
# Compiles the class library, the conformance programs and the other programs into the jars that are committed, and writes what
# HotSpot says each of them writes. Needs a JDK 17 or later; neither the crate's build nor its tests do.
#   usage: build.sh            compile, and run on HotSpot
set -euo pipefail
cd "$(dirname "$0")"
command -v javac >/dev/null || { echo "NOT RUN: the class library (no javac: apt-get install openjdk-17-jdk-headless)"; exit 0; }

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
flags=(-nowarn -Xlint:none -proc:none -g:source,lines -encoding UTF-8 --release 8)
mkdir "$out/library" "$out/programs"
# What javac says is shown only if it fails: notes of unchecked casts, and that version 8 is old.
compile() {
  javac "${flags[@]}" -d "$out/$1" "${@:2}" 2>"$out/err" || { cat "$out/err" >&2; exit 1; }
}
mapfile -t library < <(find library -name '*.java' | sort)
compile library "${library[@]}"
compile programs conformance/*.java programs/*.java endings/*.java

# The same files in the same order with the same date: the jars differ only if a class does.
for jar in library programs; do
  (cd "$out/$jar" && find . -type f | sort | sed 's,^\./,,' >"$out/$jar.list")
  rm -f "$jar.jar"
  (cd "$out/$jar" && jar --create --file "$out/$jar.jar" --no-manifest --date=2020-01-01T00:00:00Z "@$out/$jar.list")
  mv "$out/$jar.jar" "$jar.jar"
done

mkdir -p expected
for source in conformance/*.java programs/*.java; do
  name=$(basename "$source" .java)
  java -Dfile.encoding=UTF-8 -Xmx32m -Xss512k -cp programs.jar "$name" >"expected/$name.txt" 2>"$out/err" || { cat "$out/err"; exit 1; }
done
# The programs again with small inputs, for the tests in every space.
mkdir -p expected/small
while read -r name arguments; do
  # shellcheck disable=SC2086 # the arguments are words
  java -Dfile.encoding=UTF-8 -Xmx32m -Xss512k -cp programs.jar "$name" $arguments >"expected/small/$name.txt"
done <small.txt
ls -l library.jar programs.jar
