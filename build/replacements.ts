import type { Plugin } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { compiledAheadModules } from './compiled-ahead.ts';

/** Node's modules that an ES import makes expensive: it reads every property, and some are getters that load other modules. */
const BY_CALL: ReadonlySet<string> = new Set([
  // `http.WebSocket` loads Node's own copy of undici, and that loads http2: 69 ms and 13 MB.
  'node:http',
  // `util` loads worker threads: 12 ms and 3 MB.
  'node:util',
]);

const byCall = (name: string): string => `module.exports = process.getBuiltinModule('node:${name}');`;

/** The name of a package, or of a module in it: the published files have no code of others. */
const PACKAGE = /^[\w@][^:]*$/;

/** Packages of which the gateway loads a part. The sources import them whole. */
const IN_PART: Readonly<Record<string, string>> = {
  // undici's own index loads its mocks, caches and the whole of fetch: 85 ms of CPU and 15 MB.
  undici: [
    "export { default as Client } from 'undici/lib/dispatcher/client.js';",
    "export { default as Pool } from 'undici/lib/dispatcher/pool.js';",
    "export { default as buildConnector } from 'undici/lib/core/connect.js';",
    "export { default as errors } from 'undici/lib/core/errors.js';",
  ].join('\n'),
  // Its ES module imports `http`: 88 ms of CPU and 6 MB.
  '@koa/router': [
    "import { createRequire } from 'node:module';",
    "export default createRequire(import.meta.url)('@koa/router').default;",
  ].join('\n'),
};

/** Modules of the built code whose code is not that of their file. */
export function replacements(root: string): Plugin {
  const code: Readonly<Record<string, string>> = {
    ...Object.fromEntries(compiledAheadModules(`${root}/src/core/kernel/compiled-ahead.ts`)),
    ...Object.fromEntries(Object.entries(IN_PART).map(([name, text]) => [`\0part:${name}`, text])),
  };
  return {
    name: 'replacements',
    resolveId(id) {
      if (BY_CALL.has(id)) return `\0${id}.cjs`;
      if (id in IN_PART) return `\0part:${id}`;
      if (PACKAGE.test(id)) return { id, external: true };
      return id.startsWith('\0') ? id : undefined;
    },
    load(id) {
      const [, name] = /^\0node:(.*)\.cjs$/.exec(id) ?? [];
      const made = name === undefined ? code[id] : byCall(name);
      return made === undefined ? undefined : { code: made, moduleType: 'js' };
    },
  };
}

/** V8 keeps a source text with one byte for each character if all are ASCII, else with two. */
export const asciiOnly: Plugin = {
  name: 'ascii-only',
  generateBundle(_, files) {
    for (const file of Object.values(files)) {
      if (file.type !== 'chunk') continue;
      // No stack trace shows generated validators.
      if (file.name === 'compiled-ahead')
        file.code = minifySync(file.fileName, file.code, { module: true, compress: false, mangle: true }).code;
      file.code = toAscii(file.code);
    }
  },
};

function toAscii(code: string): string {
  // In a raw template an escape would be another text.
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code)) throw new Error('a raw template has characters beyond ASCII');
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
