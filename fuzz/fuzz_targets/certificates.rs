//! Projections, certificates, and what the one proves about the other.

use super::as_file;
use crate::answer::Answer;
use crate::drive::MEMORY;
use gambeson_checker::{Certificate, Domain};
use gambeson_lowrank::linalg::matrix::{DenseMatrix, Matrix};
use gambeson_lowrank::matrix_file::parse;
use gambeson_lowrank::projection::certificate::ProjectionCertificate;
use gambeson_lowrank::projection::representation::Representation;
use gambeson_lowrank::projection::{Channel, Origin, Projection};
use gambeson_lowrank::sdp::bracket::{ProofPlan, prove_as_planned, prove_vertex};
use gambeson_lowrank::sdp::certificate::CertificateFile;
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm, Problem};
use gambeson_lowrank::vertex_file::read_vertex;
use gambeson_lowrank::{ProvenProjection, Shape};
use serde_json::{Value, json};
use std::path::Path;

/// What certificates are about here.
pub const GRAPH: &str = "3 3\n1 2 5\n2 3 1\n3 1 -0.5\n";

/// A certificate of the graph's, read and checked against it.
pub(super) fn certificate(bytes: &[u8]) -> Answer {
    as_file(bytes, "c.json", |path| {
        let file = CertificateFile::read(path, MEMORY).map_err(|error| error.to_string())?;
        let input = parse(GRAPH.as_bytes(), MEMORY).map_err(|error| error.to_string())?;
        if file.matrix_sha256 != input.matrix.sha256() || file.n != file.weights.len() {
            return Err("of another matrix".to_owned());
        }
        let problem =
            Problem::enclosing(input.matrix, input.error, file.norm, file.reading(), file.domain, MEMORY, 1)
                .map_err(|error| error.to_string())?;
        let plan = ProofPlan::paying(&problem, file.paid.clone(), 1, &|| false)
            .map_err(|error| format!("plan: {error}"))?;
        let paid = if file.paid.is_nothing() { "" } else { "paid" };
        let proven = prove_as_planned(&problem, &file.into_certificate(), &plan, 1, &|| false);
        proven
            .map(|_| format!("{:?} {:?} {paid}", problem.norm, problem.domain))
            .map_err(|error| error.to_string())
    })
}

/// A vertex, and the cut of the graph that it is.
pub(super) fn vertex(bytes: &[u8]) -> Answer {
    as_file(bytes, "x.npy", |path| {
        let vertex = read_vertex(path, MEMORY).map_err(|error| error.to_string())?;
        assert!(vertex.iter().all(|x| x.abs() == 1.0), "read as a vertex: {vertex:?}");
        let input = parse(GRAPH.as_bytes(), MEMORY).map_err(|error| error.to_string())?;
        let (norm, reading) = (OperatorNorm::Quadratic, MatrixRole::Plain);
        let problem =
            Problem::enclosing(input.matrix, input.error, norm, reading, Domain::Vertices, MEMORY, 1)
                .map_err(|error| error.to_string())?;
        let proven = prove_vertex(&problem, &vertex, 1).map_err(|error| error.to_string())?;
        assert!(proven.value() <= 6.0, "the largest cut: all edges of positive weight");
        Ok(format!("{}", proven.value()))
    })
}

/// With the hash of the graph, and as long as it is.
pub(super) fn of_graph(bytes: &[u8]) -> Vec<u8> {
    let hash = parse(GRAPH.as_bytes(), MEMORY).map_or_else(|_| String::new(), |input| input.matrix.sha256());
    changed(bytes, |file| about(file, &hash))
}

/// With the hashes of the bases, and as long as they are.
pub(super) fn of_basis(bytes: &[u8]) -> Vec<u8> {
    let hashes: Vec<String> = projection_of_two()
        .channels()
        .iter()
        .map(|channel| Matrix::Dense(channel.basis.clone()).sha256())
        .collect();
    changed(bytes, |file| {
        let channels = file.get_mut("channels").and_then(Value::as_array_mut);
        channels.into_iter().flatten().zip(&hashes).for_each(|(part, hash)| about(part, hash));
    })
}

fn changed(bytes: &[u8], change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let Ok(mut file) = serde_json::from_slice::<Value>(bytes) else { return bytes.to_vec() };
    change(&mut file);
    file.to_string().into_bytes()
}

/// Makes a certificate one of this matrix, for as many weights as it has.
fn about(certificate: &mut Value, hash: &str) {
    let weights = certificate.get("weights").and_then(Value::as_array).map(Vec::len);
    let Some(fields) = certificate.as_object_mut() else { return };
    for (key, value) in [("matrix_sha256", json!(hash)), ("n", json!(weights))] {
        if let Some(field) = fields.get_mut(key) {
            *field = value;
        }
    }
}

/// Of the graph: scaled, shifted, and with entries paid for.
pub(super) fn graphs() -> Vec<Vec<u8>> {
    let plain = json!({
        "version": 1, "domain": "vertices", "norm": "quadratic", "n": 3, "matrix_sha256": "", "weights": [1.5, 1.5, 1.0],
    });
    let with = |more: &[(&str, Value)]| {
        let mut file = plain.clone();
        more.iter().for_each(|(key, value)| file[*key] = value.clone());
        of_graph(file.to_string().as_bytes())
    };
    let (second, shift) = (("version", json!(2)), ("shift", json!(4.0)));
    vec![
        with(&[]),
        with(std::slice::from_ref(&shift)),
        with(&[second.clone(), shift.clone(), ("paid", json!("all"))]),
        with(&[second, shift, ("paid", json!([[0, 1], [2, 1]]))]),
    ]
}

/// The certificate of [`projection_file`].
pub(super) fn bases() -> Vec<Vec<u8>> {
    let made = evidence(&projection_of_two());
    serde_json::to_vec(&made).into_iter().collect()
}

pub(super) fn of_projection(bytes: &[u8]) -> Answer {
    as_file(bytes, "p.cert.json", |path| {
        let projection = projection_of_two();
        let file =
            ProjectionCertificate::read_for(&projection, path, MEMORY).map_err(|error| error.to_string())?;
        file.check(&projection, 1).map(|_| String::new()).map_err(|error| error.to_string())
    })
}

/// Weights of one for every channel, which some multiple of always makes a certificate.
fn evidence(projection: &Projection) -> ProjectionCertificate {
    let certificate = |channel: &Channel| {
        let weights = vec![1.0; channel.basis.rows];
        Certificate { domain: Domain::Cube, weights, shift: None }
    };
    ProjectionCertificate::new(projection, projection.channels().iter().map(certificate).collect())
}

/// A projection, and what is proven about one of few coordinates.
pub(super) fn projection(bytes: &[u8]) -> Answer {
    const PROVEN: usize = 64;
    const SEARCHED: usize = 8;
    let path = Path::new("p");
    let projection = Projection::parse(path, bytes).map_err(|error| error.to_string())?;
    let again = Projection::parse(path, &projection.to_bytes());
    assert!(again.is_ok_and(|again| again == projection), "another projection after writing and reading");
    let (height, width) = projection.native_grid();
    let Shape { height: rows, width: columns, .. } = projection.shape();
    assert!(height * width <= rows * columns, "images larger than the inputs");
    let dimension = rows * columns;
    let mut known = projection.representation().name().to_owned();
    if dimension <= PROVEN {
        let checked = evidence(&projection).check(&projection, 1);
        known += &checked.map_or_else(|error| error.to_string(), |_| " proven".to_owned());
    }
    if dimension <= SEARCHED && projection.channels().len() <= 3 {
        let levels = vec![0.5; projection.rank()];
        let proven = ProvenProjection::new(projection.clone(), &evidence(&projection), Some(&levels), 1);
        known += &proven.map_or_else(|error| error.to_string(), |_| " at levels".to_owned());
    }
    Ok(known)
}

/// One per representation; the last with two channels and means.
pub(super) fn projections() -> Vec<Vec<u8>> {
    let channel = |mean: Option<Vec<f64>>| Channel { basis: axes(4), mean, error: 0.5 };
    let made = |representation, height, width, channels: Vec<Channel>| {
        let shape = Shape { channels: channels.len(), height, width };
        let origin = Origin { method: "axis".into(), data: "x".into(), data_sha256: "00".into() };
        Projection::new(representation, shape, channels, origin).map(|projection| projection.to_bytes()).ok()
    };
    let both = || channel(Some(vec![0.25; 4]));
    [
        made(Representation::Pixel, 2, 2, vec![channel(None)]),
        made(Representation::Dct1, 1, 4, vec![channel(None)]),
        made(Representation::Dct2, 2, 2, vec![both(), both()]),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The first two of n axes.
fn axes(n: usize) -> DenseMatrix {
    let entries = (0..2 * n).map(|at| f64::from(u8::from(at == 0 || at == 3))).collect();
    DenseMatrix { rows: n, columns: 2, entries }
}

/// The projection that certificates of projections are about here, as a file.
pub fn projection_file() -> Vec<u8> {
    projections().swap_remove(0)
}

fn projection_of_two() -> Projection {
    Projection::parse(Path::new("p"), &projection_file()).expect("made here")
}
