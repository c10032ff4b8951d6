//! Counts of whole numbers against their exact probabilities: chi-squared, jointly for the pairs that share their words, and
//! far into the tails.

use super::{cases, cumulative};
use crate::noise::stream::PAIRS;
use crate::noise::{Centre, Draw, RoundedNoise};
use rayon::prelude::*;

/// Coordinates of a draw: groups whose cosines and sines are pairs.
const DIM: usize = 64 * 2 * PAIRS;

/// A centre of one fraction everywhere, s as given, and K as it is.
fn centre(cells: f32, fraction: f32) -> Centre {
    Centre::of_parts(vec![0.0; DIM], vec![fraction; DIM], cells)
}

/// P(round(s·N + φ) = k), with all digits in the tails.
fn probability(k: i32, cells: f64, fraction: f64) -> f64 {
    let (low, high) = ((f64::from(k) - 0.5 - fraction) / cells, (f64::from(k) + 0.5 - fraction) / cells);
    // On the side where both are small.
    if low > 0.0 { cumulative(-low) - cumulative(-high) } else { cumulative(high) - cumulative(low) }
}

/// (χ² − degrees)/√(2·degrees) over cells with an expected count of at least ten; all the others make one cell.
fn deviation(counts: &[u64], probabilities: &[f64], total: f64) -> (f64, usize) {
    let (mut rest, mut expected_rest) = (0.0, total);
    let (mut sum, mut cells) = (0.0, 0_usize);
    let mut add = |count: f64, expected: f64| {
        sum += (count - expected).powi(2) / expected;
        cells += 1;
    };
    let mut counted = 0.0;
    for (&count, &probability) in counts.iter().zip(probabilities) {
        let expected = probability * total;
        if expected >= 10.0 {
            add(count as f64, expected);
            expected_rest -= expected;
            counted += count as f64;
        }
    }
    rest += total - counted;
    if expected_rest >= 5.0 {
        add(rest, expected_rest);
    } else {
        // Too few for chi-squared: Poisson's tail, far below 10⁻⁶ at this many.
        assert!(rest <= 40.0, "{rest} where {expected_rest} are expected");
    }
    let degrees = cells as f64 - 1.0;
    ((sum - degrees) / (2.0 * degrees).sqrt(), cells)
}

/// All pairs of a few cells (their joint law), for coarse grids and several fractions; then single coordinates at the
/// default fineness. 5.5 deviations have a probability below 10⁻⁷ for hundreds of degrees of freedom.
#[test]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)] // small whole numbers
fn counts_have_their_probabilities() {
    let draws = (cases(400_000_000) / 4 / DIM as u64).max(1);
    for (seed, cells, fraction) in [(1, 3.0_f32, 0.0_f32), (2, 2.3, 0.437), (3, 5.0, -0.5), (4, 255.0, 0.21)]
    {
        let most = (8.0 * cells) as i32 + 1;
        let width = (2 * most + 1) as usize;
        let joint = cells < 10.0;
        let centre = centre(cells, fraction);
        let noise = RoundedNoise::new(seed, 7);
        let size = if joint { width * width } else { width };
        let tally = |mut counts: Vec<u64>, draw: u64| {
            let mut row = vec![0.0; DIM];
            assert!(noise.perturb(Draw::Estimation(draw), &centre, &mut row), "decided");
            for group in row.chunks_exact(2 * PAIRS) {
                let (cosines, sines) = group.split_at(PAIRS);
                for (x, y) in cosines.iter().zip(sines) {
                    let (x, y) = ((*x as i32 + most) as usize, (*y as i32 + most) as usize);
                    if joint {
                        counts[x * width + y] += 1;
                    } else {
                        counts[x] += 1;
                        counts[y] += 1;
                    }
                }
            }
            counts
        };
        let counts = (0..draws).into_par_iter().fold(|| vec![0; size], tally).reduce(
            || vec![0; size],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                a
            },
        );
        let one: Vec<f64> = (-most..=most).map(|k| probability(k, cells.into(), fraction.into())).collect();
        let probabilities =
            if joint { one.iter().flat_map(|p| one.iter().map(move |q| p * q)).collect() } else { one };
        let total = (draws * DIM as u64) as f64 / if joint { 2.0 } else { 1.0 };
        let (z, cells_used) = deviation(&counts, &probabilities, total);
        println!("s = {cells}, fraction {fraction}: {total} draws, {cells_used} cells, {z:.2} deviations");
        assert!(z.abs() < 5.5, "s = {cells}: {z}");
        // The farthest that was drawn, in the tail where so many draws reach.
        let farthest = (0..counts.len())
            .filter(|&at| counts[at] > 0)
            .map(|at| if joint { (at / width).abs_diff(most as usize) } else { at.abs_diff(most as usize) })
            .max()
            .expect("some");
        let reach = farthest as f64 / f64::from(cells);
        assert!((4.4..8.1).contains(&reach), "{reach} sigma");
    }
}

/// A wrong law must be found out: a level off by four thousandths.
#[test]
fn a_wrong_level_is_found_out() {
    let (cells, draws) = (3.0_f32, 200_u64);
    let centre = centre(cells, 0.0);
    let mut counts = vec![0_u64; 51];
    for draw in 0..draws {
        let mut row = vec![0.0; DIM];
        assert!(RoundedNoise::new(9, 9).perturb(Draw::Estimation(draw), &centre, &mut row));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        row.iter().for_each(|k| counts[(*k as i32 + 25) as usize] += 1);
    }
    let of = |cells: f64| (-25..=25).map(|k| probability(k, cells, 0.0)).collect::<Vec<f64>>();
    let total = (draws * DIM as u64) as f64;
    assert!(deviation(&counts, &of(3.0), total).0.abs() < 5.5);
    assert!(deviation(&counts, &of(3.012), total).0 > 5.5);
}
