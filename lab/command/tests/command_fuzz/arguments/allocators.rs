//! Allocators: names, keys and values, mostly those that exist.

use rand::Rng;

use super::Line;
use crate::files::{Kind, any};

const NAMES: [&str; 33] = [
    "cf",
    "cf",
    "cf",
    "cf-os",
    "cf-direct",
    "cf-cooperating",
    "cf-paper",
    "cf-block-table",
    "indirect",
    "1-cf",
    "n-cf",
    "n-cf-direct",
    "first-fit",
    "best-fit",
    "worst-fit",
    "next-fit",
    "tree-fit",
    "dl-binned",
    "segregated",
    "segregated",
    "half-fit",
    "buddy",
    "jamaica",
    "dl",
    "tlsf",
    "peer-rlsf",
    "peer-talc",
    "peer-dlmalloc",
    "system",
    "compact-fit",
    "preload",
    "",
    "nothing",
];

const KEYS: [&str; 28] = [
    "ask",
    "config",
    "k",
    "holes",
    "frac",
    "page",
    "min",
    "pieces",
    "order",
    "classes",
    "width",
    "keys",
    "branded",
    "frame",
    "block",
    "arrays",
    "index",
    "coalesce",
    "last",
    "lists",
    "threads",
    "threads-per-instance",
    "lock",
    "increment",
    "pins",
    "k",
    "",
    "x",
];

const WORDS: [&str; 24] = [
    "inf",
    "off",
    "newest",
    "original",
    "default",
    "16",
    "32",
    "64",
    "1/16",
    "0/0",
    "1/0",
    "3/4",
    "scan",
    "nht",
    "bitmap",
    "never",
    "deferred",
    "immediate",
    "tree",
    "linear",
    "page",
    "class",
    "",
    "=",
];

/// What an allocator's keys may be; the others have none.
const OWN_KEYS: [(&str, &[&str]); 10] = [
    (
        "cf",
        &[
            "k=1",
            "k=inf",
            "holes=4",
            "frac=1/16",
            "page=4K",
            "page=64K",
            "min=8",
            "pieces=1K",
            "pieces=off",
            "order=newest",
            "k=3,order=original",
            "width=16",
            "width=24",
            "width=32",
            "keys",
            "branded",
        ],
    ),
    (
        "compact-fit",
        &["k=1", "k=inf", "holes=32,frac=1/2", "page=4K", "pieces=4K"],
    ),
    (
        "cf-block-table",
        &["k=1", "frame=64", "frame=1K", "page=4K"],
    ),
    (
        "cf-os",
        &[
            "k=1",
            "page=4K",
            "limit=1M",
            "limit=64M",
            "delay=0",
            "delay=1000",
        ],
    ),
    ("cf-direct", &["min=8", "min=1024"]),
    ("cf-cooperating", &["ask=1", "ask=1024", "k=2"]),
    ("cf-paper", &["min=16", "min=32"]),
    (
        "segregated",
        &[
            "index=scan",
            "index=nht",
            "coalesce=never",
            "coalesce=deferred",
            "last=linear",
            "lists=16",
            "lists=4096",
        ],
    ),
    (
        "jamaica",
        &["block=16", "block=128", "arrays=off", "arrays=64"],
    ),
    (
        "1-cf",
        &[
            "lock=heap",
            "lock=class",
            "lock=page",
            "increment=64",
            "k=2",
            "page=4K",
            "threads=2",
            "pins=1",
        ],
    ),
];

impl Line<'_> {
    pub(super) fn spec(&mut self) -> String {
        let name = any(self.random, &NAMES);
        match name {
            "preload" => {
                let file = self.files.read(self.random, Kind::Script);
                format!("preload:{file}")
            }
            _ if self.one_in(2) => name.to_owned(),
            _ => format!("{name}{}", self.keys(name)),
        }
    }

    /// Keys with values that the allocator has, or now and then any keys with any values.
    pub(super) fn keys(&mut self, name: &str) -> String {
        let own = OWN_KEYS.iter().find(|(known, _)| *known == name);
        let Some((_, own)) = own.filter(|_| !self.one_in(6)) else {
            return self.any_keys();
        };
        let mut keys = vec![any(self.random, own).to_owned()];
        if self.one_in(3) {
            keys.push(any(self.random, own).to_owned());
        }
        if name == "cf" && self.one_in(6) {
            let file = self.files.read(self.random, Kind::Classes);
            keys.push(format!("classes={file}"));
        }
        format!(":{}", keys.join(","))
    }

    pub(super) fn any_keys(&mut self) -> String {
        let mut text = String::new();
        for place in 0..self.random.random_range(0..4) {
            text.push(if place == 0 { ':' } else { ',' });
            let key = any(self.random, &KEYS);
            let value = match (key, self.random.random_range(0..8)) {
                ("classes" | "config", 1..) => self.files.read(self.random, Kind::Classes),
                ("page" | "pieces" | "frame" | "min" | "increment" | "arrays", 2..) => self.size(),
                ("k" | "holes" | "lists" | "block" | "threads" | "pins", 2..) => self.number(),
                _ => any(self.random, &WORDS).to_owned(),
            };
            text.push_str(&format!("{key}={value}"));
        }
        text
    }
}
