# Sourced by the scripts that build programs of Debian's source packages. It needs `work`, a folder of the script's own.

# Debian's list of sources, in that folder: nothing of this machine is changed. apt reads it and fetches as a user of its own, if it can.
chmod 755 "$work"
mkdir -p "$work"/{lists,cache/archives}/partial
echo "deb-src http://deb.debian.org/debian bookworm main" >"$work/sources.list"

apt() {
  apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" \
    -o APT::Sandbox::User="$(id -un)" "$@" >"$work/apt.log" 2>&1
}

# Downloads a source package, and unpacks what its authors released into a folder of its name.
fetch() {
  mkdir "$work/$1" && (cd "$work" && apt source --download-only "$1") && tar -xf "$work/$1"_*.orig.tar.* -C "$work/$1" --strip-components=1
}
