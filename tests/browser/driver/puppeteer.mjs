// SPDX-License-Identifier: Apache-2.0
// Chromium (DevTools protocol) and Firefox (WebDriver BiDi) through puppeteer-core.
import { puppeteerKey, splitChord } from './keys.mjs';
import { findProgram, within } from './process.mjs';

const kChromiumArgs = [
  '--no-sandbox', // needed as root, which is what CI and containers are
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Collections on request, for the leak test.
  '--js-flags=--expose-gc',
];
// BiDi has no command for media features, but privileged script can set the preferences behind them.
const kFirefoxArgs = ['--remote-allow-system-access'];
const kDisplayPrefs = {
  dark: ['ui.systemUsesDarkTheme', 1, 0],
  reducedMotion: ['ui.prefersReducedMotion', 1, 0],
  forcedColors: ['browser.display.document_color_use', 2, 0],
};

class PuppeteerTab {
  constructor(engine, browser, page) {
    this.engine = engine;
    this.browser = browser;
    this.page = page;
    this.clear();
    page.on('console', (message) =>
      this.lines.push({ type: message.type(), text: message.text() }),
    );
    page.on('pageerror', (error) => {
      const text = String(error?.stack ?? error);
      // Firefox reports a load that it refuses as an exception; elsewhere it is a console line, and
      // the page's own handling of it is what counts.
      const refused = /^(Error: )?(Content-Security-Policy|Security Error: Content at)/.test(text);
      if (refused) this.lines.push({ type: 'error', text });
      else this.pageErrors.push(text);
    });
    page.on('request', (request) => this.requests.push(request.url()));
  }

  goto(url) {
    return this.page.goto(url, { waitUntil: 'load' });
  }

  run(expression) {
    return this.page.evaluate(expression);
  }

  resize(width, height) {
    return this.page.setViewport({ width, height });
  }

  async slow(times) {
    if (this.engine === 'firefox') return false;
    await this.page.emulateCPUThrottling(times);
    return true;
  }

  async wheel(x, y, pixels) {
    await this.page.mouse.move(x, y);
    await this.page.mouse.wheel({ deltaY: pixels });
  }

  async media(wanted) {
    if (this.engine === 'firefox') return this.firefoxMedia(wanted);
    this.devtools ??= await this.page.createCDPSession();
    const features = [
      ['prefers-color-scheme', wanted.dark ? 'dark' : 'light'],
      ['prefers-reduced-motion', wanted.reducedMotion ? 'reduce' : 'no-preference'],
      ['forced-colors', wanted.forcedColors ? 'active' : 'none'],
    ].map(([name, value]) => ({ name, value }));
    await this.devtools.send('Emulation.setEmulatedMedia', { features });
  }

  /** Privileged script in Firefox's own window. */
  async firefoxChrome(expression) {
    const { connection } = this.browser;
    if (!this.chrome) {
      const tree = await connection.send('browsingContext.getTree', { 'moz:scope': 'chrome' });
      this.chrome = tree.result.contexts[0].context;
    }
    const target = { context: this.chrome };
    const { result } = await connection.send('script.evaluate', {
      expression,
      target,
      awaitPromise: true,
    });
    if (result.type !== 'success') throw new Error(`firefox: ${result.exceptionDetails?.text}`);
  }

  firefoxMedia(wanted) {
    const lines = Object.entries(kDisplayPrefs).map(
      ([name, [pref, on, off]]) =>
        `Services.prefs.setIntPref(${JSON.stringify(pref)}, ${wanted[name] ? on : off});`,
    );
    return this.firefoxChrome(lines.join(''));
  }

  /** A window without focus matches no :focus; a headless Firefox has to be told. */
  async takeFocus() {
    if (this.engine === 'firefox') {
      await this.firefoxChrome('window.focus(); gBrowser.selectedBrowser.focus();');
    }
  }

  collect() {
    if (this.engine === 'chromium') return this.page.evaluate('gc()');
    const script =
      'data:application/javascript,Components.utils.forceGC();Components.utils.forceCC();';
    return this.firefoxChrome(
      `gBrowser.selectedBrowser.messageManager.loadFrameScript(${JSON.stringify(script)}, false);`,
    );
  }

  async press(chord) {
    const keys = splitChord(chord).map(puppeteerKey);
    for (const key of keys) await this.page.keyboard.down(key);
    for (const key of keys.toReversed()) await this.page.keyboard.up(key);
  }

  type(text) {
    return this.page.keyboard.type(text);
  }

  mouse(x, y, press) {
    return press ? this.page.mouse.click(x, y) : this.page.mouse.move(x, y);
  }

  async capture() {
    return Buffer.from(await this.page.screenshot({ type: 'png' }));
  }

  async records() {
    // A round trip: events sent before its answer have been delivered by then.
    await this.page.evaluate('0');
    const here = new URL(this.page.url()).origin;
    const other = this.requests.filter(
      (url) => /^https?:/.test(url) && new URL(url).origin !== here,
    );
    return { console: [...this.lines], errors: [...this.pageErrors], otherOrigin: other };
  }

  clear() {
    this.lines = [];
    this.pageErrors = [];
    this.requests = [];
  }
}

async function load() {
  try {
    return (await import('puppeteer-core')).default;
  } catch (error) {
    throw new Error(
      `puppeteer-core cannot be loaded (npm ci in the root folder): ${error.message}`,
    );
  }
}

export async function launchPuppeteer(engine, options) {
  const chromium = engine === 'chromium';
  const executablePath = chromium
    ? findProgram(
        engine,
        [process.env.CHROMIUM ?? 'chromium', 'chromium-browser', 'google-chrome'],
        engine,
      )
    : findProgram(engine, [process.env.FIREFOX ?? 'firefox-esr', 'firefox'], 'firefox-esr');
  const puppeteer = await load();
  const browser = await within(
    options.startMs,
    `${engine} start`,
    puppeteer.launch({
      browser: chromium ? 'chrome' : 'firefox',
      executablePath,
      headless: true,
      args: chromium ? kChromiumArgs : kFirefoxArgs,
      protocolTimeout: options.stepMs,
      timeout: options.startMs,
    }),
  );
  const child = browser.process();
  const [first] = await browser.pages();
  const tab = new PuppeteerTab(engine, browser, first ?? (await browser.newPage()));
  await within(options.stepMs, `${engine} focus`, tab.takeFocus());
  return {
    version: await browser.version(),
    tab,
    async close() {
      try {
        await within(5000, `${engine} close`, browser.close());
      } catch {
        child?.kill('SIGKILL');
      }
    },
  };
}
