//! All allocators, one line each.

use std::mem::MaybeUninit;

use anyhow::{Result, bail};
use surefit_core::Refused;

use crate::any::Any;
use crate::feed::Feed;
use crate::keys::Keys;
use crate::libraries::{KNOWN, OURS, OURS_IS};
use crate::sizes::HeapSize;
use crate::steps::{InParts, Steps};
use crate::subject::{Allocator, Certified, HandleCost, Pass, Subject};
use crate::subjects::{
    block_table, cf_paper, compact, cooperating, dlmalloc, indirect, jamaica, os, raw, rlsf,
    segregated, sharded, shared, shared_direct, system, talc,
};
use crate::suggest::did_you_mean;
use crate::wrap::filled;

macro_rules! registry {
    ($($name:literal $kind:ident $allocator:ty, $what:literal;)*) => {
        /// An allocator of the registry, configured.
        #[derive(Clone, Debug)]
        pub enum Kind {
            $(#[doc = $what] $kind(<$allocator as Allocator>::Options),)*
        }

        /// All allocators: their names, their keys, and what they are.
        pub const ENTRIES: &[Entry] = &[
            $(Entry {
                name: $name,
                keys: <$allocator>::KEYS,
                has_pointers: <$allocator>::HAS_POINTERS,
                what: $what,
            },)*
        ];

        /// Reads a name and its keys.
        ///
        /// # Errors
        /// An unknown name or key; the error lists the known ones.
        pub fn parse(name: &str, keys: &Keys) -> Result<Kind> {
            match registered(name) {
                $($name => {
                    keys.only(<$allocator>::KEYS)?;
                    Ok(Kind::$kind(<$allocator>::options(keys)?))
                })*
                _ => {
                    let libraries = KNOWN.iter().map(|known| known.name);
                    let known: Vec<_> = ENTRIES.iter().map(|entry| entry.name).chain(libraries).collect();
                    let hint = did_you_mean(name, &known);
                    bail!("there is no such allocator; the allocators are {}{hint}", names())
                }
            }
        }

        impl Kind {
            /// Builds the allocator over a region and runs a pass with it.
            ///
            /// # Errors
            /// The region is too small for the allocator's own tables, or too large for it.
            pub fn run<P: Pass>(
                &self,
                memory: &mut [MaybeUninit<u8>],
                pass: P,
            ) -> Result<P::Output, Refused> {
                match self {
                    $(Self::$kind(options) => <$allocator>::run(options, memory, pass),)*
                }
            }

            /// As [`Kind::run`], for a pass of which nobody takes the time or counts the
            /// instructions: it is compiled once.
            ///
            /// # Errors
            /// As [`Kind::run`].
            pub fn run_untimed<P: Pass>(
                &self,
                memory: &mut [MaybeUninit<u8>],
                pass: P,
            ) -> Result<P::Output, Refused> {
                let (mut pass, mut output) = (Some(pass), None);
                let mut run = |subject: Any<'_>| {
                    output = pass.take().map(|pass| pass.run(subject));
                };
                self.run(memory, Erase(&mut run))?;
                Ok(output.expect("an allocator that is built runs the pass"))
            }

            /// What is proven about every program with this trace's demand.
            pub fn certified(&self, steps: &Steps) -> Option<Certified> {
                match self {
                    $(Self::$kind(options) => <$allocator>::certified(options, steps),)*
                }
            }

            /// The same allocator, told the demand of a trace.
            #[must_use]
            pub fn told(&self, steps: &Steps) -> Self {
                self.told_fed(&mut Feed::of(steps))
            }

            /// As [`Kind::told`], of steps that come in parts.
            pub(crate) fn told_fed(&self, trace: &mut dyn InParts) -> Self {
                match self {
                    $(Self::$kind(options) => Self::$kind(<$allocator>::told(options, trace)),)*
                }
            }

            /// The size of its region in bytes, if the user requests `heap` bytes: at most what it
            /// can use.
            pub fn heap_bytes(&self, heap: HeapSize, steps: &Steps) -> usize {
                let most = match self {
                    $(Self::$kind(options) => <$allocator>::most_bytes(options),)*
                };
                heap.bytes(steps.peak_live_bytes).min(most)
            }

            /// Refuses a trace that would take hours to replay.
            ///
            /// # Errors
            /// One line that says what would take so long, and what to leave out.
            pub fn bearable(&self, steps: &Steps) -> Result<()> {
                match self {
                    $(Self::$kind(options) => <$allocator>::bearable(options, steps),)*
                }
            }

            /// The cost of its handles; `None` if it hands out raw pointers.
            pub fn handles(&self) -> Option<HandleCost> {
                match self {
                    $(Self::$kind(options) => <$allocator>::handles(options),)*
                }
            }

            /// Whether it lives in a region of a given size.
            pub fn in_region(&self) -> bool {
                match self {
                    $(Self::$kind(_) => <$allocator>::IN_REGION,)*
                }
            }
        }
    };
}

registry! {
    "cf" Cf compact::Cf, "Compact-fit: handles, moves objects, bounds fragmentation";
    "cf-os" CfOs os::CfOs, "Compact-fit over the operating system's memory: gives emptied pages back";
    "cf-direct" CfDirect compact::CfDirect, "Compact-fit without moves: raw pointers";
    "cf-paper" CfPaper cf_paper::CfPaper, "Compact-fit without moves and handles, with the papers' pages and size-classes";
    "cf-block-table" CfBlockTable block_table::CfBlockTable, "Compact-fit without copies: objects in frames behind a block table";
    "cf-cooperating" Cooperating cooperating::Cooperating, "cf-direct in a program that moves objects out of pages worth emptying";
    "indirect" Indirect indirect::Indirect, "cf-direct behind a bare table of 32-bit words: the floor of handles";
    "1-cf" OneCf shared::OneCf, "concurrent Compact-fit: one heap for many threads";
    "n-cf" NCf sharded::NCf, "concurrent Compact-fit: one instance per group of threads";
    "n-cf-direct" NCfDirect shared_direct::NCfDirect, "Compact-fit without moves for threads: raw pointers, under the process allocator";
    "first-fit" FirstFit raw::OurFirstFit, "one free list, first chunk that fits";
    "best-fit" BestFit raw::OurBestFit, "one free list, best chunk that fits";
    "worst-fit" WorstFit raw::OurWorstFit, "one free list, largest chunk";
    "next-fit" NextFit raw::OurNextFit, "one free list, first chunk that fits after the last one that did";
    "tree-fit" TreeFit raw::OurTreeFit, "best fit by a balanced tree of all free chunks";
    "dl-binned" DlBinned raw::OurBinnedFit, "Doug Lea's malloc up to 2.7: exact and sorted bins (DL in the papers)";
    "segregated" Segregated segregated::OurSegregated, "a free list for every small size, and a last list for the rest";
    "half-fit" HalfFit raw::OurHalfFit, "a free list for every power of two, immediate coalescing";
    "buddy" Buddy raw::OurBuddy, "the binary buddy system";
    "jamaica" Jamaica jamaica::OurJamaica, "blocks of one size; objects are lists or trees of blocks";
    "tlsf" Tlsf raw::OurTlsf, "two-level segregated fit, immediate coalescing";
    "peer-rlsf" PeerRlsf rlsf::Rlsf, "the rlsf crate in one region; short name `rlsf`";
    "peer-talc" PeerTalc talc::Talc, "the talc crate in one region; short name `talc`";
    "peer-dlmalloc" PeerDlmalloc dlmalloc::Dlmalloc, "the dlmalloc crate, version 2.8 of DL, in one region; short names `dlmalloc`, `dl`";
    "system" System system::System, "the platform's malloc";
}

/// A pass that makes a subject any, for the function.
struct Erase<'a>(&'a mut dyn FnMut(Any<'_>));

impl Pass for Erase<'_> {
    type Output = ();

    fn run<S: Subject>(self, mut subject: S) {
        (self.0)(Any::of(&mut subject));
    }
}

/// The description of one allocator of the registry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Its keys, as `key=values`.
    pub keys: &'static [&'static str],
    /// Whether it hands out raw pointers, in every configuration.
    pub has_pointers: bool,
    /// What it is.
    pub what: &'static str,
}

/// The registry's name for an allocator that tables or the papers call differently: their DL is
/// Doug Lea's malloc.
fn registered(name: &str) -> &str {
    match name {
        "rlsf" => "peer-rlsf",
        "talc" => "peer-talc",
        "dl" | "dlmalloc" => "peer-dlmalloc",
        other => other,
    }
}

/// All names, for messages.
fn names() -> String {
    let names: Vec<_> = ENTRIES.iter().map(|entry| entry.name).collect();
    let libraries = KNOWN.map(|known| known.name).join(", ");
    format!("{}, preload:PATH, {libraries}", names.join(", "))
}

/// A table of all allocators and their keys, for `--help`.
#[must_use]
pub fn help() -> String {
    let libraries = KNOWN.map(|known| known.name).join(", ");
    let preload = format!(
        "  preload:PATH   any malloc library, preloaded into a child process\n                 \
         {libraries}:\n                 short for preload:PATH, where the library is installed;\n                 \
         {OURS_IS}=PATH names the file of {OURS}\n"
    );
    let file = "config=FILE is a key of every name: a TOML file with its keys, as `surefit tune` \
                writes it";
    let width = "cf without width has words of four bytes in a region that certifies a trace's demand \
                 with them, and of three bytes, which are slower, in a smaller one (128 MiB at most)";
    let notes = [file, width].map(|note| filled(note, "  ", "    ", COLUMNS) + "\n");
    table("Allocators", |_| true) + &preload + &notes.concat()
}

/// A table of the allocators that hand out raw pointers, for the `--help` of verbs that take no
/// others.
#[must_use]
pub fn help_of_pointers() -> String {
    table("Spaces", |entry| entry.has_pointers)
}

fn table(title: &str, is_listed: fn(&Entry) -> bool) -> String {
    let mut text = format!("{title} (name[:key=value,…]):\n");
    for Entry {
        name, keys, what, ..
    } in ENTRIES.iter().filter(|entry| is_listed(entry))
    {
        let first = format!("  {name:<14} ");
        text += &(filled(what, &first, &" ".repeat(17), COLUMNS) + "\n");
        text += &in_lines(keys);
    }
    text
}

/// The most columns of a line of help.
const COLUMNS: usize = 80;

/// The keys in brackets, in lines below the description of their allocator; empty without keys.
fn in_lines(keys: &[&str]) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for (place, key) in keys.iter().enumerate() {
        let end = if place + 1 < keys.len() { ',' } else { ']' };
        let opening = if place == 0 { "  [" } else { " " };
        let next = format!("{opening}{key}{end}");
        if line.chars().count() + next.chars().count() > COLUMNS {
            text += &format!("{line}\n");
            line.clear();
        }
        if line.is_empty() {
            line = " ".repeat(if place == 0 { 15 } else { 17 });
        }
        line += &next;
    }
    if !line.is_empty() {
        text += &format!("{line}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::mem::MaybeUninit;

    use super::{COLUMNS, ENTRIES, help, help_of_pointers};
    use crate::spec::{Choice, Spec};
    use crate::subject::{Pass, Subject};

    struct HasPointers;

    impl Pass for HasPointers {
        type Output = bool;

        fn run<S: Subject>(self, mut subject: S) -> bool {
            subject.pointers().is_some()
        }
    }

    #[test]
    fn an_allocator_says_truly_whether_it_hands_out_raw_pointers() {
        let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
        for entry in ENTRIES {
            let Choice::InProcess(kind) = Spec::parse(entry.name).expect("a name").choice else {
                panic!("{} is in this process", entry.name);
            };
            let has = kind.run(&mut memory, HasPointers).expect("room");
            assert_eq!(has, entry.has_pointers, "{}", entry.name);
        }
        let help = help_of_pointers();
        assert!(help.contains("tlsf") && !help.contains("1-cf"), "{help}");
    }

    #[test]
    fn help_lists_every_key_and_fits_the_screen() {
        let help = help();
        let longest = help.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(COLUMNS), "{help}");
        for entry in ENTRIES {
            assert!(help.contains(&format!("\n  {} ", entry.name)), "{help}");
            for key in entry.keys {
                assert!(help.contains(key), "{key}: {help}");
            }
        }
    }
}
