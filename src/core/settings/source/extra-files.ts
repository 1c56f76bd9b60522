import type { Diagnostic } from './diagnostic.ts';
import type { SettingsFiles } from './files.ts';
import type { StoredObject } from './stored-objects.ts';
import type { FoundFiles } from './find-files.ts';
import type { ReadFile } from '../read/read-file.ts';

/** The files that add-ons have read in one load. Each finds its own with its `Slot`. */
export type Extras = object;

/** The place of one add-on in the extras of each load. */
export class Slot<Value> {
  readonly #values = new WeakMap<Extras, Value>();
  readonly #none: Value;

  /** @param none for settings without files, such as a config sent with a request */
  constructor(none: Value) {
    this.#none = none;
  }

  put(extras: Extras, value: Value): void {
    this.#values.set(extras, value);
  }

  in({ extras }: { readonly extras?: Extras | undefined }): Value {
    return (extras && this.#values.get(extras)) ?? this.#none;
  }
}

interface ExtraReading {
  readonly found: FoundFiles;
  /** The YAML files of the folder, those of add-ons among them. */
  readonly read: readonly ReadFile[];
  readonly files: SettingsFiles;
}

/** The facts that a load needs of files that it does not read itself. */
interface ExtraRead {
  /** False: a file has errors, so there are no settings. */
  readonly complete: boolean;
  readonly diagnostics: readonly Diagnostic[];
  /** For a watcher. */
  readonly paths: readonly string[];
  /** Parts of the hash of the settings. */
  readonly hashed: readonly unknown[];
  /** Objects of the state store that are not valid, and so have no effect. */
  readonly leftOut?: readonly { readonly kind: StoredObject['kind']; readonly id: string }[];
}

/** Reads the files of an add-on and keeps them in its slot. */
export type ExtraReader = (reading: ExtraReading, extras: Extras) => Promise<ExtraRead>;

const READERS: ExtraReader[] = [];

/** Called while an add-on is registered, before any settings are read. */
export const addExtraReaders = (readers: readonly ExtraReader[]): void => void READERS.push(...readers);

export async function readExtras(reading: ExtraReading): Promise<Required<ExtraRead> & { readonly extras: Extras }> {
  const extras = {};
  const read = await Promise.all(READERS.map((reader) => reader(reading, extras)));
  return {
    extras,
    complete: read.every(({ complete }) => complete),
    diagnostics: read.flatMap(({ diagnostics }) => diagnostics),
    paths: read.flatMap(({ paths }) => paths),
    hashed: read.flatMap(({ hashed }) => hashed),
    leftOut: read.flatMap(({ leftOut = [] }) => leftOut),
  };
}
