//! What pickles of tensors build: plain objects, and tensors as views of storages.

use std::ops::Deref;
use std::rc::Rc;

/// What a pickle builds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Object {
    None,
    Bool(bool),
    Integer(i64),
    /// An integer of more than 64 bits, little-endian: magic numbers.
    Long(Rc<[u8]>),
    Float(f64),
    Text(Rc<str>),
    Tuple(Rc<Nest<Object>>),
    List(Rc<Nest<Object>>),
    Dict(Rc<Nest<(Object, Object)>>),
    /// A function or class that is known.
    Global(Global),
    /// What the caller knows under this name, a tuple.
    Persistent(Rc<Nest<Object>>),
    Tensor(Rc<TensorView>),
}

/// Objects in an object, and how deep they lie at most: 1 where they have none in them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Nest<T> {
    pub(super) items: Vec<T>,
    pub(super) depth: usize,
}

impl<T> Default for Nest<T> {
    fn default() -> Self {
        Self { items: Vec::new(), depth: 1 }
    }
}

impl<T> Deref for Nest<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl Object {
    /// How deep objects lie in it.
    pub(super) fn depth(&self) -> usize {
        match self {
            Object::Tuple(items) | Object::List(items) | Object::Persistent(items) => items.depth,
            Object::Dict(entries) => entries.depth,
            _ => 0,
        }
    }
}

/// What may be asked for by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Global {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    Storage(Element),
}

/// Numbers of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    F64,
    F32,
    F16,
    Bf16,
    I64,
    I32,
    I16,
    I8,
    U8,
    Bool,
}

impl Element {
    /// Bytes of a number.
    pub(crate) fn size(self) -> usize {
        match self {
            Element::F64 | Element::I64 => 8,
            Element::F32 | Element::I32 => 4,
            Element::F16 | Element::Bf16 | Element::I16 => 2,
            Element::I8 | Element::U8 | Element::Bool => 1,
        }
    }
}

/// A tensor as a view of a storage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TensorView {
    pub(crate) element: Element,
    /// Which storage.
    pub(crate) key: Rc<str>,
    pub(crate) offset: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) strides: Vec<usize>,
}
