//! Budgets of several things at once.
#![deny(unsafe_code)]

use surefit_compact::Config;
use surefit_compact::certify::{BlockCount, Budget, ClassSet};

/// What nothing takes.
pub(crate) const NONE: Budget = Budget {
    objects: 0,
    block_bytes: 0,
    classes: ClassSet::EMPTY,
};

/// Two budgets at once; `None` if no number is large enough.
pub(crate) fn both(config: &Config, one: Budget, other: Budget) -> Option<Budget> {
    let classes = config.geometry().classes();
    let of_other = classes.filter(|class| other.classes.contains(*class));
    Some(Budget {
        objects: one.objects.checked_add(other.objects)?,
        block_bytes: one.block_bytes.checked_add(other.block_bytes)?,
        classes: of_other.fold(one.classes, ClassSet::with),
    })
}

/// So many times what an object takes, and once something else.
pub(crate) fn times(objects: usize, each: BlockCount, more: BlockCount) -> Option<(u64, u64)> {
    let objects = objects as u64;
    let blocks = each.blocks.checked_mul(objects)?.checked_add(more.blocks)?;
    let bytes = each.bytes.checked_mul(objects)?.checked_add(more.bytes)?;
    Some((blocks, bytes))
}
