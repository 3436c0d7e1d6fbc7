# Two workers with threads for files; 16 clients at once ask for files as they are, compressed and through the server's own proxy, before and after
# new workers take over. The digest of all bodies, their number, and whether a worker ended by a signal.
needs=(nginx:nginx python3:python3 setpriv:util-linux)
version() { "$@" nginx -v; }
prepare() {
  local size
  mkdir files
  for size in 10 200 3000 40000 500000; do awk -v n="$size" 'BEGIN { for (i = 0; i < n / 10; i++) printf "%08d\n ", i * 7919 % 1000003 }' >"files/$size.txt"; done
}
run() {
  local server as=()
  sed "s|@port@|$port|" "$input/nginx.conf" >nginx.conf
  mkdir temporary && chmod 777 . temporary
  [ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  "$@" "${as[@]}" nginx -p "$PWD" -e error.log -c nginx.conf -g "daemon off;" &
  server=$!
  until_true test -s nginx.pid
  python3 "$input/ask.py" "$port"
  kill -HUP "$(cat nginx.pid)"
  until_true grep -q 'gracefully shutting down' error.log
  python3 "$input/ask.py" "$port"
  kill -QUIT "$(cat nginx.pid)"
  wait "$server"
  ! grep -E 'exited on signal|\[(alert|crit|emerg)\]' error.log
}
