//! How to check everything, what is in the bundle and what is not, and the run in numbers.

use super::parts::{Subject, list, paragraph};
use crate::bundle::manifest::{
    CERTIFICATE, DATA, FileEntry, LeftOut, MANIFEST, PAGE, PROJECTION, PublicData, RECORDS,
};
use gambeson_learn::inputs::data_parts;
use gambeson_report::decimal::up;
use gambeson_report::page::{escape, row, table};
use gambeson_smooth::claim::grouped;
use std::fmt::{self, Write};

pub(super) fn write(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    check(out, subject)?;
    left_out(out, subject)?;
    files(out, subject)?;
    run(out, subject)
}

fn check(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    let given = given(subject);
    writeln!(out, "<h2 id=\"check\">Check it yourself</h2>")?;
    let folder = if subject.manifest.left_out.is_empty() {
        "No internet connection is needed, and no other file"
    } else {
        "No internet connection is needed"
    };
    paragraph(
        out,
        &format!(
            "Install gambeson {}, open a terminal in the folder of this page, and type the following. {folder}. For an \
             archive, give its name in place of the dot.",
            escape(&subject.manifest.program)
        ),
    )?;
    writeln!(out, "<pre>gambeson check . --all{given}</pre>")?;
    paragraph(out, "This command")?;
    let mut steps = vec![
        "compares every file with its hash in the manifest, and this page with the claim;".to_owned(),
        "derives every radius again from the counts in the records;".to_owned(),
        "makes every random draw again with the network and the data, and compares the counts: the draws follow from a \
         number in the records, so they come out the same on every computer."
            .to_owned(),
    ];
    if subject.claim.projection.is_some() {
        steps.insert(1, "proves the constant κ of the projection again from its certificate;".to_owned());
    }
    list(out, &steps)?;
    paragraph(
        out,
        "It prints REDRAWN if all of this succeeds, REJECTED if something is wrong, and INCOMPLETE if inputs are missing. \
         Other ways to check:",
    )?;
    list(
        out,
        &[
            format!(
                "<code>gambeson check .{given}</code> draws a random sample again, as much as fits into a minute, and says \
                 what the sample may have missed (SAMPLED)."
            ),
            format!(
                "<code>gambeson check . --all --nonce NUMBER{given}</code> makes new draws from a number of your own, which \
                 nobody could know beforehand, and compares them with the claim (NOT REFUTED). So the random draws cannot \
                 have been chosen to suit the claim."
            ),
            format!(
                "<code>gambeson check . --all --plan DIGEST{given}</code> also demands the plan whose digest was published \
                 before the run. So it cannot be the best of several plans."
            ),
        ],
    )
}

/// Options for what is left out.
fn given(subject: &Subject<'_>) -> String {
    let option = |part: &LeftOut| match (part, &subject.manifest.data.public) {
        (LeftOut::Network, _) => " --model NETWORK".to_owned(),
        (LeftOut::Data, Some(PublicData { name, split })) if split == "test" => {
            format!(" --data {}", escape(name))
        }
        (LeftOut::Data, Some(PublicData { name, split })) => {
            format!(" --data {} --split {}", escape(name), escape(split))
        }
        (LeftOut::Data, None) => " --data DATA".to_owned(),
    };
    subject.manifest.left_out.iter().map(option).collect()
}

fn left_out(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    writeln!(out, "<h2>What is not in the bundle</h2>")?;
    let (claim, manifest) = (subject.claim, subject.manifest);
    if manifest.left_out.is_empty() {
        return paragraph(out, "Nothing: everything that is needed to check the claim is in the bundle.");
    }
    let (_, hash) = data_parts(&claim.data);
    let mut items = Vec::new();
    for part in &manifest.left_out {
        items.push(match (part, &manifest.data.public) {
            (LeftOut::Network, _) => format!(
                "<b>The network.</b> Without it no draw can be made again. Ask its owner for the file with the hash <code>{}\
                 </code>, and give its name in place of NETWORK.",
                escape(&claim.network)
            ),
            (LeftOut::Data, Some(PublicData { name, .. })) => format!(
                "<b>The data.</b> They are public: gambeson knows them as <code>{name}</code>. If it does not have them yet, \
                 <code>gambeson data fetch {name}</code> brings them.",
                name = escape(name)
            ),
            (LeftOut::Data, None) => format!(
                "<b>The data</b>, called {}. Without them neither the draws nor the labels can be checked. Ask their owner \
                 for the data whose content has the hash <code>{}</code> (<code>gambeson data info</code> shows it), and \
                 give their name in place of DATA.",
                escape(data_parts(&claim.data).0),
                escape(hash)
            ),
        });
    }
    list(out, &items)?;
    paragraph(
        out,
        "What can be checked without these parts is checked all the same, and the command says what was not checked \
         (NOT REDRAWN). Any file with another hash is rejected.",
    )
}

fn files(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    writeln!(out, "<h2>What is in the bundle</h2>")?;
    let head = ["File", "What it is", "Bytes", "SHA-256"].map(ToOwned::to_owned);
    let mut rows = vec![row("th", &head)];
    for FileEntry { name, bytes, sha256 } in subject.manifest.files.iter().filter(|file| file.name != PAGE) {
        rows.push(row(
            "td",
            &[
                format!("<code>{}</code>", escape(name)),
                what(name).to_owned(),
                grouped(*bytes),
                format!("<div class=\"hash\">{}</div>", escape(sha256)),
            ],
        ));
    }
    let others = [(PAGE, "this page"), (MANIFEST, "the hashes of all files, and the claim for programs")];
    for (name, what) in others {
        rows.push(row(
            "td",
            &[format!("<code>{name}</code>"), what.to_owned(), String::new(), String::new()],
        ));
    }
    out.push_str(&table(&rows));
    Ok(())
}

fn what(name: &str) -> &'static str {
    match name {
        RECORDS => "the plan of the run, and the counts for each input",
        PROJECTION => "the projection: the coordinates that noise is added to",
        CERTIFICATE => "the certificate that proves κ of the projection",
        DATA => "the data, with labels if they have any",
        _ => "the network",
    }
}

fn run(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    let (claim, run) = (subject.claim, &subject.head.run);
    writeln!(out, "<h2>The run in numbers</h2>")?;
    let hash = |text: &str| format!("<div class=\"hash\">{}</div>", escape(text));
    let mut rows = vec![
        ("Network", hash(&claim.network)),
        ("Data", hash(&claim.data)),
        ("Noise level σ", claim.sigma.to_string()),
        ("Error probability α of a certificate", claim.alpha.to_string()),
        ("Draws that choose the class, n0", grouped(claim.n0)),
        ("Draws that are counted, n", {
            let most = if claim.sequential { "up to " } else { "" };
            format!("{most}{}", grouped(claim.n))
        }),
        ("Seed of the draws", run.common.seed.to_string()),
    ];
    if let Some(runtime) = &claim.runtime {
        rows.insert(1, ("Computed by", escape(runtime)));
    }
    if let Some(projection) = &claim.projection {
        rows.push(("Projection", hash(projection)));
    }
    if let Some(kappa) = claim.kappa {
        rows.push(("κ of the projection, at most", up(kappa, 7)));
    }
    rows.push(("Digest of the plan", hash(&claim.plan)));
    let rows: Vec<String> =
        rows.into_iter().map(|(name, value)| row("td", &[name.to_owned(), value])).collect();
    out.push_str(&table(&rows));
    Ok(())
}
