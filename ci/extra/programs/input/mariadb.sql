select count(*), sum(k), sum(length(pad)), sum(crc32(t)) from items;
checksum table items;
set session group_concat_max_len = 100000000;
select md5(group_concat(t order by t separator ',')) from items;
select k % 10, count(*), count(distinct pad), max(t) from items group by 1 order by 1;
select count(*), sum(a.i - b.i) from items a join items b on a.k = b.k and a.i < b.i;
select md5(group_concat(json_object('k', k, 'p', pad) order by i)) from items where i % 7 = 0;
select count(*) from items where t regexp '^ab' or pad regexp '^(bb|cc)+$';
with recursive r (n, a) as (select 1, cast(1 as decimal(60)) union all select n + 1, a * 3 % 1000003 from r where n < 900) select sum(a) from r;
select md5(group_concat(w order by i)) from (select i, rank() over (partition by k % 100 order by t) w from items) s;
delimiter //
create procedure chain(in n int)
begin
  declare s text default '';
  declare c int default 0;
  while c < n do
    set s = md5(concat(s, (select t from items where i >= c * 3 order by i limit 1)));
    set c = c + 1;
  end while;
  select s;
end //
delimiter ;
call chain(2000);
create table copied engine=aria as select * from items;
create fulltext index words on copied (pad);
select count(*) from copied where match (pad) against ('aaaa' in boolean mode);
alter table items add column extra varchar(40) as (left(t, 8)) stored, drop key t, add key (extra);
optimize table items;
select count(*), md5(group_concat(extra order by i)) from items;
check table items, copied extended;
