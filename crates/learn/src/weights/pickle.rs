//! Python pickles, as far as saved tensors need them.
//!
//! A pickle is a program for a stack machine that may call any Python function. Here it can build numbers, texts, tuples,
//! lists, dictionaries and tensors, and nothing else: the functions a state dict calls are known by name, and everything
//! else is refused by its operation or its name. Nothing is executed and nothing is allocated for a size that is merely
//! claimed. Objects lie within each other at most [`DEEPEST`] deep, so that no walk over them exhausts the stack, and what
//! is copied of lists that are changed while something else holds them is bounded by the length of the file.

use super::object::{Element, Global, Nest, Object, TensorView};
use std::collections::HashMap;
use std::rc::Rc;
use thiserror::Error;

/// Why a pickle is not one of tensors.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PickleError {
    /// The bytes end within it.
    #[error("it ends at byte {offset}, within a pickle: the file was cut short")]
    Truncated {
        /// Position of the byte.
        offset: usize,
    },
    /// An operation that state dicts do not need.
    #[error("operation {operation:#04x} at byte {offset} has no place in saved tensors: refused")]
    Operation {
        /// Its code.
        operation: u8,
        /// Position of the byte.
        offset: usize,
    },
    /// A function or class that state dicts do not need.
    #[error("it asks for `{name}` at byte {offset}, which saved tensors do not need: refused")]
    Global {
        /// Module and name.
        name: String,
        /// Position of the byte.
        offset: usize,
    },
    /// Objects within objects within objects.
    #[error("objects lie within each other more than {limit} deep at byte {offset}: refused")]
    Depth {
        /// What is allowed.
        limit: usize,
        /// Position of the byte.
        offset: usize,
    },
    /// Lists that are changed over and over while something else holds them.
    #[error("its lists would be copied to more than the length of the file at byte {offset}: refused")]
    Copies {
        /// Position of the byte.
        offset: usize,
    },
    /// The program makes no sense.
    #[error("the pickle is damaged at byte {offset}")]
    Malformed {
        /// Position of the byte.
        offset: usize,
    },
}

/// Objects within each other: state dicts take 3 or 4, with the tensors' own parts.
pub const DEEPEST: usize = 64;

/// Axes of a tensor: PyTorch has no more either.
const MOST_AXES: usize = 64;

/// One more than the deepest of some objects; an error where that is too deep.
fn around(items: &[Object], offset: usize) -> Result<usize, PickleError> {
    let depth = 1 + items.iter().map(Object::depth).max().unwrap_or(0);
    if depth > DEEPEST { Err(PickleError::Depth { limit: DEEPEST, offset }) } else { Ok(depth) }
}

/// What a list has in it, to be changed: copied first where something else holds it too, at the expense of `budget`.
fn own<'a, T: Clone>(
    list: &'a mut Rc<Nest<T>>,
    budget: &mut usize,
    offset: usize,
) -> Result<&'a mut Nest<T>, PickleError> {
    if Rc::strong_count(list) > 1 {
        *budget = budget.checked_sub(list.len()).ok_or(PickleError::Copies { offset })?;
    }
    Ok(Rc::make_mut(list))
}

const NAMES: [(&str, Global); 15] = [
    ("collections OrderedDict", Global::OrderedDict),
    ("torch._utils _rebuild_tensor", Global::RebuildTensor),
    ("torch._utils _rebuild_tensor_v2", Global::RebuildTensor),
    ("torch._utils _rebuild_parameter", Global::RebuildParameter),
    ("torch DoubleStorage", Global::Storage(Element::F64)),
    ("torch FloatStorage", Global::Storage(Element::F32)),
    ("torch HalfStorage", Global::Storage(Element::F16)),
    ("torch BFloat16Storage", Global::Storage(Element::Bf16)),
    ("torch LongStorage", Global::Storage(Element::I64)),
    ("torch IntStorage", Global::Storage(Element::I32)),
    ("torch ShortStorage", Global::Storage(Element::I16)),
    ("torch CharStorage", Global::Storage(Element::I8)),
    ("torch ByteStorage", Global::Storage(Element::U8)),
    ("torch BoolStorage", Global::Storage(Element::Bool)),
    // How newer files write an empty dictionary's class.
    ("builtins dict", Global::OrderedDict),
];

/// Reads one pickle that starts at `start`; also where it ends.
pub(crate) fn read(bytes: &[u8], start: usize) -> Result<(Object, usize), PickleError> {
    let copies = bytes.len();
    Machine { bytes, at: start, stack: Vec::new(), marks: Vec::new(), memo: HashMap::new(), copies }.run()
}

struct Machine<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Object>,
    marks: Vec<usize>,
    memo: HashMap<usize, Object>,
    /// Items of lists and dictionaries that may still be copied.
    copies: usize,
}

impl<'a> Machine<'a> {
    fn run(mut self) -> Result<(Object, usize), PickleError> {
        loop {
            let offset = self.at;
            match self.take(1)?[0] {
                b'.' => {
                    let result = self.stack.pop().ok_or(PickleError::Malformed { offset })?;
                    return Ok((result, self.at));
                }
                operation => self.step(operation, offset)?,
            }
        }
    }

    /// Any operation but the last.
    fn step(&mut self, operation: u8, offset: usize) -> Result<(), PickleError> {
        if let Some(object) = self.plain(operation, offset)? {
            self.stack.push(object);
            return Ok(());
        }
        match operation {
            0x80 => drop(self.take(1)?), // PROTO
            0x95 => drop(self.take(8)?), // FRAME
            b'(' => self.marks.push(self.stack.len()),
            0x85..=0x87 => {
                let items = self.pop(usize::from(operation - 0x84))?;
                self.tuple(items, offset)?;
            }
            b't' => {
                let items = self.pop_marked()?;
                self.tuple(items, offset)?;
            }
            b'a' => {
                let items = self.pop(1)?;
                self.append(items, offset)?;
            }
            b'e' => {
                let items = self.pop_marked()?;
                self.append(items, offset)?;
            }
            b's' => {
                let items = self.pop(2)?;
                self.set(items, offset)?;
            }
            b'u' => {
                let items = self.pop_marked()?;
                self.set(items, offset)?;
            }
            b'q' | b'r' | 0x94 => {
                let index = if operation == 0x94 { self.memo.len() } else { self.index(operation == b'r')? };
                let top = self.stack.last().cloned().ok_or(PickleError::Malformed { offset })?;
                self.memo.insert(index, top);
            }
            b'h' | b'j' => {
                let index = self.index(operation == b'j')?;
                let object = self.memo.get(&index).cloned().ok_or(PickleError::Malformed { offset })?;
                self.stack.push(object);
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.global(&format!("{module} {name}"), offset)?;
            }
            0x93 => {
                let names = self.pop(2)?;
                let [Object::Text(module), Object::Text(name)] = &names[..] else {
                    return Err(PickleError::Malformed { offset });
                };
                self.global(&format!("{module} {name}"), offset)?;
            }
            b'Q' | b'R' | b'b' => self.call(operation, offset)?,
            operation => return Err(PickleError::Operation { operation, offset }),
        }
        Ok(())
    }

    /// The number, the text or the empty object that an operation pushes; `None` for other operations.
    fn plain(&mut self, operation: u8, offset: usize) -> Result<Option<Object>, PickleError> {
        Ok(Some(match operation {
            b'N' => Object::None,
            0x88 => Object::Bool(true),
            0x89 => Object::Bool(false),
            b'J' => Object::Integer(i32::from_le_bytes(self.array()?).into()),
            b'K' => Object::Integer(u8::from_le_bytes(self.array()?).into()),
            b'M' => Object::Integer(u16::from_le_bytes(self.array()?).into()),
            0x8a => {
                let [length] = self.array()?;
                long(self.take(length.into())?)
            }
            b'G' => Object::Float(f64::from_be_bytes(self.array()?)),
            b'X' => {
                let length = u32::from_le_bytes(self.array()?);
                self.text(usize::try_from(length).map_err(|_| PickleError::Malformed { offset })?)?
            }
            0x8c => {
                let [length] = self.array()?;
                self.text(length.into())?
            }
            b')' => Object::Tuple(Rc::default()),
            b']' => Object::List(Rc::default()),
            b'}' => Object::Dict(Rc::default()),
            _ => return Ok(None),
        }))
    }

    fn tuple(&mut self, items: Vec<Object>, offset: usize) -> Result<(), PickleError> {
        let depth = around(&items, offset)?;
        self.stack.push(Object::Tuple(Rc::new(Nest { items, depth })));
        Ok(())
    }

    /// Adds items to the list on top of the stack.
    fn append(&mut self, items: Vec<Object>, offset: usize) -> Result<(), PickleError> {
        let Some(Object::List(list)) = self.stack.last_mut() else {
            return Err(PickleError::Malformed { offset });
        };
        let (list, depth) = (own(list, &mut self.copies, offset)?, around(&items, offset)?);
        list.depth = list.depth.max(depth);
        list.items.extend(items);
        Ok(())
    }

    /// Adds keys, each followed by its value, to the dictionary on top of the stack.
    fn set(&mut self, items: Vec<Object>, offset: usize) -> Result<(), PickleError> {
        let Some(Object::Dict(dict)) = self.stack.last_mut() else {
            return Err(PickleError::Malformed { offset });
        };
        let (dict, depth) = (own(dict, &mut self.copies, offset)?, around(&items, offset)?);
        dict.depth = dict.depth.max(depth);
        let mut items = items.into_iter();
        while let Some(key) = items.next() {
            dict.items.push((key, items.next().ok_or(PickleError::Malformed { offset })?));
        }
        Ok(())
    }

    /// A place in the memo, as one byte or four.
    fn index(&mut self, long: bool) -> Result<usize, PickleError> {
        let offset = self.at;
        if !long {
            return Ok(usize::from(self.array::<1>()?[0]));
        }
        usize::try_from(u32::from_le_bytes(self.array()?)).map_err(|_| PickleError::Malformed { offset })
    }

    /// References to storages, calls of functions, and what an ordered dictionary carries beside its entries.
    fn call(&mut self, operation: u8, offset: usize) -> Result<(), PickleError> {
        let damaged = PickleError::Malformed { offset };
        match operation {
            b'Q' => {
                let Some(Object::Tuple(id)) = self.stack.pop() else { return Err(damaged) };
                self.stack.push(Object::Persistent(id));
            }
            b'R' => {
                let mut call = self.pop(2)?;
                let (arguments, function) = (call.pop(), call.pop());
                let (Some(Object::Tuple(arguments)), Some(Object::Global(function))) = (arguments, function)
                else {
                    return Err(damaged);
                };
                self.stack.push(called(function, &arguments).ok_or(damaged)?);
            }
            _ => {
                self.pop(1)?;
                if !matches!(self.stack.last(), Some(Object::Dict(_))) {
                    return Err(damaged);
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], PickleError> {
        let end = self.at.checked_add(length).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or(PickleError::Truncated { offset: self.bytes.len() })?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], PickleError> {
        let offset = self.at;
        self.take(N)?.try_into().map_err(|_| PickleError::Malformed { offset })
    }

    fn text(&mut self, length: usize) -> Result<Object, PickleError> {
        let offset = self.at;
        let text = std::str::from_utf8(self.take(length)?).map_err(|_| PickleError::Malformed { offset })?;
        Ok(Object::Text(text.into()))
    }

    fn line(&mut self) -> Result<&'a str, PickleError> {
        let offset = self.at;
        let rest = &self.bytes[offset..];
        let length = rest.iter().position(|&byte| byte == b'\n');
        let length = length.ok_or(PickleError::Truncated { offset: self.bytes.len() })?;
        self.at += length + 1;
        std::str::from_utf8(&rest[..length]).map_err(|_| PickleError::Malformed { offset })
    }

    fn global(&mut self, name: &str, offset: usize) -> Result<(), PickleError> {
        let Some(&(_, global)) = NAMES.iter().find(|(known, _)| *known == name) else {
            let name = name.chars().take(100).flat_map(char::escape_default).collect();
            return Err(PickleError::Global { name, offset });
        };
        self.stack.push(Object::Global(global));
        Ok(())
    }

    fn pop(&mut self, count: usize) -> Result<Vec<Object>, PickleError> {
        let floor = self.marks.last().copied().unwrap_or(0);
        match self.stack.len().checked_sub(count) {
            Some(first) if first >= floor => Ok(self.stack.split_off(first)),
            _ => Err(PickleError::Malformed { offset: self.at }),
        }
    }

    fn pop_marked(&mut self) -> Result<Vec<Object>, PickleError> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len());
        mark.map(|mark| self.stack.split_off(mark)).ok_or(PickleError::Malformed { offset: self.at })
    }
}

/// A little-endian integer in two's complement.
fn long(bytes: &[u8]) -> Object {
    if bytes.len() > 8 {
        return Object::Long(bytes.into());
    }
    let fill = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut all = [fill; 8];
    all[..bytes.len()].copy_from_slice(bytes);
    Object::Integer(i64::from_le_bytes(all))
}

/// What a known function makes of its arguments.
fn called(function: Global, arguments: &[Object]) -> Option<Object> {
    match function {
        Global::OrderedDict => arguments.is_empty().then(|| Object::Dict(Rc::default())),
        Global::RebuildParameter => match arguments.first()? {
            Object::Tensor(tensor) => Some(Object::Tensor(tensor.clone())),
            _ => None,
        },
        Global::RebuildTensor => {
            let [storage, offset, shape, strides, ..] = arguments else { return None };
            let Object::Persistent(id) = storage else { return None };
            let [Object::Text(word), Object::Global(Global::Storage(element)), Object::Text(key), ..] =
                &id[..]
            else {
                return None;
            };
            let size = |object: &Object| match object {
                Object::Integer(value) => usize::try_from(*value).ok(),
                _ => None,
            };
            let sizes = |object: &Object| match object {
                Object::Tuple(items) if items.len() <= MOST_AXES => {
                    items.iter().map(size).collect::<Option<Vec<usize>>>()
                }
                _ => None,
            };
            let (shape, strides) = (sizes(shape)?, sizes(strides)?);
            (&**word == "storage" && shape.len() == strides.len()).then_some(())?;
            let offset = size(offset)?;
            Some(Object::Tensor(Rc::new(TensorView {
                element: *element,
                key: key.clone(),
                offset,
                shape,
                strides,
            })))
        }
        Global::Storage(_) => None,
    }
}
