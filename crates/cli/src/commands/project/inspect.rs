//! `gambeson project inspect`: what a projection file is, and what its certificate proves.

use crate::args::InspectArguments;
use crate::ended::Ended;
use crate::json;
use crate::report::decimal::{up, up_to_places};
use crate::screen::{proven, shown, wrapped};
use gambeson::project::InspectionRecord;
use gambeson::{Context, inspect_projection};
use std::io::Write;

pub(super) fn run(
    arguments: &InspectArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let found = inspect_projection(context, &arguments.projection, arguments.certificate.as_deref())?;
    json::print_or(arguments.json, &found, stdout, |stdout| print(&found.record(), stdout))?;
    Ok(if found.rejected { Ended::FellShort } else { Ended::AsAsked })
}

fn print(inspected: &InspectionRecord, stdout: &mut impl Write) -> std::io::Result<()> {
    let [channels, height, width] = inspected.shape;
    let centred = if inspected.centred { "centred" } else { "not centred" };
    writeln!(
        stdout,
        "projection of {channels} x {height} x {width} inputs in {} coordinates, {centred}, rank {}",
        inspected.basis, inspected.rank
    )?;
    // What the file says of itself is shown as such, whatever it says.
    writeln!(stdout, "{}", wrapped(&format!("method  {}", shown(&inspected.method)), 8))?;
    writeln!(stdout, "data    {}\nsha256  {}", shown(&inspected.data), shown(&inspected.data_sha256))?;
    writeln!(stdout, "channel  rank      kappa     error  density  singular values")?;
    for (c, channel) in inspected.channels.iter().enumerate() {
        let bound = |value: Option<f64>, digits| value.map_or("-".to_owned(), |value| up(value, digits));
        writeln!(
            stdout,
            "{c:>7} {:>5} {:>10} {:>9} {:>8.4}  <= {}",
            channel.rank,
            bound(channel.kappa, 7),
            up_to_places(channel.error, 6),
            channel.density,
            bound(channel.spectral, 15),
        )?;
    }
    match (&inspected.kappa, &inspected.reason) {
        (Some(kappa), _) => writeln!(stdout, "{}: kappa <= {}", proven(), up(*kappa, 17)),
        (None, Some(reason)) => {
            writeln!(stdout, "{}", wrapped(&format!("nothing proven: {}", shown(reason)), 2))
        }
        (None, None) => Ok(()),
    }
}
