//! Random sequences of calls against a model: a plain account of what every call must do, written apart from the
//! rules of the product.
//!
//! Every step is held against the model when it is made: its value, or the kind of its refusal. When a sequence is
//! over, so is what every list shows to every account. All storages are held against the same model, so they agree
//! with each other. `COMPASS_SEED` repeats a run, `COMPASS_LONG=1` makes a long one.

mod asks;
mod ending;
mod members;
mod opening;
mod people;
mod places;
mod play;
mod state;
mod step;
mod talk;
mod topics;

use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::BTreeMap,
    env,
    future::Future,
    hash::{BuildHasher as _, RandomState},
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    pin::Pin,
};

use compass_domain::TenantId;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use tokio::{runtime::Handle, task::block_in_place};

use self::{
    play::Play,
    step::{MIX, Step, Use, sequences},
};
use crate::{Fixture, Scene};

/// Sequences of a long run.
const LONG: u32 = 10_000;
/// Sequences that share a store, each in a tenant of its own.
const TENANTS: usize = 64;
/// How often a failing sequence is played again to find a shorter one.
const SHRINKS: u32 = 600;
/// At least this share of the steps of a run, in percent, is refused.
const REFUSED: usize = 20;
/// So many calls of one use case are not all refused by chance.
const ENOUGH_CALLS: usize = 100;

/// Holds a storage against the model. Takes the path of an async function that makes a fresh [`crate::Fixture`] with
/// the given tenants, and how many sequences a short run plays.
#[macro_export]
macro_rules! model_contract {
    ($fixture:path, $sequences:expr) => {
        mod model {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn every_call_does_what_the_model_says() {
                $crate::model::run(&|tenants| Box::pin($fixture(tenants)), $sequences).await;
            }
        }
    };
}

/// Makes a fresh store with these tenants.
pub type Open<'a> = &'a dyn Fn(Vec<TenantId>) -> Pin<Box<dyn Future<Output = Fixture>>>;

/// Plays sequences until one differs from the model.
#[expect(clippy::unused_async, reason = "it runs inside a runtime, which only an async test has")]
pub async fn run(open: Open<'_>, sample: u32) {
    let cases = if crate::is_long() { LONG } else { sample };
    let seed = seed();
    println!("COMPASS_SEED={seed}");
    let quiet = Quiet::begin();
    let stage = RefCell::new(Stage { open, set: None, next: 0 });
    let tally = RefCell::new(Tally::default());
    let config = Config { cases, max_shrink_iters: SHRINKS, failure_persistence: None, ..Config::default() };
    let played = block_in_place(|| {
        TestRunner::new_with_rng(config, rng(seed)).run(&sequences(), |steps| {
            let scene = stage.borrow_mut().scene();
            tally.borrow_mut().add(perform(&scene, &steps)?);
            Ok(())
        })
    });
    drop(quiet);
    match played {
        Ok(()) => tally.borrow().check(),
        Err(TestError::Fail(reason, steps)) => {
            let uses: Vec<Use> = steps.iter().map(|step| step.which).collect();
            panic!("COMPASS_SEED={seed}\n{uses:?}\n{reason}");
        }
        Err(other) => panic!("COMPASS_SEED={seed}\n{other}"),
    }
}

/// Plays a sequence in a fresh tenant; each step with whether it was refused, or what differs after which calls.
fn perform(scene: &Scene, steps: &[Step]) -> Result<Vec<(Use, bool)>, TestCaseError> {
    let mut play = Play::new(scene);
    let playing = async {
        play.open(scene).await;
        let mut done = Vec::with_capacity(steps.len());
        for step in steps {
            play.was_refused = false;
            play.play(step).await;
            done.push((step.which, play.was_refused));
        }
        play.compare_everything().await;
        done
    };
    let played = catch_unwind(AssertUnwindSafe(|| Handle::current().block_on(playing)));
    played.map_err(|panic| {
        TestCaseError::fail(format!("{}\nafter:\n{}", text_of(&*panic), play.log.join("\n")))
    })
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// The seed of the run: the given one, or a new one.
fn seed() -> u64 {
    let given = env::var("COMPASS_SEED").ok();
    given.map_or_else(
        || RandomState::new().hash_one("model"),
        |seed| seed.parse().expect("COMPASS_SEED is a number"),
    )
}

fn rng(seed: u64) -> TestRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// Hands out empty tenants, and opens another store when one has none left.
struct Stage<'a> {
    open: Open<'a>,
    set: Option<(Fixture, Scene)>,
    next: usize,
}

impl Stage<'_> {
    fn scene(&mut self) -> Scene {
        let at = self.next % TENANTS;
        self.next += 1;
        if at == 0 {
            self.set = None;
        }
        let (_, scene) = self.set.get_or_insert_with(|| {
            let tenants = (0..TENANTS).map(tenant).collect();
            let fixture = Handle::current().block_on((self.open)(tenants));
            let scene = Scene::new(&fixture);
            (fixture, scene)
        });
        scene.in_tenant(tenant(at))
    }
}

fn tenant(number: usize) -> TenantId {
    TenantId::new(&format!("model-{number}"))
}

/// What a run was made of: how often each use case was called, and how often it was refused.
#[derive(Default)]
struct Tally(BTreeMap<Use, (usize, usize)>);

impl Tally {
    fn add(&mut self, done: Vec<(Use, bool)>) {
        for (which, was_refused) in done {
            let (calls, refused) = self.0.entry(which).or_default();
            *calls += 1;
            *refused += usize::from(was_refused);
        }
    }

    /// Every use case is one step in a hundred or more, enough steps are refused, and in a run that is long enough to
    /// tell every use case is allowed now and then.
    fn check(&self) {
        let steps: usize = self.0.values().map(|(calls, _)| calls).sum();
        let refused: usize = self.0.values().map(|(_, refused)| refused).sum();
        println!("{refused} of {steps} steps were refused: {:?}", self.0);
        for (which, _) in MIX {
            let (calls, refused) = self.0.get(which).copied().unwrap_or_default();
            assert!(calls * 100 >= steps, "{which:?} is {calls} of {steps} steps");
            let is_telling = calls >= ENOUGH_CALLS;
            assert!(!is_telling || calls > refused, "{which:?} was refused {refused} times of {calls}");
        }
        assert!(refused * 100 >= steps * REFUSED, "{refused} of {steps} steps are refused");
    }
}

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, panics of this thread print nothing: a sequence that shrinks fails hundreds of times.
struct Quiet;

impl Quiet {
    fn begin() -> Self {
        let loud = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                loud(panic);
            }
        }));
        IS_QUIET.set(true);
        Self
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        IS_QUIET.set(false);
    }
}
