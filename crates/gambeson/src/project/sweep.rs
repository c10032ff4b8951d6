//! κ against error, method by method.

use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
use crate::fit::{FitParams, energies, fit_channel, proof};
use crate::progress::{SweepPoint, SweepProgress};
use gambeson_checker::rounding::root_below;
use gambeson_data::dataset::Dataset;
use gambeson_data::energies::{DataEnergies, EnergyParams};
use gambeson_lowrank::projection::fit::{FitMethod, Fitted, Target};
use gambeson_lowrank::projection::method::algorithm3::SparseParams;
use gambeson_lowrank::projection::method::pca::Spectrum;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// A method of fitting without its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FitMethodKind {
    /// Coordinates of largest energy.
    Axis,
    /// Principal components.
    Pca,
    /// Sparse components.
    SparsePca,
    /// Algorithm 3 of the paper: principal and sparse components.
    Algorithm3,
    /// The smallest proven κ of many kinds of projection.
    Robust,
}

impl FitMethodKind {
    /// Every method.
    pub const ALL: [Self; 5] = [Self::Axis, Self::Pca, Self::SparsePca, Self::Algorithm3, Self::Robust];

    /// As in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Axis => "axis",
            Self::Pca => "pca",
            Self::SparsePca => "sparse-pca",
            Self::Algorithm3 => "algorithm3",
            Self::Robust => "robust",
        }
    }

    /// What it is, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Axis => "Coordinates of largest energy",
            Self::Pca => "Principal components",
            Self::SparsePca => "Sparse components",
            Self::Algorithm3 => "Algorithm 3 of the paper: principal and sparse components",
            Self::Robust => "The smallest proven kappa of many kinds of projection",
        }
    }

    /// The method of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The method with the parameters of its sparse part. Algorithm 3 tries a range of splits, and takes a rank or an error
    /// beside the target if its fields say so.
    pub fn method(self, sparse: SparseParams) -> FitMethod {
        match self {
            Self::Axis => FitMethod::Axis,
            Self::Pca => FitMethod::Pca,
            Self::SparsePca => FitMethod::SparsePca(sparse),
            Self::Algorithm3 => FitMethod::Algorithm3 { rank: None, error: None, splits: Vec::new(), sparse },
            Self::Robust => FitMethod::Robust,
        }
    }
}

/// Parameters of [`sweep`].
#[derive(Clone, Debug)]
pub struct SweepParams {
    /// The coordinates, the frequencies that may be used, and whether the mean is subtracted.
    pub energy: EnergyParams,
    /// The channel, counting from 0.
    pub channel: usize,
    /// Fractions of the energy that may be lost. The largest comes first, since it takes the least time.
    pub errors: Vec<f64>,
    /// The methods to compare.
    pub methods: Vec<FitMethodKind>,
    /// The sparse part of sparse-pca and algorithm3.
    pub sparse: SparseParams,
    /// How tightly κ² is proven: upper/sdp_lower − 1.
    pub gap: f64,
    /// Whether the limit of every rank is wanted, which [`sweep_figure`](crate::sweep_figure) draws.
    pub limit: bool,
}

impl Default for SweepParams {
    /// All methods at four errors, in the first channel.
    fn default() -> Self {
        Self {
            energy: EnergyParams::default(),
            channel: 0,
            errors: vec![0.02, 0.05, 0.1, 0.2],
            methods: FitMethodKind::ALL.to_vec(),
            sparse: SparseParams::default(),
            gap: 1e-3,
            limit: true,
        }
    }
}

impl SweepParams {
    /// Six errors, smaller ones among them: several times as long.
    pub fn full() -> Self {
        Self { errors: vec![0.005, 0.01, 0.02, 0.0345, 0.05, 0.1], ..Self::default() }
    }
}

/// Methods compared. Serialises to a list of the objects that `project sweep --json` prints on a line each.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The projections found, in order.
    pub points: Vec<SweepPoint>,
    /// Whether every method found a projection for every error.
    pub complete: bool,
    /// Whether an interrupt or the observer ended it early.
    pub stopped: bool,
    /// The error of principal components by rank, if it was asked for: no orthogonal projection of that rank loses less.
    pub limit: Option<Vec<f64>>,
    /// Name of the data.
    pub data: String,
    /// The channel, counting from 0.
    pub channel: usize,
}

impl Serialize for Sweep {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.points.serialize(serializer)
    }
}

/// Fits a channel of data by several methods with several errors.
///
/// An interrupt is no error: the points found so far are returned. A method that has no projection with some error is left
/// out there; the observer sees why.
pub fn sweep(context: &Context, data: &Dataset, params: &SweepParams) -> Result<Sweep, Error> {
    sweep_channel(context, &energies(context, data, &params.energy)?, params)
}

/// The same for energies that are there already; `energy` of the parameters is not read.
pub fn sweep_channel(
    context: &Context,
    energies: &DataEnergies,
    params: &SweepParams,
) -> Result<Sweep, Error> {
    let (channel, channels) = (params.channel, energies.energies().len());
    let energy = energies.energies().get(channel).ok_or(Error::Channel { channel, channels })?;
    proof(context, params.gap).validate()?;
    let mut errors = params.errors.clone();
    errors.sort_by(|a, b| b.total_cmp(a));
    let plan: Vec<(f64, FitMethodKind)> =
        errors.iter().flat_map(|&error| params.methods.iter().map(move |&method| (error, method))).collect();
    let mut times = Times::default();
    let (mut points, mut stopped) = (Vec::new(), false);
    for (at, &(budget, kind)) in plan.iter().enumerate() {
        let (number, total, seconds_left) = (at + 1, plan.len(), times.left(&plan[at..]));
        let method = kind.name();
        let begun = SweepProgress::Fit { number, total, method, budget, seconds_left };
        stopped |= context.tell(&Event::Sweep(&begun)).is_break();
        if stopped {
            break;
        }
        let started = Instant::now();
        let fit = FitParams {
            method: kind.method(params.sparse.clone()),
            gap: params.gap,
            ..FitParams::new(Target::Error(budget))
        };
        let seen = match fit_channel(context, energies, channel, &fit) {
            Ok((fitted, ended)) => {
                stopped |= ended;
                let point = point(method, budget, &fitted);
                points.push(point.clone());
                SweepProgress::Found(point)
            }
            Err(_) if context.is_interrupted() => {
                stopped = true;
                break;
            }
            // What is out of range is so for every method and error.
            Err(error) if matches!(error.field(), Some("gap" | "alpha" | "max_iterations")) => {
                return Err(error);
            }
            Err(Error::FitChannel { reason, .. }) => {
                SweepProgress::Failed { method, budget, reason: reason.to_string() }
            }
            Err(error) => return Err(error),
        };
        stopped |= context.tell(&Event::Sweep(&seen)).is_break();
        if stopped {
            break;
        }
        times.0.push((budget, kind, started.elapsed().as_secs_f64()));
    }
    let limit = if params.limit { Some(context.run(|| Ok(Spectrum::new(energy).errors()))?) } else { None };
    let complete = points.len() == plan.len();
    let data = energies.name().to_owned();
    Ok(Sweep { points, complete, stopped: stopped && !complete, limit, data, channel })
}

fn point(method: &'static str, budget: f64, fitted: &Fitted) -> SweepPoint {
    SweepPoint {
        method,
        budget,
        error: fitted.error,
        rank: fitted.certified.basis.columns,
        kappa: fitted.certified.kappa().value(),
        limit: root_below(fitted.limit_rank as u64),
        how: fitted.how.to_string(),
        construction: fitted.how,
    }
}

/// Seconds each point took.
#[derive(Default)]
struct Times(Vec<(f64, FitMethodKind, f64)>);

impl Times {
    /// How fast the time of a method grows as the error falls, from sweeps of images.
    const GROWTH: f64 = 1.4;

    /// Seconds the points still to come will take: each as long as the last of its method, more for a smaller error. `None`
    /// until every method was timed once.
    fn left(&self, plan: &[(f64, FitMethodKind)]) -> Option<f64> {
        plan.iter()
            .map(|&(error, method)| {
                let (last, _, seconds) = self.0.iter().rev().find(|(_, other, _)| *other == method)?;
                Some(seconds * (last / error).powf(Self::GROWTH))
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_known_once_every_method_was_timed() {
        use FitMethodKind::{Axis, Pca};
        let plan = [(0.1, Axis), (0.1, Pca), (0.05, Axis), (0.05, Pca)];
        let mut times = Times(vec![(0.1, Axis, 1.0)]);
        assert_eq!(times.left(&plan[1..]), None);
        times.0.push((0.1, Pca, 3.0));
        let left = times.left(&plan[2..]).expect("a time");
        assert!((left - 4.0 * 2_f64.powf(Times::GROWTH)).abs() < 1e-9, "{left}");
        assert_eq!(times.left(&[]), Some(0.0));
    }
}
