# A server that four clients write to at once; then checksums of its tables, sorted and joined answers, a procedure, and tables altered and checked.
needs=(mariadbd:mariadb-server mariadb-install-db:mariadb-server mariadb:mariadb-client setpriv:util-linux)
as=()
[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
version() { "$@" mariadbd --version; }
prepare() {
  local part
  chmod 777 .
  "${as[@]}" mariadb-install-db --no-defaults --datadir="$PWD/data" --auth-root-authentication-method=normal --skip-test-db
  for part in 0 1 2 3; do
    awk -v part=$part 'BEGIN { for (i = 0; i < 60; i++) {
      printf "insert into job.items values "
      for (j = 0; j < 100; j++) { n = part * 6000 + i * 100 + j; printf "%s(%d,%d,md5(%d),repeat(char(97+%d),%d))", j ? "," : "", n, n * 7919 % 10007, n, n % 26, n % 300 }
      printf ";\nupdate job.items set t = concat(t, k) where i between %d and %d;\n", part * 6000 + i * 100, part * 6000 + i * 100 + 20
      printf "delete from job.items where i = %d;\n", part * 6000 + i * 100 + 50 } }' >"load-$part.sql"
  done
}
client() { mariadb --no-defaults --socket=data/socket -u root --batch --skip-column-names "$@"; }
run() {
  local server part clients=()
  "$@" "${as[@]}" mariadbd --no-defaults --datadir="$PWD/data" --socket=socket --port="$port" --bind-address=127.0.0.1 --skip-log-bin \
    --innodb-buffer-pool-size=16M --innodb-flush-log-at-trx-commit=0 --pid-file=pid >log 2>&1 &
  server=$!
  until_true client -e 'select 1'
  client -e 'create database job; create table job.items (i int primary key, k int, t varchar(80), pad text, key (k), key (t)) engine=innodb default charset=utf8mb4'
  for part in 0 1 2 3; do
    client <load-$part.sql &
    clients+=($!)
  done
  for part in 0 1 2 3; do wait "${clients[$part]}"; done
  client job <"$input/mariadb.sql"
  client -e shutdown
  wait "$server"
  ! grep -E 'got signal|Assertion|\[ERROR\]' log
}
