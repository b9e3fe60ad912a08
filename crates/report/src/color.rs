//! Colours, and when to use them.

use std::fmt::Display;
use std::str::FromStr;

use anstyle::{AnsiColor, Color, Style};

/// The user's choice, as `--color` takes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorChoice {
    /// On terminals that support colours, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// Returns whether to use colours on an output that is a terminal or not. Honours `NO_COLOR`, `CLICOLOR`,
    /// `CLICOLOR_FORCE` and `TERM=dumb`.
    #[must_use]
    pub fn resolve(self, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto if anstyle_query::no_color() => false,
            Self::Auto if anstyle_query::clicolor_force() => true,
            Self::Auto => {
                is_terminal && anstyle_query::clicolor().unwrap_or(true) && anstyle_query::term_supports_color()
            }
        }
    }
}

impl FromStr for ColorChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "auto" => Ok(Self::Auto),
            "always" => Ok(Self::Always),
            "never" => Ok(Self::Never),
            _ => Err(format!("`{name}` is not one of auto, always, never")),
        }
    }
}

const BOLD: Style = Style::new().bold();
pub(crate) const ERROR: Style = color(AnsiColor::BrightRed);
pub(crate) const WARNING: Style = color(AnsiColor::BrightYellow);
pub(crate) const GOOD: Style = color(AnsiColor::BrightGreen);
pub(crate) const FRAME: Style = color(AnsiColor::BrightBlue);
pub(crate) const STRONG: Style = BOLD;
pub(crate) const FAINT: Style = Style::new().dimmed();

const fn color(color: AnsiColor) -> Style {
    BOLD.fg_color(Some(Color::Ansi(color)))
}

/// Returns the text in that style.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::ColorChoice;

    #[test]
    fn an_explicit_choice_wins() {
        assert_eq!("always".parse(), Ok(ColorChoice::Always));
        assert!(ColorChoice::Always.resolve(false));
        assert!(!ColorChoice::Never.resolve(true));
        assert!(!ColorChoice::Auto.resolve(false) || anstyle_query::clicolor_force());
        assert!("sometimes".parse::<ColorChoice>().is_err());
    }
}
