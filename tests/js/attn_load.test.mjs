// SPDX-License-Identifier: Apache-2.0
// Where the module comes from, and everything that can go wrong on the way.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import process from 'node:process';
import { promisify } from 'node:util';
import { load, supportedVariants } from 'attn';

const dist = new URL('../../wasm/dist/', import.meta.url);
const simd128 = readFileSync(new URL('attn.simd128.wasm', dist));

/** Rejects with the code "load" and a message that has all these texts. */
const refused = (promise, ...texts) => rejected(promise, 'load', texts);
const misused = (promise, ...texts) => rejected(promise, 'invalid-argument', texts);
const rejected = (promise, code, texts) =>
  assert.rejects(promise, (error) => {
    assert.equal(error.name, 'AttnError', error.stack);
    assert.equal(error.code, code, error.message);
    for (const text of texts) assert.ok(error.message.includes(text), error.message);
    return true;
  });

describe('over HTTP', () => {
  const answers = {
    '/right/attn.simd128.wasm': { type: 'application/wasm', body: simd128 },
    '/octets/attn.simd128.wasm': { type: 'application/octet-stream', body: simd128 },
    '/untyped/attn.simd128.wasm': { body: simd128 },
    '/html.wasm': { type: 'text/html', body: '<!doctype html><title>Not here</title>' },
    '/html_as.wasm': { type: 'application/wasm', body: '<!doctype html><title>Not here</title>' },
    '/cut.wasm': { type: 'application/wasm', body: simd128.subarray(0, 5000) },
    '/cut_octets.wasm': { type: 'application/octet-stream', body: simd128.subarray(0, 5000) },
    '/other.wasm': {
      type: 'application/wasm',
      body: new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]),
    },
    '/empty.wasm': { type: 'application/octet-stream', body: '' },
    '/broken_off.wasm': { type: 'application/octet-stream', body: simd128, cut: true },
  };
  const seen = [];
  let late = 404;
  let origin = '';
  const server = createServer((request, response) => {
    seen.push(request.url);
    const answer = answers[request.url];
    if (request.url === '/late.wasm' && late === 200) {
      response.writeHead(200, { 'content-type': 'application/wasm' }).end(simd128);
    } else if (answer === undefined) {
      response.writeHead(404).end('nothing here');
    } else {
      const headers = answer.type === undefined ? {} : { 'content-type': answer.type };
      if (!answer.cut) {
        response.writeHead(200, headers).end(answer.body);
        return;
      }
      response.writeHead(200, { ...headers, 'content-length': answer.body.length });
      response.write(answer.body.subarray(0, 1000), () => response.destroy());
    }
  });
  before(
    () =>
      new Promise((resolve) => {
        server.listen(0, '127.0.0.1', () => {
          origin = `http://127.0.0.1:${server.address().port}`;
          resolve();
        });
      }),
  );
  after(() => server.close());

  const works = (attn) => {
    const { p } = attn.softmaxRows({ x: new Float32Array(4), rows: 1, columns: 4 });
    assert.deepEqual([...p], [0.25, 0.25, 0.25, 0.25]);
  };

  for (const folder of ['right', 'octets', 'untyped']) {
    test(`a folder whose server says the type: ${folder}`, async () => {
      const attn = await load({ wasmUrl: `${origin}/${folder}/`, variant: 'simd128' });
      assert.equal(attn.url, `${origin}/${folder}/attn.simd128.wasm`);
      works(attn);
    });
  }

  test('the same URL is fetched once, also by calls at the same time', async () => {
    const options = { wasmUrl: new URL('/right/attn.simd128.wasm', origin), variant: 'simd128' };
    const before = seen.length;
    const [a, b] = await Promise.all([load(options), load(options)]);
    assert.equal(a, b);
    assert.ok(seen.length <= before + 1);
  });

  test('what is not the module: the error names the URL and what came', async () => {
    const at = (path) => load({ wasmUrl: origin + path, variant: 'simd128' });
    await refused(
      at('/html.wasm'),
      `${origin}/html.wasm`,
      'not WebAssembly',
      'text/html',
      '<!doctype html>',
    );
    await refused(at('/html_as.wasm'), `${origin}/html_as.wasm`, 'is not a module');
    await refused(at('/cut.wasm'), `${origin}/cut.wasm`, 'is not a module');
    await refused(at('/cut_octets.wasm'), `${origin}/cut_octets.wasm`, 'is not a module');
    await refused(
      at('/other.wasm'),
      `${origin}/other.wasm`,
      'is not the attn module: it has no export _initialize',
    );
    await refused(at('/empty.wasm'), `${origin}/empty.wasm`, 'not WebAssembly', '0 bytes');
    await refused(at('/broken_off.wasm'), `${origin}/broken_off.wasm`, 'broke off');
    await refused(at('/none/'), `${origin}/none/attn.simd128.wasm`, '404');
    await refused(
      load({ wasmUrl: 'http://127.0.0.1:1/x.wasm' }),
      'http://127.0.0.1:1/x.wasm',
      'could not be fetched',
    );
    await misused(load({ wasmUrl: 'http://[' }), 'wasmUrl is "http://[", which is not a URL');
  });

  test('a failure is forgotten: the next call tries again', async () => {
    const options = { wasmUrl: `${origin}/late.wasm`, variant: 'simd128' };
    await refused(load(options), '404');
    late = 200;
    works(await load(options));
  });
});

describe('from elsewhere', () => {
  test('bytes', async () => {
    const attn = await load({ bytes: simd128 });
    assert.equal(attn.variant, 'simd128');
    const another = await load({ bytes: Uint8Array.from(simd128).buffer });
    assert.notEqual(attn, another);
    await refused(load({ bytes: simd128.subarray(1) }), 'bytes', 'not WebAssembly');
    await misused(load({ bytes: 'attn' }), 'options.bytes is "attn"');
    await misused(load({ bytes: null }), 'options.bytes is null');
    const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
    await refused(
      load({ bytes: new Uint8Array(header) }),
      'options.bytes: is not the attn module: it has no export _initialize',
    );
    // Type () -> (), and the import e.f of that type.
    const importing = [...header, 1, 4, 1, 0x60, 0, 0, 2, 7, 1, 1, 0x65, 1, 0x66, 0, 0];
    await refused(load({ bytes: new Uint8Array(importing) }), 'attn module: it imports e.f');
  });

  test('a file of this machine, relative to the working folder', async () => {
    const folder = fileURLToPath(dist).slice(process.cwd().length + 1);
    const attn = await load({ wasmUrl: folder, variant: 'simd128' });
    assert.equal(attn.url, new URL('attn.simd128.wasm', dist).href);
    await refused(
      load({ wasmUrl: './no/such/file.wasm' }),
      'no/such/file.wasm',
      'could not be read',
    );
  });

  test('a variant that does not exist', async () => {
    await misused(load({ variant: 'sse2' }), 'options.variant is "sse2"');
  });

  test('options that are none', async () => {
    for (const [value, shown] of [
      [null, 'null'],
      [5, '5'],
      ['./', '"./"'],
      [simd128, 'Uint8Array'],
      [new URL(dist), 'URL'],
    ]) {
      await misused(load(value), `options is ${shown}, needed is an object`, 'wasmUrl');
    }
    await misused(load({ wasmURL: './' }), 'options.wasmURL is unknown', 'wasmUrl, bytes');
    await misused(load({ wasmUrl: 5 }), 'options.wasmUrl is 5');
    await misused(load({ full: 1 }), 'options.full is 1, needed is true or false');
  });

  test('the full module: from a folder, and never the other one in its place', async () => {
    const attn = await load({ full: true, wasmUrl: dist, variant: 'simd128' });
    assert.equal(attn.url, new URL('attn.full.simd128.wasm', dist).href);
    await refused(load({ full: true, bytes: simd128 }), 'options.bytes', "is the page's module");
  });

  test('the default is the fastest that the engine runs', async () => {
    const [best] = supportedVariants();
    assert.equal((await load()).variant, best);
    assert.equal(await load(), await load());
  });
});

describe('other engines', () => {
  const run = promisify(execFile);
  const root = fileURLToPath(new URL('../..', import.meta.url));
  // Prints what the program's last expression is.
  const inNode = async (program, ...flags) => {
    const source = `const show = (error) => console.log(error.code, error.message);\n${program}`;
    const args = [...flags, '--input-type=module', '-e', source];
    const { stdout } = await run(process.execPath, args, { cwd: root });
    return stdout.trim();
  };

  test('without WebAssembly: importing works, loading says why not', async () => {
    const said = await inNode(
      `delete globalThis.WebAssembly;
       const { load, supportedVariants } = await import('attn');
       console.log(supportedVariants().length);
       await load().catch(show);`,
    );
    assert.equal(said, '0\nload This engine has no WebAssembly, or it is switched off.');
  });

  test('without SIMD', async () => {
    const said = await inNode(
      `WebAssembly.validate = () => false;
       const { load } = await import('attn');
       await load().catch(show);`,
    );
    assert.equal(said, "load This engine's WebAssembly has no 128-bit SIMD.");
  });

  test('without relaxed SIMD: simd128 is chosen, relaxed refused', async () => {
    const said = await inNode(
      `const { load } = await import('attn');
       console.log((await load()).variant);
       await load({ variant: 'relaxed' }).catch(show);`,
      '--no-experimental-wasm-relaxed-simd',
    );
    assert.equal(said, 'simd128\nload This engine does not run the variant "relaxed".');
  });

  test('where code from strings is forbidden', async () => {
    const said = await inNode(
      `const { load } = await import('attn');
       const attn = await load();
       console.log(attn.report().filter(({ verdict }) => verdict === 'differs').length);`,
      '--disallow-code-generation-from-strings',
    );
    assert.equal(said, '0');
  });

  test('in a worker thread', async () => {
    const said = await inNode(
      `import { Worker } from 'node:worker_threads';
       const worker = new Worker(
         \`Promise.all([import('attn'), import('node:worker_threads')]).then(
            async ([{ load }, { parentPort }]) => {
              const generator = (await load()).randomGenerator(0);
              parentPort.postMessage(generator.random(1)[0]);
            });\`,
         { eval: true },
       );
       worker.on('message', (x) => console.log(x));`,
    );
    // default_rng(0).random()
    assert.equal(said, '0.6369616873214543');
  });
});
