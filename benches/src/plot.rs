//! How time and memory grow with the length of a trace, as a picture.

use std::fmt::Write as _;

/// Points: events, seconds, MiB.
#[derive(Default)]
pub struct Plot {
    points: Vec<(f64, f64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 70.0;
const BOTTOM: f64 = 50.0;
const TOP: f64 = 30.0;

/// Powers of ten at the ends of both axes.
const EVENTS: (i32, i32) = (5, 9);
const VALUES: (i32, i32) = (-2, 3);

fn x(events: f64) -> f64 {
    let (low, high) = (f64::from(EVENTS.0), f64::from(EVENTS.1));
    LEFT + (events.log10() - low) / (high - low) * (WIDTH - 2.0 * LEFT)
}

fn y(value: f64) -> f64 {
    let (low, high) = (f64::from(VALUES.0), f64::from(VALUES.1));
    HEIGHT - BOTTOM - (value.max(1e-3).log10() - low) / (high - low) * (HEIGHT - BOTTOM - TOP)
}

impl Plot {
    /// Adds a trace.
    pub fn add(&mut self, events: f64, seconds: f64, mebibytes: f64) {
        self.points.push((events, seconds, mebibytes));
    }

    /// Returns the picture: both axes are logarithmic.
    pub fn svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
        );
        for power in EVENTS.0..=EVENTS.1 {
            let at = x(10_f64.powi(power));
            let (top, bottom, below) = (TOP, HEIGHT - BOTTOM, HEIGHT - BOTTOM + 18.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{at:.1} {top}V{bottom}\" stroke=\"#ddd\"/>\
                 <text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">10^{power} events</text>"
            );
        }
        for power in VALUES.0..=VALUES.1 {
            let at = y(10_f64.powi(power));
            let (right, beside) = (WIDTH - LEFT, LEFT - 8.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/>\
                 <text x=\"{beside}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                at + 4.0,
                10_f64.powi(power)
            );
        }
        self.line(&mut svg, "#1f5fa8", "seconds of the processor", 20.0, |&(_, seconds, _)| seconds);
        self.line(&mut svg, "#b5491c", "MiB of memory", 250.0, |&(_, _, mebibytes)| mebibytes);
        svg + "</svg>\n"
    }

    fn line(&self, svg: &mut String, color: &str, name: &str, at: f64, value: impl Fn(&(f64, f64, f64)) -> f64) {
        let place = |point: &(f64, f64, f64)| format!("{:.1} {:.1}", x(point.0), y(value(point)));
        let path: Vec<String> = self.points.iter().map(place).collect();
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"20\" fill=\"{color}\">{name}</text>",
            path.join("L"),
            LEFT + at
        );
        for point in &self.points {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{color}\"/>",
                x(point.0),
                y(value(point))
            );
        }
    }
}
