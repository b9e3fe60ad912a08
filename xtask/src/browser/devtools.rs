//! Headless Chromium, controlled through two pipes: each message is JSON that ends with a zero byte.

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The browser reads messages from descriptor 3, and answers on 4. It ends when the pipes close, or when it takes too
/// long.
const START: &str = r#"exec timeout 120 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars \
    --user-data-dir="$1/profile" --remote-debugging-pipe about:blank 3<"$1/to" 4>"$1/from" 2>"$1/log""#;

/// A page in a browser.
pub struct Tab {
    browser: Child,
    to: File,
    from: BufReader<File>,
    last: u64,
    session: Option<String>,
    /// Events that the browser sent.
    pub events: Vec<Value>,
}

impl Tab {
    /// Starts a browser, which keeps its files in a directory.
    pub fn open(directory: &Path) -> Result<Self> {
        let _ = std::fs::remove_dir_all(directory);
        std::fs::create_dir_all(directory)?;
        let (to, from) = (directory.join("to"), directory.join("from"));
        if !Command::new("mkfifo").args([&to, &from]).status()?.success() {
            bail!("cannot make pipes in {}", directory.display());
        }
        let browser =
            Command::new("sh").args(["-c", START, "sh"]).arg(directory).stdout(Stdio::null()).spawn().context("sh")?;
        // In the order in which the shell opens them: each waits for the other side.
        let to = File::options().write(true).open(to)?;
        let from = BufReader::new(File::open(from)?);
        let mut tab = Self { browser, to, from, last: 0, session: None, events: Vec::new() };
        let target = tab.call("Target.createTarget", &json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = tab.call("Target.attachToTarget", &attach)?;
        tab.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), &json!({}))?;
        }
        Ok(tab)
    }

    /// Sends a request and waits for the answer.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Result<Value> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.to.write_all(&bytes).context("the browser has ended")?;
        loop {
            let mut answer = self.receive()?;
            if answer["id"] == self.last {
                if !answer["error"].is_null() {
                    bail!("{method}: {}", answer["error"]);
                }
                return Ok(answer["result"].take());
            }
            self.events.push(answer);
        }
    }

    /// Waits for an event from the browser.
    pub fn wait_for(&mut self, event: &str) -> Result<()> {
        loop {
            if let Some(at) = self.events.iter().position(|known| known["method"] == event) {
                self.events.remove(at);
                return Ok(());
            }
            let received = self.receive()?;
            self.events.push(received);
        }
    }

    fn receive(&mut self) -> Result<Value> {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes)?;
        if bytes.pop() != Some(0) {
            bail!("the browser has ended");
        }
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Returns the value of an expression on the page.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value> {
        let ask = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", &ask)?;
        if !answer["exceptionDetails"].is_null() {
            bail!("`{expression}`: {}", answer["exceptionDetails"]["exception"]["description"]);
        }
        Ok(answer["result"]["value"].take())
    }

    /// Opens a page in a window of the given size, and waits until it is loaded.
    pub fn visit(&mut self, page: &Path, width: u32, height: u32) -> Result<()> {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", &size)?;
        self.events.clear();
        self.call("Page.navigate", &json!({ "url": format!("file://{}", page.display()) }))?;
        self.wait_for("Page.loadEventFired")
    }

    /// Moves the pointer, or uses it.
    pub fn pointer(&mut self, kind: &str, [x, y]: [f64; 2], more: &Value) -> Result<()> {
        let mut event = json!({ "type": kind, "x": x, "y": y });
        for (name, value) in more.as_object().into_iter().flatten() {
            event[name] = value.clone();
        }
        self.call("Input.dispatchMouseEvent", &event).map(drop)
    }

    /// Takes a screenshot of the window, as PNG.
    pub fn screenshot(&mut self, file: &Path) -> Result<()> {
        self.capture(file, &json!({ "format": "png" }))
    }

    /// Takes a screenshot of a part of the page, wherever it is.
    pub fn picture(&mut self, of: &str, file: &Path) -> Result<()> {
        let place = self.evaluate(&format!(
            "(() => {{ const box = {of}.getBoundingClientRect(); return {{ x: box.x + scrollX, y: box.y + scrollY, \
             width: box.width, height: box.height, scale: 1 }}; }})()"
        ))?;
        // Small enough to be part of the documentation.
        let how = json!({ "format": "webp", "quality": 80, "captureBeyondViewport": true, "clip": place });
        self.capture(file, &how)
    }

    fn capture(&mut self, file: &Path, how: &Value) -> Result<()> {
        let shot = self.call("Page.captureScreenshot", how)?;
        let text = shot["data"].as_str().context("no picture")?;
        std::fs::write(file, decode(text)).with_context(|| format!("cannot write {}", file.display()))
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let _ = self.call("Browser.close", &json!({}));
        let _ = self.browser.wait();
    }
}

/// Decodes base 64.
fn decode(text: &str) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter_map(|letter| LETTERS.iter().position(|known| *known == letter));
    let (mut bits, mut count, mut out) = (0_usize, 0, Vec::new());
    for digit in digits {
        bits = bits << 6 | digit;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn base_64() {
        assert_eq!(super::decode("UmFjZUh1bnRlcg=="), b"RaceHunter");
    }
}
