//! The names of tables, figures and scales.

/// A table or figure of the paper, in the order of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ObjectName {
    /// Figure 1.
    FigTradeoff,
    /// Figure 2.
    FigL2,
    /// Figure 3.
    FigDctPerturbations,
    /// Figure 4.
    FigLinf,
    /// Table 1.
    TableNorms,
    /// Figure 5.
    FigPcaError,
    /// Figure 6.
    FigL2App,
    /// Figure 7.
    FigAdvExamples,
    /// Table 2.
    TableRuntime,
    /// Figure 8.
    FigMwuPsd,
    /// Figure 9.
    FigMwuQp,
    /// Table 3.
    TableLargeN,
    /// Table 4.
    TableAudio,
    /// Not in the paper: small networks side by side.
    TableNetworks,
}

impl ObjectName {
    /// All, in the order in which they are listed and run: what takes minutes before what takes hours.
    pub const ALL: [Self; 14] = [
        Self::FigMwuPsd,
        Self::FigMwuQp,
        Self::TableRuntime,
        Self::TableLargeN,
        Self::TableNorms,
        Self::FigPcaError,
        Self::TableAudio,
        Self::FigDctPerturbations,
        Self::FigAdvExamples,
        Self::FigTradeoff,
        Self::FigL2,
        Self::FigL2App,
        Self::FigLinf,
        Self::TableNetworks,
    ];

    /// As in commands, files and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::FigTradeoff => "fig-tradeoff",
            Self::FigL2 => "fig-l2",
            Self::FigL2App => "fig-l2-app",
            Self::FigLinf => "fig-linf",
            Self::FigMwuPsd => "fig-mwu-psd",
            Self::FigMwuQp => "fig-mwu-qp",
            Self::TableRuntime => "table-runtime",
            Self::TableLargeN => "table-large-n",
            Self::TableNorms => "table-norms",
            Self::FigPcaError => "fig-pca-error",
            Self::TableAudio => "table-audio",
            Self::FigDctPerturbations => "fig-dct-perturbations",
            Self::FigAdvExamples => "fig-adv-examples",
            Self::TableNetworks => "table-networks",
        }
    }

    /// What it shows, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::FigTradeoff => "Figure 1: what lambda trades, natural accuracy against radius",
            Self::FigL2 => "Figure 2: certified l2 accuracy of Algorithm 1, both CIFARs",
            Self::FigL2App => "Figure 6: the same at each epsilon by itself",
            Self::FigLinf => "Figure 4: certified l_inf accuracy in the DCT basis",
            Self::FigMwuPsd => "Figure 8: Algorithm 2 on positive semidefinite matrices",
            Self::FigMwuQp => "Figure 9: Algorithm 2 on matrices with a non-negative diagonal",
            Self::TableRuntime => "Table 2: run time, positive semidefinite, n = 500 to 4500",
            Self::TableLargeN => "Table 3: time and memory on large matrices, n = 5000 to 20000",
            Self::TableNorms => "Table 1: proven kappa of projections of CIFAR-10 and CIFAR-100",
            Self::FigPcaError => "Figure 5: error of principal components of both CIFARs",
            Self::TableAudio => "Table 4: proven kappa of projections of speech, six trials",
            Self::FigDctPerturbations => "Figure 3: sparse random changes of cosine coefficients",
            Self::FigAdvExamples => "Figure 7: adversarial examples of a network trained by PGD",
            Self::TableNetworks => "Ours: Algorithm 1 and its baselines on CIFAR-10, small networks",
        }
    }

    /// The object of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|object| object.name() == name)
    }
}

/// How much of an experiment to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Seconds to a minute, on built-in data: whether everything works.
    Smoke,
    /// Minutes to hours on a desk.
    #[default]
    Desk,
    /// As in the paper.
    Paper,
}

impl Scale {
    /// All, the smallest first.
    pub const ALL: [Self; 3] = [Self::Smoke, Self::Desk, Self::Paper];

    /// As in commands and names of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Desk => "desk",
            Self::Paper => "paper",
        }
    }

    /// What it means, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Smoke => "Seconds to a minute each, on built-in data",
            Self::Desk => "Minutes to hours on a desk",
            Self::Paper => "As in the paper",
        }
    }

    /// The scale of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scale| scale.name() == name)
    }
}
