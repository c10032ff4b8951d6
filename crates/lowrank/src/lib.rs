//! The mathematics of gambeson, without neural networks: solvers that propose certificates, and what they need.
//!
//! Of the paper (Awasthi, Jain, Rawat, Vijayaraghavan, *Adversarial robustness via robust low rank
//! representations*, NeurIPS 2020):
//!
//! * Algorithm 2: [`mwu`], with its eigenvalue oracle in [`lanczos`] and its primal candidate in [`primal`];
//! * the quadratic programs and norms of section 3: [`problem`];
//! * the sparse components of Algorithm 3: [`sparse_pca`];
//! * the random instances of appendix E: [`random`].
//!
//! Far faster than Algorithm 2 is the low-rank factorisation in [`burer_monteiro`].
//!
//! And beside it: matrix files in [`input`], vertices by rounding in [`round`], certificates as files in
//! [`certificate`]. [`bound::bracket`] joins them: solve, certify, check. What is proven is proven by
//! `gambeson-checker`; nothing here is trusted.

mod aligned;
pub mod analysis;
pub mod axis;
mod blocks;
pub mod bound;
pub mod burer_monteiro;
pub mod certificate;
mod certify;
pub mod classifier;
pub mod dct;
pub mod eigen;
pub mod energy;
mod evaluate;
pub mod feed;
pub mod file;
pub mod fit;
mod groups;
pub mod input;
pub mod kappa;
pub mod lanczos;
mod lbfgs;
pub mod matrix;
pub mod moments;
pub mod mwu;
mod newton;
pub mod observe;
pub mod operator;
mod orthonormal;
pub mod pca;
pub mod primal;
pub mod problem;
mod products;
pub mod projection;
pub mod projection_certificate;
pub mod random;
pub mod record;
pub mod robust;
pub mod robust_projection;
mod rough;
pub mod round;
pub mod safetensors;
pub mod smoothing;
pub mod sparse_pca;
mod sphere;
mod tilt;
mod watch;
