//! Files written here are read by the reference implementation, and files that two readers might read differently are
//! refused.

use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::safetensors::{Content, SafetensorsProblem, Tensor, Tensors, header};
use std::collections::BTreeMap;

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

fn example() -> Tensors<f32> {
    let mut tensors = Tensors::default();
    for (key, text) in [("format", "test"), ("b", "2"), ("a", "1")] {
        tensors.metadata.insert(key.to_owned(), text.to_owned());
    }
    for (name, shape) in [("weight.1", vec![2, 3]), ("bias", vec![]), ("empty", vec![0, 4])] {
        let count = shape.iter().product::<usize>();
        let values = (0..count).map(|k| 0.1 + k as f32).collect();
        tensors.tensors.insert(name.to_owned(), Tensor { shape, values });
    }
    tensors
}

#[test]
fn what_is_written_is_read_here_and_by_the_reference() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.safetensors");
    let tensors = example();
    tensors.write(&path).expect("written");
    assert_eq!(Tensors::<f32>::read(&path, MemoryLimit::NONE).expect("read"), tensors);
    let bytes = std::fs::read(&path).expect("read");
    let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).expect("read");
    assert_eq!(metadata.metadata().iter().flatten().count(), 3);
    let reference = safetensors::SafeTensors::deserialize(&bytes).expect("read");
    for (name, tensor) in &tensors.tensors {
        let read = reference.tensor(name).expect("there");
        let values: Vec<u8> = tensor.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        assert_eq!((read.shape(), read.data()), (tensor.shape.as_slice(), values.as_slice()));
    }
    // The bytes themselves, which hashes depend on.
    let expected = concat!(
        r#"{"__metadata__":{"a":"1","b":"2","format":"test"},"bias":{"data_offsets":[0,4],"dtype":"F32","shape":[]},"#,
        r#""empty":{"data_offsets":[4,4],"dtype":"F32","shape":[0,4]},"#,
        r#""weight.1":{"data_offsets":[4,28],"dtype":"F32","shape":[2,3]}}"#,
    );
    let padded = expected.len().next_multiple_of(8);
    assert_eq!(bytes[..8], (padded as u64).to_le_bytes());
    assert_eq!(std::str::from_utf8(&bytes[8..8 + padded]), Ok(format!("{expected:padded$}").as_str()));
    // Numbers of another type are not converted.
    let other = Tensors::<f64>::parse(&bytes).expect_err("F32");
    assert!(matches!(other, SafetensorsProblem::Type { ref found, expected: "F64", .. } if found == "F32"));
    let nothing = header(&BTreeMap::new(), &[]);
    let content = Content::parse(&nothing).expect("nothing is something");
    assert!(content.metadata.is_empty() && content.arrays.is_empty());
}

#[test]
fn ambiguous_and_damaged_files_are_refused() {
    let array = |name: &str, dtype: &str, shape: &str, from: u64, to: u64| {
        format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{from},{to}]}}"#)
    };
    let two = |a: String, b: String| format!("{{{a},{b}}}");
    let a = || array("a", "F64", "[1]", 0, 8);
    assert!(Content::parse(&file(&two(a(), array("b", "F32", "[2]", 8, 16)), &[0; 16])).is_ok());
    let cases: Vec<(String, usize, &str)> = vec![
        (two(a(), array("a", "F64", "[1]", 8, 16)), 16, "`a` stands twice"),
        (two(a(), array("a", "F64", "[1]", 0, 8)), 8, "`a` stands twice"),
        (two(r#""__metadata__":{"k":"1","k":"2"}"#.to_owned(), a()), 8, "`k` stands twice"),
        (two(r#""__metadata__":{},"__metadata__":{}"#.to_owned(), a()), 8, "`__metadata__` stands twice"),
        (two(a(), array("b", "F64", "[1]", 16, 24)), 24, "array `b`: its bytes do not follow"), // a hole
        (two(a(), array("b", "F64", "[1]", 4, 12)), 12, "array `b`: its bytes do not follow"),  // an overlap
        (two(a(), array("b", "F64", "[1]", 0, 8)), 8, "do not follow"), // the same bytes
        (format!("{{{}}}", array("a", "F64", "[1]", 8, 16)), 16, "array `a`: its bytes do not follow"),
        (format!("{{{}}}", array("a", "F64", "[2]", 0, 8)), 8, "array `a`: its shape does not fit"),
        (two(array("b", "F64", "[3,4294967296,4294967296]", 8, 16), a()), 16, "array `b`: its shape"),
        (format!("{{{}}}", a()), 7, "cut off or damaged"),
        (format!("{{{}}}", a()), 9, "cut off or damaged"),
        (format!("{{{}}}", array("a", "F63", "[1]", 0, 8)), 8, "F63"),
        (format!("{{{}}}", array("a", "F64", "[-1]", 0, 8)), 8, "bad header"),
        (r#"{"__metadata__":{"k":1}}"#.to_owned(), 0, "bad header"),
        (r#"{"__metadata__":7}"#.to_owned(), 0, "bad header"),
        (" {}".to_owned(), 0, "does not start with"),
        ("[]".to_owned(), 0, "does not start with"),
        ("{".to_owned(), 0, "bad header"),
        (String::new(), 0, "does not start with"),
    ];
    for (header, data, words) in cases {
        let problem = Content::parse(&file(&header, &vec![0; data])).expect_err("refused").to_string();
        assert!(problem.contains(words), "{header}: {problem}");
    }
    let length = Content::parse(&file(&format!("{{{}}}", a()), &[0; 5])).expect_err("short");
    let header = a().len() as u64 + 2;
    assert_eq!(length, SafetensorsProblem::Length { expected: 8 + header + 8, found: 8 + header + 5 });
}
