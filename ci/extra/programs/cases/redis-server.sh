# A server under the load of redis-benchmark; then four clients at once write what is always the same. Its digest after that, after saving in
# a forked process while a client writes, and after loading what was saved. Debian's server is linked with jemalloc: this is what stands
# under "platform" here.
needs=(redis-server:redis-server redis-cli:redis-tools)
version() { "$@" redis-server --version; }
prepare() {
  local part
  for part in 0 1 2 3 4; do
    awk -v part=$part 'BEGIN { for (i = 0; i < 30000; i++) {
      k = (i * 7919 + part * 13) % 5000; text = sprintf("%0*d", (i * 31) % 400 + 1, i)
      if (i % 6 == 0) printf "SET %d:s:%d %s\r\n", part, k, text
      else if (i % 6 == 1) printf "RPUSH %d:l:%d %s\r\n", part, k % 100, text
      else if (i % 6 == 2) printf "HSET %d:h:%d f%d %s\r\n", part, k % 200, i % 900, text
      else if (i % 6 == 3) printf "ZADD %d:z:%d %d m%d\r\n", part, k % 50, i, k
      else if (i % 6 == 4) printf "APPEND %d:s:%d %s\r\n", part, k, text
      else printf "UNLINK %d:%s:%d\r\n", part, i % 12 == 5 ? "s" : "h", k } }' >"load-$part"
  done
}
client() { redis-cli -p "$port" "$@"; }
saved() { client info persistence | grep -q 'rdb_bgsave_in_progress:0' && client info persistence | grep -q 'aof_rewrite_in_progress:0'; }
run() {
  local server clients part
  "$@" redis-server --port "$port" --bind 127.0.0.1 --save "" --daemonize no --logfile log --enable-debug-command yes &
  server=$!
  until_true client ping
  redis-benchmark -p "$port" -q -n 20000 -c 20 -r 10000 -d 200 -t set,get,incr,lpush,rpop,sadd,hset,zadd,lrange_100,mset >/dev/null
  client flushall async
  clients=()
  for part in 0 1 2 3; do
    client --pipe <load-$part >said-$part &
    clients+=($!)
  done
  for part in 0 1 2 3; do wait "${clients[$part]}"; done
  tail -qn 1 said-?
  client eval 'local t = {} for i = 1, 20000 do t[i] = tostring(i) .. (redis.call("get", "0:s:" .. i % 5000) or "") end return #table.concat(t)' 0
  client dbsize
  client debug digest
  client bgsave
  client --pipe <load-4 | tail -n 1
  until_true saved
  client info persistence | grep rdb_last_bgsave_status
  client bgrewriteaof
  until_true saved
  client debug digest
  client debug reload
  client debug digest
  client memory doctor >/dev/null
  client memory purge
  client shutdown nosave || true
  wait "$server"
}
