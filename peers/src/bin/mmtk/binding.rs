//! What MMTk must know of our objects: two references each, none of them moved.
//!
//! MMTk asks for a good deal more than a collector that moves nothing, in a program of one kind of
//! object and one thread, ever needs; those functions say so if they are called.

use mmtk::Mutator;
use mmtk::util::alloc::AllocationError;
use mmtk::util::copy::{CopySemantics, GCWorkerCopyContext};
use mmtk::util::opaque_pointer::{VMMutatorThread, VMThread, VMWorkerThread};
use mmtk::util::{Address, ObjectReference};
use mmtk::vm::slot::{SimpleSlot, UnimplementedMemorySlice};
use mmtk::vm::{
    ActivePlan, Collection, GCThreadContext, ObjectModel, ObjectTracer, ReferenceGlue,
    RootsWorkFactory, Scanning, SlotVisitor, VMBinding, VMGlobalLogBitSpec,
    VMLocalForwardingBitsSpec, VMLocalForwardingPointerSpec, VMLocalLOSMarkNurserySpec,
    VMLocalMarkBitSpec,
};

use crate::world::{self, Peer, ROOTS};

/// References of a node.
pub(crate) const CHILDREN: usize = 2;

/// Bytes of a reference.
pub(crate) const CHILD_BYTES: usize = 8;

/// The word of a node that holds child `number`; zero is none.
pub(crate) fn child_slot(node: ObjectReference, number: usize) -> Address {
    node.to_raw_address() + number * CHILD_BYTES
}

/// The children of a node.
pub(crate) fn children(node: ObjectReference) -> [Option<ObjectReference>; CHILDREN] {
    // SAFETY: every reference is to a node whose two words were written when it was made.
    let child = |number| unsafe { child_slot(node, number).load() };
    [child(0), child(1)].map(ObjectReference::from_raw_address)
}

impl VMBinding for Peer {
    type VMObjectModel = Self;
    type VMScanning = Self;
    type VMCollection = Self;
    type VMActivePlan = Self;
    type VMReferenceGlue = Self;
    type VMSlot = SimpleSlot;
    type VMMemorySlice = UnimplementedMemorySlice;

    const MIN_ALIGNMENT: usize = CHILD_BYTES;
    const MAX_ALIGNMENT: usize = CHILD_BYTES;
    const USE_ALLOCATION_OFFSET: bool = false;
}

impl ObjectModel<Self> for Peer {
    const GLOBAL_LOG_BIT_SPEC: VMGlobalLogBitSpec = VMGlobalLogBitSpec::side_first();
    const LOCAL_FORWARDING_POINTER_SPEC: VMLocalForwardingPointerSpec =
        VMLocalForwardingPointerSpec::in_header(0);
    const LOCAL_FORWARDING_BITS_SPEC: VMLocalForwardingBitsSpec =
        VMLocalForwardingBitsSpec::side_first();
    const LOCAL_MARK_BIT_SPEC: VMLocalMarkBitSpec =
        VMLocalMarkBitSpec::side_after(Self::LOCAL_FORWARDING_BITS_SPEC.as_spec());
    const LOCAL_LOS_MARK_NURSERY_SPEC: VMLocalLOSMarkNurserySpec =
        VMLocalLOSMarkNurserySpec::side_after(Self::LOCAL_MARK_BIT_SPEC.as_spec());
    const UNIFIED_OBJECT_REFERENCE_ADDRESS: bool = true;
    const OBJECT_REF_OFFSET_LOWER_BOUND: isize = 0;

    fn copy(
        _: ObjectReference,
        _: CopySemantics,
        _: &mut GCWorkerCopyContext<Self>,
    ) -> ObjectReference {
        unreachable!("nothing moves")
    }

    fn copy_to(_: ObjectReference, _: ObjectReference, _: Address) -> Address {
        unreachable!("nothing moves")
    }

    fn get_reference_when_copied_to(_: ObjectReference, _: Address) -> ObjectReference {
        unreachable!("nothing moves")
    }

    fn get_current_size(_: ObjectReference) -> usize {
        CHILDREN * CHILD_BYTES
    }

    fn get_size_when_copied(_: ObjectReference) -> usize {
        unreachable!("nothing moves")
    }

    fn get_align_when_copied(_: ObjectReference) -> usize {
        unreachable!("nothing moves")
    }

    fn get_align_offset_when_copied(_: ObjectReference) -> usize {
        unreachable!("nothing moves")
    }

    fn get_type_descriptor(_: ObjectReference) -> &'static [i8] {
        unreachable!("no object has one")
    }

    fn ref_to_object_start(object: ObjectReference) -> Address {
        object.to_raw_address()
    }

    fn ref_to_header(object: ObjectReference) -> Address {
        object.to_raw_address()
    }

    fn dump_object(object: ObjectReference) {
        println!("{object}");
    }
}

impl Scanning<Self> for Peer {
    /// References are followed at once instead of through packets of slots: a little faster here.
    fn support_slot_enqueuing(_: VMWorkerThread, _: ObjectReference) -> bool {
        false
    }

    fn scan_object<V: SlotVisitor<SimpleSlot>>(
        _: VMWorkerThread,
        object: ObjectReference,
        visitor: &mut V,
    ) {
        for number in 0..CHILDREN {
            visitor.visit_slot(SimpleSlot::from_address(child_slot(object, number)));
        }
    }

    fn scan_object_and_trace_edges<T: ObjectTracer>(
        _: VMWorkerThread,
        object: ObjectReference,
        tracer: &mut T,
    ) {
        for child in children(object).into_iter().flatten() {
            tracer.trace_object(child);
        }
    }

    fn notify_initial_thread_scan_complete(_: bool, _: VMWorkerThread) {}

    fn scan_roots_in_mutator_thread(
        _: VMWorkerThread,
        _: &'static mut Mutator<Self>,
        mut factory: impl RootsWorkFactory<SimpleSlot>,
    ) {
        factory.create_process_pinning_roots_work(ROOTS.all());
    }

    fn scan_vm_specific_roots(_: VMWorkerThread, _: impl RootsWorkFactory<SimpleSlot>) {}

    fn supports_return_barrier() -> bool {
        false
    }

    fn prepare_for_roots_re_scanning() {}
}

impl Collection<Self> for Peer {
    fn stop_all_mutators<F: FnMut(&'static mut Mutator<Self>)>(_: VMWorkerThread, mut visit: F) {
        world::await_stop();
        visit(world::mutator());
    }

    fn resume_mutators(_: VMWorkerThread) {
        world::resume();
    }

    fn block_for_gc(_: VMMutatorThread) {
        world::stop();
    }

    fn spawn_gc_thread(_: VMThread, context: GCThreadContext<Self>) {
        let GCThreadContext::Worker(worker) = context;
        std::thread::spawn(|| world::work(worker));
    }

    fn out_of_memory(_: VMThread, error: AllocationError) {
        eprintln!("the heap is full ({error:?}): give heap=BYTES more");
        std::process::exit(1);
    }
}

impl ActivePlan<Self> for Peer {
    fn is_mutator(thread: VMThread) -> bool {
        thread == world::mutator_thread().0
    }

    fn mutator(_: VMMutatorThread) -> &'static mut Mutator<Self> {
        world::mutator()
    }

    #[expect(
        clippy::redundant_closure,
        reason = "the function itself would have to return what lives for 'a only"
    )]
    fn mutators<'a>() -> Box<dyn Iterator<Item = &'a mut Mutator<Self>> + 'a> {
        Box::new(std::iter::once_with(|| world::mutator()))
    }

    fn number_of_mutators() -> usize {
        1
    }
}

impl ReferenceGlue<Self> for Peer {
    type FinalizableType = ObjectReference;

    fn clear_referent(_: ObjectReference) {
        unreachable!("no reference is weak")
    }

    fn get_referent(_: ObjectReference) -> Option<ObjectReference> {
        unreachable!("no reference is weak")
    }

    fn set_referent(_: ObjectReference, _: ObjectReference) {
        unreachable!("no reference is weak")
    }

    fn enqueue_references(_: &[ObjectReference], _: VMWorkerThread) {
        unreachable!("no reference is weak")
    }
}
