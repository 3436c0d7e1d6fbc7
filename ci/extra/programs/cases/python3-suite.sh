# Python's own tests of its collector, its threads and JSON, by name; they start more interpreters. What differs between runs is left out: times, and what
# the threads of one test print.
of=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo 3.11)
needs=(python3:python3 "/usr/lib/python$of/test/test_gc.py:libpython$of-testsuite")
version() { "$@" python3 --version; }
prepare() { :; }
run() {
  local status=0
  "$@" python3 -m unittest -v test.test_gc test.test_threading test.test_json >said 2>&1 || status=$?
  grep -vE '^(task )?<thread|^[0-9]+ tasks are running' said | sed -E 's/^(Ran .*) in [0-9.]+s$/\1/'
  return "$status"
}
