use gambeson::{
    Analysis, Attacked, BaseClassifier, Bound, BoundParams, CertificateFile, Certification, CertifiedRun,
    Check, CheckParams, ClassifierSpec, Context, ContextParams, DataEnergies, Dataset, Error, Evidence, Fit,
    MatrixInput, Model, Prediction, Projection, ProjectionCertificate, ProvenProjection, RandomKind,
    RecordFile, RecordsCheck, Session, SessionFactory, SmoothedModel, Smoother, SmoothingPlan, Sweep,
    TrainSetup, Trained, Vertex, WhiteBoxModel, bound, certificate_path, check, check_projection,
    open_vertex, random_matrix,
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

/// The vertex of a bound proves its lower end, alone, beside a certificate, and beside a bad one.
#[test]
fn a_vertex_is_evidence_for_the_lower_end() {
    let context = Context::new(ContextParams::default()).expect("threads");
    let matrix = random_matrix(&context, RandomKind::QuadraticProgram, 40, 3).expect("a matrix");
    let found = bound(&context, matrix.clone(), &BoundParams::default()).expect("a bound");
    let (lower, upper) = (found.bracket.lower.value(), found.bracket.upper.value());
    let (file, vertex) = (found.certificate.clone().expect("asked for by default"), found.vertex());
    let ends = |evidence: Evidence, params: &CheckParams| {
        let checked = check(&context, matrix.clone(), evidence, params).expect("checked").record();
        (checked.proven, checked.lower, checked.bound)
    };
    let params = CheckParams::default();
    assert_eq!(ends(vertex.clone().into(), &params), (true, Some(lower), None));
    assert_eq!(ends((file.clone(), vertex.clone()).into(), &params), (true, Some(lower), Some(upper)));
    let small = CheckParams { at_most: Some(lower), ..params };
    assert_eq!(ends((file.clone(), vertex.clone()).into(), &small), (false, Some(lower), Some(upper)));
    let other = CertificateFile { matrix_sha256: "0".repeat(64), ..file.clone() };
    assert_eq!(ends((other, vertex.clone()).into(), &params), (false, Some(lower), None));
    // Through a file.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.npy");
    vertex.write(&path).expect("written");
    let again = open_vertex(&context, &path).expect("read");
    assert_eq!(ends(again.clone().into(), &params), (true, Some(lower), None));
    // What a vertex is not.
    let refused = |evidence: Evidence, params: &CheckParams| {
        check(&context, matrix.clone(), evidence, params).expect_err("refused")
    };
    let short = Vertex { entries: again.entries[1..].to_vec(), ..again.clone() };
    let error = refused(short.into(), &params);
    assert!(matches!(error, Error::VertexLength { expected: 40, found: 39, .. }), "{error}");
    let mut inside = again.clone();
    inside.entries[7] = 0.5;
    assert!(matches!(refused(inside.into(), &params), Error::Check { .. }));
    assert_eq!(refused(again.into(), &small).field(), Some("at_most"));
}

/// A projection is asked about κ itself.
#[test]
fn projections_are_compared_by_kappa() {
    let context = Context::new(ContextParams::default()).expect("threads");
    let path = std::path::Path::new("../../models/fashion/projection.safetensors");
    let memory = context.memory_limit();
    let projection = Projection::read(path, memory).expect("a projection");
    let certificate = certificate_path(path);
    let certificate =
        ProjectionCertificate::read_for(&projection, &certificate, memory).expect("its certificate");
    let ask = |at_most| check_projection(&context, &projection, &certificate, Some(at_most));
    let kappa = ask(f64::INFINITY).expect("checked").bound.expect("proven").kappa.value();
    assert!(kappa > 2.0, "far from its square: {kappa}");
    assert!(ask(kappa).expect("checked").proven() && !ask(kappa.next_down()).expect("checked").proven());
    assert_eq!(ask(f64::NAN).expect_err("no number").field(), Some("at_most"));
}
