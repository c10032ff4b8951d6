//! A network as a classifier.

use super::batch::{has_graph, with_free_batch};
use super::error::OnnxError;
use super::external::{WholeGraph, external_content, whole_graph};
use super::input::{concrete, image_shape, input_of};
use super::library::environment;
use super::normalisation::Normalisation;
use super::precision::in_single_precision;
use gambeson_data::dataset::Shape;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::classifier::{Classifier, highest};
use gambeson_smooth::input_map::{Affine, InputMap, InputMapError, Layout};
use ort::session::Session;
use ort::session::builder::GraphOptimizationLevel;
use ort::value::TensorRef;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};

/// How many rows a graph takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batching {
    /// Any number, as the file says.
    Free,
    /// Any number, after the file was rewritten; on a probe it computed the same.
    Rewritten,
    /// Only this number.
    Fixed(usize),
}

/// An ONNX file, loaded to be run by several threads.
#[derive(Debug)]
pub struct OnnxModel {
    path: PathBuf,
    sha256: String,
    shape: Shape,
    layout: Layout,
    /// Dimensions of the input behind the first.
    dims: Vec<i64>,
    batching: Batching,
    classes: usize,
    /// `None`: rows are taken as they are.
    input_map: Option<InputMap>,
    idle: Mutex<Vec<Session>>,
    returned: Condvar,
}

/// Whether two lists of scores are the same up to rounding; NaNs are equal to each other.
fn near(ours: &[f32], exact: &[f32]) -> bool {
    let largest = exact.iter().fold(0.0_f32, |most, score| most.max(score.abs()));
    let close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-4 * (1.0 + largest) || (a.is_nan() && b.is_nan());
    ours.len() == exact.len() && ours.iter().zip(exact).all(close)
}

impl OnnxModel {
    /// Loads a file within `memory`, with a session for each of `threads` threads.
    ///
    /// `data` is the shape of the samples. The network may take smaller images with as many channels, which
    /// [`shape`](Self::shape) then tells: something has to make them (a projection can).
    pub fn load(
        path: &Path,
        data: Shape,
        normalisation: Option<Normalisation>,
        memory: MemoryLimit,
        threads: usize,
    ) -> Result<Self, OnnxError> {
        let bytes =
            memory.read_file(path).map_err(|reason| OnnxError::Read { path: path.to_path_buf(), reason })?;
        let broken = |reason| OnnxError::Broken { path: path.to_path_buf(), reason };
        if !has_graph(&bytes).map_err(broken)? {
            return Err(OnnxError::NotOnnx { path: path.to_path_buf() });
        }
        let external = external_content(path, &bytes, memory)?;
        Self::of_graph(path, &whole_graph(path, bytes, &external)?, data, normalisation, threads)
    }

    /// The same for a graph with all its weights in it; `path` names it in errors.
    pub(crate) fn of_graph(
        path: &Path,
        WholeGraph { bytes, sha256 }: &WholeGraph,
        data: Shape,
        normalisation: Option<Normalisation>,
        threads: usize,
    ) -> Result<Self, OnnxError> {
        let broken = |reason| OnnxError::Broken { path: path.to_path_buf(), reason };
        let bytes = in_single_precision(bytes).map_err(broken)?.map_or(Cow::Borrowed(&**bytes), Cow::Owned);
        let session = open(path, &bytes)?;
        let (name, dims) = input_of(path, &session)?;
        let (shape, layout) = image_shape(&dims, data).ok_or_else(|| OnnxError::InputShape {
            path: path.to_path_buf(),
            expected: dims.clone(),
            data,
        })?;
        let input_map = match (normalisation, layout) {
            (None, Layout::ChannelsFirst) => None,
            (normalisation, layout) => {
                let map = input_map(shape, normalisation.as_ref(), layout);
                Some(map.map_err(|reason| OnnxError::InputMap { path: path.to_path_buf(), reason })?)
            }
        };
        let mut model = Self {
            path: path.to_path_buf(),
            sha256: sha256.clone(),
            shape,
            layout,
            dims: concrete(&dims[1..], shape, layout),
            batching: usize::try_from(dims[0]).map_or(Batching::Free, Batching::Fixed),
            classes: 0,
            input_map,
            idle: Mutex::new(Vec::new()),
            returned: Condvar::new(),
        };
        let mut worker = session;
        let mut graph = bytes;
        match model.batching {
            Batching::Fixed(rows) => {
                let probe = model.probe(3 * rows);
                let exact = model.scores_in_parts(&mut worker, &probe, 3 * rows)?;
                model.classes = exact.len() / (3 * rows);
                if let Some(rewritten) = model.rewritten(&graph, &name, rows, &probe, &exact) {
                    worker = open(path, &rewritten)?;
                    (graph, model.batching) = (Cow::Owned(rewritten), Batching::Rewritten);
                }
            }
            Batching::Free | Batching::Rewritten => {
                let scores = model.scores(&mut worker, &model.probe(2), 2)?;
                model.classes = scores.len() / 2;
            }
        }
        if model.classes < 2 {
            return Err(OnnxError::OneScore { path: path.to_path_buf() });
        }
        if model.mixes(&mut worker)? {
            return Err(OnnxError::RowsMix { path: path.to_path_buf() });
        }
        let mut idle = vec![worker];
        for _ in 1..threads.max(1) {
            idle.push(open(path, &graph)?);
        }
        model.idle = Mutex::new(idle);
        Ok(model)
    }

    /// Rows of numbers between 0 and 1 that look random, always the same, as the graph takes them.
    pub(crate) fn probe(&self, rows: usize) -> Vec<f32> {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f32::from(u16::try_from(state >> 48).unwrap_or(0)) / 65536.0
        };
        let length = self.shape.len();
        let plain: Vec<f32> = (0..rows * length).map(|_| next()).collect();
        let Some(map) = &self.input_map else { return plain };
        let mut mapped = vec![0.0; plain.len()];
        let both = plain.chunks_exact(length).zip(mapped.chunks_exact_mut(length));
        both.for_each(|(plain, mapped)| map.apply(plain, mapped));
        mapped
    }

    /// The scores of as many rows of the probe.
    pub(crate) fn probe_scores(&self, rows: usize) -> Result<Vec<f32>, OnnxError> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let worker = idle.last_mut().expect("nobody else asks yet");
        let Batching::Fixed(part) = self.batching else {
            return self.scores(worker, &self.probe(rows), rows);
        };
        let whole = rows.next_multiple_of(part);
        let mut scores = self.scores_in_parts(worker, &self.probe(whole), whole)?;
        scores.truncate(rows * self.classes);
        Ok(scores)
    }

    /// The graph for any number of rows, if it computes what the file does on the probe.
    fn rewritten(
        &self,
        graph: &[u8],
        input: &str,
        rows: usize,
        probe: &[f32],
        exact: &[f32],
    ) -> Option<Vec<u8>> {
        let rewritten = with_free_batch(graph, input, rows as u64).ok()?;
        let mut worker = open(&self.path, &rewritten).ok()?;
        let count = probe.len() / self.shape.len();
        let scores = self.scores(&mut worker, probe, count).ok()?;
        near(&scores, exact).then_some(rewritten)
    }

    /// Whether the scores of a row change with its companions: then draws of one batch would not be independent.
    fn mixes(&self, worker: &mut Session) -> Result<bool, OnnxError> {
        let length = self.shape.len();
        let (rows, moved) = match self.batching {
            Batching::Fixed(1) => return Ok(false),
            Batching::Fixed(part) => (2 * part, 1),
            Batching::Free | Batching::Rewritten => (3, 0),
        };
        let mut batch = self.probe(rows);
        let mut together = self.scores_in_parts(worker, &batch, rows)?;
        let otherwise = if moved > 0 {
            // Every row gets other companions, and one another batch.
            batch.rotate_left(moved * length);
            together.rotate_left(moved * self.classes);
            self.scores_in_parts(worker, &batch, rows)?
        } else {
            let alone = batch.chunks_exact(length).map(|row| self.scores(worker, row, 1));
            alone.collect::<Result<Vec<_>, _>>()?.concat()
        };
        Ok(!near(&together, &otherwise))
    }

    /// SHA-256 of the file.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Shape of the images it takes.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The order in which it takes them.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// How many rows it takes at once.
    pub fn batching(&self) -> Batching {
        self.batching
    }

    /// Scores of a batch of rows, class by class.
    fn scores(&self, worker: &mut Session, batch: &[f32], rows: usize) -> Result<Vec<f32>, OnnxError> {
        self.run(worker, batch, rows, <[f32]>::to_vec)
    }

    /// The same for a graph that takes a fixed number of rows, of which `rows` is a multiple.
    fn scores_in_parts(
        &self,
        worker: &mut Session,
        batch: &[f32],
        rows: usize,
    ) -> Result<Vec<f32>, OnnxError> {
        let Batching::Fixed(part) = self.batching else { return self.scores(worker, batch, rows) };
        let mut all = Vec::new();
        for batch in batch.chunks(part * self.shape.len()) {
            all.extend(self.scores(worker, batch, part)?);
        }
        Ok(all)
    }

    /// One forward pass.
    fn run<T>(
        &self,
        worker: &mut Session,
        batch: &[f32],
        rows: usize,
        read: impl FnOnce(&[f32]) -> T,
    ) -> Result<T, OnnxError> {
        let failed = OnnxError::run(&self.path);
        let dims: Vec<i64> =
            [i64::try_from(rows).unwrap_or(i64::MAX)].iter().chain(&self.dims).copied().collect();
        let tensor = TensorRef::from_array_view((dims, batch)).map_err(&failed)?;
        let outputs = worker.run(ort::inputs![tensor]).map_err(&failed)?;
        let (found, scores) = outputs[0].try_extract_tensor::<f32>().map_err(&failed)?;
        let a_row_each = scores.len() >= rows
            && scores.len().is_multiple_of(rows)
            && found.iter().skip(2).all(|&extent| extent == 1);
        let as_before = self.classes == 0 || scores.len() == rows * self.classes;
        if !a_row_each || !as_before || found.first().is_none_or(|&first| usize::try_from(first) != Ok(rows))
        {
            return Err(OnnxError::OutputShape { path: self.path.clone(), rows, found: found.to_vec() });
        }
        Ok(read(scores))
    }

    /// Answers a batch with one worker.
    fn answer(&self, worker: &mut Session, batch: &[f32], out: &mut [u32]) -> Result<(), OnnxError> {
        let classes = self.classes;
        let mut pass = |batch: &[f32], rows: usize, out: &mut [u32]| {
            self.run(worker, batch, rows, |scores| {
                out.iter_mut().zip(scores.chunks_exact(classes)).for_each(|(out, row)| *out = highest(row));
            })
        };
        let Batching::Fixed(part) = self.batching else { return pass(batch, out.len(), out) };
        let size = self.shape.len();
        for (batch, out) in batch.chunks(part * size).zip(out.chunks_mut(part)) {
            if out.len() == part {
                pass(batch, part, out)?;
            } else {
                // The last rows are filled up; what the graph says of the filling is left out.
                let mut filled = batch.to_vec();
                filled.resize(part * size, 0.0);
                pass(&filled, part, out)?;
            }
        }
        Ok(())
    }
}

impl Classifier for OnnxModel {
    type Error = OnnxError;

    fn classes(&self) -> usize {
        self.classes
    }

    fn dim(&self) -> usize {
        self.shape.len()
    }

    fn input_map(&self) -> Option<&InputMap> {
        self.input_map.as_ref()
    }

    /// Rows are as the graph takes them: see [`input_map`](Self::input_map). Panics unless the batch has that many of them
    /// and there is a place for each answer.
    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), OnnxError> {
        assert!(batch.len() == rows * self.shape.len() && out.len() == rows, "a batch of {rows} rows");
        if rows == 0 {
            return Ok(());
        }
        let lock = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut idle = lock();
        let mut worker = loop {
            match idle.pop() {
                Some(worker) => break worker,
                None => idle = self.returned.wait(idle).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(idle);
        let answered = self.answer(&mut worker, batch, out);
        lock().push(worker);
        self.returned.notify_one();
        answered
    }
}

/// What a graph wants done to images.
fn input_map(
    shape: Shape,
    normalisation: Option<&Normalisation>,
    layout: Layout,
) -> Result<InputMap, InputMapError> {
    let Shape { channels, height, width } = shape;
    let plain = vec![Affine::IDENTITY; channels];
    InputMap::new(normalisation.map_or(plain, Normalisation::maps), height * width, layout)
}

/// A session of one thread.
fn open(path: &Path, graph: &[u8]) -> Result<Session, OnnxError> {
    let environment = environment()?;
    let built = || -> Result<Session, ort::Error> {
        Session::builder(&environment)?
            .with_optimization_level(GraphOptimizationLevel::All)?
            .with_intra_threads(1)?
            .with_inter_threads(1)?
            .commit_from_memory(graph)
    };
    built().map_err(OnnxError::load(path))
}
