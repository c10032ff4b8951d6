//! What a certificate proves about a matrix from above, and a vertex from below, by the checker alone.

use crate::bound::{domain_name, peak_memory};
use crate::context::Context;
use crate::error::Error;
use crate::evidence::{Evidence, Vertex};
use crate::matrix::MatrixInput;
use gambeson_checker::{CheckError, Domain, InfToTwoBound, VertexValue};
use gambeson_lowrank::linalg::matrix::Matrix;
use gambeson_lowrank::matrix_file::InputKind;
use gambeson_lowrank::parameter::ParameterError;
use gambeson_lowrank::sdp::bracket::{ProofPlan, Upper, prove_as_planned, prove_vertex};
use gambeson_lowrank::sdp::certificate::CertificateFile;
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm, Problem};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Parameters of [`check`]: the question. A certificate is not trusted to say what it proves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CheckParams {
    /// What is bounded: the quadratic form for a symmetric matrix, otherwise what the certificate says, if `None`. Without a
    /// certificate the quadratic form.
    pub norm: Option<OperatorNorm>,
    /// Whether the matrix is the factor U of M = UUᵀ. Not needed if it is not symmetric and no norm is given.
    pub gram: bool,
    /// Where x lies: the vertices for the quadratic form of a graph, the cube for everything else, if `None`.
    pub domain: Option<Domain>,
    /// Reject unless the proven bound is at most this, in the units of the norm, the square for ∞→2. Needs a certificate.
    pub at_most: Option<f64>,
    /// Give up after about this time.
    pub time_limit: Option<Duration>,
}

/// The question that a certificate has to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is bounded.
    pub norm: OperatorNorm,
    /// How the matrix is read.
    pub reading: MatrixRole,
    /// Where x lies.
    pub domain: Domain,
}

impl Question {
    /// A symmetric matrix is a quadratic form unless the caller says otherwise. For any other matrix, the certificate
    /// decides what the caller left open.
    fn new(asked: &CheckParams, file: Option<&CertificateFile>, matrix: &Matrix, kind: InputKind) -> Self {
        let symmetric = matrix.is_symmetric();
        let deciding = file.filter(|_| !symmetric);
        let norm = asked.norm.unwrap_or(deciding.map_or(OperatorNorm::Quadratic, |file| file.norm));
        // A norm asked for by name is that of the matrix itself: A and its transpose have different ones.
        let open = asked.norm.is_none_or(|norm| norm == OperatorNorm::Quadratic);
        let gram = asked.gram || open && deciding.is_some_and(|file| file.gram);
        let reading = if gram { MatrixRole::Gram } else { MatrixRole::Plain };
        let graph = kind == InputKind::MaxCut && norm == OperatorNorm::Quadratic && !gram;
        let natural = if graph { Domain::Vertices } else { Domain::Cube };
        Self { norm, reading, domain: asked.domain.unwrap_or(natural) }
    }

    /// Why a certificate is not one for this question about this matrix, if it is not.
    fn misfit(self, file: &CertificateFile, matrix: &Matrix) -> Option<Refusal> {
        self.mismatch(file).or_else(|| {
            let here = matrix.sha256();
            if here != file.matrix_sha256 {
                return Some(Refusal::Matrix { here });
            }
            let (n, weights) = (file.n, file.weights.len());
            (n != weights).then_some(Refusal::Length { n, weights })
        })
    }

    /// Why a certificate is about something else, if it is.
    fn mismatch(self, file: &CertificateFile) -> Option<Refusal> {
        let Self { norm, reading, domain } = self;
        let theirs = Self { norm: file.norm, reading: file.reading(), domain: file.domain };
        if norm != theirs.norm {
            Some(Refusal::OperatorNorm { certificate: theirs.norm, question: norm })
        } else if reading != theirs.reading {
            Some(Refusal::MatrixRole { certificate: theirs.reading })
        } else if domain != theirs.domain {
            Some(Refusal::Domain { certificate: theirs.domain, question: domain })
        } else {
            None
        }
    }
}

/// Why a certificate is rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// It is about another norm.
    #[error("the certificate is about {}, the question about {}", norm_name(*.certificate), norm_name(*.question))]
    OperatorNorm {
        /// What the certificate is about.
        certificate: OperatorNorm,
        /// What was asked.
        question: OperatorNorm,
    },
    /// It reads the matrix in another way.
    #[error("{}", match .certificate {
        MatrixRole::Gram => "the certificate reads the matrix as a factor, the question as M",
        MatrixRole::Plain => "the certificate reads the matrix as M, the question as a factor",
    })]
    MatrixRole {
        /// How the certificate reads it.
        certificate: MatrixRole,
    },
    /// It is for another domain.
    #[error("the certificate is for the {}, the question about the {}", domain_name(*.certificate), domain_name(*.question))]
    Domain {
        /// What the certificate is for.
        certificate: Domain,
        /// What was asked.
        question: Domain,
    },
    /// It is for another matrix.
    #[error("the certificate is for another matrix (sha256 {here} here)")]
    Matrix {
        /// Hash of the matrix given.
        here: String,
    },
    /// It contradicts itself.
    #[error("the certificate says n = {n} but has {weights} weights")]
    Length {
        /// What it says.
        n: usize,
        /// What it has.
        weights: usize,
    },
    /// The proof does not fit into memory.
    #[error("the proof takes about {:.2} GB, more than the memory limit of {:.2} GB", gigabytes(*.needed), *.limit as f64 / 1e9)]
    Memory {
        /// Bytes.
        needed: u64,
        /// Bytes.
        limit: u64,
    },
    /// The proof does not fit into the time.
    #[error("the proof takes about {seconds:.0} s, more than the time limit")]
    Time {
        /// By estimate.
        seconds: f64,
    },
    /// The weights do not prove what they should.
    #[error("{reason}")]
    Proof {
        /// What the checker says.
        reason: String,
    },
    /// Something smaller was asked for.
    #[error("the proven bound on {}, {bound}, is larger than {asked}", quantity_name(*.quantity))]
    TooLarge {
        /// What the bound is on, and `asked` with it.
        quantity: BoundedQuantity,
        /// What is proven.
        bound: f64,
        /// What was asked for.
        asked: f64,
    },
}

/// What a number of [`Refusal::TooLarge`] bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundedQuantity {
    /// max xᵀMx.
    QuadraticForm,
    /// ‖A‖_{∞→1}.
    InfToOne,
    /// ‖A‖²_{∞→2}, the square of κ.
    InfToTwoSquared,
    /// ‖Uᵀ‖_{∞→2} itself, κ.
    Kappa,
}

impl From<OperatorNorm> for BoundedQuantity {
    /// In the units of bounds.
    fn from(norm: OperatorNorm) -> Self {
        match norm {
            OperatorNorm::Quadratic => Self::QuadraticForm,
            OperatorNorm::InfToOne => Self::InfToOne,
            OperatorNorm::InfToTwo => Self::InfToTwoSquared,
        }
    }
}

fn quantity_name(quantity: BoundedQuantity) -> &'static str {
    match quantity {
        BoundedQuantity::QuadraticForm => "max x'Mx",
        BoundedQuantity::InfToOne => "the inf->1 norm",
        BoundedQuantity::InfToTwoSquared => "the square of the inf->2 norm",
        BoundedQuantity::Kappa => "kappa",
    }
}

/// Rounded up to the second place.
fn gigabytes(bytes: u64) -> f64 {
    (bytes as f64 / 1e7).ceil() / 100.0
}

/// What was proven, or why not. A bound may be proven and still be larger than asked for.
#[derive(Clone, Debug)]
pub struct Check {
    /// What was asked.
    pub question: Question,
    /// The proven bound, in the units of the norm, the square for ∞→2; `None` also without a certificate.
    pub upper: Option<Upper>,
    /// The value proven at the vertex, in the same units, where one was given.
    pub lower: Option<VertexValue>,
    /// Why the certificate is rejected; none if what was asked is proven.
    pub refusal: Option<Refusal>,
    /// Seconds for the proof, without reading and hashing the matrix.
    pub seconds: f64,
    seconds_read: f64,
}

impl Check {
    /// Whether what was asked is proven.
    pub fn proven(&self) -> bool {
        self.refusal.is_none()
    }

    /// What it says, as data.
    pub fn record(&self) -> CheckRecord {
        CheckRecord {
            proven: self.proven(),
            norm: self.question.norm,
            gram: self.question.reading == MatrixRole::Gram,
            domain: domain_name(self.question.domain).to_owned(),
            bound: self.upper.map(Upper::value),
            lower: self.lower.map(VertexValue::value),
            kappa: self.upper.and_then(Upper::kappa).map(InfToTwoBound::value),
            reason: self.refusal.as_ref().map(ToString::to_string),
            seconds_read: self.seconds_read,
            seconds_check: self.seconds,
            peak_memory: peak_memory(),
        }
    }
}

impl Serialize for Check {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

/// Checks a certificate, a vertex, or both: a bracket. Errors are about the matrix and the vertex; anything wrong with the
/// certificate is a refusal.
pub fn check(
    context: &Context,
    matrix: MatrixInput,
    evidence: impl Into<Evidence>,
    params: &CheckParams,
) -> Result<Check, Error> {
    let (certificate, vertex) = evidence.into().parts();
    let comparable = |&asked: &f64| asked.is_nan() || certificate.is_none();
    if let Some(value) = params.at_most.filter(comparable) {
        let range = if value.is_nan() { "a number" } else { "left out without a certificate" };
        return Err(Error::Parameter(ParameterError { name: "at_most", value, range }));
    }
    context.run(|| {
        let MatrixInput { input, name, seconds: seconds_read } = matrix;
        let question = Question::new(params, certificate.as_ref(), &input.matrix, input.kind);
        let misfit = certificate.as_ref().and_then(|file| question.misfit(file, &input.matrix));
        let (Question { norm, reading, domain }, threads) = (question, context.threads());
        let mut found =
            Check { question, upper: None, lower: None, refusal: misfit, seconds: 0.0, seconds_read };
        if found.refusal.is_some() && vertex.is_none() {
            return Ok(found);
        }
        let memory = context.memory_limit();
        let problem = Problem::enclosing(input.matrix, input.error, norm, reading, domain, memory, threads)
            .map_err(|reason| Error::Problem { name: name.clone(), reason })?;
        let started = Instant::now();
        if let Some(vertex) = &vertex {
            found.lower = Some(value_at(&problem, vertex, &name, threads)?);
        }
        if let (Some(file), None) = (certificate, &found.refusal) {
            match proven(context, &problem, file, params.time_limit) {
                Ok(upper) => {
                    let (quantity, bound) = (norm.into(), upper.value());
                    let too_large = params.at_most.filter(|&asked| bound > asked);
                    found.upper = Some(upper);
                    found.refusal = too_large.map(|asked| Refusal::TooLarge { quantity, bound, asked });
                }
                Err(Unproven::Refused(refusal)) => found.refusal = Some(refusal),
                Err(Unproven::Checker(reason)) => return Err(Error::Check { name, reason }),
            }
        }
        found.seconds = started.elapsed().as_secs_f64();
        Ok(found)
    })
}

/// Why there is no bound.
enum Unproven {
    Refused(Refusal),
    Checker(CheckError),
}

impl From<Refusal> for Unproven {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<CheckError> for Unproven {
    fn from(error: CheckError) -> Self {
        match error {
            CheckError::Rejected(reason) => Self::Refused(Refusal::Proof { reason: reason.to_string() }),
            other => Self::Checker(other),
        }
    }
}

/// The value of the problem at a vertex.
fn value_at(problem: &Problem, vertex: &Vertex, matrix: &str, threads: usize) -> Result<VertexValue, Error> {
    let (expected, found) = (problem.quadratic().dim(), vertex.entries.len());
    if expected != found {
        return Err(Error::VertexLength { name: vertex.name.clone(), expected, found });
    }
    prove_vertex(problem, &vertex.entries, threads)
        .map_err(|reason| Error::Check { name: matrix.to_owned(), reason })
}

/// The bound that a certificate for the problem proves.
fn proven(
    context: &Context,
    problem: &Problem,
    file: CertificateFile,
    time_limit: Option<Duration>,
) -> Result<Upper, Unproven> {
    let (started, threads) = (Instant::now(), context.threads());
    let late = || time_limit.is_some_and(|limit| started.elapsed() > limit);
    let stop = || late() || context.is_interrupted();
    let plan = ProofPlan::paying(problem, file.paid.clone(), threads, &stop)?;
    let needed = plan.cost.bytes.saturating_add(problem.bytes());
    let limit = context.memory_limit();
    if !limit.allows(needed) {
        return Err(Refusal::Memory { needed, limit: limit.limit() }.into());
    }
    // A factor is multiplied out before anything could be stopped.
    if time_limit.is_some_and(|limit| problem.is_factor() && plan.cost.seconds > limit.as_secs_f64()) {
        return Err(Refusal::Time { seconds: plan.cost.seconds }.into());
    }
    Ok(prove_as_planned(problem, &file.into_certificate(), &plan, threads, &stop)?)
}

/// What `check --json` prints about a matrix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckRecord {
    /// Whether what was asked is proven.
    pub proven: bool,
    /// What the question was about.
    pub norm: OperatorNorm,
    /// Whether the matrix is the factor U of M = UUᵀ.
    pub gram: bool,
    /// `cube` or `vertices`.
    pub domain: String,
    /// The proven bound (the square for ∞→2), whether or not it is as small as asked for.
    pub bound: Option<f64>,
    /// The value proven at the vertex (the square for ∞→2): the maximum is at least this. Null without a vertex.
    #[serde(default)]
    pub lower: Option<f64>,
    /// Proven bound on the norm ∞→2 itself; null for other norms.
    pub kappa: Option<f64>,
    /// Why the certificate was rejected.
    pub reason: Option<String>,
    /// Seconds to read or generate the matrix.
    pub seconds_read: f64,
    /// Seconds for the proof, without reading and hashing the matrix.
    pub seconds_check: f64,
    /// Peak memory of the process, in bytes; null if the system does not report it.
    pub peak_memory: Option<u64>,
}

/// As in certificates.
pub fn norm_name(norm: OperatorNorm) -> &'static str {
    match norm {
        OperatorNorm::Quadratic => "quadratic",
        OperatorNorm::InfToOne => "inf-to-one",
        OperatorNorm::InfToTwo => "inf-to-two",
    }
}
