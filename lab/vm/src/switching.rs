//! Which thread runs: turns, monitors, notifications.
//!
//! ```text
//! turn       so many branches, calls and throws; fewer if the thread waits or yields
//! at its end the next thread in the order of numbers that can run; deterministic
//! switch     stack and frames of one thread are parked, those of the other brought back
//! ```
//! A thread that cannot go on ends its turn with the step that it is in. Who looks for a thread to
//! run finds out whether what a thread needs is there: so nobody is woken. If none can run, the
//! program is refused.

use std::collections::btree_map::Entry;
use std::mem;

use surefit_gc::Object;

use crate::classes::{MethodId, STATIC, State};
use crate::stop::{Refusal, Trap};
use crate::threads::{Frame, MAIN, Stage, Thread};
use crate::vm::Vm;
use crate::world::{Monitor, Slot, ThreadId};

/// Steps of a turn.
const TURN: u64 = 1000;

/// Threads that the refusal of a deadlock names.
const NAMED: usize = 4;

impl Vm<'_> {
    /// Counts a throw, which ends no turn.
    pub(crate) fn step(&mut self) -> Result<(), Trap> {
        self.turn_left -= 1;
        match self.turn_left {
            0 => self.next_turn(),
            _ => Ok(()),
        }
    }

    /// Takes the steps of a turn from those that the program is allowed.
    fn next_turn(&mut self) -> Result<(), Trap> {
        let turn = self.steps.min(TURN);
        if turn == 0 {
            return Err(Refusal::Endless.into());
        }
        self.steps -= turn;
        self.turn_left = turn as u32;
        Ok(())
    }

    /// Ends the turn of the running thread with the step that it is in.
    pub(crate) fn end_turn(&mut self) {
        self.steps += u64::from(self.turn_left - 1);
        self.turn_left = 1;
    }

    /// Begins a turn after the last one: of the next thread that can run.
    pub(crate) fn turn(&mut self) -> Result<(), Trap> {
        self.next_turn()?;
        let (running, count) = (self.threads.running, self.threads.all.len() as ThreadId);
        let mut others = (1..=count).map(|step| (running + step) % count);
        match others.find(|&id| self.can_run(id)) {
            Some(next) => {
                self.switch(next);
                Ok(())
            }
            None => Err(self.deadlock()),
        }
    }

    /// Whether the running thread cannot go on: what it waits for is not there.
    pub(crate) fn waits(&self) -> bool {
        self.threads.all[self.threads.running as usize].stage != Stage::Ready
    }

    fn can_run(&self, id: ThreadId) -> bool {
        match self.threads.all[id as usize].stage {
            Stage::Ready => true,
            Stage::Entering { monitor, .. } => !self.world.monitors.contains_key(&monitor),
            Stage::Initialising(class) => {
                !matches!(self.classes.get(class).state, State::Running(by) if by != id)
            }
            Stage::Waiting { .. } | Stage::Ended => false,
        }
    }

    /// Runs another thread from now on. O(slots of both stacks).
    fn switch(&mut self, next: ThreadId) {
        let running = self.threads.running;
        if next != running {
            let world = &mut self.world;
            let parked = &mut world.threads[running as usize].stack;
            parked.extend_from_slice(&world.stack[..world.top]);
            let parked = &mut world.threads[next as usize].stack;
            world.stack[..parked.len()].copy_from_slice(parked);
            world.top = parked.len();
            parked.clear();
            let threads = &mut self.threads;
            let own = mem::take(&mut threads.all[next as usize].frames);
            threads.all[running as usize].frames = mem::replace(&mut self.frames, own);
            threads.running = next;
        }
        let thread = &mut self.threads.all[next as usize];
        if let Stage::Entering { monitor, times } = thread.stage {
            let owner = next;
            self.world
                .monitors
                .insert(monitor, Monitor { owner, times });
        }
        thread.stage = Stage::Ready;
        self.world.threads[next as usize].awaits = None;
    }

    /// Every thread that has not ended waits: what for.
    fn deadlock(&self) -> Trap {
        let name = |object| {
            self.classes
                .get(self.class_of(object))
                .name
                .replace('/', ".")
        };
        let threads = self.threads.all.iter().enumerate();
        let waits = threads.filter_map(|(number, thread)| {
            let what = match thread.stage {
                Stage::Entering { monitor, .. } => format!("the monitor of a {}", name(monitor)),
                Stage::Waiting { monitor, .. } => format!("a notification of a {}", name(monitor)),
                Stage::Initialising(class) => format!("class {}", self.classes.get(class).name),
                Stage::Ready | Stage::Ended => return None,
            };
            Some(format!("thread {number} for {what}"))
        });
        let waits: Vec<String> = waits.take(NAMED).collect();
        Refusal::Deadlock(waits.join(", ")).into()
    }

    /// The running thread cannot go on before what it waits for is there. `awaits` is a root.
    pub(crate) fn wait_for(&mut self, stage: Stage, awaits: Option<Object>) {
        let running = self.threads.running as usize;
        self.threads.all[running].stage = stage;
        self.world.threads[running].awaits = awaits;
        self.end_turn();
    }

    /// Enters a monitor, or ends the turn of the running thread until it has.
    pub(crate) fn lock(&mut self, monitor: Object) {
        let owner = self.threads.running;
        match self.world.monitors.entry(monitor) {
            Entry::Vacant(vacant) => {
                vacant.insert(Monitor { owner, times: 1 });
            }
            Entry::Occupied(mut held) if held.get().owner == owner => {
                let times = &mut held.get_mut().times;
                *times = times.saturating_add(1);
            }
            Entry::Occupied(_) => {
                self.wait_for(Stage::Entering { monitor, times: 1 }, Some(monitor));
            }
        }
    }

    /// Leaves a monitor once; `false` if the running thread does not have it.
    pub(crate) fn unlock(&mut self, monitor: Object) -> bool {
        match self.world.monitors.entry(monitor) {
            Entry::Occupied(mut held) if held.get().owner == self.threads.running => {
                held.get_mut().times -= 1;
                if held.get().times == 0 {
                    held.remove();
                }
                true
            }
            _ => false,
        }
    }

    /// Whether the running thread has a monitor.
    pub(crate) fn has_monitor(&self, monitor: Object) -> bool {
        let held = self.world.monitors.get(&monitor);
        held.is_some_and(|held| held.owner == self.threads.running)
    }

    /// Enters the monitor of a synchronized method, whose frame is the last one.
    pub(crate) fn lock_method(&mut self, method: MethodId) -> Result<(), Trap> {
        let method = self.classes.method(method);
        let frame = self.frames.len() - 1;
        let monitor = match method.flags & STATIC {
            0 => self.world.stack[self.frames[frame].base]
                .as_reference()
                .flatten(),
            _ => {
                let root = self.mirror(method.class)?;
                Some(self.world.constants[root as usize])
            }
        };
        if let Some(monitor) = monitor {
            self.lock(monitor);
            self.frames[frame].locked = Some(monitor);
        }
        Ok(())
    }

    /// Leaves a monitor that the running thread has, and waits until another one notifies it, or
    /// until its next turn.
    pub(crate) fn wait(&mut self, monitor: Object, is_timed: bool) {
        let Some(Monitor { times, .. }) = self.world.monitors.remove(&monitor) else {
            return;
        };
        self.threads.waits += 1;
        let stage = match is_timed {
            true => Stage::Entering { monitor, times },
            false => Stage::Waiting {
                monitor,
                times,
                since: self.threads.waits,
            },
        };
        self.wait_for(stage, Some(monitor));
    }

    /// Notifies the thread that has waited for longest.
    pub(crate) fn notify(&mut self, monitor: Object) -> bool {
        let waiting = self.threads.all.iter_mut().filter_map(|thread| {
            let Stage::Waiting {
                monitor: awaited,
                times,
                since,
            } = thread.stage
            else {
                return None;
            };
            (awaited == monitor).then_some((since, times, &mut thread.stage))
        });
        match waiting.min_by_key(|(since, ..)| *since) {
            Some((_, times, stage)) => {
                *stage = Stage::Entering { monitor, times };
                true
            }
            None => false,
        }
    }

    /// Ends the wait of a thread for a notification.
    pub(crate) fn interrupt(&mut self, thread: Object) {
        let mut all = self.world.threads.iter();
        let Some(id) = all.position(|roots| roots.object == Some(thread)) else {
            return;
        };
        let stage = &mut self.threads.all[id].stage;
        if let Stage::Waiting { monitor, times, .. } = *stage {
            *stage = Stage::Entering { monitor, times };
        }
    }

    /// Makes a thread, whose first call has the object as its argument. `false` if there are too
    /// many.
    pub(crate) fn begin_thread(&mut self, object: Object, first: Frame, is_daemon: bool) -> bool {
        let Some(id) = self.threads.vacant() else {
            return false;
        };
        let id = id as usize;
        if id == self.threads.all.len() {
            self.world.threads.push(Default::default());
            self.threads.all.push(Thread {
                frames: Vec::new(),
                stage: Stage::Ended,
                is_daemon,
            });
        }
        let roots = &mut self.world.threads[id];
        roots.object = Some(object);
        roots.stack.push(Slot::reference(Some(object)));
        roots.stack.resize(first.code.locals, Slot::default());
        let thread = &mut self.threads.all[id];
        thread.frames.push(first);
        thread.stage = Stage::Ready;
        thread.is_daemon = is_daemon;
        true
    }

    /// Ends the running thread, which has no frame. It leaves the monitors that it still has.
    /// Whether another one is awaited: it runs then. O(monitors).
    pub(crate) fn end_thread(&mut self) -> Result<bool, Trap> {
        let running = self.threads.running as usize;
        self.threads.all[running].stage = Stage::Ended;
        let ended = self.threads.running;
        self.world.monitors.retain(|_, held| held.owner != ended);
        self.world.threads[running].object = None;
        self.world.thrown = None;
        self.world.top = 0;
        let are_awaited = self.threads.are_awaited();
        if are_awaited {
            self.turn()?;
        }
        Ok(are_awaited)
    }

    /// Whether the main thread runs.
    pub(crate) const fn is_main(&self) -> bool {
        self.threads.running == MAIN
    }
}
