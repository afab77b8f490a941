// SPDX-License-Identifier: Apache-2.0
// WebKitGTK's MiniBrowser through WebKitWebDriver and plain fetch. Classic WebDriver has no events, so
// console lines come from capture.js, which the test server puts into each page (MiniBrowser's own
// --enable-write-console-messages-to-stdout stays silent under automation), and requests to other
// origins are those that reach a proxy of ours. Dark mode and reduced motion are settings of the
// process: the first test that wants one starts a second browser (0.5 s), which then stays.
import { splitChord, webDriverKey } from './keys.mjs';
import { sleep } from './process.mjs';
import { WebKitProcess, findWebKit, startProxy } from './webkit_process.mjs';

const kResizeMs = 10000;

class WebKitTab {
  constructor(programs, options, proxy) {
    Object.assign(this, { programs, options, proxy });
    this.processes = new Map();
    this.url = 'about:blank';
    this.size = { width: 1280, height: 800 };
    this.askedBefore = 0;
  }

  async use(mode) {
    const key = JSON.stringify(mode);
    let process = this.processes.get(key);
    if (!process) {
      process = new WebKitProcess(this.programs, this.options, mode, this.proxy.port);
      this.processes.set(key, process);
      await process.open();
    }
    this.current = process;
  }

  ask(method, path, body) {
    return this.current.ask(method, path, body);
  }

  async goto(url) {
    this.url = url;
    await this.ask('POST', '/url', { url });
  }

  async run(expression) {
    const [value, error] = await this.ask('POST', '/execute/async', {
      script: `const done = arguments[arguments.length - 1];
        (${expression}).then((value) => done([value]), (error) => done([null, String(error)]));`,
      args: [],
    });
    if (error) throw new Error(`webkit, in the page: ${error}`);
    return value;
  }

  async resize(width, height) {
    this.size = { width, height };
    // The window includes a toolbar; the page learns of a new size some frames later.
    this.current.toolbar ??= await this.measureToolbar();
    await this.rect(width, height + this.current.toolbar);
    await this.waitForSize((w, h) => w === width && h === height, `${width} x ${height}`);
  }

  rect(width, height) {
    return this.ask('POST', '/window/rect', { x: 0, y: 0, width, height });
  }

  async waitForSize(fits, what) {
    const end = performance.now() + kResizeMs;
    for (;;) {
      const [width, height] = JSON.parse(
        await this.run(`Promise.resolve(JSON.stringify([innerWidth, innerHeight]))`),
      );
      if (fits(width, height)) return height;
      if (performance.now() > end) {
        throw new Error(`webkit: the page is ${width} x ${height}, not ${what}`);
      }
      await sleep(20);
    }
  }

  async measureToolbar() {
    await this.rect(901, 701);
    return (
      701 - (await this.waitForSize((width, height) => width === 901 && height <= 701, '901 wide'))
    );
  }

  async media({ dark = false, reducedMotion = false }) {
    const before = this.current;
    await this.use({ dark, reducedMotion });
    if (this.current === before) return;
    await this.resize(this.size.width, this.size.height);
    await this.goto(this.url);
  }

  actions(id, type, actions, parameters) {
    const source = { id, type, ...(parameters ? { parameters } : {}), actions };
    return this.ask('POST', '/actions', { actions: [source] });
  }

  press(chord) {
    const keys = splitChord(chord).map(webDriverKey);
    return this.actions('keyboard', 'key', [
      ...keys.map((value) => ({ type: 'keyDown', value })),
      ...keys.toReversed().map((value) => ({ type: 'keyUp', value })),
    ]);
  }

  type(text) {
    const presses = [...text].flatMap((value) => [
      { type: 'keyDown', value },
      { type: 'keyUp', value },
    ]);
    return this.actions('keyboard', 'key', presses);
  }

  mouse(x, y, press) {
    const move = { type: 'pointerMove', x: Math.round(x), y: Math.round(y), duration: 0 };
    const click = [
      { type: 'pointerDown', button: 0 },
      { type: 'pointerUp', button: 0 },
    ];
    return this.actions('mouse', 'pointer', [move, ...(press ? click : [])], {
      pointerType: 'mouse',
    });
  }

  wheel(x, y, pixels) {
    // WebKitWebDriver 2.50 takes the delta as a position of the wheel and turns it by the difference
    // from the action before.
    this.current.wheel = (this.current.wheel ?? 0) + pixels;
    const deltaY = this.current.wheel;
    const scroll = { type: 'scroll', x: Math.round(x), y: Math.round(y), deltaX: 0, deltaY };
    return this.actions('wheel', 'wheel', [scroll]);
  }

  async capture() {
    return Buffer.from(await this.ask('GET', '/screenshot'), 'base64');
  }

  /** JavaScriptCore has no request for a collection outside of its own tests: make garbage. */
  collect() {
    return this.run(`(async () => {
      for (let i = 0; i < 4; ++i) {
        Array.from({ length: 40 }, () => new Array(250000).fill({}));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })()`);
  }

  async records() {
    const page = await this.run(
      `Promise.resolve(JSON.stringify(window.__attnRecords ?? (location.protocol === 'about:'
        ? { console: [], errors: [] } : null)))`,
    );
    const lines = JSON.parse(page);
    if (!lines) throw new Error(`webkit: ${this.url} was served without capture.js`);
    return { ...lines, otherOrigin: this.proxy.asked.slice(this.askedBefore) };
  }

  clear() {
    this.askedBefore = this.proxy.asked.length;
  }

  async close() {
    await Promise.all([...this.processes.values()].map((process) => process.close()));
    this.proxy.close();
  }
}

export async function launchWebKit(options) {
  const tab = new WebKitTab(findWebKit(), options, await startProxy());
  try {
    await tab.use({ dark: false, reducedMotion: false });
  } catch (error) {
    await tab.close();
    throw error;
  }
  return { version: `WebKitGTK ${tab.current.version}`, tab, close: () => tab.close() };
}
