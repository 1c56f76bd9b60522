import { createHmac, randomBytes } from 'node:crypto';
import type { FileRead, FolderRead, ReadPlaces, SettingsFiles } from './files.ts';
import { isTests } from './find-files.ts';
import type { StoredObjects } from './stored-objects.ts';

/** A fingerprint of what was read, to compare with the disk later. */
interface Seen {
  readonly kind: 'file' | 'folder';
  readonly digest: string;
  readonly missing: boolean;
}

/** Records what a load has read: was it one state of the files, what to watch, what has changed, what to send on. */
export class RecordedFiles implements SettingsFiles {
  readonly #files: SettingsFiles;
  /** Selects the names in a folder that are relevant; other names may come and go. */
  readonly matters = mayBeSettings;
  readonly #seen = new Map<string, Seen>();
  readonly #read: ReadPlaces = { files: new Map(), folders: new Map() };
  /** One path was read twice within a load, with different results. */
  #torn = false;

  constructor(files: SettingsFiles) {
    this.#files = files;
  }

  async read(path: string): Promise<FileRead> {
    const answer = await this.#files.read(path);
    this.#remember(path, seenFile(answer));
    this.#read.files.set(path, answer);
    return answer;
  }

  async list(folder: string): Promise<FolderRead> {
    const answer = await this.#files.list(folder);
    this.#remember(folder, seenFolder(answer, this.matters));
    this.#read.folders.set(folder, answer);
    return answer;
  }

  stored(): StoredObjects | undefined {
    return this.#files.stored?.();
  }

  /** The contents that were read, including secrets: for the gateway's own processes only. */
  get contents(): ReadPlaces {
    return this.#read;
  }

  /** Every file that was read, existing or not. */
  get paths(): readonly string[] {
    return this.#of('file');
  }

  get folders(): readonly string[] {
    return this.#of('folder');
  }

  /** True when nothing has changed since it was read, so that the load saw one consistent state. */
  async stillTrue(): Promise<boolean> {
    if (this.#torn) return false;
    const compared = await Promise.all(
      [...this.#seen].map(async ([path, { kind, digest }]) => (await this.#look(path, kind)).digest === digest),
    );
    return compared.every(Boolean);
  }

  /** True when a file is missing, or a path of `before` no longer exists: it was removed, or is in the middle of a replacement. */
  async misses(before: RecordedFiles | undefined): Promise<boolean> {
    for (const { kind, missing } of this.#seen.values()) if (missing && kind === 'file') return true;
    if (!before) return false;
    for (const [path, { kind, missing }] of before.#seen) {
      if (!missing && (this.#seen.get(path) ?? (await this.#look(path, kind))).missing) return true;
    }
    return false;
  }

  /** Files that have changed since `before`, appeared or disappeared. */
  changesSince(before: RecordedFiles): readonly string[] {
    const paths = new Set([...before.paths, ...this.paths]);
    return [...paths].filter((path) => this.#seen.get(path)?.digest !== before.#seen.get(path)?.digest);
  }

  async #look(path: string, kind: Seen['kind']): Promise<Seen> {
    return kind === 'file'
      ? seenFile(await this.#files.read(path))
      : seenFolder(await this.#files.list(path), this.matters);
  }

  #remember(path: string, seen: Seen): void {
    const known = this.#seen.get(path);
    if (known && known.digest !== seen.digest) this.#torn = true;
    this.#seen.set(path, seen);
  }

  #of(kind: Seen['kind']): string[] {
    return [...this.#seen].flatMap(([path, seen]) => (seen.kind === kind ? [path] : []));
  }
}

/** Random in every process, so that a digest reveals nothing: a short secret could be guessed from its plain hash. */
const KEY = randomBytes(32);

/** A digest that is equal for equal text, within this process only. */
export const privateDigest = (text: string): string => createHmac('sha256', KEY).update(text).digest('base64');

function seenFile(answer: FileRead): Seen {
  return { kind: 'file', digest: privateDigest(JSON.stringify(answer)), missing: 'missing' in answer };
}

/** Considers relevant names only: an editor's swap file is not a change. */
function seenFolder(answer: FolderRead, matters: (name: string) => boolean): Seen {
  const kept = 'names' in answer ? answer.names.filter(matters).toSorted() : answer;
  return { kind: 'folder', digest: privateDigest(JSON.stringify(kept)), missing: 'missing' in answer };
}

/** Names in a settings folder that a load considers. */
const mayBeSettings = (name: string): boolean =>
  FOLDERS.has(name) || (/\.(?:ya?ml|txt)$/i.test(name) && !name.startsWith('.') && !isTests(name));

/** The folders of settings, and that of the partials of prompts, whose files end in .txt. */
const FOLDERS: ReadonlySet<string> = new Set(['gateway', 'prompts', 'partials']);
