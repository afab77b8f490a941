// SPDX-License-Identifier: Apache-2.0
// WebDriver reports neither console lines nor errors, so for WebKit the test server puts this script
// first in each page. It only listens: console methods still do what they did.
(() => {
  const records = { console: [], errors: [] };
  Object.defineProperty(window, '__attnRecords', { value: records });
  for (const type of ['debug', 'log', 'info', 'warn', 'error']) {
    const original = console[type];
    console[type] = function (...args) {
      records.console.push({ type, text: args.map(String).join(' ') });
      return original.apply(this, args);
    };
  }
  const text = (error) => String((error && error.stack && `${error}\n${error.stack}`) || error);
  addEventListener(
    'error',
    (event) => {
      const source = event.target !== window && (event.target.src || event.target.href);
      // Like the other engines' consoles: a resource that does not load is a line, not an exception.
      if (source) records.console.push({ type: 'error', text: `failed to load ${source}` });
      else records.errors.push(text(event.error ?? event.message));
    },
    true,
  );
  addEventListener('unhandledrejection', (event) => records.errors.push(text(event.reason)));
})();
