//! Whatever the checker accepts is true: thousands of cases, each claim decided in exact arithmetic.
//!
//! `GAMBESON_EXACT_CASES=200000` runs more of them than the default.

use crate::cases::{Case, Family, Stored, case};
use crate::rational::{
    Dyadic, Matrix, dot, inner_product, is_semidefinite, matrix, sum, times_transpose, transpose,
    vertex_maximum,
};
use gambeson_checker::{
    Certificate, CheckError, Domain, QuadraticBound, Rejected, RelaxationValue, VertexValue,
    relaxation_value, vertex_value,
};
use gambeson_lowrank::sdp::scale::{check, check_dilation, spectral_norm};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// The exact M of the stored numbers.
pub(crate) fn exact(stored: &Stored) -> Matrix {
    match stored {
        Stored::Dense { entries, dim } => matrix(entries, *dim),
        Stored::Sparse { offsets, indices, values } => {
            let dim = offsets.len() - 1;
            let mut entries = vec![0.0; dim * dim];
            for i in 0..dim {
                (offsets[i]..offsets[i + 1]).for_each(|at| entries[i * dim + indices[at]] = values[at]);
            }
            matrix(&entries, dim)
        }
        Stored::Gram { factor, rank, .. } => times_transpose(&matrix(factor, *rank)),
    }
}

/// M as the domain sees it, and the constant it adds: on the vertices a stored diagonal counts as its trace.
fn split(stored: &Stored, domain: Domain) -> (Matrix, Dyadic) {
    let mut form = exact(stored);
    let mut constant = Dyadic::zero();
    if domain == Domain::Vertices && !matches!(stored, Stored::Gram { .. }) {
        for i in 0..form.len() {
            let own = std::mem::replace(&mut form[i][i], Dyadic::zero());
            constant = &constant + &own;
        }
    }
    (form, constant)
}

/// The rows and columns `kept`, and Diag(d)·scale − other·M on them.
fn dominated(form: &Matrix, kept: &[usize], duals: &[Dyadic], scale: &Dyadic, other: &Dyadic) -> bool {
    let entry = |i: usize, j: usize| {
        let times = &form[i][j] * other;
        if i == j { &(&duals[i] * scale) - &times } else { &Dyadic::zero() - &times }
    };
    is_semidefinite(&kept.iter().map(|&i| kept.iter().map(|&j| entry(i, j)).collect()).collect::<Vec<_>>())
}

/// Everything an accepted bound claims. The weights were accepted, so those of rows that are not zero are finite.
fn judge_bound(seed: u64, stored: &Stored, certificate: &Certificate, bound: f64) {
    let Certificate { domain, weights, shift } = certificate;
    let (form, constant) = split(stored, *domain);
    let value = Dyadic::from(bound);
    // (a) On the cube the form is convex in each coordinate, M_ii ≥ 0, so its maximum is at a vertex.
    assert!(
        value >= &vertex_maximum(&form) + &constant,
        "seed {seed}: {bound} is below the value at a vertex"
    );
    // (b) What the proof went through: domination of M by a diagonal matrix, as a statement about all of space.
    let kept: Vec<usize> = (0..form.len()).filter(|&i| form[i].iter().any(|x| !x.is_zero())).collect();
    let rest = &value - &constant;
    assert!(rest >= Dyadic::zero(), "seed {seed}: {bound} is below the trace");
    let number = |i: usize| weights[i] + shift.unwrap_or(0.0);
    let one = Dyadic::from(1.0);
    let exact = |of: &dyn Fn(usize) -> f64| -> Vec<Dyadic> {
        (0..form.len()).map(|i| if kept.contains(&i) { of(i).into() } else { Dyadic::zero() }).collect()
    };
    match stored {
        Stored::Gram { dim, rank, .. } if rank <= dim => {
            // The proof is about q = fl(1/√y): bound/Σq⁻²·Diag(q⁻²) ⪰ M. Without fractions, P = Π q_j²:
            // Q·M·Q·Σ_j P/q_j² ⪯ bound·P·I.
            let roots = exact(&|i| 1.0 / number(i).sqrt());
            let squares: Vec<Dyadic> = roots.iter().map(|q| q * q).collect();
            let product_without = |left_out: Option<usize>| {
                let factors = kept.iter().filter(|&&j| Some(j) != left_out);
                factors.fold(one.clone(), |product, &j| &product * &squares[j])
            };
            let scaled: Matrix = (0..form.len())
                .map(|i| (0..form.len()).map(|j| &(&form[i][j] * &roots[i]) * &roots[j]).collect())
                .collect();
            let ones = vec![one.clone(); form.len()];
            let inverse = sum(&kept.iter().map(|&j| product_without(Some(j))).collect::<Vec<_>>());
            let claim = dominated(&scaled, &kept, &ones, &(&value * &product_without(None)), &inverse);
            assert!(claim, "seed {seed}: {bound} was not proven by these weights");
        }
        _ if shift.is_some() => {
            let duals = exact(&number);
            assert!(dominated(&form, &kept, &duals, &one, &one), "seed {seed}: the weights do not dominate");
            assert!(rest >= sum(&duals), "seed {seed}: {bound} is below the sum of the weights");
        }
        _ => {
            // d = s·y with Σ d ≤ rest, so rest/Σy·Diag(y) ⪰ M.
            let duals = exact(&number);
            let claim = dominated(&form, &kept, &duals, &rest, &sum(&duals));
            assert!(claim, "seed {seed}: {bound} was not proven by these weights");
        }
    }
}

/// The lower ends, where the matrix allows any: at most the exact value, hence at most the bound.
fn judge_lower_ends(seed: u64, case: &Case, bound: Option<f64>) -> [bool; 2] {
    let domain = case.certificate.domain;
    let vertex = vertex_value(case.stored.view(), &case.vertex, 1).map(VertexValue::value);
    if let Ok(value) = vertex
        && value > f64::NEG_INFINITY
    {
        let x = matrix(&case.vertex, 1);
        let truth = inner_product(&exact(&case.stored), &x);
        assert!(Dyadic::from(value) <= truth, "seed {seed}: {value} is above the value at its vertex");
        assert!(bound.is_none_or(|bound| value <= bound), "seed {seed}: a lower end above the bound");
    }
    let relaxed = relaxation_value(case.stored.view(), domain, &case.vectors, case.columns, 1);
    let relaxed = relaxed.map(RelaxationValue::value);
    if let Ok(value) = relaxed
        && value > f64::NEG_INFINITY
    {
        let (form, constant) = split(&case.stored, domain);
        let v = matrix(&case.vectors, case.columns);
        let truth = inner_product(&form, &v).max(Dyadic::zero());
        let squares = v.iter().map(|row| dot(row.iter().zip(row)));
        let largest = squares.max().expect("there is a row");
        let rest = &Dyadic::from(value) - &constant;
        let holds = if largest.is_zero() { rest <= Dyadic::zero() } else { &rest * &largest <= truth };
        assert!(holds, "seed {seed}: {value} is above the value of the feasible point");
        assert!(bound.is_none_or(|bound| value <= bound), "seed {seed}: a lower end above the bound");
    }
    [vertex.is_ok(), relaxed.is_ok()]
}

/// s²·I ⪰ UᵀU.
fn judge_spectral_norm(seed: u64, factor: &[f64], dim: usize, rank: usize) -> bool {
    let Ok(bound) = spectral_norm(factor, dim, rank, 1) else { return false };
    let square = &Dyadic::from(bound.value()) * &Dyadic::from(bound.value());
    let form = times_transpose(&transpose(&matrix(factor, rank)));
    let kept: Vec<usize> = (0..rank).collect();
    let one = Dyadic::from(1.0);
    let holds = dominated(&form, &kept, &vec![square; rank], &one, &one);
    assert!(holds, "seed {seed}: {} is below a singular value", bound.value());
    true
}

/// What became of the cases, by family and by what was asked.
#[derive(Default)]
struct Tally {
    proven: [AtomicU64; 11],
    refused: [AtomicU64; 11],
    not_dominating: AtomicU64,
    nothing_proven: AtomicU64,
    lower_ends: [AtomicU64; 2],
    spectral: AtomicU64,
    dilations: AtomicU64,
}

fn place(family: Family) -> usize {
    Family::ALL.iter().position(|&other| other == family).expect("all are there")
}

fn judge(seed: u64, tally: &Tally) {
    let case = case(seed);
    let add = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
    let family = place(case.family);
    let outcome = check(case.stored.view(), &case.certificate, 1).map(QuadraticBound::value);
    match &outcome {
        &Ok(bound) => {
            judge_bound(seed, &case.stored, &case.certificate, bound);
            add(&tally.proven[family]);
        }
        Err(error) => {
            add(&tally.refused[family]);
            match error {
                CheckError::Rejected(Rejected::NotDominating) => add(&tally.not_dominating),
                CheckError::Rejected(Rejected::NothingProven) => add(&tally.nothing_proven),
                _ => 0,
            };
        }
    }
    let ends = judge_lower_ends(seed, &case, outcome.ok());
    ends.iter().zip(&tally.lower_ends).filter(|(end, _)| **end).for_each(|(_, counter)| {
        add(counter);
    });
    if let Stored::Gram { factor, dim, rank } = &case.stored
        && judge_spectral_norm(seed, factor, *dim, *rank)
    {
        add(&tally.spectral);
    }
    if let Some(rows) = case.dilated_rows
        && let Ok(bound) = check_dilation(case.stored.view(), rows, &case.certificate, 1)
    {
        let twice = Dyadic::from(bound.value()).shifted(1);
        assert!(twice >= vertex_maximum(&exact(&case.stored)), "seed {seed}: the norm is larger");
        add(&tally.dilations);
    }
}

#[test]
#[allow(clippy::print_stdout)] // the counts are half of the result: proofs of nothing would be sound, too
fn accepted_claims_are_true() {
    let count: u64 = std::env::var("GAMBESON_EXACT_CASES")
        .map_or(2000, |count| count.parse().expect("GAMBESON_EXACT_CASES is a number"));
    let start = std::time::Instant::now();
    let (tally, next) = (Tally::default(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= count {
                        break;
                    }
                    judge(seed, &tally);
                }
            });
        }
    });
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let total = |counters: &[AtomicU64]| counters.iter().map(read).sum::<u64>();
    let (proven, refused) = (total(&tally.proven), total(&tally.refused));
    let mut table = format!(
        "{count} cases in {:.1} s: {proven} proven, {refused} refused ({} not dominating, {} nothing proven)\n",
        start.elapsed().as_secs_f64(),
        read(&tally.not_dominating),
        read(&tally.nothing_proven)
    );
    for (at, family) in Family::ALL.iter().enumerate() {
        let (proven, refused) = (read(&tally.proven[at]), read(&tally.refused[at]));
        writeln!(table, "  {family:?}: {proven} proven, {refused} refused").expect("strings take all text");
    }
    let [vertices, relaxed] = &tally.lower_ends;
    println!(
        "{table}  lower ends: {} at vertices, {} relaxed; spectral norms: {}; dilations: {}",
        read(vertices),
        read(relaxed),
        read(&tally.spectral),
        read(&tally.dilations)
    );
    assert_eq!(proven + refused, count);
    assert!(10 * proven >= 3 * count, "too few proofs to say anything about them");
    for family in [Family::Singular, Family::Nudged] {
        let at = place(family);
        let (proven, refused) = (read(&tally.proven[at]), read(&tally.refused[at]));
        assert!(proven > 0 && refused > 0, "{family:?}: {proven} proven, {refused} refused");
    }
}

/// Random margins seldom meet the last weights that are accepted. These are found by bisection, unit by unit, and the
/// exact answer is asked for there, where a proof with too small a margin would first be wrong.
#[test]
fn the_last_weights_accepted_still_dominate() {
    let mut proven = 0;
    for seed in 0..3000 {
        let case = case(seed);
        let Certificate { domain, weights, shift: Some(shift) } = &case.certificate else { continue };
        let duals: Vec<f64> = weights.iter().map(|y| y + shift).collect();
        let tried = |scale: f64| {
            let weights = duals.iter().map(|d| d * scale).collect();
            let certificate = Certificate { domain: *domain, weights, shift: Some(0.0) };
            check(case.stored.view(), &certificate, 1).ok().map(|bound| (certificate, bound.value()))
        };
        let (mut low, mut high) = (0.5_f64.to_bits(), 2_f64.to_bits());
        if tried(2.0).is_none() || tried(0.5).is_some() {
            continue;
        }
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if tried(f64::from_bits(middle)).is_some() { high = middle } else { low = middle }
        }
        for bits in [high, high + 1, high + 7] {
            if let Some((certificate, bound)) = tried(f64::from_bits(bits)) {
                judge_bound(seed, &case.stored, &certificate, bound);
                proven += 1;
            }
        }
    }
    assert!(proven > 1000, "only {proven} verges were found");
}

/// Products of the least floats round up by nearly a factor of two, all in one direction: the allowance for underflow
/// is all that keeps these lower ends below the truth.
#[test]
fn sums_of_the_least_floats_are_not_overstated() {
    let least = f64::from_bits(1);
    for (n, columns) in [(1, 1), (1, 9), (1, 40), (2, 9), (3, 33)] {
        for (units, v) in [(1.0, 0.51), (1.0, 0.6), (1.0, 0.75), (2.0, 0.8), (3.0, 0.51)] {
            let entries = vec![units * least; n * n];
            let factor = vec![(units * least).sqrt(); n];
            for stored in [
                Stored::sparse(&entries, n, |_, _| false),
                Stored::Dense { entries, dim: n },
                Stored::Gram { factor, dim: n, rank: 1 },
            ] {
                let certificate = Certificate { domain: Domain::Cube, weights: vec![1.0; n], shift: None };
                let (vertex, vectors) = (vec![1.0; n], vec![v; n * columns]);
                let family = Family::Trivial;
                let case = Case { family, stored, certificate, dilated_rows: None, vertex, vectors, columns };
                assert_eq!(judge_lower_ends(0, &case, None), [true, true]);
            }
        }
    }
}

/// Overflow in the middle of a row: m·t² and the next term nearly cancel, but the first is beyond the largest float.
/// What is returned must still be at most ⟨M, VVᵀ⟩/ρ.
#[test]
fn relaxed_values_survive_overflow() {
    let (m, t, nearly) = (2f64.powi(24), 2f64.powi(500), 1.0 - 2f64.powi(-20));
    let vectors = vec![t, nearly * t, t, -t];
    let entries = vec![0.0, m, m, 0.0];
    let certificate = Certificate { domain: Domain::Cube, weights: vec![m, m], shift: None };
    for stored in [Stored::sparse(&entries, 2, |_, _| false), Stored::Dense { entries, dim: 2 }] {
        let case = Case {
            family: Family::ZeroDiagonal,
            stored,
            certificate: certificate.clone(),
            dilated_rows: None,
            vertex: vec![1.0, 1.0],
            vectors: vectors.clone(),
            columns: 2,
        };
        judge_lower_ends(0, &case, None);
    }
}
