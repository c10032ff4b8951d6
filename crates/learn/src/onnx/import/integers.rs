//! The arithmetic that graphs do with sizes: small arrays of integers in which the number of images stays a name.
//!
//! Exporters write `x.view(x.size(0), -1)` and the settings of a Pad as a dozen operations on such arrays.

use crate::onnx::graph::{Attribute, Constant, Node, Numbers};

/// Arrays of sizes are short; whatever is longer is none.
const LONGEST: usize = 64;

/// A number, or the number of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    Batch,
    Number(i64),
}

/// An array of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Integers {
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<Extent>,
}

impl Integers {
    /// Short along every axis, also where another axis has no length at all.
    fn new(shape: Vec<usize>, values: Vec<Extent>) -> Option<Self> {
        let short = shape.iter().all(|&size| size <= LONGEST) && values.len() <= LONGEST;
        let count = shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        (short && count == Some(values.len())).then_some(Self { shape, values })
    }

    /// A list.
    fn list(values: Vec<Extent>) -> Option<Self> {
        Self::new(vec![values.len()], values)
    }

    /// From a constant, if it is a short one of integers.
    pub(super) fn from_constant(constant: &Constant) -> Option<Self> {
        match &constant.values {
            Numbers::Integers(values) if values.len() <= LONGEST => {
                Self::new(constant.shape.clone(), values.iter().map(|&value| Extent::Number(value)).collect())
            }
            _ => None,
        }
    }

    /// A list: what Shape makes of a value with these axes behind the batch.
    pub(super) fn of_shape(node: &Node, axes: &[usize]) -> Option<Self> {
        let rest = axes.iter().map(|&axis| i64::try_from(axis).map(Extent::Number));
        let mut values = vec![Extent::Batch];
        values.extend(rest.collect::<Result<Vec<_>, _>>().ok()?);
        let count = values.len();
        let range = along(count, node.integer("start", 0), node.integer("end", i64::MAX), 1)?;
        Self::list(range.into_iter().map(|at| values[at]).collect())
    }

    /// All values, where none is the number of images.
    pub(super) fn numbers(&self) -> Option<Vec<i64>> {
        let number = |value: &Extent| match value {
            Extent::Number(number) => Some(*number),
            Extent::Batch => None,
        };
        self.values.iter().map(number).collect()
    }

    /// Picks values: `shape` of the result, and where each of them stands.
    fn picked(&self, shape: Vec<usize>, at: impl Iterator<Item = usize>) -> Option<Self> {
        let values: Option<Vec<Extent>> = at.map(|at| self.values.get(at).copied()).collect();
        Self::new(shape, values?)
    }
}

/// What an operation makes of arrays of integers, `None` if it is not one of those that graphs use for it.
pub(super) fn compute(node: &Node, inputs: &[Option<Integers>]) -> Option<Integers> {
    let input = |at: usize| inputs.get(at).and_then(Option::as_ref);
    let first = input(0)?;
    // Axes as an input, or, in older files, as an attribute.
    let list = |at: usize, name: &str| {
        node.integers(name).map(<[i64]>::to_vec).or_else(|| input(at).and_then(Integers::numbers))
    };
    match node.operator.as_str() {
        "Cast" | "Identity" => Some(first.clone()),
        "Concat" => {
            let parts: Option<Vec<&Integers>> = inputs.iter().map(Option::as_ref).collect();
            let parts = parts?;
            let flat = parts.iter().all(|part| part.shape.len() == 1) && node.integer("axis", 0) == 0;
            let short = parts.iter().map(|part| part.values.len()).sum::<usize>() <= LONGEST;
            let values = parts.iter().flat_map(|part| part.values.clone());
            if flat && short { Integers::list(values.collect()) } else { None }
        }
        "ConstantOfShape" => {
            let Some(Attribute::Constant(value)) = node.attributes.get("value") else { return None };
            let [value] = Integers::from_constant(value)?.values[..] else { return None };
            let shape: Option<Vec<usize>> =
                first.numbers()?.into_iter().map(|size| usize::try_from(size).ok()).collect();
            let shape = shape?;
            let count = shape.iter().try_fold(1_usize, |count, &size| count.checked_mul(size))?;
            if count <= LONGEST { Integers::new(shape, vec![value; count]) } else { None }
        }
        "Gather" => {
            let (indices, &[length]) = (input(1)?, &first.shape[..]) else { return None };
            if node.integer("axis", 0) != 0 || indices.values.len() > LONGEST {
                return None;
            }
            let places: Option<Vec<usize>> =
                indices.numbers()?.into_iter().map(|index| axis(index, length)).collect();
            first.picked(indices.shape.clone(), places?.into_iter())
        }
        "Mul" => {
            let second = input(1)?;
            let (a, b) = (first.numbers()?, second.numbers()?);
            let shape = if first.shape.len() >= second.shape.len() { &first.shape } else { &second.shape };
            let ([a], [b]) = (&a[..], &b[..]) else { return None };
            Integers::new(shape.clone(), vec![Extent::Number(a.checked_mul(*b)?)])
        }
        "Reshape" => {
            let shape = filled(&input(1)?.numbers()?, first.values.len())?;
            first.picked(shape, 0..first.values.len())
        }
        "Slice" => slice(first, &list),
        "Squeeze" | "Unsqueeze" => {
            let axes = list(1, "axes")?;
            let shape = with_axes(&node.operator, &first.shape, &axes)?;
            first.picked(shape, 0..first.values.len())
        }
        "Transpose" => {
            let [rows, columns] = first.shape[..] else { return None };
            if !matches!(node.integers("perm"), None | Some([1, 0])) {
                return None;
            }
            let at = (0..columns).flat_map(|q| (0..rows).map(move |r| r * columns + q));
            first.picked(vec![columns, rows], at)
        }
        _ => None,
    }
}

/// Along the first axis of a list or table.
fn slice(first: &Integers, list: &impl Fn(usize, &str) -> Option<Vec<i64>>) -> Option<Integers> {
    let (starts, ends) = (list(1, "starts")?, list(2, "ends")?);
    let axes = list(3, "axes").unwrap_or_else(|| vec![0]);
    let steps = list(4, "steps").unwrap_or_else(|| vec![1]);
    let ([start], [end], [0], [step]) = (&starts[..], &ends[..], &axes[..], &steps[..]) else { return None };
    let (&rows, rest) = first.shape.split_first()?;
    let width: usize = rest.iter().product();
    let taken = along(rows, *start, *end, *step)?;
    let shape = [&[taken.len()], rest].concat();
    first.picked(shape, taken.into_iter().flat_map(|row| row * width..(row + 1) * width))
}

/// The places from `start` to before `end`, negative ones counted from the end, as ONNX clamps them.
fn along(length: usize, start: i64, end: i64, step: i64) -> Option<Vec<usize>> {
    let size = i64::try_from(length).ok()?;
    let (least, most) = if step > 0 { (0, size) } else { (-1, size - 1) };
    let clamped = |place: i64| if place < 0 { place.saturating_add(size) } else { place }.clamp(least, most);
    let (mut at, end) = (clamped(start), clamped(end));
    let mut places = Vec::new();
    while step != 0 && ((step > 0 && at < end) || (step < 0 && at > end)) {
        places.push(usize::try_from(at).ok()?);
        at = at.checked_add(step)?;
    }
    (step != 0).then_some(places)
}

/// An axis or index, negative ones counted from the end.
pub(super) fn axis(index: i64, count: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add(i64::try_from(count).ok()?)? } else { index };
    usize::try_from(index).ok().filter(|&index| index < count)
}

/// A shape with its −1 filled in, for so many numbers.
pub(super) fn filled(shape: &[i64], count: usize) -> Option<Vec<usize>> {
    let known = shape.iter().filter(|&&size| size != -1);
    let product =
        known.clone().try_fold(1_usize, |product, &size| product.checked_mul(usize::try_from(size).ok()?))?;
    match shape.len() - known.count() {
        0 if product == count => {}
        1 if product > 0 && count.is_multiple_of(product) => {}
        _ => return None,
    }
    shape
        .iter()
        .map(|&size| if size == -1 { Some(count / product) } else { usize::try_from(size).ok() })
        .collect()
}

/// A shape after Squeeze or Unsqueeze.
pub(super) fn with_axes(operator: &str, shape: &[usize], axes: &[i64]) -> Option<Vec<usize>> {
    if operator == "Squeeze" {
        let dropped: Option<Vec<usize>> = axes.iter().map(|&index| axis(index, shape.len())).collect();
        let dropped = dropped?;
        let ones = dropped.iter().all(|&at| shape[at] == 1);
        let kept = shape.iter().enumerate().filter(|(at, _)| !dropped.contains(at)).map(|(_, &size)| size);
        return ones.then(|| kept.collect());
    }
    let rank = shape.len().checked_add(axes.len()).filter(|&rank| rank <= LONGEST)?;
    let added: Option<Vec<usize>> = axes.iter().map(|&index| axis(index, rank)).collect();
    let added = added?;
    let mut rest = shape.iter();
    let sizes = (0..rank).map(|at| if added.contains(&at) { Some(1) } else { rest.next().copied() });
    sizes.collect::<Option<Vec<_>>>().filter(|_| rest.next().is_none())
}
