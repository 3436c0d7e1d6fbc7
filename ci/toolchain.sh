#!/usr/bin/env bash
# Unpacks compilers and an emulator from Debian's packages into a folder. Nothing is installed, and nothing here needs
# root. What is there already is used again.
#
#   ci/toolchain.sh rust              FOLDER/rustc: Debian's newest rustc-web with the source of its standard library, which
#                                     `RUSTC=FOLDER/rustc RUSTC_BOOTSTRAP=1 cargo build -Zbuild-std=core --target T` builds for any target
#   ci/toolchain.sh rust 1.85         FOLDER/rustc-1.85: that version of rustc-web or rustc, for this machine only
#   ci/toolchain.sh linux i686        FOLDER/i686-linux-gnu-gcc, a cross compiler; programs run on an x86-64 kernel as they are
#   ci/toolchain.sh linux aarch64     FOLDER/aarch64-linux-gnu-gcc, and FOLDER/qemu-aarch64, which runs its programs
#   ci/toolchain.sh boards arm        FOLDER/qemu-system-arm, which runs images on boards, and FOLDER/arm-none-eabi-ld, -objdump and so on
#   ci/toolchain.sh boards riscv32    FOLDER/qemu-system-riscv32, and FOLDER/riscv64-unknown-elf-ld and so on
#
# FOLDER is $SUREFIT_TOOLCHAIN, or target/toolchain. Exit 3: this cannot be had here, and the last line says why. Every other failure
# is an error.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "${SUREFIT_TOOLCHAIN:-target/toolchain}")
root=$folder/root

cannot() {
  echo "$*"
  exit 3
}

# The packages' lists are fetched anew only if they do not know what is asked for: that needs root.
known() {
  apt-cache show "$1" >/dev/null 2>&1 || { apt-get update -qq >/dev/null 2>&1 && apt-cache show "$1" >/dev/null 2>&1; }
}

# Downloads packages and unpacks them into the root. A part that comes half-way is fetched again by the next run.
unpack() {
  local parts=$folder/parts
  rm -rf "$parts" && mkdir -p "$parts" "$root"
  (cd "$parts" && apt-get download -qq "$@" >/dev/null 2>"$folder/download.log") ||
    { apt-get update -qq >/dev/null 2>&1 && (cd "$parts" && apt-get download -qq "$@" >/dev/null 2>"$folder/download.log"); } ||
    cannot "cannot download $1 and what it needs: $(tail -n 1 "$folder/download.log")"
  for part in "$parts"/*.deb; do dpkg -x "$part" "$root"; done
  rm -rf "$parts"
}

# A package and those that it needs and that are not installed, as apt would install them.
with_dependencies() {
  apt-get install --simulate --no-install-recommends "$@" 2>/dev/null | awk '$1 == "Inst" { print $2 }'
}

# Unpacks packages, with those that they need, unless they are installed.
unpack_missing() {
  local package packages
  for package in "$@"; do known "$package" || cannot "no package $package"; done
  packages=$(with_dependencies "$@") || cannot "$* cannot be installed beside what is here"
  # shellcheck disable=SC2086
  [ -z "$packages" ] || unpack $packages
}

# A program that calls another one of the unpacked root, with its libraries and companions.
wrapper() {
  local name=$1 program=$2
  shift 2
  mkdir -p "$folder"
  printf '#!/bin/sh\nLD_LIBRARY_PATH="%s" PATH="%s:$PATH" exec "%s" %s "$@"\n' \
    "$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu" "$root/usr/bin" "$program" "$*" >"$folder/$name.new"
  chmod +x "$folder/$name.new"
  mv "$folder/$name.new" "$folder/$name"
}

rust() {
  [ -x "$folder/rustc" ] && return
  known rustc-web || cannot "no package rustc-web"
  # Several versions are offered at once; all parts must be of one, and the newest has every target.
  local version llvm minor
  version=$(apt-cache madison rustc-web | awk '{ print $3 }' | sort --version-sort | tail -n 1)
  minor=$(echo "$version" | cut -d . -f 1,2)
  known "rust-web-src=$version" || cannot "no package rust-web-src of version $version"
  # sed reads to the end: who stops earlier may kill the program before it, and so the script.
  llvm=$(apt-cache show "rustc-web=$version" "libstd-rust-web-$minor=$version" | grep -o 'libllvm[0-9]*' | sed -n 1p)
  unpack "rustc-web=$version" "libstd-rust-web-$minor=$version" "libstd-rust-web-dev=$version" "rust-web-src=$version" "$llvm"
  wrapper rustc "$root/usr/bin/rustc"
}

# old_rust MINOR: a version of the compiler, beside the newest one, in a root of its own.
old_rust() {
  local minor=$1 suffix version="" llvm
  [ -x "$folder/rustc-$minor" ] && return
  root=$folder/rust-$minor
  # Stable Debian has one rustc, and several of rustc-web.
  for suffix in -web ""; do
    known "rustc$suffix" || continue
    version=$(apt-cache madison "rustc$suffix" | awk '{ print $3 }' | grep "^${minor//./\\.}\\." | sort --version-sort | tail -n 1) || true
    [ -z "$version" ] || break
  done
  [ -n "$version" ] || cannot "no package rustc or rustc-web of version $minor"
  llvm=$(apt-cache show "libstd-rust$suffix-$minor=$version" | grep -o 'libllvm[0-9]*' | sed -n 1p)
  unpack "rustc$suffix=$version" "libstd-rust$suffix-$minor=$version" "libstd-rust$suffix-dev=$version" "$llvm"
  wrapper "rustc-$minor" "$root/usr/bin/rustc"
}

linux() {
  local machine=$1 debian=$1
  case $machine in i686) debian=i386 ;; aarch64) debian=arm64 ;; *) echo "no such machine: $machine" >&2 && exit 2 ;; esac
  [ -x "$folder/$machine-linux-gnu-gcc" ] && return
  local wanted=("gcc-$machine-linux-gnu" "libc6-dev-$debian-cross")
  [ "$machine" = i686 ] || wanted+=(qemu-user-static)
  unpack_missing "${wanted[@]}"
  local gcc=$root/usr/bin/$machine-linux-gnu-gcc
  if [ -x "$gcc" ]; then wrapper "$machine-linux-gnu-gcc" "$gcc" "--sysroot=$root"; else wrapper "$machine-linux-gnu-gcc" "$machine-linux-gnu-gcc"; fi
  if [ "$machine" != i686 ]; then
    local qemu=$root/usr/bin/qemu-$machine-static
    [ -x "$qemu" ] || qemu=qemu-$machine-static
    wrapper "qemu-$machine" "$qemu"
  fi
}

# A wrapper for a program of the unpacked root, or for the installed one.
installed() {
  local name=$1 program=$root/usr/bin/$1
  [ -x "$program" ] || program=$name
  wrapper "$name" "$program"
}

boards() {
  local machine=$1 emulator utilities tool
  case $machine in
    arm) emulator=qemu-system-arm utilities=arm-none-eabi ;;
    riscv32) emulator=qemu-system-riscv utilities=riscv64-unknown-elf ;;
    *) echo "no such machine: $machine" >&2 && exit 2 ;;
  esac
  [ -x "$folder/qemu-system-$machine" ] && [ -x "$folder/$utilities-nm" ] && return
  known "binutils-$utilities" || cannot "no package binutils-$utilities"
  # Before Debian 13, one package has all machines but the most common ones.
  apt-cache show "$emulator" >/dev/null 2>&1 || emulator=qemu-system-misc
  unpack_missing "binutils-$utilities" "$emulator"
  for tool in ld size objcopy objdump nm; do installed "$utilities-$tool"; done
  # The last one says that the part is there.
  installed "qemu-system-$machine"
}

[ "$(uname -m)" = x86_64 ] || cannot "only for x86-64 machines: this is $(uname -m)"
for tool in apt-get apt-cache dpkg; do
  command -v "$tool" >/dev/null || cannot "no $tool here: only for Debian and its kin"
done
# No `&&` behind a function: its failures would not end the script.
case ${1:-} in
  rust)
    name=rustc${2:+-$2}
    if [ -z "${2:-}" ]; then rust; else old_rust "$2"; fi
    "$folder/$name" --version
    ;;
  linux)
    linux "${2:-}"
    "$folder/$2-linux-gnu-gcc" --version | sed -n 1p
    ;;
  boards)
    boards "${2:-}"
    "$folder/qemu-system-$2" --version | sed -n 1p
    ;;
  *) sed -n '2,14p' "$0" | cut -c 3- && exit 2 ;;
esac
