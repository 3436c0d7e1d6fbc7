% Prints figures of work that allocates; the same in every run.
1;
function r = fib(n)
  if (n < 2) r = n; else r = fib(n - 1) + fib(n - 2); end
end
n = 160;
[i, j] = meshgrid(1:n);
a = sin(i .* j) + n * eye(n);
[l, u, p] = lu(a);
printf("matrix %.6g %.6g %.6g\n", norm(a \ ones(n, 1)), sum(log(abs(diag(u)))), sum(abs(eig(a + a'))));
[q, r] = qr(a);
printf("qr %d\n", norm(q * r - a) < 1e-9);
s = sprandn(400, 400, 0) + sparse(1:400, mod((1:400) * 7, 400) + 1, 1:400) + speye(400) * 500;
printf("sparse %d %.6g\n", nnz(s), norm(s \ ones(400, 1)));
f = fft(sin((1:4096) / 7));
printf("fft %.6g\n", max(abs(f)));
c = cell(1, 3000);
for k = 1:3000
  c{k} = repmat(char(97 + mod(k, 26)), 1, mod(k * 31, 90));
end
t = strjoin(sort(c), ",");
printf("text %d %s\n", numel(t), hash("md5", t));
printf("words %d\n", numel(unique(regexp(t, '[a-f]+', 'match'))));
m = struct();
for k = 1:1500
  m.(sprintf("k%d", mod(k * 7919, 1009))) = {k, c{k}, rand(3) > 2};
end
printf("fields %d\n", numel(fieldnames(m)));
save("-text", "job.txt", "m");
b = load("job.txt");
printf("same %d\n", isequal(b.m, m));
printf("fib %d\n", fib(14));
o = containers.Map("KeyType", "double", "ValueType", "any");
for k = 1:1000
  o(mod(k * 31, 499)) = c(1:mod(k, 20));
end
printf("map %d %d\n", o.Count, sum(cellfun(@numel, o.values())));
try
  error("job:no", "told %d", 7);
catch e
  printf("%s %s\n", e.identifier, e.message);
end
x = arrayfun(@(k) sum(cumsum(1:k)), 1:400);
printf("sums %d\n", sum(x));
