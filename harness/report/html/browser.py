#!/usr/bin/env python3
"""Opens pages in a headless Chromium without network and says what it saw, as JSON.

  browser.py [--views NAME,...] [--pictures FOLDER [--part SELECTOR] [--height N]] PAGE...

--pictures takes one of each view, of the first 12,000 pixels, for people to look at; with --part
of the first element that it selects, with --height of no more than so many pixels.

Each page is opened wide and narrow, light and dark, and once without scripts. Of each view:
errors and warnings of the console, requests besides the page's own file, how wide the content is,
the charts with their points and the pixels that have a colour, and the rows of its tables. Speaks
the DevTools protocol through a pipe and needs nothing but Python and Chromium.
"""
import argparse
import base64
import fcntl
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

VIEWS = {
    'wide-light': (1280, 'light', True),
    'wide-dark': (1280, 'dark', True),
    'narrow-light': (390, 'light', True),
    'narrow-dark': (390, 'dark', True),
    'narrowest': (360, 'light', True),
    'no-scripts': (390, 'light', False),
}

OPEN_ALL = "document.querySelectorAll('details').forEach((d) => { d.open = true; })"

# A canvas with nothing but axes has shades of grey only.
SEEN = """(() => {
  const coloured = (canvas) => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 0; i < data.length; i += 4) {
      const [low, high] = [Math.min(data[i], data[i + 1], data[i + 2]),
                           Math.max(data[i], data[i + 1], data[i + 2])];
      if (data[i + 3] > 50 && high - low > 40) ++n;
    }
    return n;
  };
  return JSON.stringify({
    width: document.documentElement.scrollWidth,
    rows: [...document.querySelectorAll('tbody tr')].filter((r) => r.offsetHeight > 0).length,
    headline: document.querySelector('.headline')?.textContent,
    charts: [...document.querySelectorAll('.plot')].map((plot) => ({
      id: plot.dataset.chart,
      points: Number(plot.dataset.points || 0),
      coloured: [...plot.querySelectorAll('canvas')].reduce((n, c) => n + coloured(c), 0),
      shown: plot.offsetHeight > 0,
    })),
  });
})()"""


class Browser:
    """A Chromium that reads commands from file descriptor 3 and answers on 4."""

    def __init__(self, profile):
        program = shutil.which('chromium') or sys.exit('browser.py: there is no chromium')
        # Above 4, so that the copies below do not overwrite them.
        pipes = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (*os.pipe(), *os.pipe())]
        to_read, self.commands, self.answers, to_write = pipes

        def connect():
            os.setsid()
            os.dup2(to_read, 3)
            os.dup2(to_write, 4)

        self.process = subprocess.Popen(
            [program, '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
             '--no-first-run', '--disable-extensions', '--disable-background-networking',
             '--disable-component-update', '--disable-breakpad', '--hide-scrollbars',
             '--proxy-server=127.0.0.1:9', '--remote-debugging-pipe', f'--user-data-dir={profile}'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=connect, close_fds=False)
        os.close(to_read)
        os.close(to_write)
        self.buffer = b''
        self.number = 0
        self.events = []

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def receive(self, deadline):
        """The next message, or None at the deadline."""
        while b'\0' not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                return None
            piece = os.read(self.answers, 1 << 16)
            if not piece:
                sys.exit('browser.py: chromium has ended')
            self.buffer += piece
        message, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.number += 1
        command = {'id': self.number, 'method': method, 'params': params}
        if session:
            command['sessionId'] = session
        os.write(self.commands, json.dumps(command).encode() + b'\0')
        deadline = time.monotonic() + 30
        while message := self.receive(deadline):
            if message.get('id') == self.number:
                if 'error' in message:
                    sys.exit(f"browser.py: {method}: {message['error']['message']}")
                return message['result']
            self.events.append(message)
        sys.exit(f'browser.py: {method}: no answer')

    def wait_for(self, method, session, deadline):
        while True:
            for event in self.events:
                if event.get('method') == method and event.get('sessionId') == session:
                    return
            message = self.receive(deadline)
            if message is None:
                sys.exit(f'browser.py: {method} did not come')
            self.events.append(message)

    def evaluate(self, session, script):
        result = self.call('Runtime.evaluate', session, expression=script, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in result:
            sys.exit(f"browser.py: {result['exceptionDetails']}")
        return result['result'].get('value')


def complaints(events):
    """What a person would find in the console."""
    found = []
    for event in events:
        method, params = event.get('method'), event.get('params', {})
        if method == 'Runtime.consoleAPICalled' and params['type'] in ('error', 'warning'):
            said = [str(a.get('value', a.get('description'))) for a in params['args']]
            found.append(' '.join(said))
        elif method == 'Runtime.exceptionThrown':
            details = params['exceptionDetails']
            found.append(details.get('exception', {}).get('description', details['text']))
        elif method == 'Log.entryAdded' and params['entry']['level'] in ('error', 'warning'):
            found.append(params['entry']['text'])
    return found


def requests(events, page):
    urls = [e['params']['request']['url'] for e in events
            if e.get('method') == 'Network.requestWillBeSent']
    return [url for url in urls if url != page and not url.startswith('data:')]


def clip_of(browser, session, part, most):
    """The rectangle of the element."""
    found = browser.evaluate(session, f"""(() => {{
      const r = document.querySelector({json.dumps(part)})?.getBoundingClientRect();
      return r && JSON.stringify([r.x, r.y + scrollY, r.width, r.height]);
    }})()""")
    if not found:
        sys.exit(f'browser.py: the page has no {part}')
    x, y, width, height = json.loads(found)
    return {'x': x, 'y': y, 'width': width, 'height': min(height, most), 'scale': 1}


def look_at(browser, page, view, picture, part, most):
    width, scheme, scripts = VIEWS[view]
    browser.events = []
    target = browser.call('Target.createTarget', url='about:blank')['targetId']
    session = browser.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
    for domain in ('Page', 'Runtime', 'Log', 'Network'):
        browser.call(f'{domain}.enable', session)
    browser.call('Emulation.setDeviceMetricsOverride', session, width=width, height=900,
                 deviceScaleFactor=1 if width > 600 else 2, mobile=width <= 600)
    browser.call('Emulation.setEmulatedMedia', session,
                 features=[{'name': 'prefers-color-scheme', 'value': scheme}])
    browser.call('Emulation.setScriptExecutionDisabled', session, value=not scripts)
    browser.events = []
    browser.call('Page.navigate', session, url=page)
    browser.wait_for('Page.loadEventFired', session, time.monotonic() + 30)
    browser.evaluate(session, OPEN_ALL)
    deadline = time.monotonic() + 20
    while True:
        seen = json.loads(browser.evaluate(session, SEEN))
        waiting = [c for c in seen['charts'] if c['shown'] and not c['points']]
        if not scripts or not waiting or time.monotonic() > deadline or complaints(browser.events):
            break
        time.sleep(0.05)
    if picture:
        if scripts:
            browser.evaluate(session, "document.querySelectorAll('details.numbers')"
                                      ".forEach((d) => { d.open = false; })")
        shot = browser.call('Page.captureScreenshot', session, captureBeyondViewport=True,
                            clip=clip_of(browser, session, part, most))
        pathlib.Path(picture).write_bytes(base64.b64decode(shot['data']))
    events = list(browser.events)
    browser.call('Target.closeTarget', targetId=target)
    return {'view': view, 'asked_width': width, **seen, 'complaints': complaints(events),
            'requests': requests(events, page)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument('--pictures', type=pathlib.Path)
    arguments.add_argument('--part', default='html')
    arguments.add_argument('--height', type=int, default=12000)
    arguments.add_argument('--views', default=','.join(VIEWS))
    arguments.add_argument('pages', nargs='+', type=pathlib.Path)
    given = arguments.parse_args()
    found = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(profile)
        try:
            for page in given.pages:
                found[page.name] = {}
                for view in given.views.split(','):
                    picture = given.pictures and given.pictures / f'{page.stem}-{view}.png'
                    found[page.name][view] = look_at(
                        browser, page.resolve().as_uri(), view, picture, given.part, given.height)
        finally:
            browser.close()
    print(json.dumps(found, indent=1))


if __name__ == '__main__':
    main()
