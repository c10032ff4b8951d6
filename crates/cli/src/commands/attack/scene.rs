//! What is attacked: data, network, how it sees inputs, and where noise is added.

use crate::args::{AttackArguments, BallBasisName, MethodName, RadiusNormName};
use crate::commands::certify::{hinted, normalisation};
use crate::commands::data::data_dir;
use crate::live_data::LiveData;
use crate::machine::Resources;
use anyhow::{Context, bail, ensure};
use gambeson_data::dataset::Dataset;
use gambeson_data::source::{self, LoadOptions};
use gambeson_learn::attack::Norm;
use gambeson_learn::attack::challenge::certified_victims;
use gambeson_learn::attack::frame::Frame;
use gambeson_learn::attack::inputs::Victim;
use gambeson_learn::attack::pgd::PgdParams;
use gambeson_learn::inputs::{data_name, quantum};
use gambeson_learn::smoothed::{NoiseParams, SmoothedParams, WhiteBoxModel};
use gambeson_learn::train::setup::value_range;
use gambeson_lowrank::projection::representation::Representation;
use gambeson_smooth::record::{Record, merge_records};

pub(super) struct Scene {
    pub(super) data: Dataset,
    pub(super) model: Option<WhiteBoxModel>,
    indices: Vec<usize>,
    /// Those whose radii are attacked.
    records: Vec<Record>,
}

impl Scene {
    pub(super) fn load(arguments: &AttackArguments, resources: Resources) -> anyhow::Result<Self> {
        let Resources { threads, memory } = resources;
        let options = LoadOptions { split: arguments.split.into(), memory, ..LoadOptions::new(data_dir()?) };
        let data = LiveData::watch(|progress| source::load(&arguments.data, &options, progress))?;
        let indices: Vec<usize> = arguments.range.of(data.len())?.collect();
        ensure!(!indices.is_empty(), "--start, --stop and --every select none of the {} inputs", data.len());
        let model = match &arguments.model {
            None => None,
            Some(path) => {
                let noise = NoiseParams {
                    projection: arguments.projection.as_deref(),
                    certificate: arguments.certificate.as_deref(),
                    quantum: quantum(&data),
                    ..NoiseParams::default()
                };
                let normalisation =
                    normalisation(&arguments.normalisation.mean, &arguments.normalisation.std, data.shape())?;
                let params = SmoothedParams {
                    normalisation,
                    noise,
                    threads,
                    memory,
                    ..SmoothedParams::new(path, data.shape())
                };
                Some(WhiteBoxModel::open(&params).map_err(hinted)?)
            }
        };
        let records = match &arguments.certified {
            None => Vec::new(),
            Some(path) => merge_records(std::slice::from_ref(path), memory)?,
        };
        Ok(Self { data, model, indices, records })
    }

    /// The exponent of the grid that noisy inputs are rounded to: part of the classifier that the records are about.
    pub(super) fn grid_exponent(&self) -> Option<i32> {
        Some(self.records.first()?.run.common.grid.exponent)
    }

    /// The inputs, the classes to lead them away from, and how far they may be moved.
    pub(super) fn victims(&self, arguments: &AttackArguments) -> anyhow::Result<Vec<Victim>> {
        let values = |index: usize| {
            let mut values = vec![0.0; self.data.shape().len()];
            self.data.sample_f64(index, &mut values);
            values
        };
        if let Some(path) = &arguments.certified {
            return self.certified(arguments, path, values);
        }
        let epsilon = arguments.epsilon.context("--epsilon is missing")?; // clap asks for it
        let labels = self.data.labels();
        ensure!(
            labels.is_some() || self.model.is_none(),
            "{}: the data have no labels to lead away from",
            self.data.name()
        );
        let classes = self.model.as_ref().map(|model| model.network.architecture.classes);
        self.indices
            .iter()
            .map(|&index| {
                let class = labels.map_or(0, |labels| labels[index]);
                if classes.is_some_and(|classes| usize::from(class) >= classes) {
                    bail!("input {index} is of class {class}, which the network does not have");
                }
                Ok(Victim { index: index as u64, values: values(index), class, epsilon })
            })
            .collect()
    }

    /// Those of records, with their certified classes and radii.
    fn certified(
        &self,
        arguments: &AttackArguments,
        path: &std::path::Path,
        values: impl Fn(usize) -> Vec<f64>,
    ) -> anyhow::Result<Vec<Victim>> {
        let Some(model) = &self.model else { bail!("--model is missing") };
        let mut records = self.records.clone();
        let data = data_name(&self.data);
        let projection = model.smoothed.space.projection_sha256().unwrap_or("none");
        let sigma = arguments.sigma.context("--sigma is missing")?.to_string(); // clap asks for it
        for record in &records {
            let (run, common) = (&record.run, &record.run.common);
            same(path, "data", &common.data, &data)?;
            same(path, "projection", common.projection.as_deref().unwrap_or("none"), projection)?;
            same(path, "noise", run.noise.as_deref().unwrap_or("one level"), "one level")?;
            same(path, "sigma", &common.sigma.to_string(), &sigma)?;
            same(path, "network", &common.model, &model.smoothed.name)?;
            let unit = model.smoothed.space.unit();
            same(path, "grid's quantum", common.grid.quantum.name(), unit.name())?;
        }
        let chosen = |index: u64| usize::try_from(index).is_ok_and(|index| self.indices.contains(&index));
        records.retain(|record| chosen(record.index));
        let values = |index: u64| values(usize::try_from(index).unwrap_or(0)); // one of the chosen
        let victims = certified_victims(&records, norm(arguments.norm), values);
        ensure!(!victims.is_empty(), "{}: certifies none of the chosen inputs", path.display());
        Ok(victims)
    }

    /// How to climb.
    pub(super) fn climb(&self, arguments: &AttackArguments) -> PgdParams {
        let params = match arguments.method {
            MethodName::Fgsm => PgdParams::fgsm(),
            MethodName::Pgd | MethodName::Sparse => PgdParams::new(norm(arguments.norm), arguments.steps),
        };
        // A certificate holds for all values, also for those that no picture has.
        let free = arguments.any_values || arguments.certified.is_some();
        PgdParams { range: value_range(&self.data).filter(|_| !free), ..params }
    }

    /// Whether the ball is one of cosine coefficients. Certified radii in l_inf are those of the projection's own coordinates.
    pub(super) fn of_cosines(&self, arguments: &AttackArguments) -> bool {
        let Some(model) = &self.model else { return arguments.method == MethodName::Sparse };
        if arguments.certified.is_some() && arguments.norm == RadiusNormName::Linf {
            return model.smoothed.space.representation().is_some_and(|it| it != Representation::Pixel);
        }
        arguments.method == MethodName::Sparse || arguments.basis == Some(BallBasisName::Dct)
    }

    /// What the ball is one of.
    pub(super) fn frame(&self, arguments: &AttackArguments) -> anyhow::Result<Frame> {
        let Some(model) = &self.model else { bail!("--model is missing") };
        Ok(if self.of_cosines(arguments) { Frame::cosines(&model.view)? } else { Frame::Values })
    }
}

fn norm(name: RadiusNormName) -> Norm {
    match name {
        RadiusNormName::L2 => Norm::L2,
        RadiusNormName::Linf => Norm::Linf,
    }
}

/// Whether records are about what is attacked.
fn same(path: &std::path::Path, what: &str, recorded: &str, given: &str) -> anyhow::Result<()> {
    ensure!(recorded == given, "{}: its {what} is {recorded}, not {given}", path.display());
    Ok(())
}
