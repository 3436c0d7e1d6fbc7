# Prints digests and figures of work that allocates; the same in every run.
require "digest"
require "json"
require "set"
require "stringio"
require "zlib"

def report(name, value)
  puts "#{name}: #{value}"
end

random = Random.new(7)
words = Array.new(60_000) { |i| (97 + random.rand(26)).chr * random.rand(1..40) + (i % 977).to_s }
counts = words.tally
report "words", [counts.size, Digest::MD5.hexdigest(counts.keys.sort.join(","))]
text = words.join(" ")
report "matches", Digest::MD5.hexdigest(text.scan(/([a-f]+)(\d{2,})/).map(&:last).join)
report "replaced", Digest::MD5.hexdigest(text.gsub(/[g-p]{3,9}/) { |it| it.reverse.upcase })

Node = Struct.new(:number, :back, :rest)
20.times do
  nodes = []
  3000.times do |i|
    nodes << Node.new(i, nodes[i / 2], [])
    nodes[i / 2].rest << nodes[i]
  end
end
GC.start
GC.compact if GC.respond_to?(:compact)

tree = lambda { |depth| depth.zero? ? random.rand(1 << 60) : { "l" => tree.(depth - 1), "r" => [tree.(depth - 1)], "k" => "é#{depth}" } }
data = tree.(13)
text = JSON.pretty_generate(data)
report "json", [text.bytesize, Digest::SHA256.hexdigest(text), JSON.parse(text) == data]
report "marshal", Marshal.load(Marshal.dump(data)) == data
packed = Zlib::Deflate.deflate(text, 9)
report "zlib", [Zlib::Inflate.inflate(packed).force_encoding("UTF-8") == text, Digest::MD5.hexdigest(packed)]

queue = Thread::Queue.new
lines = Array.new(8) do |me|
  Thread.new do
    own = Random.new(me)
    400.times { |i| queue << [me, i, "x" * own.rand(2000)] }
  end
end
lines.each(&:join)
all = Array.new(queue.size) { queue.pop }
report "threads", Digest::MD5.hexdigest(all.sort.map { |it| it[2].size }.join(","))

fibers = Array.new(300) { |me| Fiber.new { 20.times { |i| Fiber.yield "f" * (me + i) } ; nil } }
total = 0
20.times { fibers.each { |fiber| total += fiber.resume.size } }
report "fibers", total

answers = Array.new(4) do |me|
  reader, writer = IO.pipe
  pid = fork do
    reader.close
    lines = Array.new(2) { |n| Thread.new { Array.new(5000) { |i| "#{me}#{n}#{i}" }.join } }
    writer << Digest::MD5.hexdigest(lines.map(&:value).join)
    writer.close
    exit! 0
  end
  writer.close
  said = reader.read
  Process.wait(pid)
  [said, $?.exitstatus]
end
report "forks", answers
report "big", Digest::MD5.hexdigest((1..1500).inject(:*).to_s)
large = Array.new(40) { |i| (i + 48).chr * (1 << 18) }
report "large", Digest::MD5.hexdigest(large.join)
