//! What the variables `SUREFIT_*` of the environment say.
#![deny(unsafe_code)]

use core::ffi::CStr;

use crate::text::copied;

/// The least limit: with less no program comes to its beginning.
const LEAST_LIMIT: usize = 1 << 20;

/// How the names of all variables begin.
pub(crate) const PREFIX: &[u8] = b"SUREFIT_";

/// The most bytes of a file's name.
const NAME_BYTES: usize = 4096;

/// What is written when the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statistics {
    None,
    Text,
    Json,
}

/// How the heap is used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    /// The most bytes of pages and large objects; the largest number if there is no limit.
    pub(crate) limit: usize,
    /// The bytes above which the program's function is called; the largest number for never.
    pub(crate) soft_limit: usize,
    /// Milliseconds before free memory goes back; `u32::MAX` is never.
    pub(crate) delay: u32,
    /// Threads that share an instance; 1 if each has its own.
    pub(crate) sharing: u32,
    /// Whether each free is checked.
    pub(crate) checks: bool,
    /// Whether the process goes on after misuse that was found.
    pub(crate) ignores_misuse: bool,
    /// Whether the system is asked for huge pages.
    pub(crate) huge_pages: bool,
    /// κ of `surefit_defrag_hint`.
    pub(crate) defrag_pages: u32,
    pub(crate) statistics: Statistics,
    file: Option<&'static CStr>,
}

/// A value that its variable does not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    /// What is accepted, and which value holds instead.
    pub(crate) wanted: &'static str,
}

/// A variable's name, and what its value does.
pub(crate) type Variable = (&'static CStr, fn(&mut Options, &[u8]) -> Result<(), Bad>);

/// All variables.
pub(crate) const VARIABLES: [Variable; 9] = [
    (c"SUREFIT_LIMIT", |options, value| {
        let wanted = "bytes, as 500M or 2G; there is no limit";
        let limit = bytes(value).ok_or(Bad { wanted })?;
        if limit < LEAST_LIMIT {
            let wanted = "1M or more, which a program needs to begin; there is no limit";
            return Err(Bad { wanted });
        }
        options.limit = limit;
        Ok(())
    }),
    (c"SUREFIT_SOFT_LIMIT", |options, value| {
        let wanted = "bytes, as 500M or 2G; there is none";
        options.soft_limit = bytes(value).ok_or(Bad { wanted })?;
        Ok(())
    }),
    (c"SUREFIT_PURGE_MS", |options, value| {
        let wanted = "milliseconds, or -1 for never; it is 100";
        let delay = match value {
            b"-1" => Some(u32::MAX),
            _ => number(value).and_then(|number| u32::try_from(number).ok()),
        };
        options.delay = delay.ok_or(Bad { wanted })?;
        Ok(())
    }),
    (c"SUREFIT_SHARING", |options, value| {
        let wanted = "threads for each instance, from 1 on; it is 1";
        let threads = number(value).and_then(|number| u32::try_from(number).ok());
        options.sharing = threads
            .filter(|threads| *threads > 0)
            .ok_or(Bad { wanted })?;
        Ok(())
    }),
    (c"SUREFIT_CHECK", |options, value| {
        options.checks = switch(value)?;
        Ok(())
    }),
    (c"SUREFIT_HUGE_PAGES", |options, value| {
        options.huge_pages = switch(value)?;
        Ok(())
    }),
    (c"SUREFIT_MISUSE", |options, value| {
        options.ignores_misuse = match value {
            b"abort" => false,
            b"ignore" => true,
            _ => {
                return Err(Bad {
                    wanted: "abort or ignore; it is abort",
                });
            }
        };
        Ok(())
    }),
    (c"SUREFIT_DEFRAG_PAGES", |options, value| {
        let wanted = "pages of a size-class, from 1 on; it is 4";
        let pages = number(value).and_then(|number| u32::try_from(number).ok());
        options.defrag_pages = pages.filter(|pages| *pages > 0).ok_or(Bad { wanted })?;
        Ok(())
    }),
    (c"SUREFIT_STATS", Options::set_statistics),
];

/// The variable that is meant by a name that is nearly its own; `None` if it is one, or far from
/// all. The name is that of `NAME=value`.
pub(crate) fn meant(entry: &[u8]) -> Option<&'static CStr> {
    let end = entry.iter().position(|byte| *byte == b'=')?;
    let name = &entry[..end];
    if !name.starts_with(PREFIX) || name.len() == PREFIX.len() {
        return None;
    }
    let mut known = VARIABLES.iter().map(|(known, _)| *known);
    if known.clone().any(|known| known.to_bytes() == name) {
        return None;
    }
    known.find(|known| is_near(name, known.to_bytes()))
}

/// Whether a name is the begin of a known one, or differs from it in two letters side by side.
fn is_near(name: &[u8], known: &[u8]) -> bool {
    let same = |(a, b): &(&u8, &u8)| a == b;
    let first = name.iter().zip(known).take_while(same).count();
    let (name, known) = (&name[first..], &known[first..]);
    let (ours, theirs) = (name.iter().rev(), known.iter().rev());
    let last = ours.zip(theirs).take_while(same).count();
    name.is_empty() || (name.len() - last <= 2 && known.len() - last <= 2)
}

impl Options {
    /// Takes back a soft limit that the limit is never above; returns whether it did.
    pub(crate) fn without_idle_soft_limit(&mut self) -> bool {
        let is_idle = self.soft_limit != usize::MAX && self.soft_limit >= self.limit;
        if is_idle {
            self.soft_limit = usize::MAX;
        }
        is_idle
    }

    pub(crate) const DEFAULT: Self = Self {
        limit: usize::MAX,
        soft_limit: usize::MAX,
        delay: 100,
        sharing: 1,
        checks: false,
        ignores_misuse: false,
        huge_pages: false,
        defrag_pages: 4,
        statistics: Statistics::None,
        file: None,
    };

    /// `1`, `json`, or `file:` and a name; JSON if the name ends so.
    fn set_statistics(&mut self, value: &[u8]) -> Result<(), Bad> {
        let wanted = "1, json, or file: and a name; nothing is written";
        self.statistics = match (value, value.strip_prefix(b"file:")) {
            (b"0", _) => Statistics::None,
            (b"1", _) => Statistics::Text,
            (b"json", _) => Statistics::Json,
            (_, Some(name)) if !name.is_empty() && name.len() < NAME_BYTES => {
                // What the environment says may change.
                self.file = Some(copied(name).ok_or(Bad { wanted })?);
                if name.ends_with(b".json") {
                    Statistics::Json
                } else {
                    Statistics::Text
                }
            }
            _ => return Err(Bad { wanted }),
        };
        Ok(())
    }

    /// The file for statistics; standard error if there is none.
    pub(crate) fn file(&self) -> Option<&'static CStr> {
        self.file
    }
}

/// A number in decimal digits.
fn number(text: &[u8]) -> Option<usize> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_usize, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| usize::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

fn switch(value: &[u8]) -> Result<bool, Bad> {
    match value {
        b"0" => Ok(false),
        b"1" => Ok(true),
        _ => Err(Bad {
            wanted: "0 or 1; it is 0",
        }),
    }
}

/// Bytes: a number, and K, M, G or T for powers of 1024.
fn bytes(text: &[u8]) -> Option<usize> {
    let (last, digits) = text.split_last()?;
    let shift = match last.to_ascii_uppercase() {
        b'K' => 10,
        b'M' => 20,
        b'G' => 30,
        b'T' => 40,
        _ => return number(text),
    };
    number(digits)?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Result<Options, Bad> {
        let mut options = Options::DEFAULT;
        let variable = VARIABLES.iter().find(|(it, _)| it.to_str() == Ok(name));
        variable.expect("there is one").1(&mut options, value.as_bytes())?;
        Ok(options)
    }

    #[test]
    fn a_limit_under_which_no_program_begins_is_refused() {
        for little in ["0", "16K", "1023K"] {
            let bad = with("SUREFIT_LIMIT", little).expect_err("refused");
            assert!(bad.wanted.starts_with("1M or more"), "{little}");
        }
        let mut options = with("SUREFIT_LIMIT", "1M").expect("enough");
        assert_eq!(options.limit, 1 << 20);
        for (soft, is_idle) in [(usize::MAX, false), ((1 << 20) - 1, false), (1 << 20, true)] {
            options.soft_limit = soft;
            assert_eq!(options.without_idle_soft_limit(), is_idle);
        }
        assert_eq!(options.soft_limit, usize::MAX);
    }

    #[test]
    fn a_name_that_is_nearly_a_variables_is_taken_for_a_slip() {
        let meant = |entry: &str| meant(entry.as_bytes()).and_then(|name| name.to_str().ok());
        for (slip, name) in [
            ("SUREFIT_LIMT=1G", "SUREFIT_LIMIT"),
            ("SUREFIT_LIMITS=1G", "SUREFIT_LIMIT"),
            ("SUREFIT_SOFTLIMIT=1G", "SUREFIT_SOFT_LIMIT"),
            ("SUREFIT_PURGE=0", "SUREFIT_PURGE_MS"),
            ("SUREFIT_STAST=1", "SUREFIT_STATS"),
        ] {
            assert_eq!(meant(slip), Some(name), "{slip}");
        }
        for other in [
            "SUREFIT_LIMIT=1G",
            "SUREFIT_RECORD=/a",
            "SUREFIT_TESTS=1",
            "SUREFIT_=1",
            "SUREFIT_MALLOC_LIBRARY=/a",
            "LIMIT=1",
            "SUREFIT_LIMT",
        ] {
            assert_eq!(meant(other), None, "{other}");
        }
    }

    #[test]
    fn bytes_have_suffixes_and_no_overflow() {
        assert_eq!(bytes(b"0"), Some(0));
        assert_eq!(bytes(b"3k"), Some(3 << 10));
        assert_eq!(bytes(b"512M"), Some(512 << 20));
        assert_eq!(bytes(b"2G"), Some(2 << 30));
        assert_eq!(bytes(b"1T"), Some(1 << 40));
        for bad in [
            "",
            "K",
            "-1",
            "1.5G",
            "1GB",
            "0x10",
            "99999999999999T",
            " 1",
        ] {
            assert_eq!(bytes(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn values_are_read_or_refused() {
        assert_eq!(
            with("SUREFIT_PURGE_MS", "-1").expect("never").delay,
            u32::MAX
        );
        assert_eq!(with("SUREFIT_PURGE_MS", "0").expect("at once").delay, 0);
        assert!(with("SUREFIT_PURGE_MS", "-2").is_err());
        assert!(with("SUREFIT_SHARING", "0").is_err());
        assert!(with("SUREFIT_CHECK", "yes").is_err());
        assert!(
            with("SUREFIT_HUGE_PAGES", "1")
                .expect("a switch")
                .huge_pages
        );
        assert!(
            !with("SUREFIT_HUGE_PAGES", "0")
                .expect("a switch")
                .huge_pages
        );
        assert!(
            with("SUREFIT_MISUSE", "ignore")
                .expect("a word")
                .ignores_misuse
        );
        let file = with("SUREFIT_STATS", "file:/tmp/a.json").expect("a file");
        assert_eq!(file.statistics, Statistics::Json);
        assert_eq!(file.file(), Some(c"/tmp/a.json"));
        assert!(with("SUREFIT_STATS", "file:").is_err());
        let none = with("SUREFIT_STATS", "1").expect("a word");
        assert_eq!((none.statistics, none.file()), (Statistics::Text, None));
    }
}
