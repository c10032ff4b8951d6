use super::*;

/// Small integers: every order of summation gives the same.
#[test]
fn products_are_exact_on_small_integers() {
    for (lines, rows, columns, segments, depth) in [
        (1, 1, 8, 1, 1),
        (1, 5, 24, 3, 7),
        (3, 13, 16, 2, 5),
        (1, 37, 40, 1, 9),
        (7, 4, 24, 2, 6),
        (5, 8, 8, 3, 3),
    ] {
        let term = |i: usize| f32::from(i8::try_from(i % 13).expect("small")) - 6.0;
        let (row, segment) = (depth + 2, rows * (depth + 2) + 3);
        let line = segments * segment + row;
        let a: Vec<f32> = (0..lines * line).map(|i| term(i * 7)).collect();
        let b: Vec<f32> = (0..segments * depth * columns).map(|i| term(i * 5 + 3)).collect();
        let bias: Vec<f32> = (0..columns).map(|i| term(i * 3 + 1)).collect();
        let mut packed = vec![7.0; 3];
        pack(&b, depth, columns, &mut packed);
        let strided = Columns::Strided { segment: depth * columns, term: columns };
        for isa in Isa::all() {
            for (end, columns_of) in [
                (End::Store, Columns::Packed),
                (End::Close { bias: &bias, relu: false }, Columns::Packed),
                (End::Close { bias: &bias, relu: true }, strided),
                (End::Accumulate, strided),
            ] {
                let out_row = columns + 8;
                let mut c = vec![1.0; lines * rows * out_row];
                let from = if matches!(columns_of, Columns::Packed) { &packed } else { &b };
                let sizes = Sizes { rows, columns, segments, depth, out_row };
                let at = Rows { row, segment, term: 1 };
                let series = ProductBatch { count: lines, a: line, c: rows * out_row };
                products(isa, series, sizes, (&a, at), (from, columns_of), &mut c, end);
                for (p, c) in c.chunks_exact(out_row).enumerate() {
                    for j in 0..columns {
                        let a = &a[p / rows * line + p % rows * row..];
                        let mut sum = 0.0;
                        for s in 0..segments {
                            for k in 0..depth {
                                sum += a[s * segment + k] * b[(s * depth + k) * columns + j];
                            }
                        }
                        let expected = match end {
                            End::Store => sum,
                            End::Accumulate => 1.0 + sum,
                            End::Close { bias, relu: false } => sum + bias[j],
                            End::Close { bias, relu: true } => (sum + bias[j]).max(0.0),
                        };
                        assert_eq!(c[j], expected, "{isa:?} {end:?} {p} {j}");
                    }
                    assert!(c[columns..].iter().all(|x| *x == 1.0), "nothing beyond");
                }
            }
        }
    }
}

/// What is beyond a segment is not looked at, also where its number of terms is odd; and NaN stays NaN.
#[test]
fn numbers_beyond_a_segment_are_not_met() {
    let (rows, columns, depth) = (3, 8, 5);
    let (mut a, b) = (vec![1.0; rows * (depth + 1)], vec![1.0; depth * columns]);
    a.chunks_exact_mut(depth + 1).for_each(|row| row[depth] = f32::NAN);
    let mut packed = Vec::new();
    pack(&b, depth, columns, &mut packed);
    let sizes = Sizes { rows, columns, segments: 1, depth, out_row: columns };
    let at = Rows { row: depth + 1, segment: 0, term: 1 };
    for isa in Isa::all() {
        let mut c = vec![0.0; rows * columns];
        product(isa, sizes, (&a, at), (&packed, Columns::Packed), &mut c, End::Store);
        assert!(c.iter().all(|x| *x == 5.0), "{isa:?}: {c:?}");
        let bias = [f32::NAN; 8];
        let end = End::Close { bias: &bias, relu: true };
        product(isa, sizes, (&a, at), (&packed, Columns::Packed), &mut c, end);
        assert!(c.iter().all(|x| x.is_nan()), "{isa:?}: {c:?}");
    }
}

/// Every instruction set with fused multiply-adds gives the same bits, zeros with their signs, infinite numbers and NaN
/// included.
#[test]
fn products_have_the_same_bits_everywhere() {
    let odd = [1e-30_f32, -1e-30, 0.0, -0.0, 1.5, -0.7, f32::INFINITY, 3e30, -2e-3];
    for (rows, columns, depth, kinds) in
        [(9, 8, 3, 4), (16, 24, 7, 9), (13, 8, 5, 6), (10, 40, 12, 9), (5, 8, 1, 2)]
    {
        let (row, segments) = (depth + 1, 2);
        let number = |i: usize| odd[(i * 7 + i / 5) % kinds];
        let a: Vec<f32> = (0..segments * rows * row).map(number).collect();
        let b: Vec<f32> = (0..segments * depth * columns).map(|i| number(3 * i + 1)).collect();
        let bias: Vec<f32> = (0..columns).map(|i| if i % 2 == 0 { -0.0 } else { 0.5 }).collect();
        let mut packed = Vec::new();
        pack(&b, depth, columns, &mut packed);
        let sizes = Sizes { rows, columns, segments, depth, out_row: columns };
        let at = Rows { row, segment: rows * row, term: 1 };
        for end in
            [End::Store, End::Close { bias: &bias, relu: true }, End::Close { bias: &bias, relu: false }]
        {
            let mut first: Option<Vec<u32>> = None;
            for isa in Isa::all().into_iter().filter(|isa| *isa != Isa::PORTABLE) {
                let mut c = vec![0.0; rows * columns];
                product(isa, sizes, (&a, at), (&packed, Columns::Packed), &mut c, end);
                // Which NaN it is depends on the machine.
                let bits: Vec<u32> = c.iter().map(|x| if x.is_nan() { 1 } else { x.to_bits() }).collect();
                assert_eq!(*first.get_or_insert_with(|| bits.clone()), bits, "{isa:?}, {end:?}, {rows} rows");
            }
        }
    }
}

#[test]
fn columns_are_packed_from_numbers_as_from_rows() {
    let mut from = vec![7.0; 5000];
    for (depth, columns) in [(7, 24), (4, 8), (1, 16), (5, 40), (3, 8)] {
        let b: Vec<f32> = (0..depth * columns).map(|i| 1.0 + i as f32).collect();
        let mut packed = Vec::new();
        pack(&b, depth, columns, &mut packed);
        // What an earlier, longer one left must not show.
        pack_from(depth, columns, |k, j| b[k * columns + j], &mut from);
        assert_eq!(from, packed, "{depth} x {columns}");
    }
}
