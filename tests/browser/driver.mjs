// SPDX-License-Identifier: Apache-2.0
// One page object for three real engines. Tests see only this file: what an engine cannot do is said
// by a return value, never hidden by an emulation that would test something else.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { findDeep } from './driver/in_page.mjs';
import { decodePng, inspect } from './driver/png.mjs';
import { sleep, within } from './driver/process.mjs';
import { launchPuppeteer } from './driver/puppeteer.mjs';
import { launchWebKit } from './driver/webkit.mjs';

export { MissingError } from './driver/process.mjs';

export const kEngines = ['chromium', 'firefox', 'webkit'];
const kViewport = { width: 1280, height: 800 };
const kNoMedia = { dark: false, reducedMotion: false, forcedColors: false };

export class Page {
  constructor(engine, tab, stepMs) {
    this.engine = engine;
    this.tab = tab;
    this.stepMs = stepMs;
    this.viewport = undefined;
    this.pointer = { x: 0, y: 0 };
    this.media = { ...kNoMedia };
  }

  step(what, promise, ms = this.stepMs) {
    return within(ms, `${this.engine} ${what}`, promise);
  }

  /** Loads a page and forgets what earlier ones logged; returns after its load event. */
  async goto(url) {
    this.tab.clear();
    await this.step(`goto ${url}`, this.tab.goto(url));
  }

  /**
   * Calls a function, or evaluates an expression, in the page; waits when it is asynchronous.
   * Arguments and result travel as JSON. The function sees nothing of its surroundings here.
   */
  async evaluate(code, ...args) {
    const list = args.map((arg) => JSON.stringify(arg) ?? 'undefined').join(',');
    const body = typeof code === 'function' ? `(${code})(${list})` : `(${code})`;
    const expression = `(async () => { try { return JSON.stringify({ value: await ${body} }); }
      catch (e) { return JSON.stringify({ error: String(e && e.stack || e), name: String(e) }); } })()`;
    const answer = JSON.parse(await this.step('evaluate', this.tab.run(expression)));
    if ('error' in answer) throw new Error(`in the page: ${answer.name}\n${answer.error}`);
    return answer.value;
  }

  /** Runs a classic script in the page, past any content security policy. */
  inject(source) {
    return this.step('inject', this.tab.run(`(async () => { (function () {${source}\n})(); })()`));
  }

  /** Slows the processor for this page; false where the engine cannot. */
  async slowProcessor(times) {
    if (!this.tab.slow) return false;
    return this.step('slowProcessor', this.tab.slow(times));
  }

  /** Collects garbage now. */
  collectGarbage() {
    return this.step('collectGarbage', this.tab.collect());
  }

  /** Turns the wheel where the pointer was last put by hover or click. */
  wheelHere(pixels) {
    const { x, y } = this.pointer;
    return this.step('wheel', this.tab.wheel(x, y, pixels));
  }

  /** Repeats `code` until its value is truthy and returns that value. */
  async waitFor(what, code, args = [], ms = this.stepMs) {
    const end = performance.now() + ms;
    for (;;) {
      const value = await this.evaluate(code, ...args);
      if (value) return value;
      if (performance.now() > end) throw new Error(`${this.engine}: waited ${ms} ms for ${what}`);
      await sleep(25);
    }
  }

  async setViewport(width, height) {
    if (this.viewport?.width === width && this.viewport?.height === height) return;
    await this.step('setViewport', this.tab.resize(width, height));
    this.viewport = { width, height };
  }

  /**
   * Asks for media features; those not named are off. True when the page really has all of them, so
   * a test can skip itself by name where an engine has no such switch. May load the page again.
   */
  async emulate(wanted) {
    const media = { ...kNoMedia, ...wanted };
    if (JSON.stringify(media) !== JSON.stringify(this.media)) {
      await this.step('emulate', this.tab.media(media));
      this.media = media;
    }
    // A changed preference reaches Firefox's page some frames later.
    for (let tries = 0; ; ++tries) {
      const seen = await this.evaluate(() => ({
        dark: matchMedia('(prefers-color-scheme: dark)').matches,
        reducedMotion: matchMedia('(prefers-reduced-motion: reduce)').matches,
        forcedColors: matchMedia('(forced-colors: active)').matches,
      }));
      if (Object.keys(wanted).every((name) => seen[name] === wanted[name])) return true;
      if (tries === 20) return false;
      await sleep(25);
    }
  }

  /** One key or chord: 'Tab', 'ArrowDown', 'Control+z'. */
  press(key) {
    return this.step(`press ${key}`, this.tab.press(key));
  }

  type(text) {
    return this.step('type', this.tab.type(text));
  }

  /**
   * Where the first match is, scrolled into view. It must still be there two frames later: a page may
   * move what is pointed at.
   */
  async centre(selector) {
    let spot;
    for (let tries = 0; tries < 20; ++tries) {
      const before = spot;
      spot = await this.evaluate(findDeep, selector, 'centre');
      if (!spot || (before && Math.hypot(spot.x - before.x, spot.y - before.y) < 1)) break;
      await this.frames();
    }
    if (!spot) throw new Error(`${this.engine}: nothing matches '${selector}'`);
    if (spot.width === 0 || spot.height === 0) {
      throw new Error(`${this.engine}: '${selector}' has no size, so nobody could point at it`);
    }
    return spot;
  }

  /** A real click; `a >>> b` looks for b inside the shadow root of a. */
  async click(selector) {
    const { x, y } = (this.pointer = await this.centre(selector));
    await this.step(`click ${selector}`, this.tab.mouse(x, y, true));
  }

  async hover(selector) {
    const { x, y } = (this.pointer = await this.centre(selector));
    await this.step(`hover ${selector}`, this.tab.mouse(x, y, false));
  }

  /** Text of the first match (shadow roots by `>>>`), or null. */
  text(selector) {
    return this.evaluate(findDeep, selector, 'text');
  }

  exists(selector) {
    return this.evaluate(findDeep, selector, 'exists');
  }

  focus(selector) {
    return this.evaluate(findDeep, selector, 'focus');
  }

  /** Two animation frames: before them WebKit's screenshot still shows the previous paint. */
  frames() {
    return this.evaluate(
      () =>
        new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))),
    );
  }

  /** What the viewport shows, as a PNG file at `path` (or only as bytes); refuses an all-black one. */
  async screenshot(path, size) {
    if (size) await this.setViewport(size.width, size.height);
    for (let tries = 0; ; ++tries) {
      await this.frames();
      const bytes = await this.step('screenshot', this.tab.capture());
      const { black } = inspect(decodePng(bytes));
      if (black && tries < 3) continue;
      if (black) throw new Error(`${this.engine}: the screenshot ${path ?? ''} is all black`);
      if (path) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, bytes);
      }
      return bytes;
    }
  }

  /** { console: [{type, text}], errors: [text], otherOrigin: [url] } since the last goto. */
  async records() {
    const { otherOrigin, ...rest } = await this.step('records', this.tab.records());
    // .invalid names nobody (RFC 6761): tests use it to provoke what must be refused.
    return {
      ...rest,
      otherOrigin: otherOrigin.filter((url) => !/^https?:\/\/[^/]*\.invalid\b/.test(url)),
    };
  }

  /** Back to the state a test may start from. */
  async reset() {
    if (this.tab.url !== undefined) this.tab.url = 'about:blank'; // WebKit would load it again
    await this.emulate(kNoMedia);
    await this.slowProcessor(1);
    await this.goto('about:blank');
    await this.setViewport(kViewport.width, kViewport.height);
  }
}

/**
 * Starts one browser with one tab. options: relaxed (WebKit only: switch relaxed SIMD on), stepMs and
 * startMs (limits). The result has engine, version, page, close().
 */
export async function launch(engine, options = {}) {
  if (!kEngines.includes(engine)) {
    throw new Error(`unknown engine '${engine}' (one of ${kEngines.join(', ')})`);
  }
  const limits = { stepMs: 30000, startMs: 60000, relaxed: false, ...options };
  const browser =
    engine === 'webkit' ? await launchWebKit(limits) : await launchPuppeteer(engine, limits);
  const page = new Page(engine, browser.tab, limits.stepMs);
  return { engine, version: browser.version, page, close: browser.close };
}
