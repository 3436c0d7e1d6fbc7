//! `certify_shared`: no script inside the demand is refused in exactly the aligned bytes.

use surefit_compact::certify::{Budget, ClassSet, Demand, Sharing, certify_shared};
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig, Stepwise};
use surefit_compact::{Bound, Config};

use crate::owners::{MOST, assert_exhausted};
use crate::region::Region;
use crate::search::{Found, search};
use crate::shared::{Handles, Instances, Keys, Lock, Maker, Registrations};
use crate::{PAGE, Sum, config, configs};

/// Who uses a heap, and what it buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub(crate) threads: u16,
    pub(crate) guards: u32,
    pub(crate) instances: u16,
    /// Free pages that a thread buffers, and free handles that a group does.
    pub(crate) buffers: (u16, u16),
    pub(crate) leaves: bool,
}

impl Case {
    /// One thread and no guards.
    pub(crate) const ALONE: Self = Self {
        threads: 1,
        guards: 0,
        instances: 1,
        buffers: (1, 4),
        leaves: false,
    };

    pub(crate) fn sharing(&self) -> Sharing {
        Sharing::new(self.threads.into())
            .with_guards(self.guards)
            .with_instances(self.instances.into())
    }

    pub(crate) fn config<G: Granularity>(&self, config: &Config) -> SharedConfig<G> {
        let config = SharedConfig::<G>::new(config.clone()).with_pins(self.sharing().pins());
        let config = config.with_locals(self.threads, self.buffers.0).expect("valid");
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

/// Handle buffers at which a refill makes one entry, a few, and more than there are objects.
const HANDLE_BUFFERS: [u16; 5] = [1, 2, 4, 6, 64];

fn joint(config: &Config, objects: u64, block_bytes: u64) -> Demand<'static> {
    Demand::Joint(Budget {
        objects,
        block_bytes,
        classes: ClassSet::all(config.geometry()),
    })
}

/// One thread, any handle buffer; with and without a guard.
fn exhaust_alone<G: Granularity>() {
    let mut sum = Sum::default();
    for config in &configs(4) {
        for handles in HANDLE_BUFFERS {
            for guards in 0..2 {
                let case = Case {
                    buffers: (1, handles),
                    guards,
                    ..Case::ALONE
                };
                for most in [&[1][..], &[0, 0, 1], &[7], &[0, 0, 3], &[3, 2, 1]] {
                    let demand = Demand::PerClass(most);
                    sum.add(case.exhaust::<Handles<G>>(config, &case.sharing(), &demand));
                }
                let demand = joint(config, 4, 2048);
                sum.add(case.exhaust::<Handles<G>>(config, &case.sharing(), &demand));
            }
        }
    }
    println!("{}: {sum}", std::any::type_name::<G>());
}

#[test]
fn no_script_of_one_thread_is_refused_under_any_lock() {
    exhaust_alone::<PerClass>();
    exhaust_alone::<PerHeap>();
    exhaust_alone::<PerPage>();
}
