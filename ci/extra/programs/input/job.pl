# Hashes, regular expressions, sorting, closures, deep structures; then the same in threads.
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use Storable qw(dclone freeze thaw);
use threads;

sub work {
    my ($seed) = @_;
    my ($state, %words, @kept) = ($seed * 7919 + 1);
    my $next = sub { $state = ($state * 1103515245 + 12345) % 2147483648; return $state >> 8 };
    for my $step (1 .. 60000) {
        my $key = "k" . $next->() % 5000;
        $words{$key} .= chr(97 + $next->() % 26) x ($next->() % 9);
        delete $words{ "k" . $next->() % 5000 } if $step % 7 == 0;
        $kept[ $next->() % 300 ] = { name => $key, list => [ map { $_ * $step } 1 .. $next->() % 30 ] };
    }
    my $text = join " ", map { "$_=$words{$_}" } sort { length $words{$a} <=> length $words{$b} or $a cmp $b } keys %words;
    my $count = () = $text =~ /([aeiou][b-d]+)/g;
    (my $changed = $text) =~ s/(\w)(\w)/$2$1/g;
    my $copy = thaw(freeze(dclone(\@kept)));
    my $sum = 0;
    $sum += scalar @{ $_->{list} } for grep { defined } @$copy;
    my @closures = map { my $n = $_; sub { $n + shift } } 1 .. 20000;
    my $total = 0;
    $total += $closures[$_]->($_) for 0 .. $#closures;
    return md5_hex($changed) . " $count $sum $total";
}

print "$_: ", work($_), "\n" for 1 .. 3;
for my $round (1 .. 3) {
    my @threads = map { threads->create(\&work, $round * 10 + $_) } 1 .. 4;
    print "thread: ", $_->join, "\n" for @threads;
}
my $big = "x" x 1000;
$big .= $big for 1 .. 14;
$big =~ tr/x/y/;
print length $big, " ", md5_hex($big), "\n";
