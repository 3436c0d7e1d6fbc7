//! Exceptions: those that the machine throws, and the search for a handler.

use surefit_gc::Object;

use crate::classes::{ClassId, MethodId, State};
use crate::stop::{Refusal, Trap};
use crate::vm::Vm;
use crate::world::{ARRAY_HEADER, Slot};

/// Calls that a trace has at most.
const TRACED: usize = 32;

impl Vm<'_> {
    /// Throws an exception of the class library; an empty message is none.
    pub(crate) fn throw(&mut self, class: &str, message: &str) -> Trap {
        match self.throwable(class, message) {
            Ok(object) => self.throw_object(object),
            Err(trap) => trap,
        }
    }

    pub(crate) fn throw_object(&mut self, object: Object) -> Trap {
        self.world.thrown = Some(object);
        Trap::Thrown
    }

    fn throwable(&mut self, class: &str, message: &str) -> Result<Object, Trap> {
        let class = self.load(class)?;
        let object = self.new_object(class)?;
        // Its cause can still be said: as `Throwable` has it.
        self.heap.store(object, self.known.cause, Some(object));
        self.world.handles.push(object);
        if !message.is_empty() {
            let text: Vec<u16> = message.encode_utf16().collect();
            let message = self.new_string(&text)?;
            self.heap.store(object, self.known.message, Some(message));
        }
        self.trace(object)?;
        self.world.handles.pop();
        Ok(object)
    }

    /// Notes the calls that led here in a throwable, which is among the roots: pairs of a method
    /// and an instruction.
    pub(crate) fn trace(&mut self, throwable: Object) -> Result<(), Trap> {
        let calls = self.frames.iter().rev().skip_while(|frame| {
            let method = self.classes.method(frame.method);
            (&*method.name == "<init>" || &*method.name == "fillInStackTrace")
                && self.classes.is_below(method.class, self.known.throwable)
        });
        let calls: Vec<u32> = calls
            .take(TRACED)
            .flat_map(|frame| [frame.method, frame.pc.saturating_sub(1) as u32])
            .collect();
        let array = self.new_array(self.known.ints, calls.len() as i32)?;
        for (word, &value) in calls.iter().enumerate() {
            self.heap
                .store_data(array, ARRAY_HEADER + word as u32, value);
        }
        self.heap.store(throwable, self.known.trace, Some(array));
        Ok(())
    }

    /// A call of a trace, for people: `Main.run(Main.java:7)`.
    pub(crate) fn call_text(&self, method: MethodId, insn: u32) -> String {
        let Some(method) = self.classes.methods.get(method as usize) else {
            return "?".to_owned();
        };
        let class = self.classes.get(method.class);
        let source = class.file.as_ref().and_then(|file| file.source.as_deref());
        let line = match &method.body {
            crate::classes::Body::Code(code) => code.line(insn),
            _ => 0,
        };
        let name = class.name.replace('/', ".");
        format!("{name}.{}({}:{line})", method.name, source.unwrap_or("?"))
    }

    /// Finds the handler of what was thrown, and makes its frame the last one. `false` if no frame
    /// of the running thread has one: they are gone then. Counts as a step: a handler may cover the
    /// instruction that throws to it.
    pub(crate) fn unwind(&mut self) -> Result<bool, Trap> {
        self.step()?;
        self.world.handles.clear();
        while !self.frames.is_empty() {
            let Some(thrown) = self.world.thrown else {
                return Ok(true);
            };
            if let Some(target) = self.handler(thrown)? {
                let frame = self.frames.last_mut().expect("there is one");
                frame.pc = target as usize;
                frame.again = false;
                let bottom = frame.base + frame.code.locals;
                self.world.stack[bottom] = Slot::reference(self.world.thrown.take());
                self.world.top = bottom + 1;
                return Ok(true);
            }
            let frame = self.frames.pop().expect("there is one");
            self.world.top = frame.base;
            if let Some(monitor) = frame.locked {
                self.unlock(monitor);
            }
            if let Some(lowest) = frame.initialises {
                let highest = self.classes.method(frame.method).class;
                self.settle(lowest, highest, State::Failed);
                self.wrap(thrown)?;
            }
        }
        Ok(false)
    }

    /// The instruction at which the last frame catches an object.
    fn handler(&mut self, thrown: Object) -> Result<Option<u32>, Trap> {
        let frame = self.frames.last().expect("there is one");
        let (code, method) = (frame.code.clone(), frame.method);
        let Some(at) = frame.pc.checked_sub(1) else {
            return Ok(None);
        };
        let at = at as u32;
        for handler in code.handlers.iter().filter(|h| h.start <= at && at < h.end) {
            if handler.caught == 0 || self.catches(method, handler.caught, thrown)? {
                return Ok(Some(handler.target));
            }
        }
        Ok(None)
    }

    fn catches(&mut self, method: MethodId, caught: u16, thrown: Object) -> Result<bool, Trap> {
        let class = self.classes.method(method).class;
        let caught = self.named_class(class, caught)?;
        Ok(self.classes.is_a(self.class_of(thrown), caught))
    }

    /// The initialisation of a class ended with an exception: what is thrown is an error.
    fn wrap(&mut self, thrown: Object) -> Result<(), Trap> {
        if self
            .classes
            .is_below(self.class_of(thrown), self.known.error)
        {
            return Ok(());
        }
        self.world.handles.push(thrown);
        // Without room for it, that is what is thrown.
        match self.throwable("java/lang/ExceptionInInitializerError", "") {
            Ok(error) => {
                self.heap.store(error, self.known.cause, Some(thrown));
                self.world.thrown = Some(error);
            }
            Err(Trap::Thrown) => {}
            Err(other) => return Err(other),
        }
        self.world.handles.clear();
        Ok(())
    }

    /// The class of a constant, of the class whose code names it.
    pub(crate) fn named_class(&mut self, of: ClassId, constant: u16) -> Result<ClassId, Trap> {
        let class = self.classes.get(of);
        let file = class.file.clone();
        let name = file.as_ref().map(|file| file.pool.class(constant));
        match name {
            Some(Ok(name)) => Ok(self.load(&name)?),
            Some(Err(what)) => Err(Refusal::damaged(&class.name, what).into()),
            None => Err(Refusal::damaged(&class.name, "an array has no code").into()),
        }
    }
}
