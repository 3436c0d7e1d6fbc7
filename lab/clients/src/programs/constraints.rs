//! One-way constraints between variables, solved incrementally. The size is the length of a chain
//! of them.
//!
//! A constraint has a strength and says how one variable follows from another. A new constraint may
//! displace a weaker one, which then looks for another way. After a constraint is removed, others
//! may be satisfied that could not be before. The program changes a chain of equal variables from
//! its head, then removes links and puts them back; each such change is a step. A long chain is
//! changed less often than a short one.
//!
//! # Source
//! Freeman-Benson, Maloney and Borning, An incremental constraint solver (DeltaBlue).

use std::cell::Cell;
use std::mem::MaybeUninit;

use surefit_freelist::Index;
use surefit_gc::{Arena, Full, Gc, GcArray, Mutation, Rootable, Trace};

use super::between::{Between, Stopped};
use super::numbers::{Chance, Checksum};

type Slot<'gc, T> = Cell<Option<Gc<'gc, T>>>;
type C<'gc> = Gc<'gc, Constraint<'gc>>;
type V<'gc> = Gc<'gc, Variable<'gc>>;

/// Strengths: the smaller, the stronger.
const REQUIRED: u32 = 0;
const STRONG: u32 = 2;
const WEAK: u32 = 4;
const WEAKEST: u32 = 6;

#[derive(Trace)]
struct Variable<'gc> {
    value: Cell<i64>,
    /// The constraint that it follows from.
    follows: Slot<'gc, Constraint<'gc>>,
    /// The strength of the weakest constraint that it depends on.
    strength: Cell<u32>,
    /// Whether it does not depend on what is edited.
    is_constant: Cell<bool>,
    mark: Cell<u32>,
    constraints: Slot<'gc, Link<'gc>>,
}

/// A list of constraints.
#[derive(Trace)]
struct Link<'gc> {
    constraint: C<'gc>,
    next: Option<Gc<'gc, Link<'gc>>>,
}

#[derive(Clone, Copy, PartialEq, Trace)]
enum Kind {
    /// The variable stays as it is.
    Stay,
    /// It is changed from outside.
    Edit,
    /// `ends[1] = ends[0] + by`
    Offset { by: i64 },
}

#[derive(Trace)]
struct Constraint<'gc> {
    kind: Kind,
    strength: u32,
    ends: [V<'gc>; 2],
    /// Which end follows from the other, if the constraint is satisfied.
    output: Cell<Option<usize>>,
}

impl<'gc> Constraint<'gc> {
    fn output(&self) -> Option<V<'gc>> {
        self.output.get().map(|end| self.ends[end])
    }

    /// The variable that the output follows from.
    fn input(&self) -> Option<V<'gc>> {
        match self.kind {
            Kind::Offset { .. } => self.output.get().map(|end| self.ends[1 - end]),
            Kind::Stay | Kind::Edit => None,
        }
    }

    /// Chooses the weakest end that may follow, if it is weaker than the constraint.
    fn choose(&self, mark: u32) {
        let is_weaker = |end: &usize| self.ends[*end].strength.get() > self.strength;
        let is_free = |end: &usize| self.ends[*end].mark.get() != mark;
        let candidates = match self.kind {
            Kind::Offset { .. } => [1, 0].into_iter(),
            Kind::Stay | Kind::Edit => [0, 0].into_iter(),
        };
        let weaker = candidates.filter(|end| is_free(end) && is_weaker(end));
        self.output
            .set(weaker.max_by_key(|&end| (self.ends[end].strength.get(), end)));
    }

    /// Computes what is known about the output.
    fn recalculate(&self) {
        let Some(output) = self.output() else {
            return;
        };
        let input = self.input();
        let strength = input.map_or(self.strength, |input| {
            input.strength.get().max(self.strength)
        });
        output.strength.set(strength);
        output
            .is_constant
            .set(input.map_or(self.kind == Kind::Stay, |input| input.is_constant.get()));
        self.execute();
    }

    /// Computes the output.
    fn execute(&self) {
        if let (Kind::Offset { by }, Some(output), Some(input)) =
            (self.kind, self.output(), self.input())
        {
            let by = if self.output.get() == Some(1) {
                by
            } else {
                -by
            };
            output.value.set(input.value.get() + by);
        }
    }
}

/// The root: the chain's variables and links, and the plan for the edit at its head.
#[derive(Trace)]
struct Chain<'gc> {
    variables: GcArray<'gc, V<'gc>>,
    links: GcArray<'gc, Slot<'gc, Constraint<'gc>>>,
    edit: Slot<'gc, Constraint<'gc>>,
    plan: Slot<'gc, Link<'gc>>,
    mark: Cell<u32>,
}

/// How often the head is changed before a link is removed and put back.
const CHANGES: u32 = 40;
/// How often this happens at most; and the number of links that all repairs together may touch,
/// unless there is only one repair.
const REPAIRS: (u32, u32) = (100, 20_000);

/// Builds a chain, changes it, and repairs it.
pub(super) fn run<I: Index>(
    region: &mut [MaybeUninit<u8>],
    size: u32,
    between: &mut impl Between,
) -> Result<u64, Stopped> {
    let (mut checksum, mut chance) = (Checksum::default(), Chance(1_990));
    let length = size.max(2) as usize;
    let mut chain =
        Arena::<Rootable!['gc => Chain<'gc>], I>::new(region, |mc| Solver::chain(mc, length))?;
    let room = 2 * length * Gc::<Link<'_>>::BYTES + 1024;
    for link in 0..length {
        between.step(&mut chain, room)?;
        chain.mutate(|mc, chain| Solver { mc, chain }.connect(link))?;
    }
    let repairs = (REPAIRS.1 / size.max(2)).clamp(1, REPAIRS.0);
    for repair in 0..repairs {
        between.step(&mut chain, room)?;
        chain.mutate(|mc, chain| Solver { mc, chain }.edit(0))?;
        for value in 0..CHANGES {
            between.step(&mut chain, room)?;
            chain.mutate(|mc, chain| Solver { mc, chain }.change(i64::from(repair * value)))?;
        }
        checksum.add(chain.mutate(|_, chain| sum(chain)));
        let link = chance.below(length as u32 - 1) as usize;
        between.step(&mut chain, room)?;
        chain.mutate(|mc, chain| Solver { mc, chain }.disconnect(link))?;
        checksum.add(chain.mutate(|_, chain| sum(chain)));
        between.step(&mut chain, room)?;
        chain.mutate(|mc, chain| Solver { mc, chain }.connect(link))?;
    }
    Ok(checksum.0)
}

fn sum(chain: &Chain<'_>) -> u64 {
    let mut sum = Checksum::default();
    chain
        .variables
        .iter()
        .for_each(|variable| sum.add(variable.value.get() as u64));
    sum.0
}

/// What changes a chain.
struct Solver<'a, 'gc> {
    mc: &'a Mutation<'gc>,
    chain: &'a Chain<'gc>,
}

impl<'gc> Solver<'_, 'gc> {
    fn chain(mc: &Mutation<'gc>, length: usize) -> Result<Chain<'gc>, Full> {
        let mut variables = Vec::new();
        for _ in 0..length {
            variables.push(mc.alloc(Variable {
                value: Cell::new(0),
                follows: Cell::new(None),
                strength: Cell::new(WEAKEST),
                is_constant: Cell::new(true),
                mark: Cell::new(0),
                constraints: Cell::new(None),
            })?);
        }
        Ok(Chain {
            variables: mc.alloc_array(length, |number| variables[number])?,
            links: mc.alloc_array(length, |_| Cell::new(None))?,
            edit: Cell::new(None),
            plan: Cell::new(None),
            mark: Cell::new(0),
        })
    }

    /// Makes a variable equal to the one before, except for its number. The last link keeps the
    /// last variable as it is.
    fn connect(&self, link: usize) -> Result<(), Full> {
        let variable = self.chain.variables[link];
        let (kind, strength, other) = match self.chain.variables.get(link + 1) {
            Some(&next) => (Kind::Offset { by: link as i64 }, REQUIRED, next),
            None => (Kind::Stay, WEAK, variable),
        };
        let constraint = self.constraint(kind, strength, [variable, other])?;
        self.chain.links[link].set(Some(constraint));
        self.add(constraint);
        Ok(())
    }

    fn disconnect(&self, link: usize) -> Result<(), Full> {
        if let Some(edit) = self.chain.edit.take() {
            self.chain.plan.set(None);
            self.remove(edit)?;
        }
        match self.chain.links[link].take() {
            Some(constraint) => self.remove(constraint),
            None => Ok(()),
        }
    }

    fn constraint(&self, kind: Kind, strength: u32, ends: [V<'gc>; 2]) -> Result<C<'gc>, Full> {
        let output = Cell::new(None);
        let constraint = self.mc.alloc(Constraint {
            kind,
            strength,
            ends,
            output,
        })?;
        let used = if ends[0].ptr_eq(ends[1]) {
            &ends[..1]
        } else {
            &ends[..]
        };
        for end in used {
            let next = end.constraints.get();
            end.constraints
                .set(Some(self.mc.alloc(Link { constraint, next })?));
        }
        Ok(constraint)
    }

    /// Begins to change a variable, and plans the variables that follow from it.
    fn edit(&self, variable: usize) -> Result<(), Full> {
        let variable = self.chain.variables[variable];
        let edit = self.constraint(Kind::Edit, STRONG, [variable, variable])?;
        self.chain.edit.set(Some(edit));
        self.add(edit);
        let mut plan = Vec::new();
        let mut todo = vec![edit];
        while let Some(next) = todo.pop() {
            let Some(output) = next.output() else {
                continue;
            };
            plan.push(next);
            todo.extend(consuming(output));
        }
        self.chain.plan.set(None);
        for constraint in plan.into_iter().rev() {
            let next = self.chain.plan.get();
            self.chain
                .plan
                .set(Some(self.mc.alloc(Link { constraint, next })?));
        }
        Ok(())
    }

    /// Gives the edited variable a value and executes a copy of the plan, like an editor that keeps
    /// a history.
    fn change(&self, value: i64) -> Result<(), Full> {
        let Some(edited) = self.chain.edit.get().and_then(|edit| edit.output()) else {
            return Ok(());
        };
        edited.value.set(value);
        let (mut copy, mut step) = (None, self.chain.plan.get());
        while let Some(link) = step {
            link.constraint.execute();
            let constraint = link.constraint;
            copy = Some(self.mc.alloc(Link {
                constraint,
                next: copy,
            })?);
            step = link.next;
        }
        let executed = std::iter::successors(copy, |link| link.next).count();
        edited.mark.set(edited.mark.get() + executed as u32 % 2);
        Ok(())
    }

    /// Satisfies a constraint, and those that it displaces.
    fn add(&self, constraint: C<'gc>) {
        self.chain.mark.set(self.chain.mark.get() + 2);
        let mut next = Some(constraint);
        while let Some(constraint) = next {
            next = self.satisfy(constraint);
        }
    }

    /// Satisfies a constraint if possible. Returns the one that it displaced.
    fn satisfy(&self, constraint: C<'gc>) -> Option<C<'gc>> {
        let mark = self.chain.mark.get();
        constraint.choose(mark);
        let output = constraint.output()?;
        if let Some(input) = constraint.input() {
            input.mark.set(mark);
        }
        let aside = output.follows.replace(Some(constraint));
        if let Some(aside) = aside {
            aside.output.set(None);
        }
        propagate(constraint);
        output.mark.set(mark);
        aside
    }

    /// Removes a constraint, and adds those that can be satisfied now, strongest first.
    fn remove(&self, constraint: C<'gc>) -> Result<(), Full> {
        for end in constraint.ends {
            self.unlink(end, constraint)?;
        }
        let Some(output) = constraint.output() else {
            return Ok(());
        };
        constraint.output.set(None);
        output.follows.set(None);
        output.strength.set(WEAKEST);
        output.is_constant.set(true);
        let (mut unsatisfied, mut todo) = (Vec::new(), vec![output]);
        while let Some(variable) = todo.pop() {
            unsatisfied.extend(constraints(variable).filter(|it| it.output.get().is_none()));
            for next in consuming(variable) {
                next.recalculate();
                todo.extend(next.output());
            }
        }
        unsatisfied.sort_by_key(|constraint| constraint.strength);
        unsatisfied
            .into_iter()
            .filter(|it| it.output.get().is_none())
            .for_each(|it| self.add(it));
        Ok(())
    }

    /// Rebuilds the variable's list without a constraint.
    fn unlink(&self, variable: V<'gc>, constraint: C<'gc>) -> Result<(), Full> {
        let kept: Vec<_> = constraints(variable)
            .filter(|it| !it.ptr_eq(constraint))
            .collect();
        variable.constraints.set(None);
        for constraint in kept.into_iter().rev() {
            let next = variable.constraints.get();
            variable
                .constraints
                .set(Some(self.mc.alloc(Link { constraint, next })?));
        }
        Ok(())
    }
}

fn constraints<'gc>(variable: V<'gc>) -> impl Iterator<Item = C<'gc>> {
    std::iter::successors(variable.constraints.get(), |link| link.next).map(|link| link.constraint)
}

/// The constraints that compute something from a variable.
fn consuming<'gc>(variable: V<'gc>) -> impl Iterator<Item = C<'gc>> {
    constraints(variable).filter(move |it| it.input().is_some_and(|input| input.ptr_eq(variable)))
}

/// Computes what a constraint changes, and all variables that follow from it.
fn propagate(constraint: C<'_>) {
    let mut todo = vec![constraint];
    while let Some(next) = todo.pop() {
        next.recalculate();
        todo.extend(next.output().into_iter().flat_map(consuming));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(chain: &Chain<'_>) -> Vec<i64> {
        chain
            .variables
            .iter()
            .map(|variable| variable.value.get())
            .collect()
    }

    #[test]
    fn what_is_edited_goes_down_the_chain_and_stops_where_it_is_cut() {
        let mut region = vec![MaybeUninit::uninit(); 1 << 16];
        let mut arena =
            Arena::<Rootable!['gc => Chain<'gc>]>::new(&mut region, |mc| Solver::chain(mc, 4))
                .expect("room");
        arena.mutate(|mc, chain| {
            let solver = Solver { mc, chain };
            (0..4)
                .try_for_each(|link| solver.connect(link))
                .expect("room");
            solver.edit(0).expect("room");
            solver.change(10).expect("room");
            assert_eq!(values(chain), [10, 10, 11, 13]);
            solver.disconnect(1).expect("room");
            solver.edit(0).expect("room");
            solver.change(20).expect("room");
            assert_eq!(values(chain), [20, 20, 11, 13]);
            solver.connect(1).expect("room");
            assert_eq!(values(chain), [20, 20, 21, 23]);
        });
    }

    #[test]
    fn a_stronger_constraint_pushes_a_weaker_one_aside() {
        let mut region = vec![MaybeUninit::uninit(); 1 << 16];
        let mut arena =
            Arena::<Rootable!['gc => Chain<'gc>]>::new(&mut region, |mc| Solver::chain(mc, 3))
                .expect("room");
        arena.mutate(|mc, chain| {
            let solver = Solver { mc, chain };
            (0..3)
                .try_for_each(|link| solver.connect(link))
                .expect("room");
            let stay = chain.links[2].get().expect("the last link");
            assert_eq!(
                stay.output.get(),
                Some(0),
                "the weak one holds the last variable"
            );
            assert_eq!(
                chain.links[1].get().map(|link| link.output.get()),
                Some(Some(0)),
                "which the others follow"
            );
            solver.edit(0).expect("room");
            assert_eq!(stay.output.get(), None, "the edit is stronger");
            assert_eq!(
                chain.links[1].get().map(|link| link.output.get()),
                Some(Some(1))
            );
        });
    }
}
