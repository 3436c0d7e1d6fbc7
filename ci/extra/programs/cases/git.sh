# A repository of 2,000 commits checked, packed by four threads, checked again, and its history with all changes.
needs=(git:git)
version() { "$@" git --version; }
prepare() {
  git init -q repository
  awk 'BEGIN { for (i = 1; i <= 2000; i++) {
    text = ""; for (j = 0; j < 60; j++) text = text "line " j " of " (j == i % 60 ? i : 0) "\n"
    message = "commit " i "\n"
    printf "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata %d\n%s", 1600000000 + i, length(message), message
    printf "M 100644 inline file-%d\ndata %d\n%s\n", i % 40, length(text), text
  } }' | git -C repository -c fastimport.unpackLimit=1000000 fast-import --quiet
}
run() {
  cd repository
  "$@" git fsck --full --strict --no-progress
  "$@" git -c pack.threads=4 -c gc.auto=0 gc --quiet --aggressive --prune=now
  "$@" git fsck --full --strict --no-progress
  "$@" git count-objects -v | grep -v size
  "$@" git --no-pager log -p --stat main | sha256sum
  "$@" git rev-list --objects --all | sort | sha256sum
  "$@" git clone -q --bare --no-local . ../copy.git
  "$@" git -C ../copy.git grep -c "of 1999" main
}
