// SPDX-License-Identifier: Apache-2.0
// One MiniBrowser under its own Xvfb, with the WebKitWebDriver that speaks to it.
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { dropFolder, findProgram, scratchFolder, sleep, start, stop, within } from './process.mjs';
import { focusLargestWindow } from './x11.mjs';

const kMiniBrowsers = ['4.1', '4.0', '6.0'].flatMap((api) => [
  `/usr/lib/x86_64-linux-gnu/webkit2gtk-${api}/MiniBrowser`,
  `/usr/lib/aarch64-linux-gnu/webkit2gtk-${api}/MiniBrowser`,
  `/usr/libexec/webkit2gtk-${api}/MiniBrowser`,
]);
// With its default padding the toolbar keeps the window at 447 px; with this it goes down to 290.
const kGtkCss = `window toolbar, window toolbar *, window entry, window button, window button * {
  min-width: 0; min-height: 0; padding: 0; margin: 0; border: 0; font-size: 1px; }\n`;
// Tall enough for whole-page screenshots: a window cannot outgrow its screen.
const kScreen = '1700x12100x24';

export function findWebKit() {
  const driver = 'webkit2gtk-driver';
  return {
    driver: findProgram('webkit', [process.env.WEBKIT_DRIVER ?? 'WebKitWebDriver'], driver),
    browser: findProgram('webkit', kMiniBrowsers, driver),
    xvfb: findProgram('webkit', ['Xvfb'], 'xvfb'),
  };
}

/** A proxy that lets nothing through and remembers what was asked of it. */
export async function startProxy() {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(403).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(`https://${request.url}/`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return { asked, port: server.address().port, close: () => server.close() };
}

async function startScreen(xvfb) {
  const child = start(xvfb, ['-displayfd', '1', '-screen', '0', kScreen, '-nolisten', 'tcp']);
  const number = new Promise((resolve) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.trim());
    });
  });
  const display = await within(10000, 'Xvfb start', Promise.race([number, child.failed]));
  return { child, display: `:${display}` };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
    server.on('error', reject);
  });
}

/** mode: { dark, reducedMotion }, which are settings of GTK and so belong to the process. */
export class WebKitProcess {
  constructor(programs, options, mode, proxyPort) {
    Object.assign(this, { programs, options, mode, proxyPort });
  }

  async open() {
    this.screen = await startScreen(this.programs.xvfb);
    this.home = scratchFolder('webkit');
    const gtk = join(this.home, 'gtk-3.0');
    mkdirSync(gtk);
    writeFileSync(join(gtk, 'gtk.css'), kGtkCss);
    const animations = this.mode.reducedMotion ? 0 : 1;
    writeFileSync(join(gtk, 'settings.ini'), `[Settings]\ngtk-enable-animations=${animations}\n`);
    this.port = await freePort();
    this.driver = start(this.programs.driver, [`--port=${this.port}`], { env: this.environment() });
    this.driver.stdout.resume();
    await this.waitForDriver();
    await this.openSession();
    await within(5000, 'webkit focus', focusLargestWindow(this.screen.display));
  }

  environment() {
    return {
      ...process.env,
      DISPLAY: this.screen.display,
      WAYLAND_DISPLAY: '',
      GTK_THEME: this.mode.dark ? 'Adwaita:dark' : 'Adwaita',
      HOME: this.home,
      XDG_CONFIG_HOME: this.home,
      XDG_CACHE_HOME: this.home,
      XDG_DATA_HOME: this.home,
      // Without it some screenshots come out black (GPU compositing under Xvfb).
      WEBKIT_SKIA_ENABLE_CPU_RENDERING: '1',
      ...(this.options.relaxed ? { JSC_useWasmRelaxedSIMD: '1' } : {}),
    };
  }

  async waitForDriver() {
    for (let tries = 0; ; ++tries) {
      try {
        await Promise.race([this.call('GET', '/status'), this.driver.failed]);
        return;
      } catch (error) {
        if (tries >= 100 || /ended/.test(error.message)) throw error;
        await sleep(50);
      }
    }
  }

  async openSession() {
    const session = await this.call('POST', '/session', {
      capabilities: {
        alwaysMatch: {
          browserName: 'MiniBrowser',
          'webkitgtk:browserOptions': {
            binary: this.programs.browser,
            args: [
              '--automation',
              `--proxy=http://127.0.0.1:${this.proxyPort}`,
              '--ignore-host=localhost',
              '--ignore-host=127.0.0.1',
            ],
          },
        },
      },
    });
    this.session = `/session/${session.sessionId}`;
    this.version = session.capabilities.browserVersion;
    const limit = this.options.stepMs;
    await this.ask('POST', '/timeouts', { script: limit, pageLoad: limit });
  }

  async call(method, path, body) {
    const response = await within(
      this.options.stepMs,
      `webkit ${method} ${path.replace(/^\/session\/[^/]*/, '')}`,
      fetch(`http://127.0.0.1:${this.port}${path}`, {
        method,
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    );
    const { value } = await response.json();
    if (!response.ok)
      throw new Error(`webkit: ${value?.error ?? response.status}: ${value?.message}`);
    return value;
  }

  /** A command of the session. */
  ask(method, path, body) {
    return this.call(method, `${this.session}${path}`, body);
  }

  async close() {
    if (this.session) {
      await Promise.race([this.ask('DELETE', '').catch(() => {}), sleep(2000)]);
    }
    await stop(this.driver);
    await stop(this.screen?.child);
    if (this.home) dropFolder(this.home);
  }
}
