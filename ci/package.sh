#!/usr/bin/env bash
# Every crate that can be published is packaged, and the packages build together, with all features, out of nothing but
# themselves: nothing is read from outside a package. Prints the files of each package and their bytes. Needs cargo 1.90 or
# newer, which packages the crates of a workspace although no registry has those that they depend on.
set -euo pipefail
cd "$(dirname "$0")/.."
packages=$(realpath -m "${CARGO_TARGET_DIR:-target}")/package
unpacked=$packages/unpacked

fail() {
  echo "package.sh: $*" >&2
  exit 1
}

# What crates.io and docs.rs ask of a manifest, and of a package.
keys=(description license readme documentation keywords categories rust-version)
files=(README.md LICENSE-MIT LICENSE-APACHE src/lib.rs)

# check NAME: one package.
check() {
  local name=$1 archive manifest key file entry
  archive=$(echo "$packages/$name"-[0-9]*.crate)
  local folder
  folder=$(basename "$archive" .crate)
  echo "-- $folder: $(stat -c %s "$archive") bytes"
  tar -tvzf "$archive" | awk '{ sub("^[^/]*/", "", $6); printf "%9d %s\n", $3, $6 }'
  manifest=$(tar -xzOf "$archive" "$folder/Cargo.toml")
  for key in "${keys[@]}"; do
    grep -q "^$key = " <<<"$manifest" || fail "$name: no $key in its manifest"
  done
  grep -q '^\[package.metadata.docs.rs\]' <<<"$manifest" || fail "$name: no settings for docs.rs"
  for file in "${files[@]}"; do
    # A file, not a link, and not an empty one.
    entry=$(tar -tvzf "$archive" "$folder/$file" 2>/dev/null) || fail "$name: no $file"
    [[ $entry == -* && $(awk '{ print $3 }' <<<"$entry") -gt 0 ]] || fail "$name: $file is no file, or empty"
  done
  check_includes "$unpacked/$folder"
}

# check_includes FOLDER: every file that a source includes by its name is in the package. What the compiler includes it has
# found already; documentation and its examples it has not seen.
check_includes() {
  local source included
  while IFS=: read -r source included; do
    [ -f "$(dirname "$source")/$included" ] || fail "$source includes $included, which is not there"
  done < <(grep -rEo 'include_(str|bytes)!\("[^"]+"\)' "$1" --include='*.rs' | sed -E 's/include_[a-z]+!\("([^"]+)"\)/\1/')
}

# The first name of a manifest is the package's.
mapfile -t names < <(grep -L '^publish = false' {crates,lab}/*/Cargo.toml | xargs awk -F '"' 'FNR == 1 { found = 0 } /^name = / && !found { found = 1; print $2 }')
[ "${#names[@]}" -gt 0 ] || fail "no crate to be published"
# What was compiled before is kept, packages are not.
rm -rf "$packages"/*.crate "$unpacked"
# Cargo warns of every test that is left out, as it should be. It could build each package itself, but it keeps what it
# unpacks by version, and the version is the same as yesterday.
cargo package --locked --allow-dirty --no-verify "${names[@]/#/--package=}" 2>&1 | grep -v '^warning: ignoring '
# A package dates all its files alike: without their own dates cargo would take new ones for old ones.
mkdir -p "$unpacked"
for archive in "$packages"/*.crate; do tar -xmzf "$archive" -C "$unpacked"; done
for name in "${names[@]}"; do check "$name"; done

# A workspace of the packages, each in the place of the registry's.
{
  printf '[workspace]\nresolver = "3"\nmembers = ["*-[0-9]*"]\n[patch.crates-io]\n'
  for name in "${names[@]}"; do printf '%s = { path = "%s" }\n' "$name" "$(cd "$unpacked" && echo "$name"-[0-9]*)"; done
} >"$unpacked/Cargo.toml"
cp Cargo.lock "$unpacked/"
# What lints and docs checked of other crates is not checked again.
CARGO_TARGET_DIR=${packages%/package} cargo check --manifest-path "$unpacked/Cargo.toml" --workspace --all-features
echo "packaged and built: ${names[*]}"
