//! Projections and their files.

use crate::support::{normal, normal_matrix, square};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::{sha256, sha256_of_numbers};
use gambeson_lowrank::linalg::matrix::DenseMatrix;
use gambeson_lowrank::projection::certificate::{
    ProjectionCertificate, ProjectionRejected, certificate_path,
};
use gambeson_lowrank::projection::kappa::CertifiedBasis;
use gambeson_lowrank::projection::proven::{OpenError, ProveError, ProvenProjection};
use gambeson_lowrank::projection::representation::Representation;
use gambeson_lowrank::projection::{Channel, Origin, Projection, ProjectionError};
use gambeson_lowrank::sdp::bracket::BoundParams;
use gambeson_lowrank::shape::Shape;
use proptest::prelude::*;

/// Orthonormal columns: Gram–Schmidt on normal ones.
fn random_basis(n: usize, rank: usize, seed: u64) -> DenseMatrix {
    let raw = normal_matrix(rank, n, seed);
    let mut units: Vec<Vec<f64>> = Vec::new();
    for row in raw.entries.chunks_exact(n) {
        let mut rest = row.to_vec();
        for _ in 0..2 {
            for unit in &units {
                let overlap: f64 = unit.iter().zip(&rest).map(|(u, x)| u * x).sum();
                rest.iter_mut().zip(unit).for_each(|(x, u)| *x -= overlap * u);
            }
        }
        let length = rest.iter().map(|x| x * x).sum::<f64>().sqrt();
        units.push(rest.iter().map(|x| x / length).collect());
    }
    let entries = (0..n).flat_map(|i| units.iter().map(move |unit| unit[i])).collect();
    DenseMatrix { rows: n, columns: rank, entries }
}

fn certified(basis: DenseMatrix) -> CertifiedBasis {
    let params = BoundParams { gap: 1e-6, threads: 1, ..BoundParams::default() };
    CertifiedBasis::new(basis, &params, &mut ()).expect("a bound")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// √r ≤ κ ≤ √n for the norm and for its proven bound, and Fact B.4: ‖P‖₁/r ≤ ‖P‖²_{∞→2} ≤ ‖P‖₁.
    #[test]
    fn kappa_lies_between_its_limits(n in 1_usize..11, part in 0.0..1.0_f64, seed in 0_u64..1000) {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let rank = ((n as f64 * part) as usize).clamp(1, n);
        let basis = random_basis(n, rank, seed);
        let projection = square(&basis);
        let truth = crate::support::brute_force(&projection);
        let proven = certified(basis).square.value();
        let entrywise: f64 = projection.entries.iter().map(|entry| entry.abs()).sum();
        let slack = 1.0 + 1e-9;
        prop_assert!(truth <= proven, "{truth} {proven}");
        prop_assert!(rank as f64 <= truth * slack && proven <= n as f64 * (1.0 + 1e-5), "{rank} {truth} {proven} {n}");
        prop_assert!(entrywise / rank as f64 <= truth * slack && truth <= entrywise * slack);
        // The relaxation is below the entrywise norm too: |X_ij| ≤ 1.
        prop_assert!(proven <= entrywise * (1.0 + 1e-5));
    }
}

/// Two channels of 3 × 4 with ranks 2 and 5.
fn example(seed: u64, centred: bool) -> Projection {
    let channel = |rank: usize, seed: u64| Channel {
        basis: random_basis(12, rank, seed),
        mean: centred.then(|| normal(12, seed + 100)),
        error: 0.125,
    };
    let origin = Origin { method: "by chance".into(), data: "none".into(), data_sha256: "00".into() };
    let shape = Shape { channels: 2, height: 3, width: 4 };
    Projection::new(Representation::Dct2, shape, vec![channel(2, seed), channel(5, seed + 1)], origin)
        .expect("a projection")
}

/// κ² of channels side by side is the sum of theirs: both for the truth and for what is proven.
#[test]
fn squares_of_channels_add_up() {
    for seed in 0..4 {
        let (a, b) = (random_basis(5, 2, seed), random_basis(5, 3, seed + 50));
        let mut joined = vec![0.0; 10 * 5];
        for i in 0..5 {
            joined[i * 5..][..2].copy_from_slice(&a.entries[i * 2..][..2]);
            joined[(5 + i) * 5 + 2..][..3].copy_from_slice(&b.entries[i * 3..][..3]);
        }
        let joined = DenseMatrix { rows: 10, columns: 5, entries: joined };
        let truth = |basis: &DenseMatrix| crate::support::brute_force(&square(basis));
        assert!((truth(&a) + truth(&b) - truth(&joined)).abs() < 1e-12);
        let parts = certified(a).square.value() + certified(b).square.value();
        let whole = certified(joined).square.value();
        assert!((parts / whole - 1.0).abs() < 3e-6, "{parts} {whole}");
    }
}

#[test]
fn files_come_back_bit_for_bit_and_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, evidence_path) = (folder.path().join("p.safetensors"), folder.path().join("p.cert.json"));
    for centred in [false, true] {
        let projection = example(5, centred);
        projection.write(&path).expect("written");
        let again = Projection::read(&path, MemoryLimit::NONE).expect("read");
        assert_eq!(projection, again);
        let evidence = evidence(&projection);
        evidence.write(&evidence_path).expect("written");
        let evidence = ProjectionCertificate::read(&evidence_path, MemoryLimit::NONE).expect("read");
        let proven = evidence.check(&again, 1).expect("proven");
        let truth: f64 =
            projection.channels().iter().map(|c| crate::support::brute_force(&square(&c.basis))).sum();
        assert!(proven.kappa.value() >= truth.sqrt() && proven.kappa.value() < 1.3 * truth.sqrt());
        assert!(proven.spectral.iter().all(|s| (1.0..1.0 + 1e-9).contains(&s.value())));
        // Another projection is another question.
        let other = example(6, centred);
        assert!(matches!(evidence.check(&other, 1), Err(ProjectionRejected::Hash { channel: 0, .. })));
    }
}

/// The certificate of every channel.
fn evidence(projection: &Projection) -> ProjectionCertificate {
    let one = |channel: &Channel| certified(channel.basis.clone()).certificate;
    ProjectionCertificate::new(projection, projection.channels().iter().map(one).collect())
}

/// What is opened is proven for the bytes that were read, and named by their hash, as in memory so from a file.
#[test]
fn a_projection_is_opened_with_its_proof() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.safetensors");
    let projection = example(5, true);
    projection.write(&path).expect("written");
    let certificate = evidence(&projection);
    let missing =
        ProvenProjection::open(&path, None, None, MemoryLimit::NONE, 1).expect_err("no certificate");
    assert!(matches!(missing, OpenError::Certificate(_)), "{missing}");
    certificate.write(&certificate_path(&path)).expect("written");
    assert_eq!(certificate_path(&path), folder.path().join("p.cert.json"));
    let opened = ProvenProjection::open(&path, None, None, MemoryLimit::NONE, 1).expect("proven");
    let bytes = std::fs::read(&path).expect("bytes");
    assert_eq!((opened.projection(), opened.sha256()), (&projection, sha256(&bytes).as_str()));
    assert_eq!(projection.to_bytes(), bytes);
    let made = ProvenProjection::new(projection.clone(), &certificate, None, 1).expect("proven");
    assert_eq!((made.sha256(), made.kappa()), (opened.sha256(), opened.kappa()));
    let checked = certificate.check(&projection, 1).expect("proven");
    assert_eq!((opened.kappa(), &opened.bound().spectral), (checked.kappa, &checked.spectral));
    assert!(opened.encoders().eq(projection.channels().iter().map(|channel| &channel.basis)));
    assert!(opened.levels().is_none() && opened.levels_sha256().is_none());

    // The columns divided by levels are another basis, with a proof of its own.
    let levels = [0.5, 1.0, 2.0, 4.0, 0.25, 1.0, 8.0];
    let levelled = ProvenProjection::open(&path, None, Some(&levels), MemoryLimit::NONE, 1).expect("proven");
    assert_eq!(levelled.sha256(), opened.sha256());
    assert_eq!(levelled.levels_sha256(), Some(sha256_of_numbers(&levels).as_str()));
    let mut truth = 0.0;
    for ((encoder, channel), levels) in
        levelled.encoders().zip(projection.channels()).zip([&levels[..2], &levels[2..]])
    {
        let divided = |(at, entry): (usize, &f64)| entry / levels[at % levels.len()];
        let entries: Vec<f64> = channel.basis.entries.iter().enumerate().map(divided).collect();
        assert_eq!(encoder.entries, entries);
        truth += crate::support::brute_force(&square(encoder));
    }
    let kappa = levelled.kappa().value();
    assert!(kappa >= truth.sqrt() && kappa < 1.3 * truth.sqrt(), "{kappa} {truth}");
    assert!((levelled.spectral().value() - 4.0).abs() < 1e-6, "1/.25, as the bases are orthonormal");

    let unproven =
        |levels: &[f64]| match ProvenProjection::open(&path, None, Some(levels), MemoryLimit::NONE, 1) {
            Err(OpenError::Unproven { projection, certificate, reason }) => {
                assert_eq!((&projection, &certificate), (&path, &certificate_path(&path)));
                reason
            }
            other => panic!("{other:?}"),
        };
    assert!(matches!(unproven(&levels[1..]), ProveError::LevelCount { expected: 7, found: 6 }));
    assert!(matches!(
        unproven(&[1.0, 1.0, f64::NAN, 1.0, 1.0, 1.0, 1.0]),
        ProveError::Level { index: 2, .. }
    ));
    let other = folder.path().join("other.json");
    evidence(&example(6, true)).write(&other).expect("written");
    let rejected = ProvenProjection::open(&path, Some(&other), None, MemoryLimit::NONE, 1)
        .expect_err("another projection's");
    assert!(
        matches!(
            &rejected,
            OpenError::Unproven { reason: ProveError::Rejected(ProjectionRejected::Hash { .. }), .. }
        ),
        "{rejected}"
    );
    assert!(
        rejected.to_string().contains("p.safetensors with ") && rejected.to_string().contains("other.json")
    );
    let absent = folder.path().join("absent.safetensors");
    let error = ProvenProjection::open(&absent, None, None, MemoryLimit::NONE, 1).expect_err("absent");
    assert!(matches!(error, OpenError::Projection(_)) && error.to_string().contains("absent"), "{error}");
}

/// The file that a reference implementation reads: header length, JSON, then the numbers.
#[test]
fn the_file_has_the_layout_of_safetensors() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.safetensors");
    let projection = example(9, true);
    projection.write(&path).expect("written");
    let bytes = std::fs::read(&path).expect("read");
    let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().expect("eight"))).expect("small");
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).expect("JSON");
    let data = &bytes[8 + length..];
    for c in 0..2 {
        let entry = &header[format!("basis.{c}")];
        assert_eq!(entry["dtype"], "F64");
        let from = usize::try_from(entry["data_offsets"][0].as_u64().expect("a number")).expect("small");
        let first = f64::from_le_bytes(data[from..from + 8].try_into().expect("eight"));
        assert_eq!(first, projection.channels()[c].basis.entries[0]);
    }
    assert_eq!(header["__metadata__"]["representation"], "dct2");
    assert_eq!(header["__metadata__"]["shape"], "2,3,4");
}

#[test]
fn damaged_files_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("p.safetensors");
    example(1, true).write(&path).expect("written");
    let whole = std::fs::read(&path).expect("read");
    let said = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        Projection::read(&path, MemoryLimit::NONE).expect_err("damaged").to_string()
    };
    for cut in [0, 4, 8, 20, whole.len() / 2, whole.len() - 1] {
        let message = said(&whole[..cut]);
        assert!(message.contains("p.safetensors"), "{message}");
    }
    let mut longer = whole.clone();
    longer.push(0);
    assert!(said(&longer).contains("cut off or damaged"));
    let mut huge = whole.clone();
    huge[..8].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(said(&huge).contains("not a safetensors file"));
    let mut nan = whole.clone();
    let at = nan.len() - 8;
    nan[at..].copy_from_slice(&f64::NAN.to_le_bytes());
    assert!(said(&nan).contains("not a finite number"), "{}", said(&nan));
    // A size that nobody has memory for is a wrong size, not the end of the program.
    let swapped = |from: &str, to: &str| {
        let at = whole.windows(from.len()).position(|window| window == from.as_bytes()).expect("the words");
        let mut bytes = whole.clone();
        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
        bytes
    };
    assert!(said(&swapped("2,3,4", "9,9,9")).contains("channel"));
    assert!(said(&swapped("0.125,0.125", "-0.25,0.125")).contains("between 0 and 1"));
    let text = String::from_utf8_lossy(&whole).into_owned();
    let place = text.find("gambeson projection 1").expect("the words");
    let mut other = whole.clone();
    other[place] = b'G';
    assert!(said(&other).contains("not a projection"));
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let shape = Shape { channels: 1, height: 2, width: 3 };
    let channel = |rows, columns, entries| Channel {
        basis: DenseMatrix { rows, columns, entries },
        mean: None,
        error: 0.0,
    };
    let make = |channels| Projection::new(Representation::Pixel, shape, channels, Origin::default());
    assert!(matches!(make(vec![]), Err(ProjectionError::Channel { .. })));
    assert!(matches!(make(vec![channel(5, 1, vec![1.0; 5])]), Err(ProjectionError::Channel { .. })));
    assert!(matches!(make(vec![channel(6, 7, vec![0.0; 42])]), Err(ProjectionError::Channel { .. })));
    assert!(matches!(make(vec![channel(6, 0, vec![])]), Err(ProjectionError::Basis { .. })));
    assert!(matches!(make(vec![channel(6, 1, vec![f64::NAN; 6])]), Err(ProjectionError::Basis { .. })));
    let short = Channel { mean: Some(vec![0.0; 5]), ..channel(6, 1, vec![0.5; 6]) };
    assert!(matches!(make(vec![short]), Err(ProjectionError::Channel { .. })));
    let huge = Shape { channels: 1, height: 1, width: 9_000_000_000_000_000 };
    let made =
        Projection::new(Representation::Dct1, huge, vec![channel(6, 1, vec![0.5; 6])], Origin::default());
    assert!(matches!(made, Err(ProjectionError::Channel { .. })));
}
