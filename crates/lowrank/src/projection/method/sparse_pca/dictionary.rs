//! The dictionary for given codes: one atom after the other.
//!
//! With A = CᵀC and B = CᵀXᵀ, the gradient with respect to D is −R, R = B − A·D. The exact minimum over atom k alone is
//! d_k + R_k/A_kk, shortened to length one if it is longer (Mairal et al., Algorithm 2). R is kept up to date in blocks
//! of atoms, so that most of the work is a product.

use super::reduced::Point;
use crate::linalg::kernel::{Isa, ROWS, add_rows_times};
use crate::linalg::operator::dot;
use crate::linalg::products::{rows_times, rows_times_blocked, transpose};
use rayon::prelude::*;

/// Atoms between two products.
const BLOCK: usize = 8;
/// Passes over the dictionary, for one pass over the codes.
const SWEEPS: usize = 2;
/// Share of the codes that may be there for B to be added up from them one by one.
const SPARSE: f64 = 0.06;

/// Some passes over all atoms, for the codes of `point`. `rows`: features × samples.
pub(super) fn update_dictionary(rows: &[f64], point: &mut Point, samples: usize) {
    let (width, codes) = (point.width, &point.codes);
    let features = codes.len() / width;
    let by_atom = transpose(codes, features, width);
    let moments = rows_times_blocked(&by_atom, features, codes, width);
    let mut gradient = products_with_rows(rows, &by_atom, samples, width);
    let fitted = rows_times(&moments, width, &point.dictionary, samples);
    gradient.par_iter_mut().zip(&fitted).with_min_len(1 << 14).for_each(|(r, fitted)| *r -= fitted);
    for _ in 0..SWEEPS {
        for from in (0..width).step_by(BLOCK) {
            let change = update_block(&moments, &gradient, &mut point.dictionary, from, samples);
            apply(&moments, &change, &mut gradient, from, samples);
        }
    }
}

/// CᵀXᵀ, width × samples.
fn products_with_rows(rows: &[f64], by_atom: &[f64], samples: usize, width: usize) -> Vec<f64> {
    let features = by_atom.len() / width;
    let used = by_atom.iter().filter(|c| **c != 0.0).count();
    if used as f64 > SPARSE * by_atom.len() as f64 {
        return rows_times(by_atom, features, rows, samples);
    }
    let mut product = vec![0.0; width * samples];
    product.par_chunks_mut(samples).zip(by_atom.par_chunks(features)).for_each(|(product, codes)| {
        for (&c, row) in codes.iter().zip(rows.chunks_exact(samples)).filter(|(c, _)| **c != 0.0) {
            product.iter_mut().zip(row).for_each(|(sum, x)| *sum += c * x);
        }
    });
    product
}

/// The atoms `from..from + BLOCK`, each in turn; returns by how much they changed.
fn update_block(
    moments: &[f64],
    gradient: &[f64],
    dictionary: &mut [f64],
    from: usize,
    samples: usize,
) -> Vec<f64> {
    let width = dictionary.len() / samples;
    let mut own = gradient[from * samples..(from + BLOCK) * samples].to_vec();
    let mut change = vec![0.0; BLOCK * samples];
    for k in 0..BLOCK {
        let moment = |l: usize| moments[(from + l) * width + from + k];
        if moment(k) == 0.0 {
            continue;
        }
        let atom = &mut dictionary[(from + k) * samples..][..samples];
        let change = &mut change[k * samples..][..samples];
        let (own, later) = own[k * samples..].split_at_mut(samples);
        own.iter_mut().zip(&*atom).for_each(|(r, d)| *r = d + *r / moment(k));
        let longer = dot(own, own).sqrt().max(1.0);
        for ((change, atom), goal) in change.iter_mut().zip(atom).zip(&*own) {
            let after = goal / longer;
            *change = after - *atom;
            *atom = after;
        }
        for (l, later) in later.chunks_exact_mut(samples).enumerate() {
            let factor = moment(k + 1 + l);
            if factor != 0.0 {
                later.iter_mut().zip(&*change).for_each(|(r, change)| *r -= factor * change);
            }
        }
    }
    change
}

/// R ← R − A·(change of the atoms from..from + BLOCK).
fn apply(moments: &[f64], change: &[f64], gradient: &mut [f64], from: usize, samples: usize) {
    let isa = Isa::detect();
    let width = gradient.len() / samples;
    gradient.par_chunks_mut(ROWS * samples).zip(moments.par_chunks(ROWS * width)).for_each(
        |(gradient, moments)| {
            let factors: Vec<f64> = moments
                .chunks_exact(width)
                .flat_map(|row| row[from..from + BLOCK].iter().map(|a| -a))
                .collect();
            if factors.iter().any(|a| *a != 0.0) {
                let rows: Vec<&[f64]> = factors.chunks_exact(BLOCK).collect();
                add_rows_times(isa, &rows, change, samples, gradient);
            }
        },
    );
}
