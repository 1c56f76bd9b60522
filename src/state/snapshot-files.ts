import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  mkdirSync,
  openSync,
  closeSync,
  fsyncSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Version } from './entities.ts';

/** What a start needs when the store does not answer: documents and digests, no secrets. */
export interface StoreSnapshot {
  /** The store's. */
  readonly version: Version;
  /** When the store had this content, in milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
}

const KEPT = 3;
const NAME = /^snapshot-(\d+)\.json$/;
const KEY_FILE = 'snapshot.key';

/**
 * The last contents of a store as files beside it, `snapshot-N.json` for the version N. Each is signed, so that a start takes no file
 * that something else wrote, and replaced as a whole, so that a start sees no half of one.
 */
export class SnapshotFiles {
  readonly #folder: string;
  readonly #key: Buffer;

  /** @param key signs the files; undefined: a random one in a file of the folder, which detects accidents and no attacker with the disk */
  constructor(folder: string, key: Buffer | undefined) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#key = key ?? keyOf(join(folder, KEY_FILE));
  }

  write({ version, at, text }: StoreSnapshot): void {
    const body = JSON.stringify({ v: 1, version, at, text });
    const path = join(this.#folder, `snapshot-${version}.json`);
    writeWhole(path, `${this.#sign(body)}\n${body}\n`);
    // A store that was restored from a backup has an earlier version: what came after it never happened.
    const versions = this.#versions();
    const kept = versions.filter((other) => other <= version).slice(0, KEPT);
    for (const other of versions.filter((one) => !kept.includes(one))) rmSync(this.#path(other), { force: true });
  }

  /** The newest valid one. @param oldest the least `at` that counts */
  read(oldest: number): StoreSnapshot | undefined {
    for (const version of this.#versions()) {
      const found = this.#readOne(this.#path(version));
      if (found && found.version === version && found.at >= oldest) return found;
    }
    return undefined;
  }

  #readOne(path: string): StoreSnapshot | undefined {
    const [signature = '', body = ''] = readFileSync(path, 'utf8').split('\n');
    const [own, given] = [Buffer.from(this.#sign(body)), Buffer.from(signature)];
    if (own.length !== given.length || !timingSafeEqual(own, given)) return undefined;
    return JSON.parse(body) as StoreSnapshot;
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest('hex');
  }

  /** From the newest. */
  #versions(): Version[] {
    return readdirSync(this.#folder)
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((one, other) => other - one);
  }

  #path(version: Version): string {
    return join(this.#folder, `snapshot-${version}.json`);
  }
}

function keyOf(path: string): Buffer {
  try {
    writeFileSync(path, randomBytes(32), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readFileSync(path);
}

/** Readable by the owner only. Under its name a file is the old one or the new one, also after a power failure. */
function writeWhole(path: string, text: string): void {
  const next = `${path}.next`;
  const file = openSync(next, 'w', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(next, path);
}
