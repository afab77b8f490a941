// SPDX-License-Identifier: Apache-2.0
// Writes dist/custom-elements.json (schema 1.0.0 of the custom elements manifest) from the built classes, which
// know their attributes, and from the tags in the comments of their sources.
import { readFileSync, writeFileSync } from 'node:fs';

const kElements = [
  { tag: 'attn-lookup', name: 'AttnLookup', source: 'src/lookup/element.ts' },
  { tag: 'attn-scaling', name: 'AttnScaling', source: 'src/scaling/element.ts' },
];
const kBase = 'src/core/element.ts';
const kTypes = new Map([
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
]);

const here = (name) => new URL(name, import.meta.url);
const read = (name) => readFileSync(here(name), 'utf8');

/** `@slot name - what it is`, from every comment of a file. */
function tags(tag, ...files) {
  const pattern = new RegExp(`^ \\* @${tag} ([\\w-]+) - (.+)$`, 'gm');
  return files.flatMap((file) =>
    [...read(file).matchAll(pattern)].map(([, name, description]) => ({ name, description })),
  );
}

function unique(list) {
  return [...new Map(list.map((item) => [item.name, item])).values()];
}

async function declaration({ tag, name, source }) {
  const { [name]: element } = await import(here(`dist/${tag}.js`));
  element.finalize();
  const shown = [...element.elementProperties].filter(([, { state }]) => !state);
  const member = ([field, { type }]) => ({
    kind: 'field',
    name: field,
    ...(kTypes.has(type) ? { type: { text: kTypes.get(type) } } : {}),
  });
  const attribute = ([field, options]) => ({
    name: typeof options.attribute === 'string' ? options.attribute : field.toLowerCase(),
    fieldName: field,
    ...(kTypes.has(options.type) ? { type: { text: kTypes.get(options.type) } } : {}),
  });
  return {
    kind: 'class',
    name,
    tagName: tag,
    customElement: true,
    superclass: { name: 'LitElement', package: 'lit' },
    attributes: shown.filter(([, { attribute: on }]) => on !== false).map(attribute),
    members: [...shown.map(member), { kind: 'field', name: 'state' }],
    events: tags('fires', kBase, source).map((event) => ({
      ...event,
      type: { text: 'CustomEvent' },
    })),
    slots: tags('slot', kBase, source),
    cssParts: unique(tags('csspart', kBase, source)),
    cssProperties: [...new Set(read('src/core/tokens.ts').match(/--attn-[\w-]+/g))].map(
      (property) => ({
        name: property,
      }),
    ),
  };
}

const modules = await Promise.all(
  kElements.map(async (element) => ({
    kind: 'javascript-module',
    path: `dist/${element.tag}.js`,
    declarations: [await declaration(element)],
    exports: [
      { kind: 'js', name: element.name, declaration: { name: element.name } },
      { kind: 'custom-element-definition', name: element.tag, declaration: { name: element.name } },
    ],
  })),
);
const manifest = { schemaVersion: '1.0.0', modules };
writeFileSync(here('dist/custom-elements.json'), `${JSON.stringify(manifest, null, 2)}\n`);
