//! Threads and monitors.

use surefit_gc::Object;

use super::arguments::{Reply, Run, int};
use crate::stop::{Refusal, Trap};
use crate::vm::Vm;
use crate::world::Slot;

pub(super) const FUNCTIONS: &[(&str, Run)] = &[
    ("java/lang/Thread.start0(Z)V", start),
    ("java/lang/Thread.current0()Ljava/lang/Thread;", current),
    ("java/lang/Thread.attach0()V", attach),
    ("java/lang/Thread.interrupt0()V", interrupt),
    ("java/lang/Thread.yield()V", end_turn),
    ("java/lang/Thread.holdsLock(Ljava/lang/Object;)Z", holds),
    ("java/lang/Object.wait0(Z)V", wait),
    ("java/lang/Object.notify()V", notify),
    ("java/lang/Object.notifyAll()V", notify_all),
];

fn thread_at(vm: &mut Vm<'_>, at: usize) -> Result<Object, Trap> {
    let class = vm.load("java/lang/Thread")?;
    vm.object_of(at, class)
}

fn start(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let this = thread_at(vm, at)?;
    let class = vm.load("java/lang/Thread")?;
    let first = vm.classes.declared(class, "run0", "()V");
    let first = first.ok_or_else(|| Refusal::Missing("Thread.run0".to_owned()))?;
    let first = vm.first_frame(first)?;
    let is_daemon = vm.int_at(at + 1) != 0;
    if !vm.begin_thread(this, first, is_daemon) {
        let text = "unable to create native thread";
        return Err(vm.throw("java/lang/OutOfMemoryError", text));
    }
    Ok(Reply::Nothing)
}

fn current(vm: &mut Vm<'_>, _: usize) -> Result<Reply, Trap> {
    let roots = &vm.world.threads[vm.threads.running as usize];
    Ok(Reply::One(Slot::reference(roots.object)))
}

/// Makes an object stand for the running thread.
fn attach(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let this = thread_at(vm, at)?;
    vm.world.threads[vm.threads.running as usize].object = Some(this);
    Ok(Reply::Nothing)
}

fn interrupt(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let this = thread_at(vm, at)?;
    vm.interrupt(this);
    Ok(Reply::Nothing)
}

fn end_turn(vm: &mut Vm<'_>, _: usize) -> Result<Reply, Trap> {
    vm.end_turn();
    Ok(Reply::Nothing)
}

fn holds(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let monitor = vm.object_at(at)?;
    int(vm.has_monitor(monitor).into())
}

/// The object, if the running thread has its monitor.
fn owned(vm: &mut Vm<'_>, at: usize) -> Result<Object, Trap> {
    let monitor = vm.object_at(at)?;
    match vm.has_monitor(monitor) {
        true => Ok(monitor),
        false => {
            let text = "current thread is not owner";
            Err(vm.throw("java/lang/IllegalMonitorStateException", text))
        }
    }
}

fn wait(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let monitor = owned(vm, at)?;
    vm.wait(monitor, vm.int_at(at + 1) != 0);
    Ok(Reply::Nothing)
}

fn notify(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let monitor = owned(vm, at)?;
    vm.notify(monitor);
    Ok(Reply::Nothing)
}

fn notify_all(vm: &mut Vm<'_>, at: usize) -> Result<Reply, Trap> {
    let monitor = owned(vm, at)?;
    while vm.notify(monitor) {}
    Ok(Reply::Nothing)
}
