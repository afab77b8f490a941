// SPDX-License-Identifier: Apache-2.0
// attn serve: what a browser needs of it, and nothing outside the site.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { programs, scratch } from './program.mjs';

const { folder, write } = scratch();
const site = join(folder, 'site');
mkdirSync(join(site, 'sub folder'), { recursive: true });
mkdirSync(join(site, 'bare'));
writeFileSync(join(site, 'index.html'), '<h1>home</h1>');
writeFileSync(join(site, 'sub folder', 'index.html'), 'sub');
writeFileSync(join(site, 'kernels.wasm'), '0123456789');
writeFileSync(join(site, 'page.mjs'), 'export {};');
writeFileSync(join(site, 'page.js'), 'export {};');
writeFileSync(join(site, 'empty.css'), '');
write('secret', 'secret.txt');
symlinkSync(join(folder, 'secret.txt'), join(site, 'link.txt'));

const [native, node] = programs;

// Starts the server and waits for its line.
async function start(...args) {
  const child = spawn(native.command[0], ['serve', '--root', site, ...args]);
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const [, port] = line.match(/^explainer: http:\/\/localhost:(\d+)\n$/) ?? [];
  assert.ok(port, line);
  return { child, port: Number(port), url: `http://127.0.0.1:${port}` };
}

async function stop({ child }, signal) {
  const ended = once(child, 'exit');
  child.kill(signal);
  const [code, by] = await ended;
  assert.deepEqual([code, by], [0, null]);
}

// A request as it stands: fetch() would tidy up the path.
async function raw(port, request) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(
    `${request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
  let text = '';
  for await (const part of socket) text += part;
  return text;
}

describe('attn serve', () => {
  let server;
  before(async () => {
    server = await start('--port', '0');
  });
  after(() => stop(server, 'SIGTERM'));
  const get = (path, init) => fetch(server.url + path, { redirect: 'manual', ...init });

  for (const [path, type, body] of [
    ['/', 'text/html; charset=utf-8', '<h1>home</h1>'],
    ['/index.html?x=1', 'text/html; charset=utf-8', '<h1>home</h1>'],
    ['/kernels.wasm', 'application/wasm', '0123456789'],
    ['/page.mjs', 'text/javascript; charset=utf-8', 'export {};'],
    ['/page.js', 'text/javascript; charset=utf-8', 'export {};'],
    ['/empty.css', 'text/css; charset=utf-8', ''],
    ['/sub%20folder/', 'text/html; charset=utf-8', 'sub'],
  ]) {
    test(`${path} is ${type}, for every origin`, async () => {
      const response = await get(path);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), type);
      assert.equal(response.headers.get('access-control-allow-origin'), '*');
      assert.equal(await response.text(), body);
      const head = await get(path, { method: 'HEAD' });
      assert.equal(head.status, 200);
      assert.equal(head.headers.get('content-length'), String(body.length));
      assert.equal(await head.text(), '');
    });
  }

  test('WebAssembly compiles while it arrives', async () => {
    writeFileSync(join(site, 'least.wasm'), new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
    const module = await WebAssembly.compileStreaming(get('/least.wasm'));
    assert.ok(module instanceof WebAssembly.Module);
  });

  for (const [range, content, body] of [
    ['bytes=0-3', 'bytes 0-3/10', '0123'],
    ['bytes=8-100', 'bytes 8-9/10', '89'],
    ['bytes=5-', 'bytes 5-9/10', '56789'],
    ['bytes=-3', 'bytes 7-9/10', '789'],
    ['bytes=-30', 'bytes 0-9/10', '0123456789'],
  ]) {
    test(`a part: ${range}`, async () => {
      const response = await get('/kernels.wasm', { headers: { range } });
      assert.equal(response.status, 206);
      assert.equal(response.headers.get('content-range'), content);
      assert.equal(response.headers.get('content-length'), String(body.length));
      assert.equal(await response.text(), body);
    });
  }

  test('parts that are not there, and several at once', async () => {
    for (const range of ['bytes=10-', 'bytes=20-30', 'bytes=-0', 'bytes=x', 'bytes=5-2']) {
      const response = await get('/kernels.wasm', { headers: { range } });
      assert.equal(response.status, 416);
      assert.equal(response.headers.get('content-range'), 'bytes */10');
    }
    const several = await get('/kernels.wasm', { headers: { range: 'bytes=0-1,4-5' } });
    assert.deepEqual([several.status, await several.text()], [200, '0123456789']);
  });

  test('nothing outside the site', async () => {
    for (const path of [
      '/../secret.txt',
      `/../${basename(site)}/index.html`, // out and back: tells that the folder is there
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/sub%20folder/../../secret.txt',
      `/${folder}/secret.txt`,
      '//etc/passwd',
      '/link.txt',
      '/index.html%00.txt',
      '/..\\secret.txt',
    ]) {
      const answer = await raw(server.port, `GET ${path}`);
      assert.match(answer, /^HTTP\/1\.1 40[04] /, path);
      assert.doesNotMatch(answer, /secret$|root:/, path);
    }
  });

  test('absent files, folders without a page, folders without a slash', async () => {
    assert.equal((await get('/absent.js')).status, 404);
    assert.equal((await get('/bare/')).status, 404);
    assert.equal((await get('/index.html/')).status, 404);
    const moved = await raw(server.port, 'GET //sub%20folder');
    assert.match(moved, /^HTTP\/1\.1 301 /);
    assert.match(moved, /^Location: \/sub%20folder\/\r$/m);
  });

  test('only GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await get('/', { method });
      assert.equal(response.status, 405, method);
      assert.equal(response.headers.get('allow'), 'GET, HEAD');
      await response.text();
    }
  });

  test('no body is waited for, and its length has to be a number', async () => {
    const answer = async (lines) => {
      const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
      socket.write(`${lines}\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      const [text] = await once(socket, 'data', { signal: AbortSignal.timeout(3000) });
      socket.destroy();
      return text;
    };
    assert.match(await answer('POST / HTTP/1.1'), /^HTTP\/1\.1 405 /);
    assert.match(await answer('PUT / HTTP/1.1'), /^HTTP\/1\.1 405 /);
    assert.match(await answer('POST / HTTP/1.1\r\nContent-Length: x'), /^HTTP\/1\.1 400 /);
    assert.match(await answer('GET / HTTP/1.1\r\nContent-Length: -1'), /^HTTP\/1\.1 400 /);
  });

  test('this machine only', async () => {
    const other = connect(server.port, '127.0.0.2');
    const [error] = await once(other, 'error');
    assert.equal(error.code, 'ECONNREFUSED');
  });

  test('a port in use is told, with its number', () => {
    const { code, out, err } = native.attn('serve', '--root', site, '--port', String(server.port));
    assert.deepEqual([code, out], [2, '']);
    assert.equal(err, `attn: serve: port ${server.port} is in use; --port names another one\n`);
  });

  test('Ctrl-C ends it at once, also with a connection open, and frees the port', async () => {
    const first = await start('--port', '0');
    const idle = connect(first.port, '127.0.0.1');
    await once(idle, 'connect');
    await (await fetch(first.url)).text();
    const begin = performance.now();
    await stop(first, 'SIGINT');
    assert.ok(performance.now() - begin < 4000);
    idle.destroy();
    const second = await start('--port', String(first.port));
    assert.equal(second.port, first.port);
    await stop(second, 'SIGINT');
  });

  test('no site: what makes one', () => {
    const absent = native.attn('serve', '--root', join(folder, 'absent'));
    assert.deepEqual([absent.code, absent.out], [2, '']);
    assert.match(absent.err, /^attn: serve: there is no folder .*absent; `make explain` builds/);
    const bare = native.attn('serve', '--root', join(site, 'bare'));
    assert.deepEqual([bare.code, bare.out], [2, '']);
    assert.match(bare.err, /bare has no index\.html; `make explain` builds/);
  });

  test('Node has no server, and says so', () => {
    const { code, out, err } = node.attn('serve');
    assert.deepEqual([code, out], [2, '']);
    assert.equal(err, 'attn: serve needs the native program: run build/bin/attn serve\n');
  });
});
