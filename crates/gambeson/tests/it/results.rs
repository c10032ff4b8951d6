use gambeson::{
    Analysis, Attacked, BaseClassifier, Bound, BoundParams, Certification, CertifiedRun, Check, CheckParams,
    ClassifierSpec, Context, ContextParams, DataEnergies, Dataset, Fit, MatrixInput, Model, Prediction,
    ProvenProjection, RandomKind, RecordFile, RecordsCheck, Session, SessionFactory, SmoothedModel, Smoother,
    SmoothingPlan, Sweep, TrainSetup, Trained, WhiteBoxModel, bound, check, random_matrix,
};
use serde_json::Value;
use std::sync::Arc;

/// Results serialise to their records, and a certificate proves what the bound says.
#[test]
fn bounds_are_checked_and_serialised() {
    let context = Context::new(ContextParams::default()).expect("threads");
    let matrix = random_matrix(&context, RandomKind::PositiveSemidefinite, 60, 3).expect("a matrix");
    let found = bound(&context, matrix.clone(), &BoundParams::default()).expect("a bound");
    let object = serde_json::to_value(&found).expect("JSON");
    assert_eq!(object["upper"], found.bracket.upper.value());
    assert_eq!((&object["norm"], &object["method"]), (&"quadratic".into(), &"burer-monteiro".into()));
    let file = found.certificate.expect("asked for by default");
    let params = CheckParams { at_most: Some(found.bracket.upper.value()), ..CheckParams::default() };
    let checked = check(&context, matrix.clone(), file.clone(), &params).expect("checked");
    assert!(checked.proven());
    // A forged one.
    let mut forged = file;
    forged.weights.iter_mut().for_each(|weight| *weight *= 0.9);
    let refused = check(&context, matrix, forged, &params).expect("checked");
    assert!(!refused.proven());
    let object: Value = serde_json::to_value(&refused).expect("JSON");
    assert_eq!((&object["proven"], object["reason"].is_string()), (&false.into(), true));
}

/// A foreign object can hold them, on any thread and for as long as it likes.
#[test]
fn what_callers_hold_owns_what_it_needs() {
    fn held<T: Send + Sync + 'static>() {}
    fn moved<T: Send + 'static>() {}
    held::<(Context, MatrixInput, Dataset, DataEnergies, ProvenProjection)>();
    held::<(Model, BaseClassifier, SmoothedModel<ClassifierSpec>, WhiteBoxModel, TrainSetup)>();
    held::<(Bound, Check, Fit, Sweep, CertifiedRun, RecordFile, RecordsCheck, Attacked, Trained, Analysis)>();
    held::<(Smoother<Arc<BaseClassifier>>, SmoothingPlan, SessionFactory)>();
    moved::<(Session<Certification>, Session<Prediction>)>();
}
