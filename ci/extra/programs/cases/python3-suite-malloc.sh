# As python3-suite, with each object from malloc.
. "$(dirname "${BASH_SOURCE[0]}")/python3-suite.sh"
export PYTHONMALLOC=malloc
