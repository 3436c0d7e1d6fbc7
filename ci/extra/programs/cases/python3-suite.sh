# Python's own tests of its collector, its threads and JSON, by name; they start more interpreters. What differs between runs is left out: times, and what
# the threads of one test print.
needs=(python3:python3 "/usr/lib/python3*/test/test_gc.py:libpython3-testsuite")
version() { "$@" python3 --version; }
prepare() { :; }
run() {
  local status=0
  "$@" python3 -m unittest -v test.test_gc test.test_threading test.test_json >said 2>&1 || status=$?
  grep -vE '^(task )?<thread|^[0-9]+ tasks are running' said | sed -E 's/^(Ran .*) in [0-9.]+s$/\1/'
  return "$status"
}
