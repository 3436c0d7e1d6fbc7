//! The machine: its heap, its roots, its classes, its frames; and the objects that it makes itself.

use std::collections::HashMap;
use std::fmt;
use std::io::Write;
use std::time::Instant;

use surefit_core::Refused;
use surefit_gc::Object;

use crate::classes::{ClassId, Classes, Element, MethodId, OBJECT};
use crate::heap::Heap;
use crate::stop::{Refusal, Trap};
use crate::threads::{Frame, Threads};
use crate::watch::Watch;
use crate::world::{ARRAY_HEADER, Shape, Slot, ThreadRoots, World};

/// Slots of the stack: of all frames of the main thread together.
const STACK: usize = 1 << 17;

/// What the machine itself must find in the class library.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) string: ClassId,
    pub(crate) class: ClassId,
    pub(crate) throwable: ClassId,
    pub(crate) error: ClassId,
    pub(crate) chars: ClassId,
    pub(crate) ints: ClassId,
    /// Words of their fields.
    pub(crate) value: u32,
    pub(crate) number: u32,
    pub(crate) message: u32,
    pub(crate) cause: u32,
    pub(crate) trace: u32,
    /// The error that is thrown when there is no room for another one.
    pub(crate) no_room: Option<Object>,
}

/// Where a program writes.
pub(crate) struct Output<'v> {
    pub(crate) out: &'v mut dyn Write,
    pub(crate) err: &'v mut dyn Write,
    /// The first half of a surrogate pair, as the last character of each.
    pub(crate) halves: [Option<u16>; 2],
}

impl<'v> Output<'v> {
    pub(crate) fn new(out: &'v mut dyn Write, err: &'v mut dyn Write) -> Self {
        let halves = [None; 2];
        Self { out, err, halves }
    }
}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Output")
    }
}

/// A machine that runs one program.
pub(crate) struct Vm<'v> {
    pub(crate) heap: &'v mut dyn Heap,
    /// What notes each allocation, if anything does.
    watch: Option<&'v mut Watch>,
    pub(crate) world: World,
    pub(crate) classes: Classes<'v>,
    /// Those of the running thread.
    pub(crate) frames: Vec<Frame>,
    pub(crate) threads: Threads,
    pub(crate) known: Known,
    pub(crate) output: Output<'v>,
    /// The root of each string constant.
    pub(crate) literals: HashMap<Vec<u16>, u32>,
    /// The last implementations that were found, by class and method.
    pub(crate) found: Vec<(ClassId, MethodId, MethodId)>,
    /// The last hash of an object's identity.
    hash: u32,
    pub(crate) began: Instant,
    /// Whether there was no room for an object.
    pub(crate) was_full: bool,
    /// The program ends then, whatever it catches.
    pub(crate) ends_when_full: bool,
    /// Branches, calls and throws that may still be taken after this turn.
    pub(crate) steps: u64,
    /// Those of the turn of the running thread: never 0 between two instructions.
    pub(crate) turn_left: u32,
}

impl<'v> Vm<'v> {
    /// A machine with the classes that it needs itself.
    pub(crate) fn new(
        heap: &'v mut dyn Heap,
        watch: Option<&'v mut Watch>,
        classes: Classes<'v>,
        output: Output<'v>,
    ) -> Result<Self, Trap> {
        let mut vm = Self {
            heap,
            watch,
            world: World {
                stack: vec![Slot::default(); STACK],
                threads: vec![ThreadRoots::default()],
                ..World::default()
            },
            classes,
            frames: Vec::new(),
            threads: Threads::new(),
            known: Known::default(),
            output,
            literals: HashMap::new(),
            found: vec![(ClassId::MAX, 0, 0); FOUND],
            hash: 0,
            began: Instant::now(),
            was_full: false,
            ends_when_full: false,
            steps: u64::MAX,
            turn_left: 1,
        };
        vm.know()?;
        Ok(vm)
    }

    fn know(&mut self) -> Result<(), Trap> {
        let object = self.load("java/lang/Object")?;
        debug_assert_eq!(object, OBJECT);
        let string = self.load("java/lang/String")?;
        let class = self.load("java/lang/Class")?;
        let throwable = self.load("java/lang/Throwable")?;
        self.known = Known {
            string,
            class,
            throwable,
            error: self.load("java/lang/Error")?,
            chars: self.load("[C")?,
            ints: self.load("[I")?,
            value: self.word(string, "value")?,
            number: self.word(class, "number")?,
            message: self.word(throwable, "message")?,
            cause: self.word(throwable, "cause")?,
            trace: self.word(throwable, "trace")?,
            no_room: None,
        };
        let no_room = self.load("java/lang/OutOfMemoryError")?;
        let bytes = self.classes.get(no_room).words as usize * 4;
        let object = self.ask(bytes).map_err(Refusal::NoRoom)?;
        self.heap.store_data(object, 0, no_room);
        self.heap.store(object, self.known.cause, Some(object));
        self.world.constants.push(object);
        self.known.no_room = Some(object);
        Ok(())
    }

    /// The word of a field of the class library.
    fn word(&self, class: ClassId, name: &str) -> Result<u32, Refusal> {
        let class = self.classes.get(class);
        let field = class.fields.iter().find(|field| &*field.name == name);
        let field = field.ok_or_else(|| Refusal::Missing(format!("{}.{name}", class.name)))?;
        Ok(field.place)
    }

    pub(crate) fn load(&mut self, name: &str) -> Result<ClassId, Refusal> {
        self.classes.load(&mut self.world, name)
    }

    /// Pushes an argument of a call.
    pub(crate) fn push(&mut self, slot: Slot) {
        self.world.stack[self.world.top] = slot;
        self.world.top += 1;
    }

    /// The class of an object.
    #[inline(always)]
    pub(crate) fn class_of(&self, object: Object) -> ClassId {
        self.heap.load(object, 0)
    }

    /// Asks the heap for an object of so many bytes.
    fn ask(&mut self, bytes: usize) -> Result<Object, Refused> {
        match &mut self.watch {
            None => self.heap.alloc(&mut self.world, bytes),
            Some(watch) => watch.alloc(self.heap, &mut self.world, bytes),
        }
    }

    /// Collects because the program asks for it.
    pub(crate) fn collect(&mut self) {
        match &mut self.watch {
            None => self.heap.collect(&mut self.world),
            Some(watch) => watch.collect(self.heap, &mut self.world),
        }
    }

    /// Allocates an object of so many bytes, with its header.
    fn alloc(&mut self, class: ClassId, bytes: usize) -> Result<Object, Trap> {
        match self.ask(bytes) {
            Ok(object) => {
                self.heap.store_data(object, 0, class);
                Ok(object)
            }
            Err(_) => Err(self.no_room()),
        }
    }

    /// Throws that there is no room; or ends the program, where that is wanted.
    pub(crate) fn no_room(&mut self) -> Trap {
        self.was_full = true;
        if self.ends_when_full {
            return Trap::Exit(1);
        }
        self.world.thrown = self.known.no_room;
        Trap::Thrown
    }

    pub(crate) fn new_object(&mut self, class: ClassId) -> Result<Object, Trap> {
        let bytes = self.classes.get(class).words as usize * 4;
        self.alloc(class, bytes)
    }

    /// An array by its own class.
    pub(crate) fn new_array(&mut self, class: ClassId, length: i32) -> Result<Object, Trap> {
        let Ok(count) = usize::try_from(length) else {
            return Err(self.throw("java/lang/NegativeArraySizeException", &length.to_string()));
        };
        let bytes = match self.world.shapes[class as usize] {
            Shape::Data(shift) => count << shift,
            _ => count * 4,
        };
        let object = self.alloc(class, 4 * ARRAY_HEADER as usize + bytes)?;
        self.heap.store_data(object, 2, length as u32);
        Ok(object)
    }

    /// An array of arrays; `class` is its own.
    pub(crate) fn new_arrays(&mut self, class: ClassId, counts: &[i32]) -> Result<Object, Trap> {
        let Some((&length, rest)) = counts.split_first() else {
            return Err(Refusal::damaged("[", "an array has no dimension").into());
        };
        let array = self.new_array(class, length)?;
        if let (Some(Element::Class(element)), [_, ..]) = (self.classes.get(class).element, rest) {
            self.world.handles.push(array);
            for index in 0..length as u32 {
                let part = self.new_arrays(element, rest)?;
                self.heap.store(array, ARRAY_HEADER + index, Some(part));
            }
            self.world.handles.pop();
        }
        Ok(array)
    }

    /// The length of an array.
    #[inline(always)]
    pub(crate) fn length(&self, array: Object) -> u32 {
        self.heap.load(array, 2)
    }

    /// The class of arrays whose elements are of a class.
    pub(crate) fn array_of(&mut self, element: ClassId) -> Result<ClassId, Refusal> {
        let class = self.classes.get(element);
        let name = match class.element {
            Some(_) => format!("[{}", class.name),
            None => format!("[L{};", class.name),
        };
        self.load(&name)
    }

    /// The root of the object that stands for a class.
    pub(crate) fn mirror(&mut self, class: ClassId) -> Result<u32, Trap> {
        if let Some(root) = self.classes.get(class).mirror {
            return Ok(root);
        }
        let object = self.new_object(self.known.class)?;
        self.heap.store_data(object, self.known.number, class);
        self.world.constants.push(object);
        let root = self.world.constants.len() as u32 - 1;
        self.classes.all[class as usize].mirror = Some(root);
        Ok(root)
    }

    /// The hash of an object's identity: never 0.
    pub(crate) fn identity(&mut self, object: Object) -> i32 {
        let mut hash = self.heap.load(object, 1);
        if hash == 0 {
            self.hash = self
                .hash
                .wrapping_mul(1_664_525)
                .wrapping_add(1_013_904_223);
            hash = (self.hash >> 1) | 1;
            self.heap.store_data(object, 1, hash);
        }
        hash as i32
    }
}

/// Implementations that are remembered.
pub(crate) const FOUND: usize = 1024;
