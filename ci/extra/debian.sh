# Sourced by the scripts that run programs of Debian's packages.

# Debian's programs, not others of the same names.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
updated=

# Installs packages. False if it may not, or if they cannot be had.
install_packages() {
  [ "$(id -u)" -eq 0 ] || return 1
  [ -n "$updated" ] || { apt-get update -qq >/dev/null 2>&1 || true; updated=1; }
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@" >/dev/null 2>&1
}
