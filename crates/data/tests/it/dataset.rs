use crate::support::sha256;
use gambeson_data::dataset::{Dataset, DatasetError, DatasetParts, Shape, Values};
use gambeson_data::statistics::channel_statistics;

pub(crate) fn parts(values: Values) -> DatasetParts {
    let shape = Shape { channels: 2, height: 1, width: 3 };
    DatasetParts {
        name: "test".to_owned(),
        shape,
        values,
        labels: Some(vec![1, 0]),
        classes: vec!["a".to_owned(), "b".to_owned()],
        sources: Vec::new(),
    }
}

#[test]
fn values_are_scaled() {
    let shape = Shape { channels: 1, height: 16, width: 16 };
    let all =
        DatasetParts { shape, labels: None, classes: Vec::new(), ..parts(Values::U8((0..=255).collect())) };
    let data = Dataset::new(all).expect("a data set");
    let mut sample = [0.0; 256];
    data.sample_f32(0, &mut sample);
    for (value, raw) in sample.iter().zip(0_u8..=255) {
        assert_eq!(*value, f32::from(raw) / 255.0);
    }
    let audio =
        Dataset::new(parts(Values::I16(vec![0, 1, -32768, 32767, 5, 6, 7, 8, 9, 10, 11, 12]))).expect("data");
    let (mut small, mut large) = ([0.0; 6], [0.0; 6]);
    audio.sample_f32(0, &mut small);
    audio.sample_f64(0, &mut large);
    assert_eq!(small, [0.0, 1.0, -32768.0, 32767.0, 5.0, 6.0].map(|raw: f32| raw / 32768.0));
    assert_eq!(large, small.map(f64::from));
    audio.sample_f32(1, &mut small);
    assert_eq!(small[0], 7.0 / 32768.0);
}

/// The definition in the module's documentation, by hand.
#[test]
fn the_checksum_is_that_of_the_content() {
    let data = Dataset::new(parts(Values::I16((1..=12).collect()))).expect("a data set");
    let mut bytes = b"gambeson dataset 1\n\x01".to_vec();
    for size in [2_u64, 2, 1, 3] {
        bytes.extend(size.to_le_bytes());
    }
    for value in 1..=12 {
        bytes.extend([value, 0]);
    }
    bytes.extend([1, 1, 0, 0, 0]);
    let expected = sha256(&bytes);
    assert_eq!(data.sha256(), expected);
    let mut other = parts(Values::I16((1..=12).collect()));
    other.labels = None;
    other.classes.clear();
    assert_ne!(Dataset::new(other).expect("a data set").sha256(), expected);
}

#[test]
fn what_is_no_data_set_is_refused() {
    let refused = |parts| Dataset::new(parts).expect_err("an error");
    assert_eq!(refused(parts(Values::U8(Vec::new()))), DatasetError::Empty);
    assert!(matches!(refused(parts(Values::U8(vec![0; 11]))), DatasetError::Ragged { values: 11, .. }));
    let mut values = vec![0.5; 12];
    values[10] = f32::INFINITY;
    let error = refused(parts(Values::F32(values)));
    assert!(
        matches!(error, DatasetError::NotFinite { sample: 1, channel: 1, row: 0, column: 1, .. }),
        "{error}"
    );
    let short = DatasetParts { labels: Some(vec![0]), ..parts(Values::U8(vec![0; 12])) };
    assert_eq!(refused(short), DatasetError::LabelCount { labels: 1, samples: 2 });
    let high = DatasetParts { labels: Some(vec![0, 2]), ..parts(Values::U8(vec![0; 12])) };
    assert_eq!(refused(high), DatasetError::Label { sample: 1, label: 2, classes: 2 });
    let nameless =
        DatasetParts { labels: Some(vec![0, 2]), classes: Vec::new(), ..parts(Values::U8(vec![0; 12])) };
    assert_eq!(Dataset::new(nameless).expect("names are made up").classes(), ["0", "1", "2"]);
}

#[test]
fn samples_are_selected() {
    let data = Dataset::new(parts(Values::U8((0..12).collect()))).expect("a data set");
    let chosen = data.select(&[1, 1, 0]).expect("all exist");
    assert_eq!(chosen.values(), &Values::U8([6..12, 6..12, 0..6].into_iter().flatten().collect()));
    assert_eq!((chosen.labels(), chosen.len()), (Some([0, 0, 1].as_slice()), 3));
    assert!(data.select(&[2]).is_none() && data.select(&[]).is_none());
}

/// Against the formula in floating point, two passes.
#[test]
fn moments_are_those_of_the_channels() {
    let raw: Vec<i16> = vec![-300, 1200, 7, 32767, -32768, 0, 44, 55, -66, 5000, 0, 12];
    let floats: Vec<f32> = raw.iter().map(|&value| f32::from(value) / 32768.0).collect();
    for values in [Values::I16(raw), Values::F32(floats.clone())] {
        let found = channel_statistics(&Dataset::new(parts(values)).expect("a data set"));
        for channel in 0..2 {
            let own: Vec<f64> =
                (0..2).flat_map(|k| &floats[6 * k + 3 * channel..][..3]).map(|&v| v.into()).collect();
            let mean = own.iter().sum::<f64>() / 6.0;
            let deviation = (own.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 6.0).sqrt();
            assert!((found[channel].mean - mean).abs() < 1e-15, "{found:?}");
            assert!((found[channel].deviation - deviation).abs() < 1e-15, "{found:?}");
            assert_eq!(found[channel].largest, own.iter().copied().fold(-2.0, f64::max));
            assert_eq!(found[channel].smallest, own.iter().copied().fold(2.0, f64::min));
        }
    }
}
