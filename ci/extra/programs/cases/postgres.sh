# A server under pgbench with four clients; then tables joined, sorted, aggregated and indexed by parallel workers, and text searched. What was
# committed, digests of the answers, and whether the server ended in order.
needs=("/usr/lib/postgresql/*/bin/pgbench:postgresql" psql:postgresql-client setpriv:util-linux)
postgres=$(dirname "$(compgen -G "/usr/lib/postgresql/*/bin/pgbench" | tail -n 1)")
# It refuses root.
as=()
[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
client() { PGHOST=127.0.0.1 PGPORT=$port PGUSER=surefit PGDATABASE=postgres "$@"; }
version() { "$@" "$postgres/postgres" --version; }
probe() { "$@" "$postgres/postgres" --describe-config; }
prepare() {
  chmod 777 .
  "${as[@]}" "$postgres/initdb" -D data -U surefit -A trust --no-sync --no-instructions --locale=C -E UTF8
}
run() {
  local server
  "$@" "${as[@]}" "$postgres/postgres" -D data -p "$port" -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off \
    -c max_connections=20 -c shared_buffers=16MB -c min_parallel_table_scan_size=0 -c parallel_setup_cost=0 -c parallel_tuple_cost=0 >log 2>&1 &
  server=$!
  until_true client psql -c 'select 1'
  client "$postgres/pgbench" -i -q -s 1 2>/dev/null
  client "$postgres/pgbench" -n -c 4 -j 2 -t 250 --random-seed=1 2>&1 | grep -E '^number of (transactions actually|failed)'
  client psql -X -q -A -t -v ON_ERROR_STOP=1 -f "$input/postgres.sql"
  kill -INT "$(head -n 1 data/postmaster.pid)"
  wait "$server"
  ! grep -E 'terminated by signal|PANIC' log
}
