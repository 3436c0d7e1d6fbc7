# Sourced: Debian's Redis, built with the jemalloc that it brings along, and built with libsurefit_malloc.so behind redis/jemalloc/jemalloc.h.

# redis_built FOLDER: both, as FOLDER/jemalloc/src/redis-server and FOLDER/surefit/src/redis-server, with what Redis' own tests need. What is
# there already is not built again. Where it fails, `missing` says why.
redis_built() {
  local tool work libraries
  mkdir -p "$1"
  work=$(realpath "$1") libraries=$(realpath "$1")
  for tool in apt-get cc make tar tclsh; do
    command -v "$tool" >/dev/null || { missing="no $tool here" && return 1; }
  done
  . ci/extra/debian-sources.sh
  if ! [ -e "$work/fetched" ]; then
    rm -rf "$work/redis"
    { apt update && fetch redis; } || { missing="no source package of it: $(tail -n 1 "$work/apt.log")" && return 1; }
    make -C "$work/redis/deps" hiredis linenoise lua hdr_histogram >"$work/make.log" 2>&1 || { missing="see $work/make.log" && return 1; }
    touch "$work/fetched"
  fi
  # A library that is new needs no new Redis.
  cargo build --locked --quiet --profile preload -p surefit-malloc --example surefit_malloc || { missing="the library does not build" && return 1; }
  cp "${CARGO_TARGET_DIR:-target}/preload/examples/libsurefit_malloc.so" "$libraries"
  redis_of jemalloc MALLOC=jemalloc && redis_of surefit MALLOC=libc CFLAGS="-DUSE_JEMALLOC -I$PWD/ci/extra/redis -I$PWD/crates/surefit-malloc/include" \
    LDFLAGS="-L$libraries -Wl,--no-as-needed -lsurefit_malloc -Wl,--as-needed -Wl,-rpath,$libraries"
}

# redis_of NAME ARGUMENT…: Redis in a folder of that name.
redis_of() {
  local folder=$work/$1
  [ -e "$folder/built" ] && return
  rm -rf "$folder"
  cp -r "$work/redis" "$folder"
  shift
  make -C "$folder/src" -j2 "$@" redis-server redis-cli redis-benchmark >"$work/make.log" 2>&1 || { missing="$(tail -n 1 "$work/make.log")" && return 1; }
  touch "$folder/built"
}

# What the load starts them with: the arguments of surefit-cache-load.
redis_defragments() {
  local defrag="--activedefrag yes --active-defrag-ignore-bytes 1mb --active-defrag-threshold-lower 5 --active-defrag-cycle-min 25 --active-defrag-cycle-max 75"
  printf '%s\n' --settle-ms 10000 --redis "jemalloc-defrag=$1/jemalloc/src/redis-server $defrag" --redis "surefit-defrag=$1/surefit/src/redis-server $defrag"
}
