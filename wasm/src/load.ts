// SPDX-License-Identifier: Apache-2.0
import { kindOf, options as checked, show, type Names } from './check.js';
import { AttnError, invalid } from './errors.js';
import { chooseVariant, type Variant } from './features.js';
import { WasmModule } from './module.js';
import type { Imports } from './shared.js';

export interface LoadOptions {
  /** Default: relaxed where the engine has it, else simd128. */
  variant?: Variant;
  /**
   * Where the module is: a folder (it ends with "/") that holds attn.simd128.wasm and
   * attn.relaxed.wasm (full: attn.full.*.wasm), or one of these files. Default: beside this script.
   */
  wasmUrl?: string | URL;
  /** The module itself; nothing is fetched. */
  bytes?: BufferSource;
}

const optionNames: Names<LoadOptions> = { variant: true, wasmUrl: true, bytes: true };

// What every version of the interface has.
const required = ['_initialize', 'memory', 'attn_abi_version'];

const loaded = new Map<string, Promise<WasmModule>>();

/** What the files of a module are called, and where they are when nobody says. */
export interface Files {
  stem: string;
  besideScript(variant: Variant): URL;
}

const page: Files = {
  stem: 'attn',
  besideScript: (variant) =>
    // Bundlers look for exactly this form.
    variant === 'relaxed'
      ? new URL('./attn.relaxed.wasm', import.meta.url)
      : new URL('./attn.simd128.wasm', import.meta.url),
};

/** See load in attn.ts; loadFullModule in full.ts has everything. */
export function loadModule(options: LoadOptions = {}): Promise<WasmModule> {
  return loadFiles(page, options);
}

/** Where a module is said to be, before anything is fetched. */
interface Source {
  href: string;
  compile(): Promise<WebAssembly.Module>;
}

export function source(files: Files, options: LoadOptions): Source {
  const { variant: wanted, wasmUrl, bytes } = checked('options', options, optionNames);
  const variant = chooseVariant(wanted);
  if (bytes !== undefined) {
    if (!ArrayBuffer.isView(bytes) && kindOf(bytes) !== 'ArrayBuffer') {
      throw invalid(`options.bytes is ${show(bytes)}, needed is an ArrayBuffer or a view of one`);
    }
    return { href: fromBytes, compile: () => compile(bytes, fromBytes) };
  }
  const url = resolve(files, variant, wasmUrl);
  return { href: url.href, compile: () => fetchModule(url) };
}

const fromBytes = 'options.bytes';

export async function loadFiles(files: Files, options: LoadOptions): Promise<WasmModule> {
  const { href, compile } = source(files, options);
  if (href === fromBytes) return start(compile(), href, () => {});
  const forget = (): void => {
    loaded.delete(href);
  };
  let module = loaded.get(href);
  if (module === undefined) {
    module = start(compile(), href, forget);
    loaded.set(href, module);
    module.catch(forget); // the next call tries again
  }
  return module;
}

function resolve(files: Files, variant: Variant, wasmUrl?: string | URL): URL {
  if (wasmUrl === undefined) return files.besideScript(variant);
  if (typeof wasmUrl !== 'string' && kindOf(wasmUrl) !== 'URL') {
    throw invalid(`options.wasmUrl is ${show(wasmUrl)}, needed is a string or a URL`);
  }
  let url: URL;
  try {
    url = new URL(wasmUrl, here());
  } catch {
    throw invalid(`options.wasmUrl is ${show(String(wasmUrl))}, which is not a URL`);
  }
  return url.pathname.endsWith('/') ? new URL(`${files.stem}.${variant}.wasm`, url) : url;
}

/** What a relative URL is relative to: the page or the worker; in Node the working folder. */
function here(): string | undefined {
  if (typeof document === 'object') return document.baseURI;
  if (typeof location === 'object') return location.href;
  const folder = node()?.cwd();
  return folder === undefined ? undefined : `file://${folder}/`;
}

interface NodeProcess {
  versions?: { node?: string };
  cwd(): string;
}

export function node(): NodeProcess | undefined {
  const { process } = globalThis as { process?: NodeProcess };
  return process?.versions?.node === undefined ? undefined : process;
}

async function fetchModule(url: URL): Promise<WebAssembly.Module> {
  if (url.protocol === 'file:' && node() !== undefined)
    return compile(await readFile(url), url.href);
  let response: Response;
  try {
    response = await fetch(url);
  } catch (cause) {
    throw failure(url.href, 'could not be fetched', cause);
  }
  if (!response.ok) {
    throw failure(url.href, `the server answers ${response.status} ${response.statusText}`.trim());
  }
  const type = response.headers.get('content-type')?.split(';')[0]?.trim() ?? '';
  if (type === 'application/wasm') {
    try {
      return await WebAssembly.compileStreaming(response);
    } catch (cause) {
      throw failure(url.href, 'is not a module that this page may run', cause);
    }
  }
  // Streaming insists on the type; the bytes may be right all the same.
  let bytes: ArrayBuffer;
  try {
    bytes = await response.arrayBuffer();
  } catch (cause) {
    throw failure(url.href, 'broke off', cause);
  }
  return compile(bytes, url.href, type);
}

async function readFile(url: URL): Promise<BufferSource> {
  // A name that bundlers do not look into: they would want a replacement for a page.
  const name = 'node:fs/promises';
  try {
    const fs = (await import(/* webpackIgnore: true */ /* @vite-ignore */ name)) as {
      readFile(path: URL): Promise<Uint8Array<ArrayBuffer>>;
    };
    return await fs.readFile(url);
  } catch (cause) {
    throw failure(url.href, 'could not be read', cause);
  }
}

async function compile(source: BufferSource, url: string, type = ''): Promise<WebAssembly.Module> {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  if (!(bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d)) {
    const start = new TextDecoder().decode(bytes.subarray(0, 24)).replace(/[^ -~]+/g, ' ');
    const as = type === '' ? '' : ` of type ${type}`;
    throw failure(
      url,
      `is not WebAssembly: ${bytes.length} bytes${as} that start "${start.trim()}"`,
    );
  }
  try {
    return await WebAssembly.compile(source);
  } catch (cause) {
    throw failure(url, 'is not a module that this page may run', cause);
  }
}

/** `shared`: what the module with threads takes from its host; the others take nothing. */
export async function start(
  compiled: Promise<WebAssembly.Module>,
  url: string,
  onDeath: () => void,
  shared?: Imports,
): Promise<WasmModule> {
  const module = await compiled;
  const stranger = foreign(module, shared);
  if (stranger !== undefined) throw failure(url, `is not the attn module: ${stranger}`);
  try {
    const instance = await WebAssembly.instantiate(module, shared ?? {});
    return new WasmModule(instance, url, onDeath, shared?.env.memory);
  } catch (cause) {
    throw failure(url, 'could not be started', cause);
  }
}

/** Why it is another module, which is then not run. */
function foreign(module: WebAssembly.Module, shared?: Imports): string | undefined {
  const given = Object.keys(shared?.env ?? {}).map((name) => `env.${name}`);
  const wanted = WebAssembly.Module.imports(module).map((from) => `${from.module}.${from.name}`);
  const strange = wanted.find((name) => !given.includes(name));
  if (strange !== undefined) return `it imports ${strange}`;
  if (shared !== undefined && wanted.length === 0) return 'it has a memory of its own';
  const names = [...given.map((name) => name.replace('env.', ''))];
  names.push(...WebAssembly.Module.exports(module).map(({ name }) => name));
  const missing = required.find((name) => !names.includes(name));
  return missing === undefined ? undefined : `it has no export ${missing}`;
}

export function failure(url: string, what: string, cause?: unknown): AttnError {
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return new AttnError('load', `${url}: ${what}${why}`, { cause });
}
