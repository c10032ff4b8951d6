//! Prepared forms, factors and bases, and all numbers that follow from their bounds.
//!
//! A proven number is kept with what it must not be below (or above): the exact maximum at a vertex, carried through the
//! same steps, roots rounded towards what is harder to prove.

use super::{Counts, sessions};
use crate::cases::{Case, Stored, case, generator, normal, symmetric};
use crate::rational::{Dyadic, is_semidefinite, matrix, times_transpose, transpose, vertex_maximum};
use crate::soundness::exact;
use gambeson_checker::{
    Certificate, Domain, DroppedEntries, EliminationOrder, InfToOneBound, InfToTwoBound, PreparedBasis,
    PreparedFactor, PreparedForm, QuadraticBound, RelaxationValue, SpectralBound, VertexValue,
    relaxation_value, triangle_bound, verify, vertex_value,
};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A matrix with what is true of it.
struct Subject {
    stored: Stored,
    certificate: Certificate,
    /// max xᵀMx over the vertices, which on the cube is the maximum as well.
    most: Dyadic,
}

impl Subject {
    fn is_factor(&self) -> bool {
        matches!(self.stored, Stored::Gram { .. })
    }

    /// Whether M is [0 A; Aᵀ 0] with so many rows in A.
    fn is_dilation(&self, rows: usize) -> bool {
        let form = exact(&self.stored);
        let inside = |i: usize, j: usize| (i < rows) == (j < rows);
        !self.is_factor()
            && (0..form.len()).all(|i| (0..form.len()).all(|j| !inside(i, j) || form[i][j].is_zero()))
    }
}

/// One of the cases of `soundness`, or a sparse matrix with heavy entries beside a light diagonal.
fn subject(rng: &mut ChaCha8Rng) -> Subject {
    let (stored, mut certificate) = if rng.random_bool(0.6) {
        let finite = |case: &Case| match &case.stored {
            Stored::Dense { entries: numbers, .. }
            | Stored::Sparse { values: numbers, .. }
            | Stored::Gram { factor: numbers, .. } => numbers.iter().all(|number| number.is_finite()),
        };
        let case = std::iter::repeat_with(|| case(rng.random())).find(finite).expect("most are");
        (case.stored, case.certificate)
    } else {
        let n = rng.random_range(2..=6);
        let density = rng.random_range(0.2..1.0);
        let entries = symmetric(n, |i, j| match normal(rng) {
            own if i == j => own.abs(),
            value if rng.random_bool(density) => 10.0 * value.round(),
            _ => 0.0,
        });
        let domain = if rng.random() { Domain::Cube } else { Domain::Vertices };
        let certificate = Certificate { domain, weights: vec![1.0; n], shift: Some(0.0) };
        (Stored::sparse(&entries, n, |i, j| i == j), certificate)
    };
    certificate.weights.resize(stored.view().dim(), 1.0);
    let most = vertex_maximum(&exact(&stored));
    Subject { stored, certificate, most }
}

/// A bound with what it must not be below. `whole` says whether it is still a bound on the form of its matrix.
#[derive(Clone)]
struct Bounded {
    bound: QuadraticBound,
    most: Dyadic,
    of: usize,
    whole: bool,
}

fn drop_some(rng: &mut ChaCha8Rng, n: usize) -> DroppedEntries {
    match rng.random_range(0..5) {
        0 => DroppedEntries::Nothing,
        1 => DroppedEntries::All,
        _ => {
            // With repetitions and mirror images, and now and then a pair that is none.
            let end = if rng.random_bool(0.1) { n + 1 } else { n };
            let mut pair = || (rng.random_range(0..end), rng.random_range(0..end));
            let mut pairs: Vec<(usize, usize)> = (0..2 * n).map(|_| pair()).filter(|(i, j)| i != j).collect();
            pairs.truncate(rng.random_range(0..=pairs.len()));
            let number = |i: usize| u32::try_from(i).expect("few");
            DroppedEntries::Pairs(pairs.into_iter().map(|(i, j)| (number(i), number(j))).collect())
        }
    }
}

/// The pairs without those that are not stored, so that most are accepted.
fn stored_pairs(stored: &Stored, dropped: DroppedEntries) -> DroppedEntries {
    let (Stored::Sparse { offsets, indices, .. }, DroppedEntries::Pairs(pairs)) = (stored, &dropped) else {
        return dropped;
    };
    let is_stored = |&(i, j): &(u32, u32)| {
        let row = offsets.get(i as usize).copied().zip(offsets.get(i as usize + 1).copied());
        row.is_some_and(|(from, to)| indices[from..to].contains(&(j as usize)))
    };
    DroppedEntries::Pairs(pairs.iter().copied().filter(is_stored).collect())
}

fn order(rng: &mut ChaCha8Rng, n: usize) -> EliminationOrder {
    let mut order: Vec<u32> = (0..).take(n).collect();
    for i in (1..n).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    if rng.random_bool(0.1) && n > 0 {
        order[0] = order[n - 1]; // none, but for n = 1
    }
    let most = if rng.random_bool(0.1) { n + 1 } else { n };
    EliminationOrder { order, dense: rng.random_range(0..=most) }
}

/// d to be tried on a form: its certificate's, multiples of the diagonal or of the row sums, or anything.
fn duals(rng: &mut ChaCha8Rng, form: &PreparedForm<'_>, subject: &Subject) -> Vec<f64> {
    let (kept, dim) = (form.kept(), subject.stored.view().dim());
    let entries = dense(&subject.stored);
    let diagonal = |i: usize| entries[i * dim + i];
    let beside = |i: usize| (0..dim).filter(|&j| j != i).map(|j| entries[i * dim + j].abs()).sum::<f64>();
    let part = [0.0, 0.3, 0.9, 1.0, 1.0 + 1e-12, 1.5][rng.random_range(0..6)];
    match rng.random_range(0..5) {
        0 => subject.certificate.duals(dim, kept).unwrap_or_else(|_| vec![1.0; kept.len()]),
        1 => kept.iter().map(|&i| 1.5 * diagonal(i) + 0.5).collect(),
        2 => kept.iter().map(|&i| diagonal(i) + part * beside(i) + 1e-300).collect(),
        3 => kept.iter().map(|&i| (diagonal(i) + beside(i)) * rng.random_range(0.2..1.2)).collect(),
        _ => kept.iter().map(|_| 10_f64.powf(rng.random_range(-3.0..3.0))).collect(),
    }
}

/// Every entry, rounded for factors.
fn dense(stored: &Stored) -> Vec<f64> {
    match stored {
        Stored::Dense { entries, .. } => entries.clone(),
        Stored::Sparse { offsets, indices, values } => {
            let dim = offsets.len() - 1;
            let mut entries = vec![0.0; dim * dim];
            for i in 0..dim {
                (offsets[i]..offsets[i + 1]).for_each(|at| entries[i * dim + indices[at]] = values[at]);
            }
            entries
        }
        Stored::Gram { factor, rank, .. } => crate::cases::gram(factor, *rank),
    }
}

/// The largest multiple of d by a power of two that is refused, and the next number of its first entry that is accepted,
/// found by bisection: where a proof would first be wrong.
fn verge(form: &PreparedForm<'_>, duals: &[f64]) -> Option<QuadraticBound> {
    let tried = |scale: f64| form.bound(&duals.iter().map(|d| d * scale).collect::<Vec<f64>>()).ok();
    let (mut low, mut high) = (2_f64.powi(-8), 2_f64.powi(8));
    tried(high)?;
    for _ in 0..64 {
        let middle = (low * high).sqrt();
        if tried(middle).is_some() { high = middle } else { low = middle }
    }
    tried(high)
}

/// A form with setters called in any order, and again.
fn try_form(rng: &mut ChaCha8Rng, subjects: &[Subject], of: usize, bounds: &mut Vec<Bounded>) {
    let subject = &subjects[of];
    let (matrix, domain) = (subject.stored.view(), subject.certificate.domain);
    let dropped = drop_some(rng, matrix.dim());
    let dropped = if rng.random_bool(0.8) { stored_pairs(&subject.stored, dropped) } else { dropped };
    let Ok(mut form) = PreparedForm::without(matrix, domain, &dropped, 1) else { return };
    let (never, always) = (|| false, || true);
    for _ in 0..rng.random_range(0..4) {
        form = if rng.random_range(0..3) == 0 {
            form.stopped_by(if rng.random_bool(0.9) { &never } else { &always })
        } else {
            // Of this form, or of a form of another size.
            let rows = if rng.random_bool(0.8) { form.kept().len() } else { matrix.dim() + 1 };
            let Ok(form) = form.ordered(order(rng, rows)) else { return };
            form
        };
        let _ = form.cost();
    }
    let other = &subjects[rng.random_range(0..subjects.len())].certificate;
    for _ in 0..rng.random_range(1..4) {
        // Of this matrix, or the weights of another, of whatever length.
        let own = if rng.random_bool(0.9) { duals(rng, &form, subject) } else { other.weights.clone() };
        let found = if rng.random() { form.bound(&own).ok() } else { verge(&form, &own) };
        bounds.extend(found.map(|bound| Bounded { bound, most: subject.most.clone(), of, whole: true }));
    }
}

/// The other ways to a bound.
fn try_others(rng: &mut ChaCha8Rng, subjects: &[Subject], of: usize, bounds: &mut Vec<Bounded>) {
    let subject = &subjects[of];
    let other = &subjects[rng.random_range(0..subjects.len())].certificate;
    let certificate = if rng.random_bool(0.8) { &subject.certificate } else { other };
    let mut keep = |bound| bounds.push(Bounded { bound, most: subject.most.clone(), of, whole: true });
    let _ = verify(subject.stored.view(), certificate, 1).map(&mut keep);
    let Stored::Gram { factor, dim, rank } = &subject.stored else { return };
    let _ = triangle_bound(factor, *dim, *rank, 1).map(&mut keep);
    let Ok(prepared) = PreparedFactor::new(factor, *dim, *rank, certificate, 1) else { return };
    let gram = prepared.gram();
    let trace: f64 = (0..gram.rank()).map(|a| gram.entries()[a * gram.rank() + a]).sum();
    for _ in 0..6 {
        let scale = trace * rng.random_range(0.0..1.2) + f64::from(rng.random_range(0_u8..2)) * gram.error();
        let _ = prepared.bound(scale).map(&mut keep);
    }
}

/// Numbers that follow from bounds, of one matrix or of several.
fn compose(rng: &mut ChaCha8Rng, subjects: &[Subject], bounds: &mut Vec<Bounded>, counts: &Counts) {
    let Bounded { bound, most, of, whole } = bounds[rng.random_range(0..bounds.len())].clone();
    let positive = || most.clone().max(Dyadic::zero());
    let error = [0.0, 1e-9, 0.5, 1e200, -1.0, f64::NAN, f64::INFINITY][rng.random_range(0..7)];
    let valid = error >= 0.0 && error.is_finite();
    match rng.random_range(0..6) {
        0 => {
            let Ok(bound) = bound.widened(error) else { return };
            assert!(valid, "widened by {error}");
            bounds.push(Bounded { bound, most: &most + &Dyadic::from(error), of, whole: false });
        }
        1 => {
            let Ok(bound) = bound.widened_factor(error) else { return };
            assert!(valid, "widened by {error}");
            let root = &positive().root_below() + &Dyadic::from(error);
            let most = if error == 0.0 { most } else { &root * &root };
            bounds.push(Bounded { bound, most, of, whole: whole && error == 0.0 });
        }
        2 => {
            let kappa = bound.sqrt();
            judge_kappa(kappa, &positive().root_below(), counts);
            bounds.push(Bounded { bound: kappa.square(), most: positive(), of, whole: false });
        }
        3 => {
            let some: Vec<Bounded> = (0..rng.random_range(0..4))
                .map(|_| bounds[rng.random_range(0..bounds.len())].clone())
                .collect();
            let kappa = InfToTwoBound::of_blocks(some.iter().map(|block| block.bound));
            if some.is_empty() {
                assert_eq!(kappa.value(), f64::INFINITY, "of nothing, nothing is known");
                return;
            }
            let squares = some.iter().map(|block| block.most.clone().max(Dyadic::zero()));
            let sum = squares.fold(Dyadic::zero(), |sum, square| &sum + &square);
            judge_kappa(kappa, &sum.root_below(), counts);
        }
        _ => {
            let rows = rng.random_range(0..=subjects[of].stored.view().dim() + 1);
            match bound.of_dilation(rows) {
                Ok(bound) => {
                    counts.add("dilations");
                    assert!(whole && subjects[of].is_dilation(rows), "no dilation with {rows} rows");
                    assert!(Dyadic::from(bound.value()).shifted(1) >= most, "{bound:?} is too small");
                    let wider = bound.widened(error).map(InfToOneBound::value);
                    assert!(wider.is_err() || valid, "widened by {error}");
                    let least = |value: f64| &Dyadic::from(value) - &Dyadic::from(error);
                    assert!(wider.is_err() || least(wider.expect("proven")).shifted(1) >= most);
                }
                Err(_) => assert!(!(whole && subjects[of].is_dilation(rows)), "a dilation is refused"),
            }
        }
    }
}

fn judge_kappa(kappa: InfToTwoBound, least: &Dyadic, counts: &Counts) {
    counts.add("kappas");
    let value = kappa.value();
    assert!(value == f64::INFINITY || Dyadic::from(value) >= *least, "{kappa:?} is too small");
}

/// Lower ends: at most what is true, through every step.
fn lower_ends(rng: &mut ChaCha8Rng, subject: &Subject, counts: &Counts) {
    let (matrix, dim) = (subject.stored.view(), subject.stored.view().dim());
    let x: Vec<f64> = (0..dim).map(|_| if rng.random() { 1.0 } else { -1.0 }).collect();
    let Ok(vertex) = vertex_value(matrix, &x, 1) else { return };
    // At a vertex, so that the relaxation's value is known: V = x.
    let relaxed = relaxation_value(matrix, subject.certificate.domain, &x, 1, 1);
    let most = &subject.most;
    let judge = |value: f64, most: &Dyadic| {
        counts.add("lower ends");
        assert!(value == f64::NEG_INFINITY || Dyadic::from(value) <= *most, "{value} is too large");
    };
    judge(vertex.value(), most);
    for end in [RelaxationValue::from(vertex)].into_iter().chain(relaxed) {
        judge(end.value(), most);
        let error = [0.0, 1e-9, 0.5, -1.0, f64::NAN, f64::INFINITY][rng.random_range(0..6)];
        let less = end.widened(error).value();
        assert!(error >= 0.0 || less == f64::NEG_INFINITY, "{less} within {error}");
        if error.is_finite() && error >= 0.0 {
            judge(less, &(most - &Dyadic::from(error)));
        }
        let rows = rng.random_range(0..=dim + 1);
        if let Ok(half) = end.of_dilation(rows) {
            assert!(subject.is_dilation(rows), "no dilation with {rows} rows");
            judge(half.value(), &most.shifted(-1));
            assert!(half.of_dilation(rows).is_err(), "halved twice");
        }
    }
    let half = vertex.of_dilation(rng.random_range(0..=dim + 1)).map(VertexValue::value);
    let _ = half.map(|half| judge(half, &most.shifted(-1)));
}

/// s with s²·I ⪰ UᵀU, alone and as the largest of several blocks.
fn bases(rng: &mut ChaCha8Rng, subjects: &[Subject], counts: &Counts) {
    let mut proven: Vec<(SpectralBound, Vec<Vec<Dyadic>>)> = Vec::new();
    for subject in subjects {
        let Stored::Gram { factor, dim, rank } = &subject.stored else { continue };
        let Ok(basis) = PreparedBasis::new(factor, *dim, *rank, 1) else { continue };
        let gram = basis.gram();
        let trace: f64 = (0..gram.rank()).map(|a| gram.entries()[a * gram.rank() + a]).sum();
        let form = times_transpose(&transpose(&matrix(factor, *rank)));
        for _ in 0..4 {
            let square = trace * rng.random_range(0.0..1.1) + gram.error();
            let Ok(bound) = basis.bound(square) else { continue };
            proven.push((bound, form.clone()));
        }
    }
    let dominates = |value: f64, form: &[Vec<Dyadic>]| {
        let square = &Dyadic::from(value) * &Dyadic::from(value);
        let entry = |i: usize, j: usize| {
            let own = if i == j { square.clone() } else { Dyadic::zero() };
            &own - &form[i][j]
        };
        let all: Vec<Vec<Dyadic>> =
            (0..form.len()).map(|i| (0..form.len()).map(|j| entry(i, j)).collect()).collect();
        is_semidefinite(&all)
    };
    let together = SpectralBound::of_blocks(proven.iter().map(|(bound, _)| *bound)).value();
    for (bound, form) in &proven {
        counts.add("spectral bounds");
        assert!(dominates(bound.value(), form) && together >= bound.value(), "{bound:?}");
    }
    assert!(!proven.is_empty() || together == f64::INFINITY, "of nothing, nothing is known");
}

fn session(seed: u64, counts: &Counts) {
    let rng = &mut generator(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let subjects: Vec<Subject> = (0..rng.random_range(1..=3)).map(|_| subject(rng)).collect();
    let mut bounds = Vec::new();
    for _ in 0..6 {
        let of = rng.random_range(0..subjects.len());
        if rng.random_bool(0.7) {
            try_form(rng, &subjects, of, &mut bounds);
        } else {
            try_others(rng, &subjects, of, &mut bounds);
        }
        lower_ends(rng, &subjects[of], counts);
    }
    for _ in 0..24 {
        if !bounds.is_empty() {
            compose(rng, &subjects, &mut bounds, counts);
        }
    }
    for Bounded { bound, most, .. } in &bounds {
        counts.add("bounds");
        assert!(Dyadic::from(bound.value()) >= *most, "session {seed}: {bound:?} is too small");
    }
    bases(rng, &subjects, counts);
}

#[test]
fn no_composition_of_calls_proves_a_false_bound() {
    let (count, counts) = sessions(session);
    let names = ["bounds", "kappas", "dilations", "lower ends", "spectral bounds"];
    counts.expect(count, &names, count / 10);
}
