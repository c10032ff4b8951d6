//! Projections with a proven κ, fitted to data.

use crate::context::{Context, Limited};
use crate::error::Error;
use crate::event::Event;
use gambeson_checker::rounding::root_below;
use gambeson_data::dataset::Dataset;
use gambeson_data::energies::{DataEnergies, EnergyParams};
use gambeson_lowrank::projection::certificate::certificate_path;
use gambeson_lowrank::projection::fit::{self, FitMethod, Fitted, FittedProjection, Target, fit_projection};
use gambeson_lowrank::projection::method::coordinates::RankedCoordinates;
use gambeson_lowrank::projection::method::pca::Spectrum as PcaSpectrum;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_lowrank::sdp::bracket::BoundParams;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Parameters of [`fit`](fn@fit).
#[derive(Clone, Debug)]
pub struct FitParams {
    /// The coordinates, the frequencies that may be used, and whether the mean is subtracted.
    pub energy: EnergyParams,
    /// What is asked of every channel.
    pub target: Target,
    /// How the projection is looked for.
    pub method: FitMethod,
    /// How tightly κ² is proven: upper/sdp_lower − 1.
    pub gap: f64,
    /// When to stop with the best projection so far.
    pub time_limit: Option<Duration>,
}

impl FitParams {
    /// Our own search in cosine coordinates, uncentred, for a target.
    pub fn new(target: Target) -> Self {
        Self {
            energy: EnergyParams::default(),
            target,
            method: FitMethod::Robust,
            gap: BoundParams::default().gap,
            time_limit: None,
        }
    }
}

/// A projection with its certificate, and how it came about.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The projection, its proof, and what was found for each channel.
    pub fitted: FittedProjection,
    /// Where it was saved.
    pub saved: Option<(PathBuf, PathBuf)>,
    /// Whether an interrupt or the time limit cut the search short.
    pub stopped: bool,
    method: &'static str,
    /// Seconds for adding up the moments of the data. Whoever times the reading of the data adds it here.
    pub seconds_read: f64,
    moments: MomentsRecord,
    seconds_search: f64,
}

impl Fit {
    /// The data and the coordinates.
    pub fn moments(&self) -> &MomentsRecord {
        &self.moments
    }

    /// Writes the projection, and its certificate beside it (`P.cert.json`) or where `certificate` says. Both are replaced
    /// together.
    pub fn save(&mut self, context: &Context, path: &Path, certificate: Option<&Path>) -> Result<(), Error> {
        let certificate = certificate.map_or_else(|| certificate_path(path), Path::to_path_buf);
        self.fitted.certificate.write_with(
            &certificate,
            &self.fitted.projection,
            path,
            context.memory_limit(),
        )?;
        self.saved = Some((path.to_path_buf(), certificate));
        Ok(())
    }

    /// What it says, as data.
    pub fn record(&self) -> FitRecord {
        let fitted = &self.fitted;
        let (kappa, limit) = (fitted.kappa().value(), root_below(fitted.limit_rank() as u64));
        let [_, height, width] = self.moments.shape;
        let trivial = (1.0 - 1e-5) * ((height * width) as f64).sqrt();
        FitRecord {
            channels: fitted.channels.iter().map(|channel| channel_record(channel, trivial)).collect(),
            kappa,
            error: fitted.error,
            limit,
            ratio: kappa / limit,
            method: self.method.to_owned(),
            moments: self.moments.clone(),
            stopped: self.stopped,
            seconds_read: self.seconds_read,
            seconds_fit: self.seconds_search,
            projection: self.saved.as_ref().map(|(projection, _)| lossy(projection)),
            certificate: self.saved.as_ref().map(|(_, certificate)| lossy(certificate)),
        }
    }
}

impl Serialize for Fit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

fn channel_record(fitted: &Fitted, trivial: f64) -> ChannelRecord {
    let kappa = fitted.certified.kappa().value();
    ChannelRecord {
        rank: fitted.certified.basis.columns,
        kappa,
        error: fitted.error,
        limit: root_below(fitted.limit_rank as u64),
        how: fitted.how.to_string(),
        split: fitted.how.split(),
        trivial: kappa > trivial,
    }
}

/// A path as text, with a mark for what is no UTF-8.
fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The energy of a data set in the coordinates of a basis: what projections are fitted to.
pub fn energies(context: &Context, data: &Dataset, params: &EnergyParams) -> Result<DataEnergies, Error> {
    let params = EnergyParams { memory: context.memory_limit(), ..*params };
    context.run(|| Ok(DataEnergies::new(data, &params, &mut context.watch(|step| Event::Load(step)))?))
}

/// Fits a projection to data and proves its κ.
///
/// An interrupt or a time limit is no error: the best projection found so far is returned, proven.
pub fn fit(context: &Context, data: &Dataset, params: &FitParams) -> Result<Fit, Error> {
    let started = Instant::now();
    let energies = energies(context, data, &params.energy)?;
    let seconds_read = started.elapsed().as_secs_f64();
    context.run(|| {
        let started = Instant::now();
        let mut limited = Limited::new(context, |step| Event::Fit(step), params.time_limit);
        let bound = proof(context, params.gap);
        let fitted =
            fit_projection(&energies.fit_data(), params.target, &params.method, &bound, &mut limited)
                .map_err(|reason| Error::Fit {
                    name: energies.name().to_owned(),
                    reason: Box::new(reason),
                })?;
        Ok(Fit {
            fitted,
            saved: None,
            stopped: limited.stopped,
            method: params.method.name(),
            seconds_read,
            moments: MomentsRecord::new(&energies, params.energy.centre),
            seconds_search: started.elapsed().as_secs_f64(),
        })
    })
}

/// Fits one channel of energies that are there already; also whether it was stopped early.
pub fn fit_channel(
    context: &Context,
    energies: &DataEnergies,
    channel: usize,
    params: &FitParams,
) -> Result<(Fitted, bool), Error> {
    let Some(energy) = energies.energies().get(channel) else {
        return Err(Error::Channel { channel, channels: energies.energies().len() });
    };
    context.run(|| {
        let mut limited = Limited::new(context, |step| Event::Fit(step), params.time_limit);
        let bound = proof(context, params.gap);
        let fitted =
            fit::fit_channel(energy, energies.allowed(), params.target, &params.method, &bound, &mut limited)
                .map_err(|reason| Error::FitChannel { channel, reason: Box::new(reason) })?;
        Ok((fitted, limited.stopped))
    })
}

/// How κ is proven.
pub(crate) fn proof(context: &Context, gap: f64) -> BoundParams {
    let (threads, memory_limit) = (context.threads(), context.memory_limit());
    BoundParams { gap, threads, memory_limit, ..BoundParams::default() }
}

/// The errors of principal components and of coordinates, by rank and channel.
pub fn spectrum(context: &Context, data: &Dataset, params: &EnergyParams) -> Result<SpectrumRecord, Error> {
    let started = Instant::now();
    let energies = energies(context, data, params)?;
    let seconds_read = started.elapsed().as_secs_f64();
    context.run(|| {
        let started = Instant::now();
        let channels = energies.energies().iter().map(|energy| {
            let restricted = energies.allowed().map(|allowed| energy.restricted(allowed));
            let inside = restricted.as_ref().unwrap_or(energy);
            // Errors include what lies outside of the coordinates allowed.
            let cut_off = restricted.as_ref().map_or(0.0, |inner| 1.0 - inner.diagonal().iter().sum::<f64>());
            let pca = PcaSpectrum::new(inside).errors();
            ChannelSpectrum {
                pca: pca.into_iter().map(|error| error + cut_off.max(0.0)).collect(),
                coordinates: RankedCoordinates::of(inside).errors,
            }
        });
        Ok(SpectrumRecord {
            channels: channels.collect(),
            moments: MomentsRecord::new(&energies, params.centre),
            seconds_read,
            seconds_eigen: started.elapsed().as_secs_f64(),
        })
    })
}

/// Opens a projection with its certificate (`P.cert.json` beside it if `None`) and proves κ and σ_max.
pub fn open_projection(
    context: &Context,
    path: &Path,
    certificate: Option<&Path>,
) -> Result<ProvenProjection, Error> {
    context.run(|| {
        Ok(ProvenProjection::open(path, certificate, None, context.memory_limit(), context.threads())?)
    })
}

/// What results say about data and coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MomentsRecord {
    /// Whether the mean was subtracted.
    pub centred: bool,
    /// pixel, dct1 or dct2.
    pub basis: String,
    /// Low block of frequencies used, if not all.
    pub grid: Option<usize>,
    /// Name of the data.
    pub data: String,
    /// Hash of the data.
    pub data_sha256: String,
    /// Number of samples.
    pub samples: usize,
    /// channels, height, width.
    pub shape: [usize; 3],
}

impl MomentsRecord {
    /// Of energies that are there.
    pub fn new(data: &DataEnergies, centred: bool) -> Self {
        let shape = data.shape();
        Self {
            centred,
            basis: data.transform().representation().name().to_owned(),
            grid: data.grid(),
            data: data.name().to_owned(),
            data_sha256: data.sha256().to_owned(),
            samples: data.samples(),
            shape: [shape.channels, shape.height, shape.width],
        }
    }
}

/// What `project fit --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitRecord {
    /// Each channel.
    pub channels: Vec<ChannelRecord>,
    /// Proven, of all channels together.
    pub kappa: f64,
    /// Lost of the energy of all channels together.
    pub error: f64,
    /// √ of the sum of the ranks PCA needs for the channels' errors: the least kappa of a projection that treats each
    /// channel by itself and loses that much of each. Rounded down.
    pub limit: f64,
    /// kappa / limit.
    pub ratio: f64,
    /// axis, pca, sparse-pca, algorithm3 or robust.
    pub method: String,
    /// The data and the coordinates.
    #[serde(flatten)]
    pub moments: MomentsRecord,
    /// Whether an interrupt or the time limit cut it short.
    pub stopped: bool,
    /// Reading the data, where that was timed, and adding up their moments.
    pub seconds_read: f64,
    /// Searching and proving.
    pub seconds_fit: f64,
    /// Where the projection was saved.
    pub projection: Option<String>,
    /// Where its certificate was saved.
    pub certificate: Option<String>,
}

/// One channel of a [`FitRecord`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelRecord {
    /// Dimensions.
    pub rank: usize,
    /// Proven.
    pub kappa: f64,
    /// Lost of the energy of the channel.
    pub error: f64,
    /// √ of the rank PCA needs for that error, rounded down.
    pub limit: f64,
    /// How it was found, for people.
    pub how: String,
    /// Algorithm 3: the r it chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<usize>,
    /// kappa is no better than √n, which needs no proof.
    pub trivial: bool,
}

/// What `project spectrum --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpectrumRecord {
    /// Each channel.
    pub channels: Vec<ChannelSpectrum>,
    /// The data and the coordinates.
    #[serde(flatten)]
    pub moments: MomentsRecord,
    /// Reading the data, where that was timed, and adding up their moments.
    pub seconds_read: f64,
    /// Eigenvalues.
    pub seconds_eigen: f64,
}

impl SpectrumRecord {
    /// Names of the channels: R, G and B for pictures in colour, empty for a single one.
    pub fn channel_names(&self) -> Vec<String> {
        match self.moments.shape {
            [1, ..] => vec![String::new()],
            [3, height, _] if height > 1 => ["R", "G", "B"].map(str::to_owned).into(),
            [channels, ..] => (0..channels).map(|c| format!("channel {c}")).collect(),
        }
    }
}

/// Fraction of the energy lost, by rank from 0 to the number of coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelSpectrum {
    /// By principal components; no orthogonal projection of that rank loses less.
    pub pca: Vec<f64>,
    /// By the coordinates of largest energy.
    pub coordinates: Vec<f64>,
}
