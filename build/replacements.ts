import type { Plugin } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { compiledAheadModules } from './compiled-ahead.ts';

/** Node's modules that an ES import makes expensive: it reads every property, and some are getters that load other modules. */
const BY_CALL: ReadonlySet<string> = new Set([
  // `http.WebSocket` loads Node's own copy of undici, and that loads http2: 69 ms and 13 MB.
  'node:http',
  'http',
  // `util` loads worker threads: 12 ms and 3 MB.
  'node:util',
  'util',
]);

const byCall = (name: string): string => `module.exports = process.getBuiltinModule('node:${name}');`;

/** `mime-types` makes tables of 2,500 types when it is loaded; Koa and its packages call it for few replies, the gateway's own never. */
const mimeTypesLater = (path: string): string =>
  ['lookup', 'contentType', 'charset', 'extension']
    .map((name) => `exports.${name} = (text) => require(${JSON.stringify(path)}).${name}(text);`)
    .join('\n');

/** Modules of the bundle whose code is not that of their file. */
export function replacements(root: string): Plugin {
  const undici = `${root}/node_modules/undici/lib`;
  const code: Readonly<Record<string, string>> = {
    ...Object.fromEntries(compiledAheadModules(`${root}/src/compiled-ahead.ts`)),
    // undici's own index loads its mocks, caches and the whole of fetch: 30 ms and 8 MB.
    '\0undici': [
      `export { default as Client } from '${undici}/dispatcher/client.js';`,
      `export { default as Pool } from '${undici}/dispatcher/pool.js';`,
      `export { default as buildConnector } from '${undici}/core/connect.js';`,
      `export { default as errors } from '${undici}/core/errors.js';`,
    ].join('\n'),
    // The gateway speaks HTTP/1.1 to upstreams (`allowH2: false` in src/core/upstream/pool.ts); loading node:http2 takes 40 ms and 9 MB.
    [`${undici}/dispatcher/client-h2.js`]:
      "module.exports = () => { throw new Error('HTTP/2 is not part of the bundle'); };",
  };
  return {
    name: 'replacements',
    async resolveId(id, importer) {
      if (BY_CALL.has(id)) return `\0node:${id.replace('node:', '')}.cjs`;
      if (id === 'undici') return '\0undici';
      if (id !== 'mime-types') return id.startsWith('\0') ? id : undefined;
      const { id: path = '' } = (await this.resolve(id, importer, { skipSelf: true })) ?? {};
      return `\0later:${path}`;
    },
    load(id) {
      const [, how, name = ''] = /^\0(node|later):(.*?)(?:\.cjs)?$/.exec(id) ?? [];
      const made = how === 'node' ? byCall(name) : how === 'later' ? mimeTypesLater(name) : code[id];
      return made === undefined ? undefined : { code: made, moduleType: 'js' };
    },
  };
}

/** What V8 keeps of a source text takes one byte for each character if all are ASCII, else two. */
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
