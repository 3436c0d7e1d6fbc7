# Sourced by the scripts that need compilers or emulators which ci/toolchain.sh unpacks.

# Fetches a part of the toolchain. False if it cannot be had: then `why` says why.
fetch() {
  local said status=0
  said=$(bash ci/toolchain.sh "$@") || status=$?
  [ "$status" -ne 3 ] || { why=${said##*$'\n'} && return 1; }
  [ "$status" -eq 0 ] || { echo "$said" && echo "FAILED: ci/toolchain.sh $*" && exit 1; }
  echo "$said"
}
