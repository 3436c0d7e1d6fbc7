//! A trace that is replayed as it is read, in memory that follows its live objects.
//!
//! It is read twice: first to check it and to count what a replay must know before its first event,
//! then to replay it. In between, an allocator that makes use of the demand reads it, too.

use std::path::Path;

use anyhow::{Result, bail};
use surefit_trace::{CheckedReader, Op};

use crate::feed::Feed;
use crate::memory;
use crate::results::AllocatorResult;
use crate::single::{self, Setting};
use crate::spec::{Choice, Spec};
use crate::steps::{Calls, Steps, too_large};

/// Replays a file on one allocator as it is read: each byte is written and verified, and memory is
/// measured, but no time. Also returns what is known of the trace.
///
/// # Errors
/// The file is no sound trace, or nothing is ever live; the allocator lives in no region, or broke
/// a rule. If it had no room, the row says so.
pub fn replay(file: &Path, spec: &Spec, setting: Setting) -> Result<(Steps, AllocatorResult)> {
    let kind = match &spec.choice {
        Choice::InProcess(kind) if kind.in_region() => kind,
        _ => bail!(
            "{spec}: --stream replays in a region of its own; leave it out, or choose an allocator that lives in one"
        ),
    };
    let steps = describe(file)?;
    steps.live(file, false)?;
    memory::affordable("a heap", kind.heap_bytes(setting.heap, &steps) as u64)?;
    let kind = &kind.told_fed(&mut Feed::open(file)?);
    let row = single::check_fed(spec, kind, &steps, &mut Feed::open(file)?, setting)?;
    Ok((steps, row))
}

/// Checks the trace of a file, and says what a replay must know before its first event.
fn describe(file: &Path) -> Result<Steps> {
    let mut reader = CheckedReader::open(file)?;
    let (mut calls, mut event) = (Calls::default(), 0);
    while let Some(next) = reader.next().transpose()? {
        let (count, size) = match next.op() {
            Op::Alloc { size, .. } => (&mut calls.mallocs, size),
            Op::Realloc { size, .. } => (&mut calls.reallocs, size),
            Op::Free { .. } => (&mut calls.frees, 0),
        };
        *count += 1;
        if u32::try_from(size).is_err() {
            return Err(too_large(&reader.header().name, event));
        }
        event += 1;
    }
    let (header, peak) = (reader.header(), reader.peak().unwrap_or_default());
    let mut steps = Steps::described(&header.name, header.counts, peak)?;
    steps.calls = calls;
    Ok(steps)
}
