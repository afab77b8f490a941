// SPDX-License-Identifier: Apache-2.0
import js from '@eslint/js';
import globals from 'globals';
import ts from 'typescript-eslint';

export default ts.config(
  { ignores: ['build/', '.toolchain/', '**/dist/', '**/node_modules/'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  {
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
    },
  },
  {
    files: ['web/**', 'wasm/**'],
    languageOptions: { globals: { ...globals.browser, ...globals.worker } },
  },
  {
    files: ['tools/**', 'tests/**', 'bench/**', '*.js', '**/*.config.*', '**/test/**', '**/*.mjs'],
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
  {
    // Appended to a module that Emscripten made: its factory is in scope there.
    files: ['tools/cmake/start_in_node.js'],
    languageOptions: { globals: { Module: 'readonly' } },
  },
);
