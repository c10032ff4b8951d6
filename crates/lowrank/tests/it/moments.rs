//! Moments against sums of integers, against each other, and over threads.

use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::moments::{Moments, MomentsAccumulator, MomentsError, Samples};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const SCALE: f64 = 1.0 / 256.0;

fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; length];
    ChaCha8Rng::seed_from_u64(seed).fill_bytes(&mut bytes);
    // Extremes are where sums would first stop being exact.
    bytes.iter().map(|&byte| if byte < 64 { 0 } else { byte.saturating_add(64) }).collect()
}

fn moments(channels: usize, dim: usize, parts: &[Samples<'_>]) -> Vec<Moments> {
    let mut sums = MomentsAccumulator::new(channels, dim, SCALE, MemoryLimit::NONE).expect("a valid shape");
    parts.iter().for_each(|&part| sums.add(part).expect("whole samples"));
    sums.finish().expect("there are samples")
}

/// The moments from plain integer sums: with a power of two as scale, one division is the only rounding.
fn expected(values: &[i64], channels: usize, dim: usize) -> Vec<Moments> {
    let samples: Vec<&[i64]> = values.chunks_exact(channels * dim).collect();
    let divisor = samples.len() as f64;
    let part = |channel: usize| {
        let entry = |sample: &[i64], i: usize| sample[channel * dim + i];
        let sum = |i: usize| samples.iter().map(|sample| entry(sample, i)).sum::<i64>();
        let product = |i: usize, j: usize| samples.iter().map(|s| entry(s, i) * entry(s, j)).sum::<i64>();
        Moments {
            dim,
            count: samples.len() as u64,
            mean: (0..dim).map(|i| sum(i) as f64 * SCALE / divisor).collect(),
            second: (0..dim * dim)
                .map(|at| product(at / dim, at % dim) as f64 * SCALE * SCALE / divisor)
                .collect(),
        }
    };
    (0..channels).map(part).collect()
}

#[test]
fn moments_of_integers_are_exact_however_split() {
    for (channels, dim, count) in [(1, 1, 1), (1, 64, 1025), (3, 70, 2100), (2, 5, 1024), (1, 130, 700)] {
        let values = bytes(channels * dim * count, 1);
        let wide: Vec<i64> = values.iter().map(|&x| x.into()).collect();
        let right = expected(&wide, channels, dim);
        assert_eq!(moments(channels, dim, &[Samples::U8(&values)]), right);
        for at in [0, 1, count / 3, count - 1] {
            let (first, rest) = values.split_at(at * channels * dim);
            assert_eq!(moments(channels, dim, &[Samples::U8(first), Samples::U8(rest)]), right);
            // Types may be mixed.
            let shorts: Vec<i16> = first.iter().map(|&x| x.into()).collect();
            let reals: Vec<f32> = first.iter().map(|&x| x.into()).collect();
            assert_eq!(moments(channels, dim, &[Samples::I16(&shorts), Samples::U8(rest)]), right);
            assert_eq!(moments(channels, dim, &[Samples::U8(rest), Samples::F32(&reals)]), right);
        }
        let signed: Vec<i16> = values.iter().map(|&x| (i16::from(x) - 128) * 255 - 128).collect();
        let wide: Vec<i64> = signed.iter().map(|&x| x.into()).collect();
        assert_eq!(moments(channels, dim, &[Samples::I16(&signed)]), expected(&wide, channels, dim));
    }
}

#[test]
fn extremes_fill_a_block_exactly() {
    for value in [0_u8, 255] {
        let values = vec![value; 3000 * 66];
        let found = &moments(1, 66, &[Samples::U8(&values)])[0];
        let size = f64::from(value) * SCALE;
        assert!(found.second.iter().all(|&entry| entry == size * size));
        assert!(found.mean.iter().all(|&entry| entry == size));
        assert!(found.centred().iter().all(|&entry| entry == 0.0));
        assert_eq!(found.trace(), 66.0 * size * size);
    }
    // Large, and odd in sum over every 128 samples: a block too long could not hold it in single precision.
    let values: Vec<u8> = (0..3000 * 66).map(|at| 255 - u8::from(at / 66 % 128 == 0)).collect();
    let wide: Vec<i64> = values.iter().map(|&x| x.into()).collect();
    assert_eq!(moments(1, 66, &[Samples::U8(&values)]), expected(&wide, 1, 66));
    let values = vec![i16::MIN; 3000 * 66];
    let found = &moments(1, 66, &[Samples::I16(&values)])[0];
    assert!(found.second.iter().all(|&entry| entry == (128.0_f64).powi(2)));
}

#[test]
fn moments_of_floats_have_the_same_bits_on_any_number_of_threads_and_however_split() {
    let values: Vec<f32> = bytes(1500 * 2 * 100, 2).iter().map(|&x| f32::from(x).sqrt() - 7.0).collect();
    let whole = moments(2, 100, &[Samples::F32(&values)]);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        let parts: Vec<Samples<'_>> = values.chunks(200 * (6 + threads)).map(Samples::F32).collect();
        assert_eq!(pool.install(|| moments(2, 100, &parts)), whole);
    }
    for (channel, found) in whole.iter().enumerate() {
        for (i, j) in [(0, 0), (99, 3), (64, 63), (17, 80)] {
            let samples = values.chunks_exact(200).map(|sample| &sample[channel * 100..][..100]);
            let sum: f64 = samples.map(|x| f64::from(x[i]) * f64::from(x[j])).sum();
            let right = sum * SCALE * SCALE / 1500.0;
            assert!((found.second[i * 100 + j] - right).abs() <= 1e-13 * right.abs());
        }
    }
}

#[test]
fn what_is_not_samples_is_refused() {
    let new =
        |channels, dim, scale| MomentsAccumulator::new(channels, dim, scale, MemoryLimit::NONE).map(|_| ());
    assert_eq!(new(0, 4, 1.0), Err(MomentsError::EmptyShape { channels: 0, dim: 4 }));
    assert_eq!(new(4, 0, 1.0), Err(MomentsError::EmptyShape { channels: 4, dim: 0 }));
    assert_eq!(new(1, 4, 0.0), Err(MomentsError::BadScale { scale: 0.0 }));
    assert!(matches!(new(1, 4, f64::NAN), Err(MomentsError::BadScale { .. })));
    assert!(matches!(new(3, usize::MAX / 4, 1.0), Err(MomentsError::TooLarge { .. })));
    let mut sums = MomentsAccumulator::new(2, 3, 1.0, MemoryLimit::NONE).expect("a valid shape");
    assert_eq!(
        sums.add(Samples::U8(&[1; 7])),
        Err(MomentsError::PartialSample { found: 7, channels: 2, dim: 3 })
    );
    sums.add(Samples::F32(&[1.0; 6])).expect("one sample");
    let mut bad = [1.0; 12];
    bad[10] = f32::INFINITY;
    let error = MomentsError::NotFinite { sample: 2, channel: 1, index: 1, value: f32::INFINITY };
    assert_eq!(sums.add(Samples::F32(&bad)), Err(error));
    assert_eq!(sums.finish().expect("one sample")[1].second, [1.0; 9]);
    let none = MomentsAccumulator::new(2, 3, 1.0, MemoryLimit::NONE).and_then(MomentsAccumulator::finish);
    assert_eq!(none, Err(MomentsError::NoSamples));
}
