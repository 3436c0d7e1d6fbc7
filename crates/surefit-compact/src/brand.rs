//! The macro that declares brands.

/// Declares a type that one heap can have as its brand.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_compact::branded::{BrandedHandle, BrandedHeap};
/// use surefit_compact::{Config, Heap};
///
/// surefit_compact::brand! {
///     /// The heap of this program.
///     struct Main;
/// }
///
/// #[derive(Debug)]
/// struct Node {
///     value: u64,
///     next: Option<BrandedHandle<Main, Node>>,
/// }
///
/// static CONFIG: Config = Config::DEFAULT;
/// let memory = Box::leak(Box::new([const { MaybeUninit::uninit() }; 1 << 20]));
/// let heap: Heap = Heap::new(memory, &CONFIG)?;
/// let heap: BrandedHeap<'_, Main> = heap.into_branded().expect("the first heap of this brand");
/// let last = heap.insert(Node { value: 2, next: None })?;
/// let first = heap.insert(Node { value: 1, next: Some(last) })?;
/// let next = heap.get(&first).next.as_ref().expect("a second node");
/// assert_eq!(heap.get(next).value, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[macro_export]
macro_rules! brand {
    ($(#[$meta:meta])* $vis:vis struct $name:ident;) => {
        $(#[$meta])*
        #[derive(Debug)]
        $vis enum $name {}

        // SAFETY: S1: the counter is local to a function of this type, which is not generic.
        unsafe impl $crate::branded::Brand for $name {
            fn claims() -> &'static $crate::branded::macros::Numbers {
                static CLAIMS: $crate::branded::macros::Numbers =
                    $crate::branded::macros::Numbers::new();
                &CLAIMS
            }
        }
    };
}
