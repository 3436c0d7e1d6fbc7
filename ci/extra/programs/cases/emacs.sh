# Org mode and CC mode compiled to byte code in batch, buffers edited, tables and JSON.
needs=(emacs:emacs-nox "/usr/share/emacs/*/lisp/org/org.el.gz:emacs-el")
version() { "$@" emacs --version; }
prepare() {
  local file
  for file in org/org org/org-element progmodes/cc-engine emacs-lisp/cl-macs; do zcat /usr/share/emacs/*/lisp/$file.el.gz >"$(basename "$file").el"; done
}
run() {
  "$@" emacs -Q --batch --eval '(setq byte-compile-warnings nil)' -f batch-byte-compile org.el org-element.el cc-engine.el cl-macs.el 2>said ||
    { cat said && return 1; }
  sha256sum ./*.elc
  "$@" emacs -Q --batch -l "$input/job.el"
}
