# A server with four threads; eight clients at once write, append, count, delete and read back what is always the same, in values of up to 700,000
# bytes, and its memory is made smaller while it runs. Digests of all that is left.
needs=(memcached:memcached python3:python3)
version() { "$@" memcached --version; }
prepare() { :; }
run() {
  local server as=()
  [ "$(id -u)" -ne 0 ] || as=(-u nobody)
  "$@" memcached -l 127.0.0.1 -p "$port" -U 0 -t 4 -m 256 -A -o modern "${as[@]}" >log 2>&1 &
  server=$!
  until_true python3 "$input/memcached.py" "$port" ready
  python3 "$input/memcached.py" "$port"
  wait "$server"
}
