//! What `torch.save` writes: a stream of pickles with the numbers behind them, or an archive.

use super::networks::resnet8;
use crate::answer::Answer;
use crate::bundle::joined;
use gambeson_learn::weights::network::Network;
use gambeson_learn::weights::torch;

pub(super) fn pickle(bytes: &[u8]) -> Answer {
    let tensors = torch::read(bytes).map_err(|error| error.to_string())?;
    let network = Network::parse(bytes, None);
    let known = network.map_or_else(|error| error.to_string(), |_| "a network".to_owned());
    Ok(format!("{} {known}", if tensors.is_empty() { "nothing" } else { "tensors" }))
}

/// A tensor of a state dict: its name, shape, the name of its storage's type, one number of it.
struct Saved {
    name: String,
    shape: Vec<usize>,
    storage: &'static str,
    number: Vec<u8>,
}

impl Saved {
    fn numbers(&self) -> Vec<u8> {
        self.number.repeat(self.count())
    }

    fn count(&self) -> usize {
        self.shape.iter().product()
    }
}

/// Two tensors of different types, and a ResNet-8.
fn state_dicts() -> [Vec<Saved>; 2] {
    let saved = |name: &str, shape: &[usize], storage, number: &[u8]| Saved {
        name: name.to_owned(),
        shape: shape.to_vec(),
        storage,
        number: number.to_vec(),
    };
    let two = vec![
        saved("weight", &[2, 3], "FloatStorage", &0.5_f32.to_le_bytes()),
        saved("steps", &[], "LongStorage", &7_i64.to_le_bytes()),
    ];
    let network =
        resnet8().into_iter().map(|(name, shape)| saved(&name, &shape, "HalfStorage", &[0x00, 0x36]));
    [two, network.collect()]
}

fn text(text: &str) -> Vec<u8> {
    [&b"X"[..], &u32::try_from(text.len()).unwrap_or(0).to_le_bytes(), text.as_bytes()].concat()
}

fn tuple(numbers: &[usize]) -> Vec<u8> {
    [&b"("[..], &numbers.iter().flat_map(|&number| integer(number)).collect::<Vec<_>>(), b"t"].concat()
}

fn integer(number: usize) -> Vec<u8> {
    [&b"J"[..], &i32::try_from(number).unwrap_or(0).to_le_bytes()].concat()
}

/// An ordered dictionary of tensors, as PyTorch pickles it; the keys of storages count from 0.
fn object(tensors: &[Saved]) -> Vec<u8> {
    let mut program = b"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(".to_vec();
    for (key, tensor) in tensors.iter().enumerate() {
        let strides: Vec<usize> =
            (0..tensor.shape.len()).map(|axis| tensor.shape[axis + 1..].iter().product()).collect();
        program.extend(text(&tensor.name));
        program.extend(b"ctorch._utils\n_rebuild_tensor_v2\n((");
        program.extend(text("storage"));
        program.extend(format!("ctorch\n{}\n", tensor.storage).as_bytes());
        program.extend([text(&key.to_string()), text("cpu"), integer(tensor.count())].concat());
        program.extend(b"tQ");
        program.extend([integer(0), tuple(&tensor.shape), tuple(&strides)].concat());
        program.extend(b"\x89h\x00)RtR"); // needs no gradient, has no hooks
    }
    program.extend(b"u.");
    program
}

pub(super) fn streams() -> Vec<Vec<u8>> {
    state_dicts().iter().map(|tensors| stream(tensors)).collect()
}

fn stream(tensors: &[Saved]) -> Vec<u8> {
    // Magic number, protocol, machine.
    let mut file = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}q\x00(".to_vec();
    file.extend([text("protocol_version"), integer(1001), text("little_endian")].concat());
    file.extend(b"\x88u.");
    file.extend(object(tensors));
    file.extend(b"\x80\x02](");
    (0..tensors.len()).for_each(|key| file.extend(text(&key.to_string())));
    file.extend(b"e.");
    for tensor in tensors {
        file.extend((tensor.count() as u64).to_le_bytes());
        file.extend(tensor.numbers());
    }
    file
}

/// As their members.
pub(super) fn archives() -> Vec<Vec<u8>> {
    let archive = |tensors: &Vec<Saved>| {
        let mut members = vec![("net/data.pkl".to_owned(), object(tensors))];
        let storages = tensors.iter().enumerate();
        members.extend(storages.map(|(key, tensor)| (format!("net/data/{key}"), tensor.numbers())));
        members.push(("net/version".to_owned(), b"3\n".to_vec()));
        joined(&members)
    };
    state_dicts().iter().map(archive).collect()
}
