//! What a certification run ends with: clean accuracy, and certified accuracy at a few radii.

use gambeson_smooth::analysis::{AccuracyAtRadii, RunAccuracy};
use std::io::Write;

/// `cosines`: whether ℓ∞ is of cosine coefficients.
pub(super) fn print(accuracy: &RunAccuracy, cosines: bool, stdout: &mut impl Write) -> std::io::Result<()> {
    if let Some(clean) = accuracy.clean {
        writeln!(stdout, "clean        accuracy {:.1} % (most frequent class of all draws)", 100.0 * clean)?;
    }
    let share = if accuracy.clean.is_some() { "accuracy" } else { "share" };
    let mut table = |first: &str, norm: &str, AccuracyAtRadii { radii, accuracy }: &AccuracyAtRadii| {
        let cells = |values: Vec<String>| -> String {
            values.iter().map(|cell| format!("{cell:>10}")).collect::<Vec<_>>().concat()
        };
        let radii = cells(radii.iter().map(ToString::to_string).collect());
        let accuracy = cells(accuracy.iter().map(|part| format!("{:.1} %", 100.0 * part)).collect());
        writeln!(stdout, "{first:<12} {norm:<12}{radii}\n{:<12} {share:<12}{accuracy}", "")
    };
    table("certified", "l2 radius", &accuracy.l2)?;
    if let Some(linf) = &accuracy.linf {
        table("", "l_inf radius", linf)?;
        if cosines {
            writeln!(stdout, "{:<12} (l_inf of cosine coefficients)", "")?;
        }
    }
    Ok(())
}
