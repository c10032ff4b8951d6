//! How a network sees an input: the way that certification takes, and its transpose.

use super::{IMAGE, low_block};
use gambeson_learn::input_codec::{InputCodec, InputCodecError};
use gambeson_lowrank::projection::certificate::ProjectionCertificate;
use gambeson_lowrank::projection::kappa::CertifiedBasis;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_lowrank::sdp::bracket::BoundParams;
use gambeson_smooth::space::Space;

fn numbers(count: usize, seed: usize) -> Vec<f32> {
    (0..count).map(|i| (((i + seed) * 7919 % 1009) as f32 / 504.5) - 1.0).collect()
}

fn normalisation() -> (Vec<f64>, Vec<f64>) {
    (vec![0.25, 0.5], vec![0.5, 0.2])
}

fn views() -> Vec<InputCodec> {
    let own = normalisation();
    let projected = |onto| InputCodec::projected(&low_block(), onto, Some(&own)).expect("a view");
    vec![InputCodec::values(IMAGE, Some(&own)).expect("a view"), projected((8, 8)), projected((4, 4))]
}

#[test]
fn codes_are_those_of_certification() {
    let projection = low_block();
    let certificates = projection.channels().iter().map(|channel| {
        let proven = CertifiedBasis::new(channel.basis.clone(), &BoundParams::default(), &mut ());
        proven.expect("a bound").certificate
    });
    let certificate = ProjectionCertificate::new(&projection, certificates.collect());
    let proven = ProvenProjection::new(projection.clone(), &certificate, None, 1).expect("proven");
    let space = Space::projected(&proven, Some((4, 4))).expect("a space");
    let codec = &views()[2];
    assert_eq!((codec.rank(), codec.output().len()), (space.rank(), space.output_dim()));
    let images = numbers(3 * IMAGE.len(), 1);
    let mut codes = vec![0.0; 3 * codec.rank()];
    codec.encode(&images, &mut codes);
    for (image, code) in images.chunks_exact(IMAGE.len()).zip(codes.chunks_exact(codec.rank())) {
        let values: Vec<f64> = image.iter().map(|&x| f64::from(x)).collect();
        let exact = space.encode(&values).expect("a code").code;
        assert!(exact.iter().zip(code).all(|(a, b)| (a - f64::from(*b)).abs() < 1e-5), "{exact:?} {code:?}");
    }
}

#[test]
fn constant_images_come_out_normalised() {
    // 0.7 everywhere is within the low block; the mean of the second channel adds what the block lacks of it.
    for codec in &views()[..2] {
        let mut codes = vec![0.0; codec.rank()];
        codec.encode(&[0.7; 128], &mut codes);
        let mut rows = vec![0.0; codec.output().len()];
        codec.decode(&codes, &mut rows);
        let plane = rows.len() / 2;
        assert!(rows[..plane].iter().all(|x| (x - 0.9).abs() < 1e-5), "{rows:?}");
    }
}

#[test]
fn gradients_go_back_by_the_transpose() {
    for codec in views() {
        let (rank, width, input) = (codec.rank(), codec.output().len(), IMAGE.len());
        let rows_of = |codes: &[f32]| {
            let mut rows = vec![0.0; codes.len() / rank * width];
            codec.decode(codes, &mut rows);
            rows
        };
        let (codes, images, by_rows, by_codes) =
            (numbers(5 * rank, 2), numbers(5 * input, 3), numbers(5 * width, 4), numbers(5 * rank, 5));
        // Decoding is affine: take off what zero becomes.
        let zero = rows_of(&vec![0.0; 5 * rank]);
        let linear: Vec<f32> = rows_of(&codes).iter().zip(&zero).map(|(a, b)| a - b).collect();
        let product = |a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let mut back = vec![0.0; 5 * rank];
        codec.decode_back(&by_rows, &mut back);
        let (one, other) = (product(&linear, &by_rows), product(&codes, &back));
        assert!((one - other).abs() < 1e-3 * (1.0 + one.abs()), "{one} {other}");
        let (mut encoded, mut back) = (vec![0.0; 5 * rank], vec![0.0; 5 * input]);
        codec.encode(&images, &mut encoded);
        codec.encode_back(&by_codes, &mut back);
        let (one, other) = (product(&encoded, &by_codes), product(&images, &back));
        assert!((one - other).abs() < 1e-3 * (1.0 + one.abs()), "{one} {other}");
    }
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let own = normalisation();
    assert!(matches!(
        InputCodec::projected(&low_block(), (3, 4), Some(&own)),
        Err(InputCodecError::Decode(_))
    ));
    for wrong in
        [(vec![0.0], vec![1.0]), (vec![0.0, 0.0], vec![1.0, 0.0]), (vec![f64::NAN, 0.0], vec![1.0, 1.0])]
    {
        assert!(matches!(
            InputCodec::values(IMAGE, Some(&wrong)),
            Err(InputCodecError::Normalisation { channels: 2 })
        ));
    }
}
