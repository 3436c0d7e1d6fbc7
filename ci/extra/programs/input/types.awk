# A Rust library of `types` types, each with two traits, generic code and collections; `all` runs them.
BEGIN {
  print "#![allow(dead_code)]\nuse std::collections::{BTreeMap, HashMap};\nuse std::fmt::Debug;"
  print "pub trait Shape: Debug { fn area(&self) -> u64; fn name(&self) -> String { format!(\"{:?}\", self) } }"
  print "fn largest<'a, T: Shape + ?Sized>(items: &'a [Box<T>]) -> Option<&'a T> { items.iter().map(|b| &**b).max_by_key(|s| s.area()) }"
  for (i = 0; i < types; i++) {
    printf "#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]\npub struct T%d { a: [u32; %d], b: Option<Box<T%d>>, c: String }\n", i, i % 5 + 1, i
    printf "impl Shape for T%d { #[inline(never)] fn area(&self) -> u64 { let s: u64 = self.a.iter().map(|x| u64::from(*x) * %d).sum(); match self.b { Some(ref b) if s %% 3 == %d => b.area() ^ s, Some(_) => s + 1, None => s } } }\n", i, i + 1, i % 3
    printf "impl From<u32> for T%d { #[inline(never)] fn from(n: u32) -> Self { T%d { a: [n; %d], b: if n > 0 { Some(Box::new(T%d::from(n / 2))) } else { None }, c: n.to_string() } } }\n", i, i, i % 5 + 1, i
    printf "pub fn f%d(n: u32) -> u64 { let mut m: BTreeMap<String, Vec<T%d>> = BTreeMap::new(); let mut h: HashMap<u32, u64> = HashMap::new(); for i in 0..n { let t = T%d::from(i * %d); *h.entry(i %% 7).or_default() += t.area(); m.entry(t.c.clone()).or_default().push(t); } m.values().flatten().filter(|t| t.b.is_some()).map(Shape::area).sum::<u64>().wrapping_add(h.values().sum()) }\n", i, i, i, i + 3
  }
  print "pub fn all() -> u64 {\n    let mut sum = 0u64;"
  for (i = 0; i < types; i++) printf "    sum = sum.wrapping_mul(31).wrapping_add(f%d(20));\n", i
  print "    let shapes: Vec<Box<dyn Shape>> = vec!["
  for (i = 0; i < types; i++) printf "        Box::new(T%d::from(%d)),\n", i, i
  print "    ];\n    sum ^ largest(&shapes).map_or(0, |s| s.name().len() as u64)\n}"
}
