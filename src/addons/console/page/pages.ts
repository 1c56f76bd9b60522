import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { PageFile } from '../../../core/process/console-port.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
};
/** Names of the build: no `..`, no hidden files, two folders at most. */
const PATH = /^(?:[\w-]{1,64}\/){0,2}[\w-][\w.-]{0,127}$/;
const HASHED = /[-.][\w-]{8,}\.(?:js|css|svg|png)$/;
const MAX_FILES = 200;
const MAX_BYTES = 4 * 1024 * 1024;

const compress = promisify(gzip);

/** The built page, each file read and compressed once. A new build replaces all of them. */
export class PageFiles {
  readonly #folder: string;
  readonly #files = new Map<string, Promise<PageFile | undefined>>();
  #built: number | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async find(path: string): Promise<PageFile | undefined> {
    const name = path === '' ? 'index.html' : path;
    if (!PATH.test(name)) return undefined;
    if (name === 'index.html') await this.#look();
    if (this.#built === undefined) return name === 'index.html' ? NOT_BUILT : undefined;
    const known = this.#files.get(name);
    if (known) return known;
    if (this.#files.size >= MAX_FILES) this.#files.clear();
    const file = readPage(join(this.#folder, name), name);
    this.#files.set(name, file);
    // A name that is not there takes no place.
    void file.then((found) => found ?? this.#files.delete(name));
    return file;
  }

  /** Notices a new build by its first file. */
  async #look(): Promise<void> {
    const built = await stat(join(this.#folder, 'index.html')).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    );
    if (built !== this.#built) this.#files.clear();
    this.#built = built;
  }
}

async function readPage(path: string, name: string): Promise<PageFile | undefined> {
  const type = TYPES[extname(name)];
  const found = await stat(path).catch(() => undefined);
  if (type === undefined || !found?.isFile() || found.size > MAX_BYTES) return undefined;
  return pageOf(await readFile(path), type, HASHED.test(name));
}

async function pageOf(bytes: Uint8Array, type: string, immutable: boolean): Promise<PageFile> {
  const small = await compress(bytes, { level: 9 });
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { type, bytes, gzip: small.length < bytes.length ? small : undefined, etag, immutable };
}

const NOT_BUILT = pageOf(
  Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Gatehouse: the console is not built</title>
<h1>The console is not built</h1>
<p>Run <code>npm run build:console</code> in the folder of Gatehouse, and load this page again. The installed package has the console built.</p>
<p>The API of this listener works without it: <a href="../admin/v1/openapi.json">openapi.json</a>, <code>gatehouse admin help</code>.</p>
</html>
`),
  TYPES['.html']!,
  false,
);
