# As python3, with each object from malloc.
. "$(dirname "${BASH_SOURCE[0]}")/python3.sh"
run() { PYTHONMALLOC=malloc "$@" python3 "$input/job.py"; }
