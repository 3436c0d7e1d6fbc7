//! `certify_shared`: no script inside the demand is refused in exactly the aligned bytes.

use surefit_compact::certify::{Budget, ClassSet, Demand, Sharing, certify_shared};
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig, Stepwise};
use surefit_compact::{Bound, Config};

use crate::owners::{MOST, assert_exhausted};
use crate::region::Region;
use crate::search::{Found, search};
use crate::shared::{Handles, Instances, Lock, Maker, Registrations};
use crate::{PAGE, Sum, bounds, config, configs, holes, is_thorough};

/// The users of a heap, and its buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) threads: u16,
    pub(crate) guards: u32,
    pub(crate) instances: u16,
    /// Free pages that a thread buffers, and free handles that a group buffers.
    pub(crate) buffers: (u16, u16),
    pub(crate) leaves: bool,
    /// Whether instances get quotas, which may refuse.
    pub(crate) quotas: bool,
    /// Whether calls are made while another one pauses.
    pub(crate) pauses: bool,
}

impl Case {
    /// One thread and no guards.
    pub(crate) const ALONE: Self = Self {
        threads: 1,
        guards: 0,
        instances: 1,
        buffers: (1, 4),
        leaves: false,
        quotas: false,
        pauses: false,
    };

    pub(crate) fn sharing(&self) -> Sharing {
        Sharing::new(self.threads.into())
            .with_guards(self.guards)
            .with_instances(self.instances.into())
    }

    pub(crate) fn config<G: Granularity>(&self, config: &Config) -> SharedConfig<G> {
        let config = SharedConfig::<G>::new(config.clone()).with_pins(self.sharing().pins());
        let config = config
            .with_locals(self.threads, self.buffers.0)
            .expect("valid");
        config.with_handle_buffer(self.buffers.1).expect("valid")
    }

    /// All scripts in a region of the certified bytes less `fewer`.
    pub(crate) fn space<'d, M: Maker>(
        &self,
        config: &'d SharedConfig<M::G>,
        sharing: &Sharing,
        demand: &'d Demand<'d>,
        fewer: usize,
    ) -> Registrations<'d, M> {
        let certificate = certify_shared::<Lock, _>(config, sharing, demand).expect("small");
        let region = Region::aligned(certificate.aligned_bytes - fewer, PAGE);
        let mut space = Registrations::<M>::new(config, demand, region);
        space.guards = self.guards as usize;
        space.threads = self.threads.into();
        space.instances = self.instances;
        space.leaves = self.leaves;
        space.quotas = self.quotas;
        space.pauses = self.pauses;
        space
    }

    fn exhaust<M: Maker>(&self, config: &Config, sharing: &Sharing, demand: &Demand<'_>) -> Found {
        let config = self.config::<M::G>(config);
        let space = self.space::<M>(&config, sharing, demand, 0);
        let found = search(&space, MOST);
        assert_exhausted(&found, &(self, config.config().bound(), demand));
        found
    }
}

fn joint(config: &Config, objects: u64, block_bytes: u64) -> Demand<'static> {
    Demand::Joint(Budget {
        objects,
        block_bytes,
        classes: ClassSet::all(config.geometry()),
    })
}

/// Handle buffers at which a refill makes one entry, more than there are objects, and a few.
const HANDLE_BUFFERS: [u16; 4] = [1, 64, 4, 6];

/// One thread, any handle buffer; with and without a guard.
fn exhaust_alone<G: Granularity>() {
    let mut sum = Sum::default();
    let buffers = if is_thorough() {
        &HANDLE_BUFFERS[..]
    } else {
        &HANDLE_BUFFERS[..2]
    };
    for config in &configs(4) {
        for &handles in buffers {
            for guards in 0..2 {
                let case = Case {
                    buffers: (1, handles),
                    guards,
                    ..Case::ALONE
                };
                let mut demands = vec![
                    Demand::PerClass(&[1]),
                    Demand::PerClass(&[5]),
                    Demand::PerClass(&[2, 1, 1]),
                    joint(config, 3, 2048),
                ];
                if is_thorough() {
                    demands.extend([Demand::PerClass(&[9]), Demand::PerClass(&[4, 2, 1])]);
                    demands.push(joint(config, 5, 3072));
                }
                for demand in &demands {
                    sum.add(case.exhaust::<Handles<G>>(config, &case.sharing(), demand));
                }
            }
        }
    }
    println!("one thread, {}: {sum}", lock_name::<G>());
}

pub(crate) fn lock_name<G: Granularity>() -> &'static str {
    let name = std::any::type_name::<G>();
    name.rsplit(':').next().unwrap_or(name)
}

#[test]
fn no_script_of_one_thread_is_refused_under_any_lock() {
    exhaust_alone::<PerClass>();
    exhaust_alone::<PerHeap>();
    exhaust_alone::<PerPage>();
}

/// A few bounds: the differences between threads do not depend on them.
fn some_bounds() -> Vec<Bound> {
    let some = vec![Bound::Pages(1), Bound::DEFAULT, holes(0, 0, 1)];
    if is_thorough() { bounds().into() } else { some }
}

/// Two or three threads in turn, which come and go, and buffer pages.
fn exhaust_threads<G: Granularity>(most: &[u32]) {
    let mut sum = Sum::default();
    for bound in some_bounds() {
        let config = config(4, bound);
        for (threads, guards) in [(2, 0), (2, 1), (3, 0)] {
            for buffers in [(1, 4), (2, 1)] {
                let case = Case {
                    threads,
                    guards,
                    buffers,
                    // Page locks have twice as many lists of entries.
                    leaves: threads == 2 && (!G::PAGES || is_thorough()),
                    ..Case::ALONE
                };
                let demand = Demand::PerClass(most);
                sum.add(case.exhaust::<Handles<G>>(&config, &case.sharing(), &demand));
            }
        }
    }
    println!("threads, {}: {sum}", lock_name::<G>());
}

#[test]
fn no_script_of_threads_in_turn_is_refused() {
    exhaust_threads::<PerClass>(&[3, 1]);
    exhaust_threads::<PerHeap>(&[3, 1]);
    exhaust_threads::<PerPage>(&[2]);
}

// ---- instances ---------------------------------------------------------------------------------

/// Threads that come and go and adopt what others left, and quotas that come and go.
fn exhaust_instances<G: Stepwise>() {
    let mut sum = Sum::default();
    let both = [Bound::Pages(1), Bound::Unbounded];
    let bounds = if is_thorough() { &both[..] } else { &both[..1] };
    for &bound in bounds {
        let config = config(4, bound);
        for (guards, leaves, quotas) in [(0, true, false), (1, false, false), (0, false, true)] {
            let case = Case {
                threads: 2,
                guards,
                instances: 2,
                buffers: (1, 2),
                leaves,
                quotas,
                pauses: false,
            };
            for demand in &[Demand::PerClass(&[3]), joint(&config, 2, 768)] {
                sum.add(case.exhaust::<Instances<G>>(&config, &case.sharing(), demand));
            }
        }
    }
    println!("instances, {}: {sum}", lock_name::<G>());
}

#[test]
fn no_script_of_instances_is_refused() {
    exhaust_instances::<PerClass>();
    exhaust_instances::<PerHeap>();
}

// ---- calls that meet ---------------------------------------------------------------------------

/// Each call pauses after its first or second section while another one is made: frees with their
/// moves in flight, insertions that pin what they write.
fn exhaust_meetings<G: Granularity>() {
    let mut sum = Sum::default();
    // A step starts a thread: a hundred thousand steps take a minute.
    let both = [Bound::Pages(1), Bound::DEFAULT];
    let bounds = if is_thorough() { &both[..] } else { &both[..1] };
    for bound in bounds {
        let config = config(4, *bound);
        let case = Case {
            threads: 2,
            buffers: (0, 1),
            pauses: true,
            ..Case::ALONE
        };
        let mut demands = vec![joint(&config, 3, 1024)];
        if is_thorough() {
            demands.extend([Demand::PerClass(&[4]), joint(&config, 4, 1536)]);
        }
        for demand in &demands {
            sum.add(case.exhaust::<Handles<G>>(&config, &case.sharing(), demand));
        }
    }
    println!("calls that meet, {}: {sum}", lock_name::<G>());
}

#[test]
fn no_call_is_refused_that_meets_another_one() {
    exhaust_meetings::<PerClass>();
    exhaust_meetings::<PerHeap>();
    exhaust_meetings::<PerPage>();
}
