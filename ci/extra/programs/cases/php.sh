# Arrays, strings, regular expressions, generators, objects in cycles, serialisation, an archive and a token stream, with all modules that
# Debian's php loads by default. One of them is opened with RTLD_DEEPBIND.
needs=(php:php-cli)
version() { "$@" php --version; }
prepare() { :; }
run() { "$@" php -d opcache.enable_cli=1 -d phar.readonly=0 "$input/job.php"; }
