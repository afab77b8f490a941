// SPDX-License-Identifier: Apache-2.0
// The static server of the browser tests. Each test asks for a variant: a path of its own under
// which a folder is served with that test's headers, faults and extra pages. Caches, content security
// policy reports and request logs of one test therefore never reach another.
import { once } from 'node:events';
import { createReadStream, readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';

const kTypes = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.map': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
};
const kReport = '__csp';
const kCapture = '__capture.js';
const kCaptureText = readFileSync(new URL('./driver/capture.js', import.meta.url));

/** Puts capture.js before the page's first element; see there. */
function instrument(html, url) {
  const tag = `<script src="${url}${kCapture}"></script>`;
  const start = /<head\b[^>]*>|<html\b[^>]*>|<!doctype[^>]*>/gi;
  let at = 0;
  for (const match of html.matchAll(start)) at = match.index + match[0].length;
  return html.slice(0, at) + tag + html.slice(at);
}

/**
 * What a variant can ask for:
 *   roots   folders by prefix, { '': siteFolder, 'tests/': testsFolder }; the longest prefix wins
 *   pages   { 'embed.html': '<!doctype html>...' }, also functions of the variant
 *   csp     Content-Security-Policy, completed with a report-uri that fills variant.violations
 *   headers added to every answer
 *   rules   [{ match: RegExp, status, type, headers, body, truncate }], first match wins;
 *           `truncate` sends that share of the file and ends as if it were whole
 */
class Variant {
  constructor(url, options, capture) {
    this.url = url;
    this.capture = capture;
    this.options = { roots: {}, pages: {}, headers: {}, rules: [], ...options };
    this.requests = [];
    this.violations = [];
  }

  async answer(path, request, response) {
    if (path === kReport) return this.takeReport(request, response);
    if (path === kCapture) {
      return response.writeHead(200, { 'Content-Type': kTypes['.js'] }).end(kCaptureText);
    }
    this.requests.push(path);
    const rule = this.options.rules.find(({ match }) => match.test(path)) ?? {};
    const headers = { 'Cache-Control': 'no-store', ...this.options.headers };
    if (this.options.csp) {
      headers['Content-Security-Policy'] = `${this.options.csp}; report-uri ${this.url}${kReport}`;
    }
    const found = await this.find(path);
    const type = rule.type ?? found?.type ?? kTypes['.txt'];
    Object.assign(headers, { 'Content-Type': type }, rule.headers);
    if (rule.body !== undefined) {
      response.writeHead(rule.status ?? 200, headers).end(rule.body);
    } else if (rule.status && rule.status >= 400) {
      response.writeHead(rule.status, headers).end(`status ${rule.status}, as the test asked\n`);
    } else if (!found) {
      response.writeHead(404, headers).end(`not found: ${path}\n`);
    } else if (found.text !== undefined || (this.capture && found.type === kTypes['.html'])) {
      const text = found.text ?? (await readFile(found.file, 'utf8'));
      const html = this.capture && found.type === kTypes['.html'];
      response.writeHead(200, headers).end(html ? instrument(text, this.url) : text);
    } else {
      const size = Math.floor(found.size * (rule.truncate ?? 1));
      headers['Content-Length'] = size;
      response.writeHead(200, headers);
      if (size === 0) response.end();
      else createReadStream(found.file, { end: size - 1 }).pipe(response);
    }
  }

  async find(path) {
    const page = this.options.pages[path];
    if (page !== undefined) {
      const text = typeof page === 'function' ? page(this) : page;
      return { text, type: kTypes[extname(path)] };
    }
    const prefixes = Object.keys(this.options.roots).sort((a, b) => b.length - a.length);
    const prefix = prefixes.find((candidate) => path.startsWith(candidate));
    if (prefix === undefined) return undefined;
    const root = this.options.roots[prefix];
    let file = normalize(join(root, path.slice(prefix.length)));
    if (file !== root && !file.startsWith(root + sep)) return undefined;
    try {
      let info = await stat(file);
      if (info.isDirectory()) {
        file = join(file, 'index.html');
        info = await stat(file);
      }
      return { file, size: info.size, type: kTypes[extname(file)] ?? 'application/octet-stream' };
    } catch {
      return undefined;
    }
  }

  async takeReport(request, response) {
    let text = '';
    for await (const chunk of request) text += chunk;
    response.writeHead(204).end();
    const report = JSON.parse(text)['csp-report'];
    this.violations.push({
      directive: report['effective-directive'] ?? report['violated-directive'],
      blocked: report['blocked-uri'],
      source: report['source-file'],
      line: report['line-number'],
    });
  }
}

/** `capture`: put capture.js into pages (for WebKit, which has no console events). */
export async function startServer({ capture = false } = {}) {
  const variants = new Map();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const [, id, rest] = /^\/v(\d+)\/(.*)$/.exec(pathname) ?? [];
    const variant = variants.get(id);
    if (pathname === '/favicon.ico') return response.writeHead(204).end();
    if (!variant) return response.writeHead(404).end();
    variant.answer(decodeURIComponent(rest), request, response).catch((error) => {
      response.destroy(error);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  const origin = `http://localhost:${port}`;
  return {
    origin,
    /** How many variants there have been: the number of the next one. */
    get count() {
      return variants.size;
    },
    /** The number of the variant that a URL of this server, by any of its host names, belongs to. */
    numberOf(url) {
      const found = new RegExp(`^http://[^/]*:${port}/v(\\d+)/`).exec(url);
      return found ? Number(found[1]) : undefined;
    },
    variant(options) {
      const id = String(variants.size);
      const variant = new Variant(`${origin}/v${id}/`, options, capture);
      variants.set(id, variant);
      return variant;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
