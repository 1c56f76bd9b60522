import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** An entry of `plugins` in server.yaml. */
export interface ModuleEntry {
  readonly module: string;
  /** `sha256-` and base64: the hash of the file and its local imports. */
  readonly integrity?: string;
  /** The name of its plugin in the settings. Default: the plugin's own. */
  readonly name?: string;
}

export const moduleEntry = (entry: string | ModuleEntry): ModuleEntry =>
  typeof entry === 'string' ? { module: entry } : entry;

export const isLocal = (specifier: string): boolean => specifier.startsWith('.') || isAbsolute(specifier);

/** A plugin's file with the files that it imports by a path, each once. */
export interface PluginFiles {
  /** SHA-256 of the bytes of each file by its real path; the first is the module itself. */
  readonly digests: ReadonlyMap<string, string>;
  /** `sha256-` and base64, of the paths below the module's folder and of the bytes of each file. */
  readonly integrity: string;
}

/** A plugin may carry a large dependency beside it. Files beyond the bounds are not hashed, so that its integrity is refused. */
const MAX_FILES = 1_000;
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Import declarations, `import()` and `require` of a path, as text: what stands in a comment is followed too, which only makes the hash cover
 * more. A path that the code computes is not found here; the loader refuses it where the entry has `integrity`.
 */
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"`])((?:\.{1,2}\/|\/|file:)[^'"`\n]*)\1/g;

/** Endings that `require` adds. */
const ENDINGS = ['', '.js', '.cjs', '.json', '/index.js'];

/** Reads a module and its local imports. Throws an Error if the module cannot be read, or if there are too many files. */
export function readPluginFiles(path: string): PluginFiles {
  const found = new Map<string, string>();
  const first = realpathSync(path);
  const open = [first];
  let bytes = 0;
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue;
    const content = readFileSync(file);
    bytes += content.length;
    if (found.size >= MAX_FILES || bytes > MAX_BYTES)
      throw new Error(`${path} imports more than ${MAX_FILES} files, or more than 32 MiB, by their path`);
    found.set(file, digestOf(content));
    for (const [, , specifier = ''] of content.toString('utf8').matchAll(IMPORT)) {
      const target = fileOf(specifier, dirname(file));
      if (target !== undefined) open.push(target);
    }
  }
  return { digests: found, integrity: hashOf(dirname(first), found) };
}

export const digestOf = (content: string | NodeJS.ArrayBufferView): string =>
  createHash('sha256').update(content).digest('hex');

/** In the order of the paths, which are the same wherever the folder lies, and on Windows. */
function hashOf(folder: string, digests: ReadonlyMap<string, string>): string {
  const lines = [...digests].map(([path, digest]) => `${relative(folder, path).split(sep).join('/')} ${digest}\n`);
  return `sha256-${createHash('sha256').update(lines.toSorted().join('')).digest('base64')}`;
}

/** The file of a specifier. Undefined: there is none, which the import reports if it needs it. */
function fileOf(specifier: string, folder: string): string | undefined {
  try {
    const path = specifier.startsWith('file:')
      ? fileURLToPath(specifier)
      : resolve(folder, specifier.replace(/[?#].*$/, ''));
    const file = ENDINGS.map((ending) => path + ending).find((one) =>
      statSync(one, { throwIfNoEntry: false })?.isFile(),
    );
    return file === undefined ? undefined : realpathSync(file);
  } catch {
    return undefined;
  }
}
