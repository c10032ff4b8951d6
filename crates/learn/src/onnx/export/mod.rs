//! Networks of our own as ONNX files.
//!
//! **The graph.** Images [N, channel, row, column] in the range of the data, any number of them, go in as `input`; scores
//! [N, class] come out as `scores`. Operations are those of operator set 13 (intermediate representation 7, ONNX 1.8), which
//! every ONNX Runtime from 1.7 on runs. A normalisation of the input comes first, as Sub and Div. A convolution is Conv,
//! BatchNormalization, Add and Relu, as far as the layer has them: statistics stay apart from the weights, so that nothing is
//! rounded. A shortcut of option A is Slice with a step and Pad with channels of zeros. Where a matrix meets images or
//! images a matrix there is a Flatten or a Reshape. The spec of the training is in the metadata.
//!
//! [`import`](super::import) reads every such file, and gives the same architecture and the same numbers; a normalisation
//! comes back as the shortest decimals of its numbers in single precision. (A shortcut of option A between values of one
//! shape comes back as the identity, which it is.)

mod writer;

use super::schema::TRAINING;
use crate::net::architecture::{Convolution, LayerKind, Linear, Shortcut, ShortcutKind, Window};
use crate::net::layer::norm::EPSILON;
use crate::net::parameters::LayerRanges;
use crate::weights::network::{Network, NetworkProblem};
use gambeson_data::dataset::Shape;
use thiserror::Error;
use writer::{Writer, float, integer, integers};

const INPUT: &str = "input";
const OUTPUT: &str = "scores";
/// What a protocol buffer may have.
const MOST_BYTES: usize = (1 << 31) - 1;

/// Why a network cannot be written as an ONNX file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// It is none.
    #[error(transparent)]
    Network(#[from] NetworkProblem),
    /// Numbers that single precision does not have.
    #[error("its normalisation has numbers beyond single precision")]
    Normalisation,
    /// More than such a file can hold.
    #[error("{bytes} bytes: an ONNX file without companions holds {MOST_BYTES} at most")]
    TooLarge {
        /// What it would take.
        bytes: usize,
    },
}

/// The bytes of the file. The same network gives the same bytes.
pub fn export(network: &Network) -> Result<Vec<u8>, ExportError> {
    let Network { architecture, training, .. } = network;
    let (places, shapes) = (network.check()?, architecture.shapes().map_err(NetworkProblem::from)?);
    let too_large =
        |bytes: usize| if bytes > MOST_BYTES { Err(ExportError::TooLarge { bytes }) } else { Ok(()) };
    too_large(4 * places.parameters)?;
    let mut exporter = Exporter { network, shapes: &shapes, values: Vec::new(), writer: Writer::default() };
    exporter.input()?;
    for (layer, place) in places.layers.iter().enumerate() {
        exporter.layer(layer, place);
    }
    exporter.row(architecture.layers.len());
    let Shape { channels, height, width } = architecture.input;
    let metadata: Vec<(&str, &str)> = training.iter().map(|training| (TRAINING, training.as_str())).collect();
    let model = exporter.writer.finish(
        (INPUT, &[channels, height, width]),
        (OUTPUT, &[architecture.classes]),
        &metadata,
    );
    too_large(model.len())?;
    Ok(model)
}

/// A value under the names it has.
#[derive(Default)]
struct Named {
    /// [N, channel, row, column].
    image: Option<String>,
    /// [N, number].
    row: Option<String>,
}

/// An operation of a layer, on what the one before it made.
struct Step {
    operator: &'static str,
    /// What it takes beside that.
    others: Vec<String>,
    attributes: Vec<Vec<u8>>,
}

struct Exporter<'a> {
    network: &'a Network,
    shapes: &'a [Shape],
    /// By value.
    values: Vec<Named>,
    writer: Writer,
}

impl Exporter<'_> {
    /// The input, normalised if the network asks for it.
    #[allow(clippy::cast_possible_truncation)] // the graph is f32
    fn input(&mut self) -> Result<(), ExportError> {
        let mut image = INPUT.to_owned();
        if let Some((mean, std)) = &self.network.normalisation {
            let channels = self.network.architecture.input.channels;
            let [mean, std] = [mean, std].map(|all| all.iter().map(|&x| x as f32).collect::<Vec<f32>>());
            if !mean.iter().chain(&std).all(|x| x.is_finite()) || std.contains(&0.0) {
                return Err(ExportError::Normalisation);
            }
            for (name, values) in [("mean", &mean), ("std", &std)] {
                self.writer.floats(name, &[1, channels, 1, 1], values);
            }
            self.writer.node("Sub", &[&image, "mean"], "centred", &[]);
            self.writer.node("Div", &["centred", "std"], "normalised", &[]);
            "normalised".clone_into(&mut image);
        }
        self.values.push(Named { image: Some(image), row: None });
        Ok(())
    }

    fn layer(&mut self, layer: usize, place: &LayerRanges) {
        let architecture = &self.network.architecture;
        let input = architecture.layers[layer].input;
        let window = |operator, window: Window, more: Vec<Vec<u8>>| {
            let attributes = [places_of(window), more].concat();
            Step { operator, others: Vec::new(), attributes }
        };
        let (mut from, steps, is_row) = match &architecture.layers[layer].kind {
            LayerKind::Convolution(convolution) => {
                (self.image(input), self.convolution(layer, convolution, place), false)
            }
            LayerKind::MaxPool(own) => (self.image(input), vec![window("MaxPool", *own, Vec::new())], false),
            LayerKind::AveragePool(own) => {
                let uncounted = vec![integer("count_include_pad", 0)];
                (self.image(input), vec![window("AveragePool", *own, uncounted)], false)
            }
            LayerKind::GlobalAverage => {
                let step = Step { operator: "GlobalAveragePool", others: Vec::new(), attributes: Vec::new() };
                (self.image(input), vec![step], false)
            }
            LayerKind::Linear(linear) => (self.row(input), self.linear(layer, *linear, place), true),
        };
        let count = steps.len();
        for (at, Step { operator, others, attributes }) in steps.into_iter().enumerate() {
            let to = if at + 1 == count {
                if is_row { self.row_name(layer + 1) } else { format!("value{}", layer + 1) }
            } else {
                format!("layer{layer}.{operator}")
            };
            let inputs: Vec<&str> = std::iter::once(&from).chain(&others).map(String::as_str).collect();
            self.writer.node(operator, &inputs, &to, &attributes);
            from = to;
        }
        let name = Some(from);
        self.values.push(if is_row {
            Named { image: None, row: name }
        } else {
            Named { image: name, row: None }
        });
    }

    #[allow(clippy::cast_possible_truncation)] // ε of the graph is f32
    fn convolution(&mut self, layer: usize, convolution: &Convolution, place: &LayerRanges) -> Vec<Step> {
        let Convolution { channels, kernel, stride, padding, bias, norm, shortcut, relu } = *convolution;
        let weights = &self.network.weights;
        let inputs = self.shapes[self.network.architecture.layers[layer].input].channels;
        let mut put = |name: &str, shape: &[usize], values: &[f32]| {
            let name = format!("layer{layer}.{name}");
            self.writer.floats(&name, shape, values);
            name
        };
        let weight = &weights.parameters[place.weight.clone()];
        let mut others = vec![put("weight", &[channels, inputs, kernel, kernel], weight)];
        if bias {
            others.push(put("bias", &[channels], &weights.parameters[place.bias.clone()]));
        }
        let attributes = places_of(Window { kernel, stride, padding });
        let mut steps = vec![Step { operator: "Conv", others, attributes }];
        if norm {
            let others = vec![
                put("gamma", &[channels], &weights.parameters[place.gamma.clone()]),
                put("beta", &[channels], &weights.parameters[place.bias.clone()]),
                put("mean", &[channels], &weights.statistics[place.mean.clone()]),
                put("variance", &[channels], &weights.statistics[place.variance.clone()]),
            ];
            steps.push(Step {
                operator: "BatchNormalization",
                others,
                attributes: vec![float("epsilon", EPSILON as f32)],
            });
        }
        if let Some(shortcut) = shortcut {
            steps.push(Step {
                operator: "Add",
                others: vec![self.shortcut(layer, shortcut)],
                attributes: Vec::new(),
            });
        }
        if relu {
            steps.push(Step { operator: "Relu", others: Vec::new(), attributes: Vec::new() });
        }
        steps
    }

    /// The name of what is added.
    fn shortcut(&mut self, layer: usize, shortcut: Shortcut) -> String {
        let mut name = self.image(shortcut.from);
        let (to, from) = (self.shapes[layer + 1], self.shapes[shortcut.from]);
        let (step, zeros) = match shortcut.kind {
            ShortcutKind::Identity => (1, 0),
            ShortcutKind::Subsampled => Shortcut::subsampling(to, from).unwrap_or((1, 0)),
        };
        let mut apply = |operator: &str, lists: &[(&str, Vec<i64>)]| {
            let mut inputs = vec![name.clone()];
            for (list, values) in lists {
                inputs.push(format!("layer{layer}.{list}"));
                self.writer.integers(&format!("layer{layer}.{list}"), values);
            }
            let to = format!("layer{layer}.{operator}");
            self.writer.node(operator, &inputs.iter().map(String::as_str).collect::<Vec<_>>(), &to, &[]);
            name = to;
        };
        if step > 1 {
            let (step, ends) = (signed(step), i64::MAX);
            apply(
                "Slice",
                &[
                    ("starts", vec![0, 0]),
                    ("ends", vec![ends, ends]),
                    ("axes", vec![2, 3]),
                    ("steps", vec![step, step]),
                ],
            );
        }
        if zeros > 0 {
            let zeros = signed(zeros);
            apply("Pad", &[("pads", vec![0, zeros, 0, 0, 0, zeros, 0, 0])]);
        }
        name
    }

    fn linear(&mut self, layer: usize, linear: Linear, place: &LayerRanges) -> Vec<Step> {
        let input = self.network.architecture.layers[layer].input;
        let parameters = &self.network.weights.parameters;
        let mut others = vec![format!("layer{layer}.weight")];
        let shape = [linear.outputs, self.shapes[input].len()];
        self.writer.floats(&others[0], &shape, &parameters[place.weight.clone()]);
        if linear.bias {
            others.push(format!("layer{layer}.bias"));
            self.writer.floats(&others[1], &[linear.outputs], &parameters[place.bias.clone()]);
        }
        let mut steps = vec![Step { operator: "Gemm", others, attributes: vec![integer("transB", 1)] }];
        if linear.relu {
            steps.push(Step { operator: "Relu", others: Vec::new(), attributes: Vec::new() });
        }
        steps
    }

    /// The name of a value as [N, channel, row, column].
    fn image(&mut self, value: usize) -> String {
        if let Some(name) = &self.values[value].image {
            return name.clone();
        }
        let (row, name) = (self.row(value), format!("value{value}.image"));
        let Shape { channels, height, width } = self.shapes[value];
        let shape = format!("value{value}.shape");
        self.writer.integers(&shape, &[0, signed(channels), signed(height), signed(width)]);
        self.writer.node("Reshape", &[&row, &shape], &name, &[]);
        self.values[value].image = Some(name.clone());
        name
    }

    /// What a value is called as [N, number].
    fn row_name(&self, value: usize) -> String {
        if value == self.network.architecture.layers.len() {
            OUTPUT.to_owned()
        } else {
            format!("value{value}.row")
        }
    }

    /// The name of a value as [N, number].
    fn row(&mut self, value: usize) -> String {
        if let Some(name) = &self.values[value].row {
            return name.clone();
        }
        // Every value has one name or the other.
        let (image, name) = (self.values[value].image.clone().unwrap_or_default(), self.row_name(value));
        self.writer.node("Flatten", &[&image], &name, &[integer("axis", 1)]);
        self.values[value].row = Some(name.clone());
        name
    }
}

/// Sizes of a network are below 2³¹.
fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

/// Window, stride and padding as attributes.
fn places_of(window: Window) -> Vec<Vec<u8>> {
    let Window { kernel, stride, padding } = window;
    vec![
        integers("kernel_shape", &[kernel; 2]),
        integers("strides", &[stride; 2]),
        integers("pads", &[padding; 4]),
    ]
}
