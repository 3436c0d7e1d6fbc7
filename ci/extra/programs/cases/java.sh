# A class compiled, and run with 64 threads: compression, buffers outside the heap, regular expressions, processes; with two collectors.
needs=(java:default-jre-headless javac:default-jdk-headless)
version() { "$@" java --version; }
prepare() { cp "$input/Job.java" .; }
run() {
  "$@" javac -d classes Job.java
  sha256sum classes/*.class
  "$@" java -Xmx256m -XX:+UseG1GC -cp classes Job
  "$@" java -Xmx256m -XX:+UseParallelGC -cp classes Job
}
