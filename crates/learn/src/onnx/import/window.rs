//! The window of a convolution or pooling, as far as it is square and the same on all sides.

use crate::net::architecture::Window;
use crate::onnx::graph::Node;
use gambeson_data::dataset::Shape;

/// Reads it, for a plane of this shape; `kernel` is what the weights say. Padding may differ between the sides where no
/// place of the window reaches the difference.
pub(super) fn window(node: &Node, kernel: Option<usize>, from: Shape) -> Result<Window, &'static str> {
    let equal = |values: &[i64]| {
        let first = *values.first()?;
        values.iter().all(|&value| value == first).then(|| usize::try_from(first).ok()).flatten()
    };
    let declared =
        node.integers("kernel_shape").map(|values| equal(values).ok_or("a window that is not square"));
    let kernel = match (declared.transpose()?, kernel) {
        (Some(declared), Some(kernel)) if declared != kernel => {
            return Err("a window that is not its weights'");
        }
        (Some(kernel), _) | (None, Some(kernel)) => kernel,
        (None, None) => return Err("no window"),
    };
    let dilated = node.integers("dilations").is_some_and(|values| values.iter().any(|&value| value != 1));
    if dilated && kernel > 1 {
        return Err("dilations");
    }
    let stride = node.integers("strides").map_or(Some(1), equal).ok_or("strides that differ")?;
    if stride == 0 || kernel == 0 {
        return Err("a window or stride of 0");
    }
    let (top, left, bottom, right) = sides(node, kernel, stride, from)?;
    if top != left {
        return Err("padding that differs between rows and columns");
    }
    let ceil = node.integer("ceil_mode", 0) != 0;
    let places = |size: usize, before: usize, behind: usize, ceil: bool| {
        let room = size.checked_add(before)?.checked_add(behind)?.checked_sub(kernel)?;
        Some(if ceil { room.div_ceil(stride) } else { room / stride } + 1)
    };
    let same =
        |size, before, behind| places(size, before, behind, ceil) == places(size, before, before, false);
    if !same(from.height, top, bottom) || !same(from.width, left, right) {
        return Err(if ceil { "ceil_mode" } else { "padding that differs between the sides" });
    }
    Ok(Window { kernel, stride, padding: top })
}

/// Padding above, left, below and right.
fn sides(
    node: &Node,
    kernel: usize,
    stride: usize,
    from: Shape,
) -> Result<(usize, usize, usize, usize), &'static str> {
    let shared = |size: usize| {
        let reach = (size.div_ceil(stride).saturating_sub(1)).saturating_mul(stride).saturating_add(kernel);
        let all = reach.saturating_sub(size);
        (all / 2, all - all / 2)
    };
    let ((top, bottom), (left, right)) = (shared(from.height), shared(from.width));
    match node.text("auto_pad").unwrap_or("NOTSET") {
        "SAME_UPPER" => return Ok((top, left, bottom, right)),
        "SAME_LOWER" => return Ok((bottom, right, top, left)),
        "VALID" => return Ok((0, 0, 0, 0)),
        "NOTSET" | "" => {}
        _ => return Err("an unknown auto_pad"),
    }
    let Some(pads) = node.integers("pads") else { return Ok((0, 0, 0, 0)) };
    let sizes: Option<Vec<usize>> = pads.iter().map(|&pad| usize::try_from(pad).ok()).collect();
    match sizes.as_deref() {
        Some(&[top, left, bottom, right]) => Ok((top, left, bottom, right)),
        _ => Err("padding that is not one number for each of four sides"),
    }
}
