//! What a certificate proves about a matrix, by the checker alone.

use crate::bound::{domain_name, peak_memory};
use crate::context::Context;
use crate::error::Error;
use crate::matrix::MatrixInput;
use gambeson_checker::{CheckError, Domain, InfToTwoBound};
use gambeson_lowrank::linalg::matrix::Matrix;
use gambeson_lowrank::matrix_file::{Input, InputKind};
use gambeson_lowrank::sdp::bracket::{ProofPlan, Upper, prove_as_planned};
use gambeson_lowrank::sdp::certificate::CertificateFile;
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm, Problem};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Parameters of [`check`]: the question. A certificate is not trusted to say what it proves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CheckParams {
    /// What is bounded: the quadratic form for a symmetric matrix, otherwise what the certificate says, if `None`.
    pub norm: Option<OperatorNorm>,
    /// Whether the matrix is the factor U of M = UUᵀ. Not needed if it is not symmetric and no norm is given.
    pub gram: bool,
    /// Where x lies: the vertices for the quadratic form of a graph, the cube for everything else, if `None`.
    pub domain: Option<Domain>,
    /// Reject unless the proven bound is at most this.
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
    fn new(asked: &CheckParams, file: &CertificateFile, matrix: &Matrix, kind: InputKind) -> Self {
        let symmetric = matrix.is_symmetric();
        let norm = asked.norm.unwrap_or(if symmetric { OperatorNorm::Quadratic } else { file.norm });
        // A norm asked for by name is that of the matrix itself: A and its transpose have different ones.
        let open = !symmetric && asked.norm.is_none_or(|norm| norm == OperatorNorm::Quadratic);
        let gram = asked.gram || open && file.gram;
        let reading = if gram { MatrixRole::Gram } else { MatrixRole::Plain };
        let graph = kind == InputKind::MaxCut && norm == OperatorNorm::Quadratic && !gram;
        let natural = if graph { Domain::Vertices } else { Domain::Cube };
        Self { norm, reading, domain: asked.domain.unwrap_or(natural) }
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
    #[error("the proven bound {bound} is larger than {asked}")]
    TooLarge {
        /// What is proven.
        bound: f64,
        /// What was asked for.
        asked: f64,
    },
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
    /// The proven bound, in the units of the norm, the square for ∞→2.
    pub upper: Option<Upper>,
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

/// Checks a certificate. Errors are about the matrix; anything wrong with the certificate is a refusal.
pub fn check(
    context: &Context,
    matrix: MatrixInput,
    certificate: CertificateFile,
    params: &CheckParams,
) -> Result<Check, Error> {
    if let Some(value) = params.at_most.filter(|bound| bound.is_nan()) {
        return Err(Error::Parameter(gambeson_lowrank::parameter::ParameterError {
            name: "at_most",
            value,
            range: "a number",
        }));
    }
    context.run(|| {
        let MatrixInput { input, name, seconds } = matrix;
        let question = Question::new(params, &certificate, &input.matrix, input.kind);
        let mut spent = 0.0;
        let outcome = answered(context, input, certificate, question, params, &mut spent);
        let (upper, refusal) = match outcome {
            Ok(upper) => {
                let too_large = |&asked: &f64| upper.value() > asked;
                let bound = upper.value();
                (
                    Some(upper),
                    params.at_most.filter(too_large).map(|asked| Refusal::TooLarge { bound, asked }),
                )
            }
            Err(Unproven::Refused(refusal)) => (None, Some(refusal)),
            Err(Unproven::Problem(reason)) => return Err(Error::Problem { name, reason }),
            Err(Unproven::Checker(reason)) => return Err(Error::Check { name, reason }),
        };
        Ok(Check { question, upper, refusal, seconds: spent, seconds_read: seconds })
    })
}

/// Why there is no bound.
enum Unproven {
    Refused(Refusal),
    Problem(gambeson_lowrank::sdp::problem::ProblemError),
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

/// The bound that a certificate proves in answer to a question; `seconds` becomes the time of the proof.
fn answered(
    context: &Context,
    input: Input,
    file: CertificateFile,
    question: Question,
    params: &CheckParams,
    seconds: &mut f64,
) -> Result<Upper, Unproven> {
    if let Some(refusal) = question.mismatch(&file) {
        return Err(refusal.into());
    }
    let here = input.matrix.sha256();
    if here != file.matrix_sha256 {
        return Err(Refusal::Matrix { here }.into());
    }
    if file.n != file.weights.len() {
        return Err(Refusal::Length { n: file.n, weights: file.weights.len() }.into());
    }
    let (Question { norm, reading, domain }, threads) = (question, context.threads());
    let problem =
        Problem::enclosing(input.matrix, input.error, norm, reading, domain, context.memory_limit(), threads)
            .map_err(Unproven::Problem)?;
    let started = Instant::now();
    let late = || params.time_limit.is_some_and(|limit| started.elapsed() > limit);
    let stop = || late() || context.is_interrupted();
    let proof = || {
        let plan = ProofPlan::paying(&problem, file.paid.clone(), threads, &stop)?;
        let needed = plan.cost.bytes.saturating_add(problem.bytes());
        let limit = context.memory_limit();
        if !limit.allows(needed) {
            return Err(Refusal::Memory { needed, limit: limit.limit() }.into());
        }
        // A factor is multiplied out before anything could be stopped.
        if params
            .time_limit
            .is_some_and(|limit| problem.is_factor() && plan.cost.seconds > limit.as_secs_f64())
        {
            return Err(Refusal::Time { seconds: plan.cost.seconds }.into());
        }
        Ok(prove_as_planned(&problem, &file.into_certificate(), &plan, threads, &stop)?)
    };
    let proven = proof();
    *seconds = started.elapsed().as_secs_f64();
    proven
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
