"""Drives a headless Chromium through its debugging pipe: JSON, a zero byte after each message, on the
descriptors 3 (to it) and 4 (from it). Needs nothing but Python."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# The time after which something counts as hanging, in seconds; nothing takes this long.
HANGS = 1800


def find():
    """The browser's path, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Failed(Exception):
    pass


class Browser:
    def __init__(self, downloads=None):
        self.profile = tempfile.mkdtemp(prefix="burin-browser-")
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()
        # One of these may itself be 3 or 4, so both are moved out of the way before.
        high = [os.dup2(fd, at) for fd, at in ((to_read, 103), (from_write, 104))]
        for fd in (to_read, from_write):
            os.close(fd)
        arguments = [find(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", "--force-color-profile=srgb", "--hide-scrollbars",
            "--disable-background-networking", "--user-data-dir=" + self.profile, "about:blank"]
        self.process = subprocess.Popen(arguments, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
            preexec_fn=lambda: [os.dup2(high[0], 3), os.dup2(high[1], 4)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in high:
            os.close(fd)
        self.rest = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Performance.enable", timeDomain="threadTicks")
        if downloads:
            session, self.session = self.session, None
            self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=downloads)
            self.session = session

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (Failed, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.source)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, until):
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.source], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise Failed("the browser does not answer")
            piece = os.read(self.source, 1 << 20)
            if not piece:
                raise Failed("the browser has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, timeout=HANGS, **parameters):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + timeout
        while True:
            answer = self.receive(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def run(self, script):
        """The value of an expression in the page; promises are waited for."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failed(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def wait(self, script, timeout=HANGS):
        until = time.monotonic() + timeout
        while not self.run(script):
            if time.monotonic() > until:
                raise Failed("waited in vain for " + script)
            time.sleep(0.02)

    def open(self, path, width=1280, height=900, dark=False):
        """Opens a page from disk and waits until it is ready. Returns the seconds that took."""
        self.size(width, height)
        self.call("Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        start = time.monotonic()
        self.call("Page.navigate", url="file://" + os.path.realpath(path))
        self.wait("document.body && document.body.dataset.ready === 'yes'")
        return time.monotonic() - start

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=False)

    def key(self, key, shift=False):
        codes = {"Enter": 13, " ": 32, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
            "Home": 36, "End": 35, "Escape": 27, "PageDown": 34}
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        common = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())),
            "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def shot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", preferCSSPageSize=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def seconds(self):
        """Processor time that the page has used since it was opened."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    def complaints(self):
        """What the page threw, and what the browser refused it."""
        found = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
        return found

    def requests(self):
        """All addresses that were asked for since the page was opened."""
        return [event["params"]["request"]["url"] for event in self.events
            if event.get("method") == "Network.requestWillBeSent"]
