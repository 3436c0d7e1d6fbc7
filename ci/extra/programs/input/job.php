<?php
// Prints digests and figures of work that allocates; the same in every run.
mt_srand(7);

function report(string $name, $value): void {
    echo $name, ': ', is_string($value) ? $value : json_encode($value), "\n";
}

$modules = get_loaded_extensions();
sort($modules);
report('modules', count($modules) > 20);

$words = [];
for ($i = 0; $i < 60000; $i++) {
    $words[] = str_repeat(chr(97 + mt_rand(0, 25)), mt_rand(1, 40)) . $i % 977;
}
$counts = array_count_values($words);
arsort($counts);
ksort($counts);
report('words', [count($words), count($counts), md5(implode(',', array_keys($counts)))]);

$text = implode(' ', $words);
report('matches', preg_match_all('/([a-f]+)(\d{2,})/', $text, $found) . ' ' . md5(implode($found[2])));
report('replaced', md5(preg_replace_callback('/[g-p]{3,9}/', fn($m) => strtoupper(strrev($m[0])), $text)));

class Node {
    public array $next = [];
    public function __construct(public int $number, public ?Node $back = null) {}
    public function __destruct() { self::$ended++; }
    public static int $ended = 0;
}
for ($round = 0; $round < 20; $round++) {
    $nodes = [];
    for ($i = 0; $i < 2000; $i++) {
        $nodes[] = new Node($i, $nodes[$i >> 1] ?? null);
        if ($i > 0) $nodes[$i >> 1]->next[] = $nodes[$i];
    }
}
unset($nodes);
gc_collect_cycles();
report('nodes', Node::$ended);

function primes(int $below): Generator {
    $sieve = new SplFixedArray($below);
    for ($i = 2; $i < $below; $i++) {
        if ($sieve[$i]) continue;
        yield $i;
        for ($j = $i * $i; $j < $below; $j += $i) $sieve[$j] = true;
    }
}
report('primes', array_sum(iterator_to_array(primes(200000), false)));

$tree = fn($self, $depth) => $depth == 0 ? mt_rand() : ['l' => $self($self, $depth - 1), 'r' => [$self($self, $depth - 1)], 'k' => "é$depth"];
$data = $tree($tree, 13);
$json = json_encode($data, JSON_PRETTY_PRINT);
report('json', [strlen($json), md5($json), json_decode($json, true) === $data]);
report('serialized', [md5(serialize($data)), unserialize(serialize($data)) === $data]);
report('iconv', md5(iconv('UTF-8', 'UTF-16LE', $json)));
report('tokens', count(token_get_all(file_get_contents(__FILE__))));
report('type', (new finfo(FILEINFO_MIME_TYPE))->buffer($json));

$archive = new PharData(getcwd() . '/job.tar');
for ($i = 0; $i < 40; $i++) $archive->addFromString("f$i.txt", str_repeat("line $i\n", 200 * $i));
unset($archive);
$back = new PharData(getcwd() . '/job.tar');
$bytes = 0;
foreach ($back as $file) $bytes += strlen(file_get_contents($file->getPathname()));
report('archive', $bytes);

$heap = new SplPriorityQueue();
for ($i = 0; $i < 50000; $i++) $heap->insert(str_repeat('x', $i % 50), mt_rand());
$sum = 0;
for ($i = 0; !$heap->isEmpty(); $i++) $sum = ($sum * 31 + strlen($heap->extract())) % 1000003;
report('queue', $sum);
$before = memory_get_usage();
$large = [];
for ($i = 0; $i < 60; $i++) $large[] = str_repeat(chr($i), 1 << 18);
report('large', md5(implode($large)));
