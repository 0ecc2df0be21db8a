//! Where features come from: templates, patterns, named sets.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub(crate) struct TemplateArgs {
    /// Template file of CRF++; may be given again
    #[arg(short, long, value_name = "FILE", help_heading = "Features")]
    pub(crate) template: Vec<PathBuf>,
    /// Pattern file of Wapiti; may be given again
    #[arg(short, long, value_name = "FILE", help_heading = "Features")]
    pub(crate) patterns: Vec<PathBuf>,
    /// Named feature set; `list` shows all
    #[arg(long, value_name = "SET", help_heading = "Features")]
    pub(crate) features: Vec<String>,
}
