//! Calls, returns, and the initialisation of classes.

use surefit_gc::Object;

use crate::classes::{ABSTRACT, Body, ClassId, INTERFACE, MethodId, STATIC, SYNCHRONIZED, State};
use crate::classfile::Constant;
use crate::decode::{SharedCode, decode};
use crate::native;
use crate::ops;
use crate::stop::{Refusal, Trap};
use crate::threads::{Frame, Stage};
use crate::vm::{FOUND, Vm};
use crate::world::Slot;

/// Slots that stay free behind the last frame: results, and what was thrown.
const SPARE: usize = 16;

/// Frames of the main thread at most.
const DEEPEST: usize = 1 << 15;

/// Other threads have a part of the slots and of the frames of the main one: the fourth.
const SHARE: usize = 4;

/// How far a class is for the running thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    Ready,
    /// This thread initialises it, and may use it meanwhile.
    ForThisThread,
    /// Not yet.
    Later,
}

impl Vm<'_> {
    /// Calls a method, whose arguments are on the stack: its frame is the last one afterwards, or
    /// its result is on the stack. The caller counts it.
    pub(super) fn call(&mut self, id: MethodId) -> Result<(), Trap> {
        let method = self.classes.method(id);
        let arguments = usize::from(method.arguments);
        match &method.body {
            Body::Code(code) => {
                let code = code.clone();
                let is_synchronized = method.flags & SYNCHRONIZED != 0;
                self.enter(id, code, arguments, None)?;
                match is_synchronized {
                    true => self.lock_method(id),
                    false => Ok(()),
                }
            }
            Body::Function(function) => {
                let (function, at) = (*function, self.world.top - arguments);
                let reply = native::call(self, function, at)?;
                self.world.top = at;
                self.reply(reply);
                Ok(())
            }
            _ => {
                self.prepare(id)?;
                self.call(id)
            }
        }
    }

    fn reply(&mut self, reply: native::Reply) {
        let at = self.world.top;
        let slots = match reply {
            native::Reply::Nothing => 0,
            native::Reply::One(slot) => {
                self.world.stack[at] = slot;
                1
            }
            native::Reply::Two(bits) => {
                self.world.stack[at] = Slot::word(bits as u32);
                self.world.stack[at + 1] = Slot::word((bits >> 32) as u32);
                2
            }
        };
        self.world.top = at + slots;
    }

    /// Makes the frame of a call.
    fn enter(
        &mut self,
        method: MethodId,
        code: SharedCode,
        arguments: usize,
        initialises: Option<ClassId>,
    ) -> Result<(), Trap> {
        let base = self.world.top - arguments;
        let share = if self.is_main() { 1 } else { SHARE };
        let is_room = base + code.frame + SPARE <= self.world.stack.len() / share;
        if !is_room || self.frames.len() >= DEEPEST / share {
            return Err(self.throw("java/lang/StackOverflowError", ""));
        }
        self.world.top = base + code.locals;
        self.world.stack[base + arguments..base + code.locals].fill(Slot::default());
        self.frames.push(Frame {
            code,
            method,
            base,
            pc: 0,
            again: false,
            initialises,
            locked: None,
        });
        Ok(())
    }

    /// The first frame of a thread: a call of a method of an object.
    pub(crate) fn first_frame(&mut self, method: MethodId) -> Result<Frame, Trap> {
        if let Body::File(_) = self.classes.method(method).body {
            self.prepare(method)?;
        }
        let Body::Code(code) = self.classes.method(method).body.clone() else {
            let name = &self.classes.get(self.classes.method(method).class).name;
            return Err(Refusal::damaged(name, "a thread has no code").into());
        };
        Ok(Frame {
            code,
            method,
            base: 0,
            pc: 0,
            again: false,
            initialises: None,
            locked: None,
        })
    }

    /// Makes a method ready for its first call.
    fn prepare(&mut self, id: MethodId) -> Result<(), Trap> {
        let method = self.classes.method(id);
        let class = self.classes.get(method.class);
        let full_name = || format!("{}.{}{}", class.name, method.name, method.descriptor);
        let body = match (&method.body, &class.file) {
            (Body::File(code), Some(file)) => {
                let is_wide_enough = method.arguments <= code.max_locals;
                let decoded = decode(file, code, method.results);
                let decoded = decoded.and_then(|code| match is_wide_enough {
                    true => Ok(code),
                    false => Err("its arguments have no room"),
                });
                let decoded = decoded.map_err(|what| {
                    let what = format!("method {}{}: {what}", method.name, method.descriptor);
                    Refusal::damaged(&class.name, &what)
                })?;
                Body::Code(SharedCode::new(decoded))
            }
            (Body::Native, _) => match native::find(&full_name()) {
                Some(function) => Body::Function(function),
                None => {
                    return Err(Refusal::Missing(format!("native method {}", full_name())).into());
                }
            },
            _ => {
                let name = full_name();
                return Err(self.throw("java/lang/AbstractMethodError", &name));
            }
        };
        self.classes.methods[id as usize].body = body;
        Ok(())
    }

    /// Puts the results of the last frame where its arguments were, and removes it. Returns how
    /// many slots they are.
    #[inline(always)]
    pub(super) fn returned(&mut self, op: u8, sp: usize, base: usize) -> usize {
        let results = match op {
            ops::RETURN => 0,
            ops::RETURN1 => {
                self.world.stack[base] = self.world.stack[sp - 1];
                1
            }
            _ => {
                self.world.stack[base] = self.world.stack[sp - 2];
                self.world.stack[base + 1] = self.world.stack[sp - 1];
                2
            }
        };
        if let Some(frame) = self.frames.pop() {
            if frame.initialises.is_some() || frame.locked.is_some() {
                self.left(&frame);
            }
        }
        results
    }

    /// A call returned that initialised a class, or that has a monitor.
    #[cold]
    fn left(&mut self, frame: &Frame) {
        if let Some(lowest) = frame.initialises {
            let highest = self.classes.method(frame.method).class;
            self.settle(lowest, highest, State::Ready);
        }
        if let Some(monitor) = frame.locked {
            self.unlock(monitor);
        }
    }

    /// The method that an object runs where a method of an interface is called.
    #[inline]
    pub(super) fn implementing(
        &mut self,
        this: Object,
        method: MethodId,
    ) -> Result<MethodId, Trap> {
        let class = self.class_of(this);
        let place = (class.wrapping_mul(31) ^ method) as usize % FOUND;
        let (of, called, found) = self.found[place];
        if (of, called) == (class, method) {
            return Ok(found);
        }
        self.implement(class, method, place)
    }

    #[cold]
    fn implement(
        &mut self,
        class: ClassId,
        method: MethodId,
        place: usize,
    ) -> Result<MethodId, Trap> {
        let called = self.classes.method(method);
        let text = format!("{}.{}", self.classes.get(class).name, called.name);
        if !self.classes.is_a(class, called.class) {
            return Err(self.throw("java/lang/IncompatibleClassChangeError", &text));
        }
        match self.classes.implementation(class, method) {
            Some(found) if self.classes.method(found).flags & ABSTRACT == 0 => {
                self.found[place] = (class, method, found);
                Ok(found)
            }
            _ => Err(self.throw("java/lang/AbstractMethodError", &text)),
        }
    }

    /// Begins to initialise a class. Unless it is ready, there are frames to be run before it is,
    /// or another thread to be waited for.
    ///
    /// The superclasses come first; an interface has its turn when a static field of it is used.
    pub(super) fn initialise(&mut self, class: ClassId) -> Result<Readiness, Trap> {
        let Some(chain) = self.not_initialised(class)? else {
            return Ok(Readiness::Later);
        };
        let frames = self.frames.len();
        // The first of those that have no <clinit> and wait for the next one above them.
        let mut waiting = None;
        for &class in &chain {
            let lowest = *waiting.get_or_insert(class);
            self.classes.all[class as usize].state = State::Running(self.threads.running);
            match self.enter_initialiser(class, lowest) {
                Ok(true) => waiting = None,
                Ok(false) => {}
                Err(trap) => {
                    self.settle(lowest, class, State::Failed);
                    return Err(trap);
                }
            }
        }
        if let (Some(lowest), Some(&last)) = (waiting, chain.last()) {
            self.settle(lowest, last, State::Ready);
        }
        Ok(match self.classes.get(class).state {
            State::Ready => Readiness::Ready,
            _ if self.frames.len() > frames => Readiness::Later,
            _ => Readiness::ForThisThread,
        })
    }

    /// A class and its superclasses, as far as nothing has begun to initialise them. All of them
    /// fail if one above them has. `None` if another thread initialises one: this one waits then.
    fn not_initialised(&mut self, class: ClassId) -> Result<Option<Vec<ClassId>>, Trap> {
        let mut chain = Vec::new();
        let mut next = Some(class);
        while let Some(class) = next {
            let this = self.classes.get(class);
            match this.state {
                State::Running(by) if by != self.threads.running => {
                    self.wait_for(Stage::Initialising(class), None);
                    return Ok(None);
                }
                State::Running(_) | State::Ready => break,
                State::Loaded => {}
                State::Failed => {
                    let name = this.name.replace('/', ".");
                    for below in chain {
                        self.classes.all[below as usize].state = State::Failed;
                    }
                    let text = format!("Could not initialize class {name}");
                    return Err(self.throw("java/lang/NoClassDefFoundError", &text));
                }
            }
            chain.push(class);
            let is_interface = this.flags & INTERFACE != 0;
            next = this.superclass.filter(|_| !is_interface);
        }
        Ok(Some(chain))
    }

    /// Makes the frame of a class's `<clinit>`, after which the class and those below it, from
    /// `lowest` on, are ready. `false` if it has none.
    fn enter_initialiser(&mut self, class: ClassId, lowest: ClassId) -> Result<bool, Trap> {
        self.constants(class)?;
        let method = self.classes.declared(class, "<clinit>", "()V");
        let method = method.filter(|&method| self.classes.method(method).flags & STATIC != 0);
        let Some(method) = method else {
            return Ok(false);
        };
        if let Body::File(_) = self.classes.method(method).body {
            self.prepare(method)?;
        }
        let Body::Code(code) = self.classes.method(method).body.clone() else {
            let name = &self.classes.get(class).name;
            return Err(Refusal::damaged(name, "its <clinit> has no code").into());
        };
        self.enter(method, code, 0, Some(lowest))?;
        Ok(true)
    }

    /// Ends the initialisation of the classes from `lowest` up to `highest`.
    ///
    /// Those of the class library never fail for good: they fail only for want of room, in the heap
    /// or on the stack, and can be initialised again.
    pub(crate) fn settle(&mut self, lowest: ClassId, highest: ClassId, state: State) {
        let mut next = Some(lowest);
        while let Some(class) = next {
            let is_to_be_repeated = state == State::Failed && self.classes.is_of_library(class);
            let this = &mut self.classes.all[class as usize];
            this.state = match is_to_be_repeated {
                true => State::Loaded,
                false => state,
            };
            next = this.superclass.filter(|_| class != highest);
        }
    }

    /// Gives the static fields of a class their constants.
    fn constants(&mut self, class: ClassId) -> Result<(), Trap> {
        let Some(file) = self.classes.get(class).file.clone() else {
            return Ok(());
        };
        let damaged = |what| Refusal::damaged(&file.name, what);
        for (index, field) in file.fields.iter().enumerate() {
            let Some(constant) = field.constant.filter(|_| field.flags & STATIC != 0) else {
                continue;
            };
            let place = self.classes.get(class).fields[index].place as usize;
            let words = self.classes.get(class).fields[index].kind.words();
            let slots = match file.pool.get(constant).map_err(damaged)? {
                Constant::Word(value) => [Some(Slot::word(*value)), None],
                Constant::Wide(value) => {
                    let halves = [*value as u32, (*value >> 32) as u32];
                    halves.map(|half| Some(Slot::word(half)))
                }
                Constant::String(text) => {
                    let root = self.literal(file.pool.units(*text).map_err(damaged)?)?;
                    let string = self.world.constants[root as usize];
                    [Some(Slot::reference(Some(string))), None]
                }
                _ => return Err(damaged("a field has a constant of another type").into()),
            };
            for (offset, slot) in slots.into_iter().take(words.into()).enumerate() {
                self.world.statics[place + offset] = slot.unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Arrays in arrays, of `counts` elements each.
    pub(super) fn many_arrays(&mut self, class: ClassId, counts: &[i32]) -> Result<Object, Trap> {
        match counts.iter().find(|&&count| count < 0) {
            Some(count) => {
                Err(self.throw("java/lang/NegativeArraySizeException", &count.to_string()))
            }
            None => self.new_arrays(class, counts),
        }
    }

    /// Runs a static method on the main thread, from the machine itself; its arguments are on the
    /// stack. Other threads have their turns meanwhile.
    pub(crate) fn run_method(&mut self, method: MethodId) -> Result<(), Trap> {
        let class = self.classes.method(method).class;
        match self.initialise(class) {
            Ok(Readiness::Later) => self.run()?,
            Ok(_) => {}
            Err(trap) => {
                // Initialisers that were to run before leave their frames: none has begun.
                if matches!(trap, Trap::Thrown) {
                    self.unwind()?;
                }
                return Err(trap);
            }
        }
        self.call(method)?;
        if self.waits() {
            self.turn()?;
        }
        self.run()
    }

    /// Runs until all threads have ended but for daemons; the main one has.
    pub(crate) fn run_to_the_end(&mut self) -> Result<(), Trap> {
        if self.world.threads.len() > 1 {
            let class = self.load("java/lang/Thread")?;
            let method = self.classes.declared(class, "mainEnded", "()V");
            let method = method.ok_or_else(|| Refusal::Missing("Thread.mainEnded".to_owned()))?;
            self.run_method(method)?;
        }
        match self.end_thread()? {
            true => self.run(),
            false => Ok(()),
        }
    }
}
