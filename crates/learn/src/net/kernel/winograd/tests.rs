use super::super::direct::{self, Geometry};
use super::super::product::{End, pack};
use super::*;

/// Errors of both algorithms against the sum in double precision, relative to the largest number: 64 channels, the worst
/// of the sizes that occur. The bounds are what is claimed: 2e-5 for Winograd, 2e-6 for direct sums.
#[test]
fn winograd_rounds_a_few_times_worse_than_direct_sums() {
    let (c, size) = (64, 11);
    let (rows, row) = (14, 14 * c);
    let number = |i: usize| (((i * 7919 + i / 13 * 104_729) % 2003) as f32 / 1001.0) - 1.0;
    let mut x = vec![0.0; rows * row];
    for r in 0..size {
        for q in 0..size * c {
            x[(r + 1) * row + c + q] = number(r * size * c + q);
        }
    }
    let w: Vec<f32> = (0..9 * c * c).map(|i| number(3 * i + 1)).collect();
    let exact = |r: usize, q: usize, o: usize| -> f64 {
        let mut sum = 0.0;
        for a in 0..3 {
            for b in 0..3 * c {
                sum += f64::from(x[(r + a) * row + q * c + b]) * f64::from(w[(a * 3 * c + b) * c + o]);
            }
        }
        sum
    };
    for isa in Isa::all() {
        let tiles = Tiles { images: 1, height: size, width: size };
        let (mut u, mut packed) = (vec![0.0; PLACES * c * c], Vec::new());
        transform_weights(isa, &w, c, c, &mut u);
        pack(&w, 3 * c, c, &mut packed);
        let (mut v, mut m) = (vec![0.0; scratch(c)], vec![0.0; scratch(c)]);
        let (mut tiled, mut summed) = (vec![0.0; size * size * c], vec![0.0; size * size * c]);
        let from = Layout { first: 0, image: x.len(), row };
        let to = Layout { first: 0, image: tiled.len(), row: size * c };
        let epilogue = Epilogue::default();
        let work = TiledConvolution { tiles, x: (&x, from, c), u: &u, y: (&mut tiled, to, c), epilogue };
        convolve(isa, work, &mut v, &mut m);
        let geometry = Geometry { kernel: 3, stride: 1, inputs: c, outputs: c, height: size, width: size };
        direct::convolve(isa, geometry, (&x, row), &packed, (&mut summed, size * c), End::Store);
        let (mut largest, mut worst, mut worst_direct) = (0.0_f64, 0.0_f64, 0.0_f64);
        for at in 0..size * size * c {
            let exact = exact(at / c / size, at / c % size, at % c);
            largest = largest.max(exact.abs());
            worst = worst.max((f64::from(tiled[at]) - exact).abs());
            worst_direct = worst_direct.max((f64::from(summed[at]) - exact).abs());
        }
        assert!(worst <= 2e-5 * largest, "{isa:?}: {worst} of {largest}");
        assert!(worst_direct <= 2e-6 * largest, "{isa:?}: {worst_direct} of {largest}");
    }
}

/// The same for 4×4 kernels with stride 2, on a plane whose last tiles hang over.
#[test]
fn phases_give_the_direct_sums() {
    let number = |i: usize| (((i * 7919 + i / 13 * 104_729) % 2003) as f32 / 1001.0) - 1.0;
    for (inputs, outputs, height, width) in [(8, 16, 8, 8), (16, 24, 6, 7), (24, 8, 4, 5)] {
        let (rows, columns) = (phases::reach(height), phases::reach(width));
        let (row, images) = (columns * inputs, 3);
        let image = rows * row;
        let mut x = vec![0.0; images * image];
        for (at, x) in x.iter_mut().enumerate() {
            let (r, q) = (at % image / row, at % row / inputs);
            // Padded by one; beyond the image there are zeros.
            if (1..=2 * height).contains(&r) && (1..=2 * width).contains(&q) {
                *x = number(at);
            }
        }
        let w: Vec<f32> = (0..16 * inputs * outputs).map(|i| number(3 * i + 1)).collect();
        let bias: Vec<f32> = (0..outputs).map(|i| number(5 * i + 2)).collect();
        let (mut u, mut packed) = (vec![0.0; phases::PLACES * phases::PHASES * inputs * outputs], Vec::new());
        pack(&w, 4 * inputs, outputs, &mut packed);
        let tiles = Tiles { images, height, width };
        let from = Layout { first: 0, image, row };
        let to = Layout { first: 0, image: height * width * outputs, row: width * outputs };
        let geometry = Geometry { kernel: 4, stride: 2, inputs, outputs, height, width };
        let mut first: Option<Vec<f32>> = None;
        for isa in Isa::all() {
            phases::transform_weights(isa, &w, inputs, outputs, &mut u);
            let mut v = vec![0.0; phases::scratch(phases::PHASES * inputs)];
            let mut m = vec![0.0; phases::scratch(outputs)];
            let (mut tiled, mut summed) = (vec![0.0; images * to.image], vec![0.0; images * to.image]);
            let epilogue = Epilogue { bias: Some(&bias), shortcut: None, relu: true };
            let (x_from, y) = ((&x[..], from, inputs), (&mut tiled[..], to, outputs));
            let work = TiledConvolution { tiles, x: x_from, u: &u, y, epilogue };
            phases::convolve(isa, work, &mut v, &mut m);
            let end = End::Close { bias: &bias, relu: true };
            for i in 0..images {
                let y = &mut summed[i * to.image..];
                direct::convolve(isa, geometry, (&x[i * image..], row), &packed, (y, to.row), end);
            }
            let largest = summed.iter().fold(0.0_f32, |largest, y| largest.max(y.abs()));
            let worst = tiled.iter().zip(&summed).fold(0.0_f32, |worst, (a, b)| worst.max((a - b).abs()));
            assert!(worst <= 1e-5 * largest, "{isa:?}: {worst} of {largest}");
            // The same bits wherever multiplications are fused with additions.
            if isa != Isa::PORTABLE {
                assert_eq!(*first.get_or_insert_with(|| tiled.clone()), tiled, "{isa:?}");
            }
        }
    }
}
