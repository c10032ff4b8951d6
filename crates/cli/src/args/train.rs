//! The command line of `gambeson train`.

use super::shared::{OUTPUT, seconds};
use anyhow::bail;
use clap::Args;
use gambeson::{MemoryLimit, TrainParams, TrainSpec};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const HELP: &str = "\
SPEC.toml says what to train. One that trains Algorithm 1 of the paper:

  [data]
  name = \"cifar10\"
  crop = 4
  flip = true
  [model]
  family = \"res-net\"
  depth = 8
  width = 16
  [projection]
  fit = { method = \"robust\", rank = 200, grid = 16 }
  grid = \"native\"
  [noise]
  sigma = 0.25
  [objective]
  kind = \"algorithm-1\"
  epsilon = 0.25
  steps = 2
  draws = 2
  [optimiser]
  epochs = 10
  learning_rate = 0.1
  schedule = { kind = \"one-cycle\", warm_up = 0.2 }

Other objectives: standard; gaussian (draws); madry (norm, epsilon, steps); smooth-adv (as algorithm-1, without a \
projection); consistency (draws, lambda, eta). --set changes single keys: --set optimiser.epochs=20.

The folder of --out gets the spec, the projection with its certificate, checkpoints, metrics (one JSON object per epoch) \
and, in the end, network.safetensors, a figure and report.html. The same command goes on after Ctrl-C, a kill or --time-limit, and \
ends with the same network, on any number of threads.

Exit codes: 0 done, 1 stopped before the end, 2 error.";

#[derive(Debug, Args)]
pub(crate) struct TrainArguments {
    /// What to train.
    #[arg(value_name = "SPEC.toml")]
    pub(crate) spec: PathBuf,
    /// Folder of the run [default: the name of the spec, without .toml].
    #[arg(long, value_name = "DIR", help_heading = OUTPUT)]
    pub(crate) out: Option<PathBuf>,
    /// Change a key of the spec; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Say what it would cost, after a few steps, and train nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Stop after this many seconds; what was done is kept.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) time_limit: Option<Duration>,
    #[arg(long, help = checkpoint_help(), value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) checkpoint: Option<Duration>,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
    #[arg(skip)]
    request: OnceCell<TrainRequest>,
}

fn checkpoint_help() -> String {
    let seconds = TrainParams::default().checkpoint.as_secs_f64();
    format!("Seconds between checkpoints within an epoch [default: {seconds}]")
}

/// What to train, and where.
#[derive(Debug)]
pub(crate) struct TrainRequest {
    /// The spec, with the changes of --set.
    pub(crate) spec: TrainSpec,
    /// Folder of the run.
    pub(crate) out: PathBuf,
}

impl TrainArguments {
    /// The spec and the folder; the file is read once.
    pub(crate) fn request(&self, memory: MemoryLimit) -> anyhow::Result<&TrainRequest> {
        if let Some(request) = self.request.get() {
            return Ok(request);
        }
        let path = &self.spec;
        let spec = TrainSpec::read(path, &self.set, memory)?;
        let out = match &self.out {
            Some(out) => out.clone(),
            None if path.extension().is_some_and(|extension| extension == "toml") => path.with_extension(""),
            None => bail!("{}: does not end with .toml; give a folder with --out", path.display()),
        };
        Ok(self.request.get_or_init(|| TrainRequest { spec, out }))
    }
}
