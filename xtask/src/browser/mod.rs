//! `cargo xtask browser`: checks the page of `racehunter report --html` in a real browser.
//!
//! It hunts six programs of different kinds, one of them with twelve threads and more than a thousand steps, and writes the
//! page. It then checks in headless Chromium what the page shows: in light and dark mode, in a narrow window, and without
//! JavaScript; with JavaScript, axe-core must find no violations. It leaves screenshots; `docs/pictures` has those of the findings.

mod devtools;

use crate::build::Kit;
use crate::packages;
use crate::shell::{root, shell, target};
use anyhow::{Context as _, Result, bail};
use devtools::Tab;
use serde_json::{Value, json};
use std::path::Path;

/// A data race, a deadlock, an assertion, a use after free, a lost wake-up, and one with many threads and steps.
const PROGRAMS: [&str; 6] = [
    "targets/data-race/wrong_lock.c",
    "targets/deadlock/abba.c",
    "targets/assertion/check_then_act.c",
    "targets/use-after-free/deleted_listener.cpp",
    "targets/deadlock/lost_wakeup.c",
    "tests/programs/many_threads.c",
];

/// Width in pixels of a common window.
const WIDE: u32 = 1000;

/// Hunts, writes the page and checks it.
pub fn run(kit: &Kit) -> Result<()> {
    packages::need(packages::BROWSER)?;
    let directory = target().join("browser");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory)?;
    // Relative paths, if possible, make the page the same on every machine.
    let kept = directory.join("kept");
    let out = kept.strip_prefix(root()).unwrap_or(&kept).to_string_lossy().into_owned();
    for program in PROGRAMS {
        let hunt = ["hunt", "--quiet", "--stop-on-first", "--message-format", "short", "--out", &out, program];
        if shell(kit.program(), &hunt).status()? != Some(1) {
            bail!("{program} has no finding");
        }
    }
    let page = directory.join("report.html");
    shell(kit.program(), &["report", "--html", "-o", &page.to_string_lossy(), &out]).done()?;
    let mut tab = Tab::open(&directory.join("chromium"))?;
    let axe = axe(&directory)?;
    let mut check = Check { tab: &mut tab, axe, failed: 0 };
    check.with_script(&page, &directory)?;
    check.in_the_dark(&page, &directory)?;
    check.in_a_narrow_window(&page, &directory)?;
    check.without_script(&page, &directory)?;
    println!("the page and its pictures are in {}", directory.display());
    if check.failed > 0 { bail!("{} of the checks failed", check.failed) } else { Ok(()) }
}

/// What every reader gets, with or without JavaScript: places with their sources, visible drawings, every step in a
/// table, and the replay command.
const ESSENTIALS: &str = "(() => {
    const seen = (item) => { const box = item.getBoundingClientRect(); return box.width > 20 && box.height > 10; };
    const all = (selector) => [...document.querySelectorAll(selector)];
    return {
        findings: all('section.finding').length,
        sources: all('pre.source .here').filter(seen).length,
        drawings: all('.scroll svg').filter((svg) => svg.getBoundingClientRect().width > 150
            && svg.getBoundingClientRect().height > 60).length,
        steps: all('.steps tr[data-step]').filter(seen).length == all('g.step').length,
        marked: all('.timeline').every((timeline) => timeline.querySelector('.ring')),
        replay: all('section.finding pre.command').filter((pre) => /racehunter replay [0-9a-f]{8}/.test(pre.textContent)).length,
        covered: all('section.campaign dl').length,
    };
})()";

/// The lowest contrast of text against its background, and where it is. Readable text has at least 4.5.
const CONTRAST: &str = "(() => {
    const channels = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = (color) => {
        const [r, g, b] = color.map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (item) => {
        for (let at = item; at; at = at.parentElement) {
            const color = channels(getComputedStyle(at).backgroundColor);
            if (color.length === 3 || color[3] > 0) return color.slice(0, 3);
        }
        return [255, 255, 255];
    };
    let least = [99, ''];
    for (const item of document.querySelectorAll('main *, header *, footer')) {
        const own = [...item.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!own || item.closest('svg')) continue;
        const [a, b] = [light(channels(getComputedStyle(item).color).slice(0, 3)), light(behind(item))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < least[0]) least = [ratio, `${item.tagName}.${item.className}: ${item.textContent.trim().slice(0, 30)}`];
    }
    return least;
})()";

/// Elements that are wider than the window, and not inside something that can be scrolled.
const STICKS_OUT: &str = "[...document.querySelectorAll('body *')].filter((item) => {
    if (item.getBoundingClientRect().right <= innerWidth + 0.5) return false;
    for (let at = item.parentElement; at; at = at.parentElement) {
        if (getComputedStyle(at).overflowX !== 'visible') return false;
    }
    return true;
}).map((item) => `${item.tagName}.${item.className}: ${item.textContent.trim().slice(0, 30)}`)";

/// Returns the finding of a kind on the page.
fn section(kind: &str) -> String {
    format!(
        "[...document.querySelectorAll('h2 .badge')].find((one) => one.textContent === '{kind}').closest('section')"
    )
}

/// The version of axe-core, whose rules may change with each release.
const AXE: &str = "axe-core@4.14.0";

/// Runs all rules of axe-core, and returns the violations: the rule, how many elements, and the first of them.
const VIOLATIONS: &str = "axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.map(
    (rule) => [rule.id, rule.nodes.length, rule.nodes[0].html.slice(0, 200)]))";

/// Fetches axe-core, which checks pages against the accessibility guidelines; returns its script.
fn axe(directory: &Path) -> Result<String> {
    let place = directory.join("npm");
    std::fs::create_dir_all(&place)?;
    let words = ["install", "--silent", "--no-save", "--prefix", &place.to_string_lossy(), AXE];
    shell("npm", &words).done()?;
    let script = place.join("node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(&script).with_context(|| format!("cannot read {}", script.display()))
}

/// Checks the page, and counts failures.
struct Check<'a> {
    tab: &'a mut Tab,
    /// The script of axe-core.
    axe: String,
    failed: u32,
}

impl Check<'_> {
    fn expect(&mut self, what: &str, holds: bool, seen: &Value) {
        println!("{} {what}", if holds { "  ok  " } else { "FAILED" });
        if !holds {
            println!("       seen: {seen}");
            self.failed += 1;
        }
    }

    fn essentials(&mut self, how: &str) -> Result<()> {
        let seen = self.tab.evaluate(ESSENTIALS)?;
        let all = |name: &str| seen[name] == PROGRAMS.len();
        let has_all = ["findings", "drawings", "replay", "covered"].into_iter().all(all);
        let has_sources = seen["sources"].as_u64() >= Some(PROGRAMS.len() as u64);
        let holds = has_all && has_sources && seen["steps"] == true && seen["marked"] == true;
        self.expect(
            &format!("{how}: findings, sources, drawings, steps, how to replay, what was covered"),
            holds,
            &seen,
        );
        Ok(())
    }

    fn contrast(&mut self, how: &str) -> Result<()> {
        let seen = self.tab.evaluate(CONTRAST)?;
        self.expect(&format!("{how}: text is read easily"), seen[0].as_f64() >= Some(4.5), &seen);
        Ok(())
    }

    /// Checks the page with axe-core, which needs the script.
    fn accessible(&mut self, how: &str) -> Result<()> {
        let _ = self.tab.evaluate(&format!("{{ {}; }} typeof axe", self.axe))?;
        let seen = self.tab.evaluate(VIOLATIONS)?;
        self.expect(&format!("{how}: axe-core finds no violations"), seen == json!([]), &seen);
        Ok(())
    }

    /// Returns the centre of an element of the page, after scrolling it into view.
    fn middle(&mut self, of: &str) -> Result<[f64; 2]> {
        let place = self.tab.evaluate(&format!(
            "(() => {{ const item = {of}; item.scrollIntoView({{ block: 'center' }}); const box = \
             item.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ))?;
        let number = |at: usize| place[at].as_f64().with_context(|| format!("there is no {of}"));
        Ok([number(0)?, number(1)?])
    }

    fn click(&mut self, what: &str) -> Result<()> {
        let place = self.middle(what)?;
        let button = json!({ "button": "left", "clickCount": 1 });
        self.tab.pointer("mousePressed", place, &button)?;
        self.tab.pointer("mouseReleased", place, &button)
    }

    fn with_script(&mut self, page: &Path, pictures: &Path) -> Result<()> {
        self.tab.visit(page, WIDE, 900)?;
        self.essentials("light")?;
        self.contrast("light")?;
        self.accessible("light")?;
        self.tab.screenshot(&pictures.join("light.png"))?;
        for kind in ["assertion", "use-after-free", "lost-wakeup"] {
            self.tab.picture(&section(kind), &pictures.join(format!("{kind}.webp")))?;
        }

        let timeline = format!("{}.querySelector('.timeline')", section("data-race"));
        let step = format!("{timeline}.querySelector('g.read .ring, g.write .ring')");
        let place = self.middle(&step)?;
        self.tab.pointer("mouseMoved", place, &json!({}))?;
        let seen = self.tab.evaluate(&format!(
            "({{ text: {timeline}.querySelector('.detail').textContent, row: {timeline}.querySelector('tr.on')?.textContent,
                tip: (() => {{ const tip = document.querySelector('.tip'); const box = tip.getBoundingClientRect();
                    const [x, y] = [{}, {}]; const [across, down] = [Math.max(box.left - x, x - box.right, 0), Math.max(box.top - y, y - box.bottom, 0)];
                    return !tip.hidden && tip.textContent.includes(' = ') && Math.hypot(across, down) < 40; }})() }})",
            place[0], place[1]
        ))?;
        let says = |name: &str, part: &str| seen[name].as_str().is_some_and(|text| text.contains(part));
        let holds = says("text", " = ") && says("text", " at ") && says("row", " = ") && seen["tip"] == true;
        self.expect("the pointer on a step: its line, its value, its row, a text near the pointer", holds, &seen);
        self.tab.picture(&format!("{timeline}.closest('section')"), &pictures.join("data-race.webp"))?;

        let width = format!("Number({timeline}.querySelector('svg').getAttribute('width'))");
        let before = self.tab.evaluate(&width)?;
        self.click(&format!("{timeline}.querySelector('button[data-zoom]')"))?;
        let button = self.tab.evaluate(&width)?;
        let drawing = self.middle(&format!("{timeline}.querySelector('.scroll')"))?;
        self.tab.pointer("mouseWheel", drawing, &json!({ "deltaX": 0, "deltaY": -120, "modifiers": 2 }))?;
        let wheel = self.tab.evaluate(&format!(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done({width}))))"
        ))?;
        let widths = [&before, &button, &wheel].map(Value::as_f64);
        self.expect(
            "zoom by a button and by the wheel",
            widths[0] != widths[1] && widths[1] < widths[2],
            &json!(widths),
        );
        self.click(&format!("{timeline}.querySelector('button[data-zoom=fit]')"))?;
        let seen = self.tab.evaluate(&format!("[{width}, {timeline}.querySelector('.scroll').clientWidth]"))?;
        self.expect("zoom to fit", seen[0].as_f64() <= seen[1].as_f64(), &seen);

        self.tab.evaluate(&format!("{timeline}.querySelector('.scroll').focus()"))?;
        let current = format!("{timeline}.querySelector('tr.on')?.dataset.step");
        let before = self.tab.evaluate(&current)?;
        for kind in ["keyDown", "keyUp"] {
            self.tab
                .call("Input.dispatchKeyEvent", &json!({ "type": kind, "key": "ArrowLeft", "code": "ArrowLeft" }))?;
        }
        let after = self.tab.evaluate(&current)?;
        self.expect(
            "an arrow key goes to the step before",
            before != after && !after.is_null(),
            &json!([before, after]),
        );

        self.large(pictures)?;
        let is_problem = |event: &&Value| {
            let level = event["params"]["entry"]["level"].as_str().or(event["params"]["type"].as_str());
            event["method"] == "Runtime.exceptionThrown" || matches!(level, Some("error" | "warning"))
        };
        let errors: Vec<Value> = self.tab.events.iter().filter(is_problem).cloned().collect();
        self.expect("no errors or warnings", errors.is_empty(), &json!(errors));
        let asked = |event: &&Value| event["method"] == "Network.requestWillBeSent";
        let asked: Vec<Value> =
            self.tab.events.iter().filter(asked).map(|event| event["params"]["request"]["url"].clone()).collect();
        self.expect("nothing but the page is loaded", asked.len() == 1, &json!(asked));
        Ok(())
    }

    /// Checks the finding with many threads: narrow lanes, an overview, held locks, and filters.
    fn large(&mut self, pictures: &Path) -> Result<()> {
        let timeline = "[...document.querySelectorAll('.timeline')].find((one) => one.querySelector('.overview'))";
        let seen = self.tab.evaluate(&format!(
            "(() => {{ const one = {timeline}; const box = one.querySelector('.steps'); return {{
                threads: one.querySelectorAll('.names div').length, steps: one.querySelectorAll('g.step').length,
                held: one.querySelectorAll('.held').length, wakes: document.querySelectorAll('.wake').length,
                fits: box.scrollWidth <= box.clientWidth + 1,
                colors: new Set([...one.querySelectorAll('.names div')].map((item) => getComputedStyle(item).color)).size,
            }}; }})()"
        ))?;
        let least = |name: &str, number: u64| seen[name].as_u64() >= Some(number);
        let holds = least("threads", 13) && least("steps", 100) && least("held", 10) && least("wakes", 5);
        self.expect("large: all threads and steps, locks held, wake-ups", holds, &seen);
        self.expect("large: a colour for each thread", seen["colors"] == seen["threads"], &seen);
        self.expect("large: the table needs no scrolling to the side", seen["fits"] == true, &seen);
        let seen = self.tab.evaluate(&format!(
            "(() => {{ const one = {timeline}; const filters = one.querySelector('.filters'); filters.open = true;
                const rows = () => [...one.querySelectorAll('tr[data-step]')].filter((row) => !row.hidden);
                const change = (item, value) => {{ item.value = value; item.dispatchEvent(new Event('input', {{ bubbles: true }})); }};
                const object = filters.querySelector('select'); const search = filters.querySelector('input[type=search]');
                change(object, 'sold'); const about = rows().every((row) => row.dataset.object === 'sold') && rows().length;
                change(object, ''); change(search, 'UNLOCK'); const unlocks = rows().every((row) => row.dataset.class === 'unlock') && rows().length;
                change(search, ''); const box = filters.querySelector('[data-thread]'); box.click();
                const others = rows().every((row) => row.dataset.thread !== box.dataset.thread) && rows().length; box.click();
                return {{ about, unlocks, others, all: rows().length, steps: one.querySelectorAll('g.step').length }}; }})()"
        ))?;
        let some = |name: &str| seen[name].as_u64() > Some(0);
        let holds = some("about") && some("unlocks") && some("others") && seen["all"] == seen["steps"];
        self.expect("large: filters by object, text and thread", holds, &seen);
        let link = format!("{timeline}.closest('section').querySelector('.cause a')");
        self.click(&link)?;
        let seen = self.tab.evaluate(&format!(
            "new Promise((done) => setTimeout(() => {{ const row = {timeline}.querySelector('tr.on'); done([row?.id, \
             {link}.hash.slice(1), row?.cells[0].textContent, {link}.textContent]); }}, 50))"
        ))?;
        let goes = seen[0].is_string() && seen[0] == seen[1];
        let is_same = seen[2].as_str().zip(seen[3].as_str()).is_some_and(|(row, link)| link == format!("step {row}"));
        self.expect("large: the cause leads to its steps", goes && is_same, &seen);
        self.click(&format!("{timeline}.querySelector('.overview')"))?;
        let seen = self.tab.evaluate(&format!("{timeline}.querySelector('tr.on')?.dataset.step"))?;
        self.expect("large: a click into the overview goes there", seen.is_string(), &seen);
        self.tab.picture(&format!("{timeline}.closest('section')"), &pictures.join("large.webp"))
    }

    fn in_the_dark(&mut self, page: &Path, pictures: &Path) -> Result<()> {
        let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
        self.tab.call("Emulation.setEmulatedMedia", &dark)?;
        self.tab.visit(page, WIDE, 900)?;
        self.essentials("dark")?;
        self.contrast("dark")?;
        self.accessible("dark")?;
        let seen = self.tab.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")?;
        let is_dark = seen.as_array().is_some_and(|color| color.iter().all(|part| part.as_u64() < Some(60)));
        self.expect("dark: the page is dark", is_dark, &seen);
        self.tab.picture(&section("deadlock"), &pictures.join("deadlock.webp"))?;
        self.tab.call("Emulation.setEmulatedMedia", &json!({ "features": [] })).map(drop)
    }

    fn in_a_narrow_window(&mut self, page: &Path, pictures: &Path) -> Result<()> {
        self.tab.visit(page, 420, 900)?;
        self.essentials("narrow")?;
        let seen = self.tab.evaluate(STICKS_OUT)?;
        self.expect("narrow: nothing sticks out", seen == json!([]), &seen);
        self.accessible("narrow")?;
        self.tab.screenshot(&pictures.join("narrow.png"))
    }

    fn without_script(&mut self, page: &Path, pictures: &Path) -> Result<()> {
        self.tab.call("Emulation.setScriptExecutionDisabled", &json!({ "value": true }))?;
        self.tab.visit(page, WIDE, 900)?;
        self.essentials("without a script")?;
        let seen =
            self.tab.evaluate("[...document.querySelectorAll('.tools')].filter((one) => one.offsetHeight).length")?;
        self.expect("without a script: no buttons that do nothing", seen == 0, &seen);
        self.tab.screenshot(&pictures.join("plain.png"))
    }
}
