//! Operations that change how a value is seen and not its numbers: other axes, another order, and the half of a plane that
//! shortcuts of option A take.

use super::graph_value::{GraphValue, Sampled};
use super::importer::Importer;
use super::integers::{Extent, axis, filled, with_axes};
use crate::onnx::graph::{Node, Numbers};

impl Importer<'_> {
    pub(super) fn transpose(&mut self, node: &Node, from: GraphValue) -> Result<GraphValue, &'static str> {
        let moved = match node.integers("perm") {
            Some(order)
                if order.len() == from.axes.len() + 1 && order.iter().zip(0..).all(|(a, b)| *a == b) =>
            {
                Some(from)
            }
            Some([0, 3, 1, 2]) if from.value == 0 && self.input_last.is_none() => {
                self.input_last = Some(true);
                Some(from)
            }
            Some([0, 3, 1, 2]) => from.into_first(),
            Some([0, 2, 3, 1]) => from.into_last(),
            _ => None,
        };
        moved.ok_or("an order of axes")
    }

    pub(super) fn flatten(node: &Node, from: GraphValue) -> Result<GraphValue, &'static str> {
        if from.sampled.is_some() || axis(node.integer("axis", 1), from.axes.len() + 1) != Some(1) {
            return Err("another axis than the first behind the batch");
        }
        Ok(GraphValue { axes: vec![from.shape.len()], ..from })
    }

    pub(super) fn reshape(&mut self, node: &Node, from: GraphValue) -> Result<GraphValue, &'static str> {
        let shape = self.integers(node, 1).ok_or("a shape that is not constant")?;
        if node.integer("allowzero", 0) != 0 || from.sampled.is_some() {
            return Err("allowzero, or a part of a value");
        }
        let axes = self.reshaped(&shape.values, &from).ok_or("a shape that does not keep images apart")?;
        Ok(GraphValue { axes, ..from })
    }

    /// The axes behind the batch. The batch may be a name, 0 ("as before"), −1 ("the rest"), or the size the file has.
    fn reshaped(&self, shape: &[Extent], from: &GraphValue) -> Option<Vec<usize>> {
        let (first, rest) = shape.split_first()?;
        let number = |(at, extent): (usize, &Extent)| match *extent {
            Extent::Number(0) => i64::try_from(*from.axes.get(at)?).ok(),
            Extent::Number(number) => Some(number),
            Extent::Batch => None,
        };
        let rest: Vec<i64> = rest.iter().enumerate().map(number).collect::<Option<_>>()?;
        let all_given = !rest.contains(&-1);
        let keeps = match *first {
            Extent::Batch | Extent::Number(0 | 1) => true,
            Extent::Number(-1) => all_given,
            Extent::Number(count) => self.batch.is_some_and(|batch| i64::try_from(batch) == Ok(count)),
        };
        filled(&rest, from.shape.len()).filter(|_| keeps)
    }

    /// Squeeze and Unsqueeze.
    pub(super) fn ones(&mut self, node: &Node, from: GraphValue) -> Result<GraphValue, &'static str> {
        let axes = self.list(node, 1, "axes").ok_or("axes that are not named")?;
        // The batch is not to be dropped: to `with_axes` it is an axis of another size than 1.
        let all = [&[usize::MAX], &from.axes[..]].concat();
        match with_axes(&node.operator, &all, &axes) {
            Some(axes) if axes.first() == Some(&usize::MAX) && from.sampled.is_none() => {
                Ok(GraphValue { axes: axes[1..].to_vec(), ..from })
            }
            _ => Err("axes that are not 1, or the batch"),
        }
    }

    /// All of a value, or every s-th row and column.
    pub(super) fn slice(&mut self, node: &Node, mut from: GraphValue) -> Result<GraphValue, &'static str> {
        let list = |at: usize, name: &str| self.list(node, at, name);
        let (starts, ends) = list(1, "starts").zip(list(2, "ends")).ok_or("places that are not constant")?;
        let axes = match (node.input(3).is_some(), list(3, "axes")) {
            (_, Some(axes)) => axes,
            (true, None) => return Err("axes that are not constant"),
            (false, None) => (0..).take(starts.len()).collect(),
        };
        let steps = match (node.input(4).is_some(), list(4, "steps")) {
            (_, Some(steps)) => steps,
            (true, None) => return Err("steps that are not constant"),
            (false, None) => vec![1; starts.len()],
        };
        if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
            return Err("lists of different lengths");
        }
        for (((start, end), at), step) in starts.into_iter().zip(ends).zip(axes).zip(steps) {
            let at = axis(at, from.axes.len() + 1).ok_or("an axis it does not have")?;
            let size = at.checked_sub(1).map(|at| from.axes[at]);
            // Programs write "to the end" as one of the largest integers.
            let whole = end >= size.and_then(|size| i64::try_from(size).ok()).unwrap_or(i64::from(i32::MAX));
            if start != 0 || !whole || step < 1 {
                return Err("a part of an axis");
            }
            if let Some(step) = usize::try_from(step).ok().filter(|&step| step > 1) {
                from = sampled(from, at, step)?;
            }
        }
        Ok(from)
    }

    /// Channels of zeros.
    pub(super) fn pad(&mut self, node: &Node, from: GraphValue) -> Result<GraphValue, &'static str> {
        let pads = self.list(node, 1, "pads").ok_or("padding that is not constant")?;
        let value = match node.input(2) {
            None => Some(node.float("value", 0.0)),
            Some(_) => self.constant(node, 2).and_then(|constant| match &constant.values {
                Numbers::Floats(values) => values.first().copied().filter(|_| values.len() == 1),
                _ => None,
            }),
        };
        if value != Some(0.0)
            || node.text("mode").unwrap_or("constant") != "constant"
            || node.input(3).is_some()
        {
            return Err("something else than zeros, or chosen axes");
        }
        if pads.iter().all(|&pad| pad == 0) {
            return Ok(from);
        }
        let &[0, before, 0, 0, 0, behind, 0, 0] = &pads[..] else {
            return Err("zeros elsewhere than around the channels");
        };
        let sizes = usize::try_from(before).ok().zip(usize::try_from(behind).ok());
        let (mut from, (before, behind)) = (started(from)?, sizes.ok_or("a negative size")?);
        let channels = from.axes[0].checked_add(before).and_then(|channels| channels.checked_add(behind));
        from.axes[0] = channels.ok_or("a size beyond all memory")?;
        if let Some(sampled) = &mut from.sampled {
            for (zeros, more) in sampled.zeros.iter_mut().zip([before, behind]) {
                *zeros = zeros.checked_add(more).ok_or("a size beyond all memory")?;
            }
        }
        Ok(from)
    }
}

/// As the other end of a shortcut, whole so far.
fn started(from: GraphValue) -> Result<GraphValue, &'static str> {
    if from.sampled.is_none() && !from.is_image() {
        return Err("an input that is not channel, row, column");
    }
    let sampled = from.sampled.or(Some(Sampled { steps: [1, 1], zeros: [0, 0] }));
    Ok(GraphValue { sampled, ..from })
}

/// With every `step`-th row (axis 2) or column (axis 3) only.
fn sampled(from: GraphValue, axis: usize, step: usize) -> Result<GraphValue, &'static str> {
    let mut from = started(from)?;
    match (&mut from.sampled, axis) {
        (Some(sampled), 2 | 3) if sampled.steps[axis - 2] == 1 => {
            sampled.steps[axis - 2] = step;
            from.axes[axis - 1] = from.axes[axis - 1].div_ceil(step);
            Ok(from)
        }
        _ => Err("a part of an axis"),
    }
}
