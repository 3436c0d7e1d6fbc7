-- What pgbench committed: the same whatever the order.
select count(*), sum(abalance) from pgbench_accounts;
select sum(bbalance) = (select sum(delta) from pgbench_history), (select count(*) from pgbench_history) from pgbench_branches;
create table items as
  select i, (i * 7919) % 10007 as k, md5(i::text) as t, repeat(chr(97 + i % 26), i % 200) as pad from generate_series(1, 60000) i;
create index on items (k);
create index on items (t text_pattern_ops);
analyze items;
select md5(string_agg(t, ',' order by t)) from items;
select k % 10, count(*), sum(length(pad)), count(distinct pad) from items group by 1 order by 1;
select count(*), sum(a.i - b.i) from items a join items b on a.k = b.k and a.i < b.i;
select md5(string_agg(x::text, '' order by i)) from (select i, jsonb_build_object('k', k, 't', array[t, pad]) x from items where i % 7 = 0) s;
select count(*) from items where t like 'ab%' or pad ~ '^(bb|cc)+$';
with recursive r(n, a) as (values (1, 1::numeric) union all select n + 1, a * (n + 1) from r where n < 300)
  select md5(max(a)::text) from r;
select md5(string_agg(w::text, ',' order by i)) from (select i, rank() over (partition by k % 100 order by t) w from items) s;
do $$
declare s text := ''; r record;
begin
  for r in select t from items order by i limit 3000 loop
    begin
      s := md5(s || r.t);
      if r.t like '0%' then raise exception 'no'; end if;
    exception when others then s := s || '!';
    end;
  end loop;
  raise notice '%', s;
end $$;
update items set pad = pad || t where k % 3 = 0;
delete from items where k % 5 = 0;
vacuum (full, analyze) items;
select count(*), md5(string_agg(pad, '' order by i)) from items;
