//! One caller and large batches: counts as of a classifier that is asked on all threads.

use super::{example_projection, params};
use crate::support::normal;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec, NONE};
use gambeson_smooth::input_map::{Affine, InputMap, Layout};
use gambeson_smooth::noise::Quantum;
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use gambeson_smooth::session::{Batch, RowFormat, Rows, SessionFactory, SessionParams};
use gambeson_smooth::smoother::{SessionError, Smoother, SmoothingParams, SmoothingPlan};
use gambeson_smooth::space::Space;
use std::convert::Infallible;
use std::sync::Arc;

/// Class by the largest of three sums, or none where the first number is large.
struct Sums {
    map: Option<InputMap>,
}

impl Sums {
    fn class(row: &[f32]) -> u32 {
        let sums = [0, 1, 2].map(|class| row.iter().skip(class).step_by(3).sum::<f32>());
        if row[0] > 3.0 { NONE } else { gambeson_smooth::classifier::highest(&sums) }
    }
}

impl Classifier for Sums {
    type Error = Infallible;

    fn classes(&self) -> usize {
        3
    }

    fn dim(&self) -> usize {
        12
    }

    fn input_map(&self) -> Option<&InputMap> {
        self.map.as_ref()
    }

    fn at_once(&self) -> Option<usize> {
        Some(5)
    }

    fn classify(&self, batch: &[f32], _: usize, out: &mut [u32]) -> Result<(), Infallible> {
        out.iter_mut().zip(batch.chunks_exact(12)).for_each(|(out, row)| *out = Self::class(row));
        Ok(())
    }
}

fn map() -> InputMap {
    let channels = [(2.0, 0.5), (1.5, -0.25), (1.0, 0.125)];
    let channels = channels.map(|(scale, shift)| Affine { scale, shift }).to_vec();
    InputMap::new(channels, 4, Layout::ChannelsLast).expect("a map")
}

/// Noise on inputs and in a projection, with and without a map.
fn setups() -> Vec<(Sums, Arc<Space>)> {
    let projected = Space::projected(&example_projection(None), None).expect("a space");
    let mut setups = Vec::new();
    for space in [Space::identity(12), projected].map(Arc::new) {
        for map in [None, Some(map())] {
            setups.push((Sums { map }, Arc::clone(&space)));
        }
    }
    setups
}

fn goal(targets: &[f64], tolerance: Option<f64>) -> Goal {
    Goal { targets: targets.to_vec(), tolerance, norm: RadiusNorm::L2 }
}

fn classes(batch: &Batch<'_>) -> Vec<u32> {
    let Rows::F32(rows) = batch.rows else { panic!("values were asked for") };
    rows.chunks_exact(batch.width).take(batch.count).map(Sums::class).collect()
}

/// How sessions are driven: batch, threads, buffers, padded.
const DRIVES: [(usize, usize, usize, bool); 7] = [
    (1, 1, 2, false),
    (7, 2, 3, true),
    (64, 1, 2, true),
    (100, 3, 4, false),
    (256, 2, 0, true),
    (1000, 2, 3, false),
    (5000, 2, 3, true),
];

fn sessions(toy: &Sums, space: &Arc<Space>, params: &SmoothingParams, drive: usize) -> SessionFactory {
    let (batch, threads, buffers, padded) = DRIVES[drive];
    let plan = SmoothingPlan::new(
        ClassifierSpec::of(toy),
        Arc::clone(space),
        SmoothingParams { batch, ..params.clone() },
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let pool = Some(Arc::new(pool));
    SessionFactory::new(
        plan.expect("it fits"),
        SessionParams { padded, buffers, pool, ..SessionParams::default() },
    )
}

/// Answers every batch.
macro_rules! driven {
    ($session:expr) => {{
        let mut session = $session.expect("an input");
        while let Some(batch) = session.ask().expect("a batch") {
            let classes = classes(&batch);
            session.tell(&classes).expect("one class per row");
        }
        session.finish().expect("a result")
    }};
}

#[test]
fn counts_are_those_of_all_threads() {
    let input = normal(12, 8);
    for (toy, space) in &setups() {
        let mut looked = false;
        for (sigma, n, goal) in [
            (0.5, 3000, None),
            (1.5, 130, None),
            (0.7, 3000, Some(goal(&[0.1, 0.5], None))),
            (0.7, 1001, Some(goal(&[], Some(0.05)))),
        ] {
            let params = SmoothingParams { selection: 100, goal, ..params(sigma, n, 0.01) };
            let smoother = Smoother::new(toy, Arc::clone(space), params.clone()).expect("it fits");
            let expected = smoother.certify(3, &input, &mut ()).expect("drawn").expect("not stopped");
            let predicted = smoother.predict(3, &input, &mut ()).expect("drawn").expect("not stopped");
            let counted = smoother.draws(3, &input, 333, &mut ()).expect("drawn").expect("not stopped");
            assert_eq!(predicted.counts.draws(), n);
            looked |= expected.estimation.draws() < n;
            for drive in 0..DRIVES.len() {
                let sessions = sessions(toy, space, &params, drive);
                assert_eq!(driven!(sessions.certify(3, &input)), expected, "{params:?}, drive {drive}");
                assert_eq!(driven!(sessions.predict(3, &input)), predicted, "{params:?}, drive {drive}");
                assert_eq!(driven!(sessions.draws(3, &input, 333)), counted, "{params:?}, drive {drive}");
            }
        }
        assert!(looked, "a sequential run ends before all draws");
    }
}

#[test]
fn extended_counts_are_those_of_all_threads() {
    let input = normal(12, 8);
    for (toy, space) in &setups() {
        let run = |n, extended_from| SmoothingParams {
            goal: Some(goal(&[0.3], Some(0.02))),
            extended_from,
            ..params(0.5, n, 0.01)
        };
        let smoother = |params| Smoother::new(toy, Arc::clone(space), params).expect("it fits");
        let first = smoother(run(300, None)).certify(1, &input, &mut ()).expect("drawn").expect("no stop");
        let counts = || (first.selection.clone(), first.estimation.clone());
        let params = run(4000, Some(300));
        let more = smoother(params.clone()).extend(1, &input, counts(), &mut ());
        let more = more.expect("drawn").expect("not stopped");
        for drive in 0..DRIVES.len() {
            let sessions = sessions(toy, space, &params, drive);
            assert_eq!(driven!(sessions.extend(1, &input, counts())), more, "drive {drive}");
        }
    }
}

/// A pool of one thread whose thread is the caller makes the noise itself while it waits.
#[test]
fn a_caller_on_a_thread_of_the_pool_does_not_wait_for_itself() {
    let (toy, space) = setups().swap_remove(0);
    let params = params(0.5, 2000, 0.01);
    let smoother = Smoother::new(&toy, Arc::clone(&space), params.clone()).expect("it fits");
    let input = normal(12, 8);
    let expected = smoother.certify(0, &input, &mut ()).expect("drawn").expect("not stopped");
    for own in [false, true] {
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let pool = Arc::new(pool);
            let plan = SmoothingPlan::new(
                ClassifierSpec::of(&toy),
                Arc::clone(&space),
                SmoothingParams { batch: 256, ..params.clone() },
            );
            let of = SessionParams { pool: own.then(|| Arc::clone(&pool)), ..SessionParams::default() };
            let sessions = SessionFactory::new(plan.expect("it fits"), of);
            assert_eq!(pool.install(|| driven!(sessions.certify(0, &input))), expected);
        }
    }
}

#[test]
fn batches_are_full_but_for_the_last() {
    let (toy, space) = setups().swap_remove(0);
    for padded in [false, true] {
        let plan = SmoothingPlan::new(
            ClassifierSpec::of(&toy),
            Arc::clone(&space),
            SmoothingParams { selection: 100, batch: 256, ..params(0.5, 600, 0.01) },
        );
        let of = SessionParams { padded, ..SessionParams::default() };
        let sessions = SessionFactory::new(plan.expect("it fits"), of);
        // Twice: memory is used again.
        for index in [7, 8] {
            let mut session = sessions.certify(index, &normal(12, 8)).expect("an input");
            let mut seen = Vec::new();
            while let Some(batch) = session.ask().expect("a batch") {
                let Rows::F32(rows) = batch.rows else { panic!("values") };
                let rows_given = rows.len() / batch.width;
                assert!(rows[batch.count * batch.width..].iter().all(|number| *number == 0.0));
                assert_eq!(batch.index, index);
                seen.push((batch.count, batch.selection, rows_given));
                let classes = classes(&batch);
                session.tell(&classes).expect("one class per row");
            }
            let last = if padded { 256 } else { 188 };
            assert_eq!(seen, [(256, 100, 256), (256, 0, 256), (188, 0, last)]);
        }
    }
}

#[test]
fn answers_that_cannot_be_counted_are_refused() {
    let (toy, space) = setups().swap_remove(0);
    let sessions = sessions(&toy, &space, &params(0.5, 400, 0.01), 3);
    let expected = driven!(sessions.certify(0, &[0.0; 12]));
    let mut session = sessions.certify(0, &[0.0; 12]).expect("an input");
    assert_eq!(session.tell(&[]), Err(SessionError::NoBatch));
    while let Some(batch) = session.ask().expect("a batch") {
        let right = classes(&batch);
        let rows = right.len();
        let few = session.tell(&right[1..]);
        assert_eq!(few, Err(SessionError::Length { rows, answers: rows - 1 }));
        let mut unknown = right.clone();
        unknown[rows - 1] = 3;
        let refused = session.tell(&unknown).expect_err("there is no class 3");
        assert_eq!(refused, SessionError::Class { row: rows - 1, class: 3, classes: 3 });
        let same = session.ask().expect("a batch").expect("it is not answered");
        assert_eq!(classes(&same), right, "the same batch again");
        session.tell(&right).expect("one class per row");
        assert_eq!(session.tell(&right), Err(SessionError::NoBatch));
    }
    assert!(session.ask().expect("no error").is_none());
    assert_eq!(session.finish().expect("a result"), expected);
    let mut early = sessions.certify(0, &[0.0; 12]).expect("an input");
    early.ask().expect("a batch");
    assert_eq!(early.finish().map(drop), Err(SessionError::Unfinished));
}

/// F∘Q: what a classifier is given is a function of the whole numbers.
#[test]
fn whole_numbers_give_the_values() {
    let input: Vec<f64> = (0..12).map(|i| f64::from(i * 21)).collect();
    let of = |toy: &Sums, space: &Arc<Space>, exponent, format| {
        let params = SmoothingParams { batch: 50, grid_exponent: exponent, ..params(0.25, 200, 0.01) };
        let plan = SmoothingPlan::new(ClassifierSpec::of(toy), Arc::clone(space), params);
        SessionFactory::new(plan.expect("it fits"), SessionParams { format, ..SessionParams::default() })
    };
    let toy = Sums { map: Some(map()) };
    let space = Arc::new(Space::identity(12).with_quantum(Quantum::Byte));
    for (exponent, small) in [(None, true), (Some(-8), false)] {
        let values = of(&toy, &space, exponent, RowFormat::Values);
        let whole = of(&toy, &space, exponent, RowFormat::WholeNumbers);
        let step = whole.plan().grid().step();
        let mut values = values.certify(0, &input).expect("an input");
        let mut whole = whole.certify(0, &input).expect("an input");
        while let Some(batch) = values.ask().expect("a batch") {
            let same = whole.ask().expect("a batch").expect("as many batches");
            assert_eq!((batch.count, batch.width), (same.count, same.width));
            let numbers: Vec<i32> = match same.rows {
                Rows::I16(numbers) if small => numbers.iter().map(|&number| number.into()).collect(),
                Rows::I32(numbers) if !small => numbers.to_vec(),
                other => panic!("another type: {other:?}"),
            };
            let Rows::F32(rows) = batch.rows else { panic!("values") };
            for (row, numbers) in rows.chunks_exact(12).zip(numbers.chunks_exact(12)) {
                for index in 0..12 {
                    let (place, Affine { scale, shift }) = map().place(index);
                    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
                    let value = ((scale * step) as f32).mul_add(numbers[place] as f32, shift as f32);
                    assert_eq!(row[place].to_bits(), value.to_bits());
                }
            }
            let classes = classes(&batch);
            values.tell(&classes).expect("one class per row");
            whole.tell(&classes).expect("one class per row");
        }
        assert_eq!(values.finish().expect("a result"), whole.finish().expect("a result"));
    }
    let projected = Arc::new(Space::projected(&example_projection(None), None).expect("a space"));
    let codes = of(&toy, &projected, None, RowFormat::WholeNumbers);
    let mut codes = codes.predict(0, &normal(12, 8)).expect("an input");
    let batch = codes.ask().expect("a batch").expect("it begins");
    assert_eq!((batch.width, batch.selection), (3, 0));
    assert!(matches!(batch.rows, Rows::I16(numbers) if numbers.len() == 150), "codes, not decoded");
}
