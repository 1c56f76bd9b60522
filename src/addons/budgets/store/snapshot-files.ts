import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Epoch, Version } from '../../../core/ports/entities.ts';

/** The part of a store that a start without it needs: documents and digests, and the secrets of entries of the catalog in envelopes. */
interface StoreSnapshot {
  readonly version: Version;
  /** When the store had this content, in milliseconds since 1970. */
  readonly at: number;
  /** Undefined: a release before epochs has written it. */
  readonly epoch?: Pick<Epoch, 'id' | 'at'> | undefined;
  readonly text: string;
}

interface SnapshotPieces extends Omit<StoreSnapshot, 'text'> {
  readonly pieces: readonly string[];
}

const KEPT = 3;
const NAME = /^snapshot-(\d+)\.json$/;
const KEY_FILE = 'snapshot.key';

/** The last contents of a store as signed files, `snapshot-N.json` for the version N, each replaced as a whole. */
export class SnapshotFiles {
  readonly #folder: string;
  readonly #key: Buffer;

  /** @param key signs the files; undefined: a random one in a file of the folder, which detects accidents and no attacker with the disk */
  constructor(folder: string, key: Buffer | undefined) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#key = key ?? keyOf(join(folder, KEY_FILE));
  }

  /** Written piece by piece: the text of 10,000 keys is 3 MB. Not called again before it has ended. */
  async write({ version, at, epoch, pieces }: SnapshotPieces): Promise<void> {
    const head = JSON.stringify({ v: 2, version, at, epoch: epoch && { id: epoch.id, at: epoch.at } });
    const signature = createHmac('sha256', this.#key).update(`${head}\n`);
    for (const piece of pieces) {
      signature.update(piece);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    await writeWhole(this.#path(version), [`${signature.digest('hex')}\n${head}\n`, ...pieces]);
    for (const other of this.versions().slice(KEPT)) rmSync(this.#path(other), { force: true });
  }

  /** The newest valid one. @param oldest the least `at` that counts */
  read(oldest: number): StoreSnapshot | undefined {
    for (const version of this.versions()) {
      const found = this.#readOne(this.#path(version));
      if (found && found.version === version && found.at >= oldest) return found;
    }
    return undefined;
  }

  #readOne(path: string): StoreSnapshot | undefined {
    const whole = readFileSync(path, 'utf8');
    const [signature = '', head = ''] = whole.split('\n', 2);
    const body = whole.slice(signature.length + 1);
    const [own, given] = [
      Buffer.from(createHmac('sha256', this.#key).update(body).digest('hex')),
      Buffer.from(signature),
    ];
    if (own.length !== given.length || !timingSafeEqual(own, given)) return undefined;
    const { version, at, epoch } = JSON.parse(head) as Omit<StoreSnapshot, 'text'>;
    return { version, at, epoch, text: body.slice(head.length + 1) };
  }

  /** The latest version that a snapshot was written of; 0: there is none. */
  readonly newest = (): Version => this.versions()[0] ?? 0;

  /** The place in the store's history of the newest one, valid or not. Undefined: there is none. */
  seen(): Pick<StoreSnapshot, 'version' | 'epoch'> | undefined {
    const version = this.newest();
    return version === 0 ? undefined : { version, epoch: this.#readOne(this.#path(version))?.epoch };
  }

  forgetAfter(version: Version): void {
    for (const other of this.versions().filter((one) => one > version)) rmSync(this.#path(other), { force: true });
  }

  readonly versions = (): Version[] =>
    readdirSync(this.#folder)
      .flatMap((name) => NAME.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((one, other) => other - one);

  readonly #path = (version: Version): string => join(this.#folder, `snapshot-${version}.json`);
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
async function writeWhole(path: string, pieces: readonly string[]): Promise<void> {
  const next = `${path}.next`;
  const file = await open(next, 'w', 0o600);
  try {
    for (const piece of pieces) await file.write(piece);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, path);
}
