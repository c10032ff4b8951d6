//! What the name or path of data means, and how they are loaded.
//!
//! A name is looked up first among the known sets (`fashion`, built in; `cifar10` and `cifar100`, under the data
//! directory), then as a path, then among the sets imported into the data directory. `./cifar10` is always a path.
//!
//! Known sets, imported ones, folders of CIFAR batches, folders of IDX files named as MNIST's are, and folders of image
//! classes below `train` and `test` have two parts, and [`LoadOptions::split`] chooses. Any other file or folder is one
//! set, and is taken whole as the part asked for.

use crate::dataset::{Dataset, Split};
use crate::error::DataError;
use crate::fetch::install::recover;
use crate::file::{base_name, read_error, walk};
use crate::format::audio::{self, FrameParams};
use crate::format::cifar::Cifar;
use crate::format::{array, fashion, idx, images};
use crate::progress::LoadProgress;
use crate::store;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::Observer;
use gambeson_lowrank::safetensors;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Which audio files of a folder to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChoice {
    /// These, in this order; relative to the folder.
    List(Vec<PathBuf>),
    /// Some, drawn at random without repetition, in the order of their paths.
    Random {
        /// How many.
        count: usize,
        /// Seed of the draw.
        seed: u64,
    },
}

/// How to load.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadOptions {
    /// Which part, of sets that have two.
    pub split: Split,
    /// Where known and imported sets live.
    pub data_dir: PathBuf,
    /// How audio is cut.
    pub frames: FrameParams,
    /// Which audio files of a folder to take; all where `None`. Meaningless for other data.
    pub files: Option<FileChoice>,
    /// What any one file or array may take in memory. By default there is no limit.
    pub memory: MemoryLimit,
}

impl LoadOptions {
    /// The training part, frames of 25 ms every 10 ms, all files, no limit on memory; known sets live in `data_dir`, for which
    /// [`data_dir()`] is the usual place.
    pub fn new(data_dir: PathBuf) -> Self {
        Self {
            split: Split::Train,
            data_dir,
            frames: FrameParams::default(),
            files: None,
            memory: MemoryLimit::NONE,
        }
    }
}

/// The usual data directory: `$GAMBESON_DATA`, by default `gambeson` in the data directory of the platform
/// (`$XDG_DATA_HOME` or `~/.local/share`, on macOS `~/Library/Application Support`, on Windows `%APPDATA%`); `None`
/// where the environment names none of these. Nothing in this crate asks for it: callers hand it to
/// [`LoadOptions::data_dir`] and its like, or another folder.
pub fn data_dir() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(folder) = variable("GAMBESON_DATA") {
        return Some(folder);
    }
    let platform = if cfg!(windows) {
        variable("APPDATA")
    } else if cfg!(target_os = "macos") {
        variable("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        // The XDG specification has relative paths ignored.
        let xdg = variable("XDG_DATA_HOME").filter(|folder| folder.is_absolute());
        xdg.or_else(|| variable("HOME").map(|home| home.join(".local/share")))
    };
    platform.map(|folder| folder.join("gambeson"))
}

/// What a name or path turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataSource {
    /// The built-in part of Fashion-MNIST.
    Fashion,
    /// A folder of CIFAR batches.
    Cifar(Cifar, PathBuf),
    /// An imported set.
    Imported(PathBuf, String),
    /// One file of an imported set.
    Stored(PathBuf),
    /// A folder of IDX files named as MNIST's are.
    IdxFolder(PathBuf),
    /// A file of IDX images.
    Idx(PathBuf),
    /// An `.npy` or `.npz` file.
    Array(PathBuf),
    /// A folder of classes of images below `train` and `test`.
    ImageParts(PathBuf),
    /// A folder of classes of images.
    Images(PathBuf),
    /// An audio file or a folder of them.
    Audio(PathBuf),
}

impl DataSource {
    /// Whether it has a training and a test part.
    pub fn has_parts(&self) -> bool {
        match self {
            Self::Fashion
            | Self::Cifar(..)
            | Self::IdxFolder(_)
            | Self::ImageParts(_)
            | Self::Imported(..) => true,
            Self::Stored(_) | Self::Idx(_) | Self::Array(_) | Self::Images(_) | Self::Audio(_) => false,
        }
    }

    /// Terms of use, where they are known.
    pub fn terms(&self) -> Option<&'static str> {
        match self {
            Self::Fashion => {
                Some("MIT, Zalando SE 2017; part of Fashion-MNIST (Xiao, Rasul, Vollgraf, 2017)")
            }
            Self::Cifar(..) => Some(
                "no formal licence; cite Krizhevsky, Learning multiple layers of features from tiny images, 2009",
            ),
            _ => None,
        }
    }

    /// The files it is read from, or their folder; none for what is built in. Not all of them need exist.
    pub fn paths(&self) -> Vec<PathBuf> {
        match self {
            Self::Fashion => Vec::new(),
            Self::Imported(data_dir, name) => {
                [Split::Train, Split::Test].map(|split| store::path(data_dir, name, split)).into()
            }
            Self::Idx(path) => [Some(path.clone()), idx::labels_beside(path)].into_iter().flatten().collect(),
            Self::Array(path) => {
                [Some(path.clone()), array::labels_beside(path)].into_iter().flatten().collect()
            }
            // These read files of certain names, whatever else is in their folder.
            Self::Cifar(set, path) => set.all_files().iter().map(|file| path.join(file.name)).collect(),
            Self::IdxFolder(path) => {
                let images =
                    [Split::Train, Split::Test].into_iter().filter_map(|split| idx::images_in(path, split));
                images
                    .flat_map(|images| [Some(images.clone()), idx::labels_beside(&images)])
                    .flatten()
                    .collect()
            }
            Self::Stored(path) | Self::ImageParts(path) | Self::Images(path) | Self::Audio(path) => {
                vec![path.clone()]
            }
        }
    }

    /// Loads it.
    pub fn load(
        &self,
        options: &LoadOptions,
        observer: &mut dyn Observer<LoadProgress>,
    ) -> Result<Dataset, DataError> {
        match self {
            Self::Fashion => fashion::load(options.split),
            Self::Cifar(set, folder) => set.load(folder, options.split, observer),
            Self::Imported(data_dir, name) => {
                let path = store::path(data_dir, name, options.split);
                if !path.is_file() {
                    let folder = data_dir.join(name);
                    return Err(DataError::NoSuchPart {
                        name: name.clone(),
                        split: options.split.name(),
                        folder,
                    });
                }
                store::load(&path, observer)
            }
            Self::Stored(path) => store::load(path, observer),
            Self::IdxFolder(folder) => match idx::images_in(folder, options.split) {
                Some(path) => idx::load(&path, options.memory, observer),
                None => Err(DataError::NoSuchPart {
                    name: base_name(folder),
                    split: options.split.name(),
                    folder: folder.clone(),
                }),
            },
            Self::Idx(path) => idx::load(path, options.memory, observer),
            Self::Array(path) => array::load(path, options.memory, observer),
            Self::ImageParts(folder) => {
                images::load(&folder.join(options.split.name()), options.memory, observer)
            }
            Self::Images(folder) => images::load(folder, options.memory, observer),
            Self::Audio(path) => {
                let files = match &options.files {
                    None => audio::list(path)?,
                    Some(FileChoice::List(files)) => files.iter().map(|file| path.join(file)).collect(),
                    Some(FileChoice::Random { count, seed }) => draw(&audio::list(path)?, *count, *seed)
                        .map_err(|found| DataError::TooFewFiles {
                            path: path.clone(),
                            wanted: *count,
                            found,
                        })?,
                };
                let base = if path.is_dir() { path.as_path() } else { Path::new("") };
                Ok(audio::load_below(base, &files, &options.frames, options.memory, observer)?
                    .renamed(base_name(path)))
            }
        }
    }
}

/// Draws `count` of the files without repetition and keeps their order; the error is the number of files, where that is
/// too small.
///
/// The first `count` steps of a Fisher–Yates shuffle by ChaCha8, seeded by `seed_from_u64`: the same on every platform.
pub fn draw(files: &[PathBuf], count: usize, seed: u64) -> Result<Vec<PathBuf>, usize> {
    if count > files.len() {
        return Err(files.len());
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut chosen: Vec<usize> = (0..files.len()).collect();
    for k in 0..count {
        // Drawn as u64, so that the size of a pointer does not matter.
        let ahead = rng.random_range(0..(files.len() - k) as u64);
        chosen.swap(k, k + usize::try_from(ahead).unwrap_or(0)); // less than a length, so it fits
    }
    chosen.truncate(count);
    chosen.sort_unstable();
    Ok(chosen.into_iter().map(|index| files[index].clone()).collect())
}

/// Finds out what a name or path is.
pub fn find(name_or_path: impl AsRef<OsStr>, data_dir: &Path) -> Result<DataSource, DataError> {
    let path = Path::new(name_or_path.as_ref());
    let name_or_path = name_or_path.as_ref().to_string_lossy();
    let name_or_path = &*name_or_path;
    if name_or_path == "fashion" {
        return Ok(DataSource::Fashion);
    }
    if let Some(set) = Cifar::from_name(name_or_path) {
        let folder = data_dir.join(set.name());
        if !folder.exists() {
            recover(&folder);
        }
        if Cifar::in_folder(&folder) != Some(set) {
            return Err(DataError::NotInstalled { name: set.name().to_owned(), folder: data_dir.to_owned() });
        }
        return Ok(DataSource::Cifar(set, folder));
    }
    if path.is_dir() {
        return folder(path);
    }
    if path.exists() {
        return file(path);
    }
    let imported = |split| store::path(data_dir, name_or_path, split).is_file();
    if store::is_name(name_or_path) && (imported(Split::Train) || imported(Split::Test)) {
        return Ok(DataSource::Imported(data_dir.to_owned(), name_or_path.to_owned()));
    }
    Err(DataError::UnknownName { name: name_or_path.to_owned(), data_dir: data_dir.to_owned() })
}

/// The parts of built-in, installed and imported sets whose [name](Dataset::name) is this: what data are, of which only their
/// name is known. Nothing outside the data directory is looked at; without one, only what is built in. Whether they are the same data, their
/// hash says.
pub fn parts_named(name: &str, data_dir: Option<&Path>) -> Vec<(DataSource, Split)> {
    let mut found = Vec::new();
    for split in [Split::Train, Split::Test] {
        let is_part_of =
            |set: &str| name.strip_prefix(set).is_some_and(|it| it.strip_prefix('-') == Some(split.name()));
        if is_part_of("fashion") {
            found.push((DataSource::Fashion, split));
        }
        let Some(data_dir) = data_dir else { continue };
        for set in [Cifar::Ten, Cifar::Hundred].into_iter().filter(|set| is_part_of(set.name())) {
            let folder = data_dir.join(set.name());
            if Cifar::in_folder(&folder) == Some(set) {
                found.push((DataSource::Cifar(set, folder), split));
            }
        }
        if store::is_name(name) && store::path(data_dir, name, split).is_file() {
            found.push((DataSource::Imported(data_dir.to_owned(), name.to_owned()), split));
        }
    }
    found
}

/// Loads the data of a name or path; see the module for the order in which a name is looked up.
pub fn load(
    name_or_path: impl AsRef<OsStr>,
    options: &LoadOptions,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Dataset, DataError> {
    find(name_or_path, &options.data_dir)?.load(options, observer)
}

/// What a folder is.
fn folder(path: &Path) -> Result<DataSource, DataError> {
    if let Some(set) = Cifar::in_folder(path) {
        return Ok(DataSource::Cifar(set, path.to_owned()));
    }
    if [Split::Train, Split::Test].into_iter().any(|split| idx::images_in(path, split).is_some()) {
        return Ok(DataSource::IdxFolder(path.to_owned()));
    }
    let files = walk(path)?;
    let image = files.iter().find(|file| images::has_image_name(file));
    let audio = files.iter().find(|file| audio::has_audio_name(file));
    match (image, audio) {
        (Some(image), Some(audio)) => {
            Err(DataError::MixedFolder { image: image.clone(), audio: audio.clone() })
        }
        (Some(_), None) if path.join("train").is_dir() && path.join("test").is_dir() => {
            Ok(DataSource::ImageParts(path.to_owned()))
        }
        (Some(_), None) => Ok(DataSource::Images(path.to_owned())),
        (None, Some(_)) => Ok(DataSource::Audio(path.to_owned())),
        (None, None) => Err(DataError::EmptyFolder { path: path.to_owned() }),
    }
}

/// What a file is, by its first bytes.
fn file(path: &Path) -> Result<DataSource, DataError> {
    let mut start = Vec::new();
    let file = File::open(path).map_err(read_error(path))?;
    file.take(16).read_to_end(&mut start).map_err(read_error(path))?;
    if start.is_empty() {
        return Err(DataError::EmptyFile { path: path.to_owned() });
    }
    let path = path.to_owned();
    if array::recognises(&start) {
        Ok(DataSource::Array(path))
    } else if idx::recognises(&start)
        || (start.starts_with(&[0x1f, 0x8b]) && base_name(&path).contains("idx"))
    {
        Ok(DataSource::Idx(path))
    } else if safetensors::looks_like(&start) {
        Ok(DataSource::Stored(path))
    } else if audio::recognises(&start) || audio::has_audio_name(&path) {
        Ok(DataSource::Audio(path))
    } else {
        Err(DataError::UnknownFormat { path, start: start.escape_ascii().to_string() })
    }
}
