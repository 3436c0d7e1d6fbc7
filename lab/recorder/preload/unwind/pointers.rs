//! Following frame pointers.

use super::addresses::Addresses;
use super::entry::called;
use super::stack::end_above;

/// The callers, at most so many.
pub(crate) fn found(most: usize) -> Addresses {
    let mut found = Addresses::new(most);
    follow(&mut found);
    found
}

/// Follows the frame pointers while they lead up this thread's stack. In code without them the
/// register holds anything; what it points at is read only inside the stack.
#[inline]
fn follow(found: &mut Addresses) {
    let Some(call) = called() else { return };
    let mut goes_on = found.push(call.pc);
    let Some(end) = end_above(call.sp) else {
        return;
    };
    let (mut frame, mut least) = (call.fp, call.sp);
    while goes_on && frame >= least && frame <= end - 16 && frame % 8 == 0 {
        let at = core::ptr::with_exposed_provenance::<usize>(frame);
        // SAFETY: two words inside the stack of this thread, which lie above what is in use now.
        let (caller, address) = unsafe { (at.read(), at.add(1).read()) };
        if address == 0 {
            return;
        }
        goes_on = found.push(address);
        least = frame + 16;
        frame = caller;
    }
}
