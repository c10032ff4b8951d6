//! CIFAR-10 and CIFAR-100 in their official binary layout (Krizhevsky, *Learning multiple layers of features from tiny
//! images*, 2009).
//!
//! A record is the label bytes and then 3072 pixel bytes: the red, green and blue planes, each 32 × 32 row by row.
//! CIFAR-10 has one label byte; CIFAR-100 has two, the coarse label (20 superclasses) and then the fine one (100). The
//! labels of a [`Dataset`] are the fine ones; [`coarse_labels`] gives the others.
//!
//! Files under the official names are verified by SHA-256 whenever they are read: hashing 180 MB takes a fraction of a
//! second, and nothing else would notice a flipped bit.

use crate::dataset::{Dataset, DatasetParts, Shape, SourceFile, Split, Values};
use crate::error::DataError;
use crate::file::{read_whole, report};
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::file::sha256;
use gambeson_lowrank::observe::Observer;
use std::path::Path;

/// Shape of every image.
pub const SHAPE: Shape = Shape { channels: 3, height: 32, width: 32 };
/// Bytes of an image.
const PIXELS: usize = 3 * 32 * 32;

/// One of the two sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cifar {
    /// 10 classes.
    Ten,
    /// 100 classes in 20 superclasses.
    Hundred,
}

/// A file of a known set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownFile {
    /// Its name within the folder of the set.
    pub name: &'static str,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its SHA-256, hexadecimal.
    pub sha256: &'static str,
}

impl KnownFile {
    /// Compares the SHA-256 that was found, in the file `place/name`, with the right one.
    pub(crate) fn check(&self, found: &str, place: &Path) -> Result<(), DataError> {
        if found == self.sha256 {
            return Ok(());
        }
        let (expected, found) = (self.sha256.to_owned(), found.to_owned());
        Err(DataError::Checksum { path: place.join(self.name), expected, found })
    }
}

const TEN_TRAIN: [KnownFile; 5] = [
    KnownFile {
        name: "data_batch_1.bin",
        bytes: 30_730_000,
        sha256: "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    },
    KnownFile {
        name: "data_batch_2.bin",
        bytes: 30_730_000,
        sha256: "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    },
    KnownFile {
        name: "data_batch_3.bin",
        bytes: 30_730_000,
        sha256: "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    },
    KnownFile {
        name: "data_batch_4.bin",
        bytes: 30_730_000,
        sha256: "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    },
    KnownFile {
        name: "data_batch_5.bin",
        bytes: 30_730_000,
        sha256: "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    },
];
const TEN_TEST: [KnownFile; 1] = [KnownFile {
    name: "test_batch.bin",
    bytes: 30_730_000,
    sha256: "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}];
const HUNDRED_TRAIN: [KnownFile; 1] = [KnownFile {
    name: "train.bin",
    bytes: 153_700_000,
    sha256: "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29",
}];
const HUNDRED_TEST: [KnownFile; 1] = [KnownFile {
    name: "test.bin",
    bytes: 30_740_000,
    sha256: "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a",
}];

impl Cifar {
    /// `cifar10` or `cifar100`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ten => "cifar10",
            Self::Hundred => "cifar100",
        }
    }

    /// The set of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Ten, Self::Hundred].into_iter().find(|set| set.name() == name)
    }

    /// The files of a part, in order.
    pub fn files(self, split: Split) -> &'static [KnownFile] {
        match (self, split) {
            (Self::Ten, Split::Train) => &TEN_TRAIN,
            (Self::Ten, Split::Test) => &TEN_TEST,
            (Self::Hundred, Split::Train) => &HUNDRED_TRAIN,
            (Self::Hundred, Split::Test) => &HUNDRED_TEST,
        }
    }

    /// Address and SHA-256 of the official archive.
    pub fn official(self) -> (&'static str, &'static str) {
        match self {
            Self::Ten => (
                "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            ),
            Self::Hundred => (
                "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
                "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
            ),
        }
    }

    /// All files of the set.
    pub fn all_files(self) -> Vec<KnownFile> {
        [Split::Train, Split::Test].iter().flat_map(|&split| self.files(split)).copied().collect()
    }

    /// The set whose files, or some of them, are in a folder.
    pub fn in_folder(folder: &Path) -> Option<Self> {
        [Self::Ten, Self::Hundred].into_iter().find(|set| {
            let files = [Split::Train, Split::Test].into_iter().flat_map(|split| set.files(split));
            files.into_iter().any(|file| folder.join(file.name).is_file())
        })
    }

    /// Bytes before the pixels of a record.
    pub fn label_bytes(self) -> usize {
        match self {
            Self::Ten => 1,
            Self::Hundred => 2,
        }
    }

    /// Names of the classes in the order of their labels; of CIFAR-100 the fine ones.
    pub fn classes(self) -> Vec<String> {
        let names = match self {
            Self::Ten => "airplane automobile bird cat deer dog frog horse ship truck",
            Self::Hundred => FINE,
        };
        names.split_ascii_whitespace().map(str::to_owned).collect()
    }

    /// The images and labels of records; `path` is for messages.
    pub fn parse(self, bytes: &[u8], path: &Path) -> Result<(Vec<u8>, Vec<u16>), DataError> {
        let (before, classes) = (self.label_bytes(), self.classes().len());
        let record = before + PIXELS;
        if bytes.is_empty() || !bytes.len().is_multiple_of(record) {
            return Err(DataError::CifarLength { path: path.to_owned(), length: bytes.len(), record });
        }
        let count = bytes.len() / record;
        let (mut pixels, mut labels) = (Vec::with_capacity(count * PIXELS), Vec::with_capacity(count));
        for (k, record) in bytes.chunks_exact(record).enumerate() {
            let label = record[before - 1];
            if usize::from(label) >= classes {
                return Err(DataError::CifarLabel { path: path.to_owned(), record: k, label, classes });
            }
            labels.push(label.into());
            pixels.extend_from_slice(&record[before..]);
        }
        Ok((pixels, labels))
    }

    /// Reads and verifies a part of the set from the folder of its files.
    pub fn load(
        self,
        folder: &Path,
        split: Split,
        observer: &mut dyn Observer<LoadProgress>,
    ) -> Result<Dataset, DataError> {
        let (mut pixels, mut labels, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        let files = self.files(split);
        report(observer, Stage::Read, 0, Some(files.len() as u64))?;
        for (k, file) in files.iter().enumerate() {
            let bytes = verified(file, folder, observer)?;
            let (more, of_more) = self.parse(&bytes, &folder.join(file.name))?;
            sources.push(SourceFile { name: file.name.to_owned(), samples: of_more.len() });
            if pixels.is_empty() {
                pixels = more; // no copy of the only file of CIFAR-100
            } else {
                pixels.extend(more);
            }
            labels.extend(of_more);
            report(observer, Stage::Read, k as u64 + 1, Some(files.len() as u64))?;
        }
        let parts = DatasetParts {
            name: format!("{}-{}", self.name(), split.name()),
            shape: SHAPE,
            values: Values::U8(pixels),
            labels: Some(labels),
            classes: self.classes(),
            sources,
        };
        Dataset::new(parts).map_err(|reason| DataError::Content { path: folder.to_owned(), reason })
    }
}

/// The bytes of a known file in a folder.
fn verified(
    file: &KnownFile,
    folder: &Path,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Vec<u8>, DataError> {
    // The observer is asked, but not shown every file as a task of its own.
    let mut quieter = |_: &LoadProgress| observer.observe(&LoadProgress::new(Stage::Read, 0, None));
    let bytes = read_whole(&folder.join(file.name), Stage::Read, &mut quieter)?;
    file.check(&sha256(&bytes), folder)?;
    Ok(bytes)
}

/// The coarse labels of CIFAR-100, one per sample, each less than 20, from the folder of its files.
pub fn coarse_labels(folder: &Path, split: Split) -> Result<Vec<u16>, DataError> {
    let bytes = verified(&Cifar::Hundred.files(split)[0], folder, &mut ())?;
    Ok(bytes.chunks_exact(2 + PIXELS).map(|record| record[0].into()).collect())
}

/// Names of the superclasses of CIFAR-100 in the order of their labels.
pub fn coarse_classes() -> Vec<String> {
    COARSE.split_ascii_whitespace().map(str::to_owned).collect()
}

const COARSE: &str = "aquatic_mammals fish flowers food_containers fruit_and_vegetables household_electrical_devices \
    household_furniture insects large_carnivores large_man-made_outdoor_things large_natural_outdoor_scenes \
    large_omnivores_and_herbivores medium_mammals non-insect_invertebrates people reptiles small_mammals trees \
    vehicles_1 vehicles_2";

const FINE: &str = "apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly \
    camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur \
    dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard \
    lobster man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear \
    pickup_truck pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew \
    skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television \
    tiger tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm";
