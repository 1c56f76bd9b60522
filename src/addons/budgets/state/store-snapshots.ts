import type { Logger } from 'pino';
import type { Clock } from '../../../plugin/index.ts';
import type { StateSettings } from '../settings/state.ts';
import { STORED_KINDS } from '../../../core/settings/source/stored-objects.ts';
import type { Entity, Version } from '../../../core/ports/entities.ts';
import { messageOf } from '../../../core/kernel/outside/thrown.ts';
import type { ProviderSecrets } from '../settings/unsealed.ts';
import type { KeyEncryptionKeys } from '../store/rules/sealing.ts';
import type { SealedPlace } from '../../../core/ports/store-rules.ts';
import type { SnapshotFiles } from '../store/snapshot-files.ts';
import { oneAtATime } from '../../../core/process/one-at-a-time.ts';
import type { HistoryPlace } from './store-history.ts';
import { nextTurn } from '../settings/read-stored.ts';

/** How often the snapshot on disk is written again, so that its age is the time since the store last answered. */
const REFRESH_MS = 60_000;
const PIECE = 500;

interface SnapshotSetup {
  readonly settings: StateSettings;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error'>;
}

/** Keeps the last contents of a store on disk, behind the store's answers: no caller waits for the disk. */
export class StoreSnapshots {
  readonly #files: SnapshotFiles;
  readonly #ring: KeyEncryptionKeys;
  readonly #setup: SnapshotSetup;
  /** The text of each object. Most objects do not change between two snapshots. */
  readonly #texts = new WeakMap<Entity, string>();
  #wanted: (HistoryPlace & { readonly at: number; readonly entities: readonly Entity[] }) | undefined;
  #secrets: ReadonlyMap<string, ProviderSecrets> = new Map();
  #last = { version: -1, at: -Infinity };
  #writing: Promise<void> = Promise.resolve();
  readonly #run = oneAtATime(() => this.#write());

  /** @param ring seals the secrets of entries of the catalog */
  constructor(files: SnapshotFiles, ring: KeyEncryptionKeys, setup: SnapshotSetup) {
    this.#files = files;
    this.#ring = ring;
    this.#setup = setup;
  }

  /** Where the store was when the newest one was written. */
  readonly seen = (): HistoryPlace | undefined => this.#files.seen();

  async forgetAfter(version: Version): Promise<void> {
    await this.#writing;
    this.#files.forgetAfter(version);
  }

  write(
    { version, epoch }: HistoryPlace,
    entities: ReadonlyMap<string, Entity>,
    secrets: ReadonlyMap<string, ProviderSecrets>,
  ): void {
    const at = this.#setup.clock.wall();
    if (version === this.#last.version && at - this.#last.at < REFRESH_MS) return;
    this.#last = { version, at };
    this.#secrets = secrets;
    this.#wanted = { version, epoch, at, entities: [...entities.values()].filter(({ kind }) => KINDS.has(kind)) };
    this.#writing = this.#run();
  }

  readonly written = (): Promise<void> => this.#writing;

  read():
    | {
        readonly at: number;
        readonly entities: readonly Entity[];
        readonly secrets: ReadonlyMap<string, ProviderSecrets>;
      }
    | undefined {
    const { clock, settings } = this.#setup;
    const found = this.#files.read(clock.wall() - settings.whenDown.maxAgeMs);
    // Written by this class, and signed.
    const lines = found?.text.split('\n').filter((line) => line !== '') ?? [];
    if (!found) return undefined;
    const read = lines.map((line) => JSON.parse(line) as KeptEntity);
    const secrets = new Map(read.flatMap((one) => (one.secrets === undefined ? [] : [[one.id, this.#open(one)]])));
    return { at: found.at, entities: read.map(({ secrets: _, ...entity }) => entity), secrets };
  }

  async #write(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (!wanted) return;
    try {
      const { version, epoch, at, entities } = wanted;
      const pieces: string[] = [];
      for (let from = 0; from < entities.length; from += PIECE) {
        if (from > 0) await nextTurn();
        pieces.push(
          entities
            .slice(from, from + PIECE)
            .map((entity) => `${this.#textOf(entity)}\n`)
            .join(''),
        );
      }
      await this.#files.write({ version, epoch, at, pieces });
    } catch (err) {
      this.#setup.log.error({ err }, 'the snapshot of the state store could not be written');
    }
  }

  #textOf(entity: Entity): string {
    let text = this.#texts.get(entity);
    if (text === undefined) this.#texts.set(entity, (text = JSON.stringify(this.#sealed(entity))));
    return text;
  }

  /** A start without the store needs the credentials of its entries of the catalog. */
  #sealed(entity: Entity): KeptEntity {
    const secrets = entity.kind === 'providers' ? this.#secrets.get(entity.id) : undefined;
    if (typeof secrets !== 'object' || Object.keys(secrets).length === 0) return entity;
    return { ...entity, secrets: this.#ring.seal(JSON.stringify(secrets), placeOf(entity)) };
  }

  #open(entity: KeptEntity): ProviderSecrets {
    try {
      return JSON.parse(this.#ring.open(entity.secrets ?? '', placeOf(entity))) as ProviderSecrets;
    } catch (error) {
      return messageOf(error);
    }
  }
}

/** `secrets` is an envelope of those of an entry of the catalog. */
type KeptEntity = Entity & { readonly secrets?: string };

const placeOf = ({ id, version }: Entity): SealedPlace => ({ table: 'snapshot', id, field: 'secrets', version });

const KINDS: ReadonlySet<string> = new Set(STORED_KINDS);
