//! What the variables `SUREFIT_*` of the environment say.
#![deny(unsafe_code)]

use core::ffi::CStr;

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
    file: [u8; NAME_BYTES],
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
        options.limit = bytes(value).ok_or(Bad { wanted })?;
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

impl Options {
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
        file: [0; NAME_BYTES],
    };

    /// `1`, `json`, or `file:` and a name; JSON if the name ends so.
    fn set_statistics(&mut self, value: &[u8]) -> Result<(), Bad> {
        let wanted = "1, json, or file: and a name; nothing is written";
        self.statistics = match (value, value.strip_prefix(b"file:")) {
            (b"0", _) => Statistics::None,
            (b"1", _) => Statistics::Text,
            (b"json", _) => Statistics::Json,
            (_, Some(name)) if !name.is_empty() && name.len() < NAME_BYTES => {
                self.file[..name.len()].copy_from_slice(name);
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
    pub(crate) fn file(&self) -> Option<&CStr> {
        let name = CStr::from_bytes_until_nul(&self.file).ok()?;
        Some(name).filter(|name| !name.is_empty())
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
