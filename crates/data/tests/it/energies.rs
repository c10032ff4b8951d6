use crate::dataset::parts;
use gambeson_data::dataset::{Dataset, DatasetParts, Shape, Values};
use gambeson_data::energies::{Basis, DataEnergies, DataEnergiesError, EnergyParams};
use gambeson_lowrank::projection::representation::Representation;
use std::ops::ControlFlow;

fn images() -> Dataset {
    let shape = Shape { channels: 1, height: 4, width: 6 };
    let values = Values::U8((0..48).map(|i| i * 37 % 251).collect());
    Dataset::new(DatasetParts { shape, labels: None, classes: Vec::new(), ..parts(values) }).expect("data")
}

#[test]
fn a_grid_allows_the_low_frequencies_only() {
    let data = images();
    let params = EnergyParams { grid: Some(3), ..EnergyParams::default() };
    let energies = DataEnergies::new(&data, &params, &mut ()).expect("energies");
    let fit = energies.fit_data();
    assert_eq!(
        (fit.representation, fit.energies.len(), fit.sha256),
        (Representation::Dct2, 1, data.sha256())
    );
    let allowed = fit.allowed.expect("a grid");
    assert!((0..24).all(|index| allowed(index) == (index / 6 < 3 && index % 6 < 3)));
    let all = DataEnergies::new(&data, &EnergyParams::default(), &mut ()).expect("energies");
    assert!(all.fit_data().allowed.is_none());
}

#[test]
fn grids_that_the_data_do_not_have_are_refused() {
    let refused = |params| DataEnergies::new(&images(), &params, &mut ()).err().expect("refused");
    let error = refused(EnergyParams { grid: Some(5), ..EnergyParams::default() });
    assert!(matches!(error, DataEnergiesError::Grid { grid: 5, frequencies: 4, .. }), "{error}");
    let error = refused(EnergyParams { grid: Some(2), basis: Basis::Pixel, ..EnergyParams::default() });
    assert!(matches!(error, DataEnergiesError::PixelGrid), "{error}");
    let mut stop = |_: &gambeson_data::LoadProgress| ControlFlow::Break(());
    let stopped = DataEnergies::new(&images(), &EnergyParams::default(), &mut stop).err();
    assert!(matches!(stopped, Some(DataEnergiesError::Stopped)));
}
