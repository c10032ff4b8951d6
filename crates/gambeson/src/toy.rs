//! Toys that a text describes, `toy:KIND,KEY=VALUE,...`: classifiers whose smoothed versions are known in closed form.

use gambeson_data::dataset::Shape;
use gambeson_learn::smoothed::NamedClassifier;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::sha256_of_numbers;
use gambeson_lowrank::matrix_file::{InputError, npy};
use gambeson_lowrank::projection::representation::{EmptyGrid, Representation, Transform};
use gambeson_smooth::toys::{Ball, HalfSpace, ToyError};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What a text says about a toy; its parameters are not checked yet.
#[derive(Debug, PartialEq, Eq)]
pub struct ToyText<'a> {
    /// What stands before the first comma.
    pub kind: String,
    /// Keys and values; no value without a `=`. The path of a vector need not be text.
    pub given: Vec<(String, Option<&'a OsStr>)>,
}

/// Why a text describes no toy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToyTextError {
    /// A kind that does not exist.
    #[error("unknown toy `{kind}`: expected half-space or ball")]
    Kind {
        /// As written.
        kind: String,
    },
    /// A key that this toy does not have, or a key without a value.
    #[error("unknown parameter `{word}`: expected {}=...", allowed.join("=..., "))]
    Key {
        /// As written.
        word: String,
        /// What it may have.
        allowed: &'static [&'static str],
    },
    /// The same key again.
    #[error("{key} is given twice")]
    Twice {
        /// The key.
        key: String,
    },
    /// A value that is no number.
    #[error("{key}={value}: not a number")]
    Number {
        /// Of which key.
        key: &'static str,
        /// As written.
        value: String,
    },
    /// A ball without a radius.
    #[error("a ball needs radius=R")]
    NoRadius,
    /// Two normal vectors.
    #[error("give cosine or normal, not both")]
    TwoNormals,
    /// A cosine that the images do not have.
    #[error("cosine={value}: expected a whole number from 0 to {last}")]
    Cosine {
        /// As written.
        value: String,
        /// The last one.
        last: usize,
    },
    /// A vector of another length.
    #[error("{}: has {found} numbers, but the inputs have {expected}", path.display())]
    Length {
        /// Of the vector.
        path: PathBuf,
        /// How many it has.
        found: usize,
        /// How many it should have.
        expected: usize,
    },
    /// The vector cannot be read.
    #[error(transparent)]
    Vector(#[from] InputError),
    /// The images have no such transform.
    #[error(transparent)]
    Transform(#[from] EmptyGrid),
    /// The numbers make no toy.
    #[error(transparent)]
    Toy(#[from] ToyError),
}

/// One of the two toys.
pub(crate) enum Toy {
    HalfSpace(HalfSpace),
    Ball(Ball),
}

impl<'a> ToyText<'a> {
    /// None where the text names something else.
    pub fn parse(model: &'a OsStr) -> Option<Self> {
        let text = |word: &OsStr| word.to_string_lossy().into_owned();
        let mut words = split(model, b',', usize::MAX).into_iter();
        let kind = text(words.next()?).strip_prefix("toy:")?.to_owned();
        let pair = |word| {
            let mut sides = split(word, b'=', 2).into_iter();
            (sides.next().map(text).unwrap_or_default(), sides.next())
        };
        Some(Self { kind, given: words.map(pair).collect() })
    }

    /// The file of the normal vector, if one is named.
    pub fn vector_path(&self) -> Option<&Path> {
        self.given.iter().find(|(key, _)| key == "normal").and_then(|(_, path)| path.map(Path::new))
    }

    /// The toy for inputs of a shape, and its name in records; `text` is all of the description.
    pub(crate) fn classifier(
        &self,
        text: &str,
        images: Shape,
        memory: MemoryLimit,
    ) -> Result<NamedClassifier<Toy>, ToyTextError> {
        let (classifier, name) = match self.kind.as_str() {
            "half-space" => self.half_space(text, images, memory)?,
            "ball" => (Toy::Ball(self.ball(images)?), text.to_owned()),
            kind => return Err(ToyTextError::Kind { kind: kind.to_owned() }),
        };
        Ok(NamedClassifier { classifier, name, runtime: None, file: None, images })
    }

    fn ball(&self, images: Shape) -> Result<Ball, ToyTextError> {
        self.only(&["radius", "centre"])?;
        let radius = self.number("radius")?.ok_or(ToyTextError::NoRadius)?;
        let centre = vec![self.number("centre")?.unwrap_or(0.0); images.len()];
        Ok(Ball::new(centre, radius)?)
    }

    fn half_space(
        &self,
        text: &str,
        images: Shape,
        memory: MemoryLimit,
    ) -> Result<(Toy, String), ToyTextError> {
        self.only(&["offset", "cosine", "normal"])?;
        let mut name = text.to_owned();
        let normal = match (self.value("cosine"), self.value("normal")) {
            (Some(_), Some(_)) => return Err(ToyTextError::TwoNormals),
            (None, None) => vec![1.0 / images.len() as f64; images.len()],
            (Some(index), None) => cosine(&index.to_string_lossy(), images)?,
            (None, Some(path)) => {
                let path = Path::new(path);
                let normal = npy::read_vector(path, memory)?;
                if normal.len() != images.len() {
                    let (found, expected) = (normal.len(), images.len());
                    return Err(ToyTextError::Length { path: path.to_path_buf(), found, expected });
                }
                name = format!("{name} sha256 {}", sha256_of_numbers(&normal));
                normal
            }
        };
        Ok((Toy::HalfSpace(HalfSpace::new(normal, self.number("offset")?.unwrap_or(0.0))?), name))
    }

    /// Whether all keys are among these, each once and with a value.
    fn only(&self, allowed: &'static [&'static str]) -> Result<(), ToyTextError> {
        for (at, (key, value)) in self.given.iter().enumerate() {
            if value.is_none() || !allowed.contains(&key.as_str()) {
                let word = value.map_or_else(|| key.clone(), |value| format!("{key}={}", value.display()));
                return Err(ToyTextError::Key { word, allowed });
            }
            if self.given[..at].iter().any(|(other, _)| other == key) {
                return Err(ToyTextError::Twice { key: key.clone() });
            }
        }
        Ok(())
    }

    fn value(&self, key: &str) -> Option<&'a OsStr> {
        self.given.iter().find(|(other, _)| other == key).and_then(|(_, value)| *value)
    }

    fn number(&self, key: &'static str) -> Result<Option<f64>, ToyTextError> {
        let parse = |value: &OsStr| {
            let value = value.to_string_lossy();
            value.parse::<f64>().map_err(|_| ToyTextError::Number { key, value: value.into_owned() })
        };
        self.value(key).map(parse).transpose()
    }
}

/// The values of one coordinate of the cosine transform of the first channel.
fn cosine(index: &str, shape: Shape) -> Result<Vec<f64>, ToyTextError> {
    let plane = shape.height * shape.width;
    let Some(index) = index.parse::<usize>().ok().filter(|&index| index < plane) else {
        return Err(ToyTextError::Cosine { value: index.to_owned(), last: plane - 1 });
    };
    let kind = if shape.height == 1 { Representation::Dct1 } else { Representation::Dct2 };
    let mut normal = vec![0.0; shape.len()];
    normal[index] = 1.0;
    Transform::new(kind, shape.height, shape.width)?.inverse(&mut normal[..plane]);
    Ok(normal)
}

/// The parts of a text between letters of one kind, at most so many.
fn split(text: &OsStr, at: u8, most: usize) -> Vec<&OsStr> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        text.as_bytes().splitn(most, |&byte| byte == at).map(OsStr::from_bytes).collect()
    }
    #[cfg(not(unix))]
    text.to_str().map_or(vec![text], |text| text.splitn(most, char::from(at)).map(OsStr::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_taken_apart() {
        assert_eq!(ToyText::parse(OsStr::new("a,b.onnx")), None);
        let found = ToyText::parse(OsStr::new("toy:half-space,offset=0.5,normal=a=b.npy,x")).expect("a toy");
        let given = [("offset", Some("0.5")), ("normal", Some("a=b.npy")), ("x", None)];
        assert_eq!(found.kind, "half-space");
        assert_eq!(found.given, given.map(|(key, value)| (key.to_owned(), value.map(OsStr::new))));
        assert_eq!(found.vector_path(), Some(Path::new("a=b.npy")));
    }
}
