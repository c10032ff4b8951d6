//! Which files a command reads and writes, known before any work: no output ever destroys an input.
//!
//! [`guard`] is called once, for every verb. Files are told apart by what they are, not by their names: device and inode,
//! links followed; one that does not exist yet by its folder and its name there. A file that is both read and written, or
//! written twice, is refused; so is a file in a folder that is read as a whole, and what stdout or stderr is. An existing
//! file that this program did not write, or not as this kind, is overwritten only with `--force`.

mod identity;
mod kind;

use crate::args::{
    AnalyzeArguments, BundleArguments, CONTENDERS, Command, DataCommand, FigureFiles, FitArguments,
    ProjectCommand, REPORT, ReproduceArguments, SmoothArguments, TrainArguments, TrainRequest,
};
use crate::output::writable;
use anyhow::{Context, bail};
use gambeson::bundle::{is_archive_name, possible_files};
use gambeson::report::report_files;
use gambeson::toy::ToyText;
use gambeson_data::dataset::Split;
use gambeson_data::{source, store};
use gambeson_learn::train::checkpoint::{CHECKPOINT, NEW, PREVIOUS};
use gambeson_learn::train::load::found_beside;
use gambeson_learn::train::run::{METRICS, NETWORK, SPEC};
use gambeson_learn::train::setup::PROJECTION;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::certificate::{certificate_path, previous_path};
use gambeson_smooth::analysis::find_logs;
use identity::Identity;
use kind::Kind;
use std::path::{Path, PathBuf};

/// What a command reads and writes.
struct Files {
    memory: MemoryLimit,
    inputs: Vec<Named>,
    outputs: Vec<(Named, Kind)>,
}

/// A file and what it is called on the command line.
struct Named {
    name: &'static str,
    path: PathBuf,
    /// Whether the command makes its folder.
    made_folder: bool,
}

/// Refuses a command that would destroy what it reads, or a file of another kind.
pub(crate) fn guard(command: &Command, force: bool, memory: MemoryLimit) -> anyhow::Result<()> {
    Files::of(command, memory).check(force)
}

impl Files {
    /// Everything a command reads and writes, files that it finds by itself included.
    fn of(command: &Command, memory: MemoryLimit) -> Self {
        let mut files = Self { memory, inputs: Vec::new(), outputs: Vec::new() };
        match command {
            Command::Bound(bound) => {
                files.read("the matrix", bound.matrix.input.as_ref());
                files.write("--certificate", bound.certificate.as_ref(), Kind::Certificate);
                files.write("--vertex", bound.vertex.as_ref(), Kind::Unmarked);
            }
            Command::Project(ProjectCommand::Fit(fit)) => files.of_fit(fit),
            Command::Project(ProjectCommand::Sweep(sweep)) => {
                files.read_data(&sweep.data.data);
                files.draw(sweep.figure.figure.as_ref());
            }
            Command::Project(ProjectCommand::Spectrum(spectrum)) => {
                files.read_data(&spectrum.data.data);
                files.draw(spectrum.figure.figure.as_ref());
            }
            Command::Certify(certify) => {
                files.read("--extend", certify.extend.as_ref());
                files.of_smoothing(&certify.smooth);
            }
            Command::Bundle(bundle) => files.of_bundle(bundle),
            Command::Predict(predict) => files.of_smoothing(&predict.smooth),
            Command::Analyze(analyze) => files.of_analysis(analyze),
            Command::Report(report) => {
                let read = report_files(&report.runs);
                read.iter().for_each(|path| files.read("a file of a run", Some(path)));
                report.model.iter().for_each(|path| files.read("--model", Some(path)));
                report.projection.iter().for_each(|path| files.read_projection(Some(path), None));
                report.data.iter().for_each(|data| files.read_data(data));
                files.write("--out", Some(&report.out), Kind::PAGE);
            }
            Command::Export(export) => {
                files.read_network("the network", &export.network);
                files.write("OUT", Some(&export.out), Kind::network(&export.out));
            }
            Command::Train(train) => files.of_training(train),
            Command::Attack(attack) => {
                attack.model.iter().for_each(|path| files.read_network("--model", path));
                files.read_data(&attack.data);
                files.read("--certified", attack.certified.as_ref());
                files.read_projection(attack.projection.as_ref(), attack.certificate.as_ref());
                files.write("--out", attack.out.as_ref(), Kind::Unmarked);
                files.draw(attack.figure.figure.as_ref());
            }
            Command::Reproduce(reproduce) => files.of_experiment(reproduce),
            Command::Quickstart(quickstart) => files.of_quickstart(&quickstart.out),
            Command::Data(DataCommand::Import(import)) => {
                files.read_data(&import.data);
                let named = |folder: &PathBuf| {
                    [Split::Train, Split::Test].map(|split| store::path(folder, &import.name, split))
                };
                for path in source::data_dir().filter(|_| store::is_name(&import.name)).iter().flat_map(named)
                {
                    files.write_in_folder("the stored set", path, Kind::DATA_SET);
                }
            }
            Command::Man(man) => {
                for path in man.files() {
                    files.write_in_folder("a manual page", path, Kind::MANUAL);
                }
            }
            // These write nothing, or into a folder of the data sets, by a rule of its own.
            Command::Data(DataCommand::Info(_) | DataCommand::Fetch(_))
            | Command::Project(ProjectCommand::Inspect(_))
            | Command::Check(_)
            | Command::Completions { .. } => {}
        }
        files
    }

    fn of_fit(&mut self, fit: &FitArguments) {
        self.read_data(&fit.data.data);
        if let Some(out) = &fit.out {
            let certificate = fit.certificate.clone().unwrap_or_else(|| certificate_path(out));
            self.write("--out", Some(out), Kind::PROJECTION);
            self.write("--certificate", Some(&certificate), Kind::Certificate);
            let previous = previous_path(&certificate);
            self.write("the certificate of a pair being replaced", Some(&previous), Kind::MovedCertificate);
        }
    }

    fn of_smoothing(&mut self, smooth: &SmoothArguments) {
        self.read_model(&smooth.model);
        self.read_data(&smooth.data);
        self.read_projection(smooth.projection.as_ref(), smooth.certificate.as_ref());
        self.read("--noise-levels", smooth.noise_levels.as_ref());
        self.write("--out", smooth.out.as_ref(), Kind::Compared);
        self.write("--tsv", smooth.tsv.as_ref(), Kind::Unmarked);
    }

    /// The files of a run in its folder, or those that are named.
    fn of_bundle(&mut self, bundle: &BundleArguments) {
        for run in &bundle.run {
            if run.is_dir() {
                let names = [SPEC, "certified.jsonl", NETWORK, PROJECTION, "projection.cert.json"];
                names.iter().for_each(|name| self.read("a file of the run", Some(&run.join(name))));
            } else {
                self.read("the records", Some(run));
            }
        }
        bundle.model.iter().for_each(|model| self.read_model(model));
        bundle.data.iter().for_each(|data| self.read_data(data));
        self.read_projection(bundle.projection.as_ref(), bundle.projection_certificate.as_ref());
        self.read("--noise-levels", bundle.noise_levels.as_ref());
        if is_archive_name(&bundle.out) {
            self.write("--out", Some(&bundle.out), Kind::BUNDLE);
            return;
        }
        // Only a folder that holds a bundle is replaced.
        for file in possible_files(&bundle.out) {
            self.write_in_folder("a file of the bundle", file, Kind::Compared);
        }
    }

    fn of_analysis(&mut self, analyze: &AnalyzeArguments) {
        // What cannot be found is refused by the command.
        let found = find_logs(&analyze.logs).unwrap_or_default();
        analyze.logs.iter().chain(&found).for_each(|log| self.read("a log", Some(log)));
        for (at, projection) in analyze.proof.projection.iter().enumerate() {
            self.read_projection(Some(projection), analyze.proof.certificate.get(at));
        }
        self.read("--noise-levels", analyze.proof.noise_levels.as_ref());
        self.write("--markdown", analyze.markdown.as_ref(), Kind::MARKDOWN);
        self.write("--latex", analyze.latex.as_ref(), Kind::LATEX);
        self.write("--csv", analyze.csv.as_ref(), Kind::CSV);
        self.draw(analyze.figure.figure.as_ref());
    }

    /// The folder of a run may hold the spec it was begun with, under the name that the run gives it.
    fn of_training(&mut self, train: &TrainArguments) {
        let Ok(TrainRequest { spec, out }) = train.request(self.memory) else { return }; // refused by the command
        if train.dry_run {
            return;
        }
        let own = out.join(SPEC);
        if Identity::of(&own) != Identity::of(&train.spec) {
            self.read("the spec", Some(&train.spec));
            self.write_in_folder("the run's spec", own, Kind::Compared);
        }
        self.read_data(spec.data.name.as_ref());
        let file = spec.projection.as_ref().and_then(|projection| projection.file.as_deref());
        self.read_projection(file.map(|file| found_beside(file, train.spec.parent())).as_ref(), None);
        self.write_run(out);
        self.write_in_folder("a file of the run", out.join(REPORT), Kind::PAGE);
    }

    fn of_quickstart(&mut self, out: &Path) {
        for name in CONTENDERS {
            let folder = out.join(name);
            self.write_in_folder("the run's spec", folder.join(SPEC), Kind::Compared);
            self.write_in_folder("a file of the run", folder.join("certified.jsonl"), Kind::Compared);
            self.write_run(&folder);
        }
        let written = [("certified.svg", Kind::SVG), ("certified.png", Kind::PNG), (REPORT, Kind::PAGE)];
        for (name, kind) in written {
            self.write_in_folder("a file of the run", out.join(name), kind);
        }
    }

    /// What training leaves in its folder beside the spec.
    fn write_run(&mut self, out: &Path) {
        let written = [
            (PROJECTION, Kind::PROJECTION),
            ("projection.cert.json", Kind::Certificate),
            (METRICS, Kind::METRICS),
            (NETWORK, Kind::NETWORK),
            ("training.svg", Kind::SVG),
            ("training.png", Kind::PNG),
        ];
        for (name, kind) in written {
            self.write_in_folder("a file of the run", out.join(name), kind);
        }
        for name in [CHECKPOINT, PREVIOUS, NEW] {
            self.write_in_folder("a file of the run", out.join(name), Kind::CHECKPOINT);
        }
    }

    fn of_experiment(&mut self, reproduce: &ReproduceArguments) {
        self.read("--data", reproduce.data.as_ref());
        for object in reproduce.names() {
            if let Some(folder) = &reproduce.experiments {
                self.read("the experiment", Some(&folder.join(format!("{}.toml", object.name()))));
            }
            if reproduce.dry_run {
                continue;
            }
            let stem = format!("{}.{}", object.name(), reproduce.scale.name());
            let at = |ending: &str| reproduce.results.join(format!("{stem}.{ending}"));
            let kinds = [
                ("jsonl", Kind::Compared),
                ("md", Kind::MARKDOWN),
                ("tex", Kind::LATEX),
                ("svg", Kind::SVG),
                ("png", Kind::PNG),
            ];
            for (ending, kind) in kinds {
                self.write_in_folder("a file of the results", at(ending), kind);
            }
        }
        if !reproduce.dry_run && !reproduce.list {
            self.write_in_folder("the page", reproduce.page(), Kind::PAGE);
        }
    }

    fn read(&mut self, name: &'static str, path: Option<&PathBuf>) {
        self.inputs.extend(path.map(|path| Named { name, path: path.clone(), made_folder: false }));
    }

    fn write(&mut self, name: &'static str, path: Option<&PathBuf>, kind: Kind) {
        let named = path.map(|path| Named { name, path: path.clone(), made_folder: false });
        self.outputs.extend(named.map(|named| (named, kind)));
    }

    /// A file in a folder that the command makes where it is missing.
    fn write_in_folder(&mut self, name: &'static str, path: PathBuf, kind: Kind) {
        self.outputs.push((Named { name, path, made_folder: true }, kind));
    }

    fn draw(&mut self, figure: Option<&FigureFiles>) {
        for path in figure.into_iter().flat_map(FigureFiles::paths) {
            let kind = if path.extension().is_some_and(|it| it == "png") { Kind::PNG } else { Kind::SVG };
            self.write("--figure", Some(path), kind);
        }
    }

    fn read_projection(&mut self, projection: Option<&PathBuf>, certificate: Option<&PathBuf>) {
        self.read("--projection", projection);
        let beside = projection.map(|path| certificate_path(path));
        self.read("the certificate", certificate.or(beside.as_ref()));
    }

    /// A network, or the vector of a toy.
    fn read_model(&mut self, model: &std::ffi::OsStr) {
        match ToyText::parse(model) {
            Some(toy) => {
                let vector = toy.vector_path().map(Path::to_path_buf);
                self.read("the vector of the toy", vector.as_ref());
            }
            None => self.read_network("--model", Path::new(model)),
        }
    }

    /// A network's file with those its graph refers to.
    fn read_network(&mut self, name: &'static str, path: &Path) {
        self.read(name, Some(&path.to_owned()));
        let referred = gambeson_learn::onnx::external_files(path, self.memory).unwrap_or_default();
        referred.iter().for_each(|path| self.read("a file of the network", Some(path)));
    }

    /// The files of a data set: its own, or those in its folder.
    fn read_data(&mut self, data: &std::ffi::OsStr) {
        let Some(folder) = source::data_dir() else { return };
        // What cannot be found is refused by the command.
        let paths = source::find(data, &folder).map(|source| source.paths());
        paths.unwrap_or_default().iter().for_each(|path| self.read("--data", Some(path)));
    }

    fn check(&self, force: bool) -> anyhow::Result<()> {
        let streams = Identity::of_streams();
        for (at, (output, kind)) in self.outputs.iter().enumerate() {
            let path = output.path.display();
            let identity = Identity::of(&output.path);
            if streams.contains(&identity) {
                bail!(
                    "{path}: standard output or error is redirected to this file, which {} would replace",
                    output.name
                );
            }
            for input in &self.inputs {
                let (name, read) = (output.name, input.name);
                if identity == Identity::of(&input.path) {
                    bail!("{path}: is {read}, which {name} would destroy; give another file");
                }
                if Identity::is_in(&output.path, &input.path) {
                    bail!("{path}: lies in {read}, a folder that is read as a whole; give another place");
                }
            }
            for (other, _) in &self.outputs[..at] {
                if identity == Identity::of(&other.path) {
                    bail!("{path}: is both {} and {}; give two files", other.name, output.name);
                }
            }
            let made = output.made_folder && output.path.parent().is_some_and(|folder| !folder.exists());
            if !made {
                writable(&output.path)?; // rather than lose long work at its end
            }
            if !force && !kind.may_replace(&output.path, self.memory).with_context(|| path.to_string())? {
                match kind {
                    Kind::Unmarked => {
                        bail!(
                            "{path}: exists, and its format cannot show who wrote it; --force overwrites it"
                        )
                    }
                    _ => bail!("{path}: exists and was not written by this command; --force overwrites it"),
                }
            }
        }
        Ok(())
    }
}
