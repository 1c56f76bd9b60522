import { isObject } from '../../../../core/kernel/index.ts';
import { Secret } from '../../../../plugin/index.ts';
import { priceFilesOf } from '../../settings/price-files.ts';
import type { GatewayKey } from '../../../../../schemas/types.generated.ts';
import { digestsOf } from '../../../../core/settings/compile/api-keys.ts';
import type { EntityDoc, PutChange } from '../../../../core/ports/entities.ts';
import type { FileObject } from '../../../../core/settings/read/file-objects.ts';
import { SEALED_OF_PROVIDERS, webhooksIn } from '../../../../core/settings/source/stored-objects.ts';
import { onStore, withReader, withStore, writeAll, type ExitCode, type FoundStore, type StateOptions } from './read.ts';
import { systemClock } from '../../../../core/kernel/system-clock.ts';

/** An object of a file that the store could have. */
interface ObjectOfFile {
  readonly kind: FileObject['kind'];
  readonly id: string;
  /** `configs/keys.yaml:12:5` */
  readonly place: string;
  readonly change: (now: number) => PutChange;
}

export function objectsOfFiles({ loaded, settings }: Pick<FoundStore, 'loaded' | 'settings'>): ObjectOfFile[] {
  const { written, server, catalog } = settings;
  const placeOf = (...where: Parameters<typeof loaded.placeOf>): string => {
    const { file, line, column } = loaded.placeOf(...where);
    return `${file}:${line}:${column}`;
  };
  const nodes = (['organizations', 'teams'] as const).flatMap((kind) =>
    Object.entries(written.teams[kind] ?? {}).map(([id, doc]): ObjectOfFile => ({
      kind,
      id,
      place: placeOf('teams.yaml', [kind, id], 'key'),
      change: () => ({ op: 'put', kind, id, doc: doc as EntityDoc, ifVersion: 0 }),
    })),
  );
  const keys = written.keys.keys.map((key, index): ObjectOfFile => ({
    kind: 'keys',
    id: key.id,
    place: placeOf('keys.yaml', ['keys', index, 'id']),
    change: (now) => changeOf(key, now),
  }));
  const prices = (priceFilesOf(settings).rules?.prices ?? []).flatMap(({ id, ...doc }, index): ObjectOfFile[] =>
    id === undefined
      ? []
      : [
          {
            kind: 'prices',
            id,
            place: placeOf('prices.yaml', ['prices', index, 'id']),
            change: () => ({ op: 'put', kind: 'prices', id, doc: doc as unknown as EntityDoc, ifVersion: 0 }),
          },
        ],
  );
  const alerts = webhooksIn(server).map(({ id, url, secret, ...doc }, index): ObjectOfFile => ({
    kind: 'alerts',
    id,
    place: placeOf('server.yaml', ['alerts', 'webhooks', index, 'id']),
    change: () => ({
      op: 'put',
      kind: 'alerts',
      id,
      doc,
      secrets: { url: url.reveal(), secret: secret.reveal() },
      ifVersion: 0,
    }),
  }));
  const providers = catalog.providers.map(({ slug, ...entry }, index): ObjectOfFile => ({
    kind: 'providers',
    id: slug,
    place: placeOf('catalog.yaml', ['providers', index, 'slug']),
    change: () => ({ op: 'put', kind: 'providers', id: slug, ...entryParts(entry), ifVersion: 0 }),
  }));
  const configs = [...settings.gateway.keys()].flatMap((id): ObjectOfFile[] => {
    const text = loaded.textOf(`gateway/${id}.yaml`);
    const change = (): PutChange => ({ op: 'put', kind: 'configs', id, doc: { text: text ?? '' }, ifVersion: 0 });
    // A reference in the store would be plain text.
    return text === undefined || /\$\{(?:env|file):/.test(text)
      ? []
      : [{ kind: 'configs', id, place: placeOf(`gateway/${id}.yaml`, []), change }];
  });
  return [...nodes, ...keys, ...prices, ...alerts, ...providers, ...promptsOf(loaded), ...configs];
}

const promptsOf = (loaded: FoundStore['loaded']): readonly ObjectOfFile[] =>
  loaded.objects().flatMap(({ kind, id, value }): ObjectOfFile[] => {
    if (kind !== 'prompts') return [];
    const { file, line, column } = loaded.placeOf(`prompts/${id}.yaml`, []);
    const change = (): PutChange => ({ op: 'put', kind, id, doc: value as EntityDoc, ifVersion: 0 });
    return [{ kind, id, place: `${file}:${line}:${column}`, change }];
  });

const WORDS = {
  keys: 'key',
  teams: 'team',
  organizations: 'organization',
  prices: 'price',
  alerts: 'alert',
  providers: 'provider',
  prompts: 'prompt',
  configs: 'config',
} as const;

/** `gatehouse state diff`: which objects the files have, which the store, and which both, which no gateway serves. Exit code 1: some are in both. */
export const diffCommand = (options: StateOptions): Promise<0 | 1 | 2> =>
  onStore(options, (found) =>
    withReader(found, async (store): Promise<ExitCode> => {
      const { changed } = await store.entities.load(0);
      const stored = new Map(
        changed.flatMap((one) => (Object.hasOwn(WORDS, one.kind) ? [[`${one.kind}/${one.id}`, one] as const] : [])),
      );
      const rows = objectsOfFiles(found).map((object) => ({
        ...object,
        twin: stored.get(`${object.kind}/${object.id}`),
      }));
      const inFiles = new Set(rows.map(({ kind, id }) => `${kind}/${id}`));
      const written = ({ updatedBy, updatedAt }: { readonly updatedBy: string; readonly updatedAt: number }): string =>
        `(by ${updatedBy}, ${new Date(updatedAt).toISOString().slice(0, 10)})`;
      for (const { kind, id, place, twin } of rows)
        options.out(
          twin ? `both   ${WORDS[kind]} ${id} ${place} ${written(twin)}\n` : `files  ${WORDS[kind]} ${id} ${place}\n`,
        );
      for (const [name, one] of stored)
        if (!inFiles.has(name))
          options.out(`store  ${WORDS[one.kind as ObjectOfFile['kind']]} ${one.id} ${written(one)}\n`);
      return rows.some(({ twin }) => twin) ? 1 : 0;
    }),
  );

/** `gatehouse state migrate --check`: whether the tables are those of this release, for a job before a deploy. Exit code 1: they are not. */
export const checkTablesCommand = (options: StateOptions): Promise<0 | 1 | 2> =>
  onStore(options, (found) =>
    withReader(found, async (): Promise<ExitCode> => {
      options.out(`${found.name}: the tables are those of this release\n`);
      return 0;
    }),
  );

/** `gatehouse state migrate`: new tables, and the objects of `state.owns` move from the files, whose entries it names and leaves. */
export const migrateCommand = (
  options: StateOptions & { readonly dryRun: boolean; readonly tables: boolean },
): Promise<0 | 1 | 2> =>
  onStore(options, async (found): Promise<ExitCode> => {
    const { out, dryRun, tables } = options;
    const { state, name } = found;
    const objects = tables ? [] : objectsOfFiles(found).filter(({ kind }) => state.owns.includes(kind));
    const places = objects.map(({ place, id }) => `${place}: ${id}\n`).join('');
    if (dryRun) {
      out(`${name}: would move ${objects.length} objects\n${places}`);
      return 0;
    }
    return withStore(found, async (store) => {
      const known = new Set((await store.entities.load(0)).changed.map(({ kind, id }) => `${kind}/${id}`));
      const changes = objects
        .filter(({ kind, id }) => !known.has(`${kind}/${id}`))
        .map(({ change }) => change(systemClock.wall()));
      await writeAll(store, changes);
      out(
        `${name}: the tables are those of this release; ${changes.length} objects moved, ${objects.length - changes.length} were there\n`,
      );
      if (objects.length > 0) out(`Remove these entries, which the store has now:\n${places}`);
      return 0;
    });
  });

/** A credential given by reference is stored as its value. */
function entryParts(entry: object): Pick<PutChange, 'doc' | 'secrets'> {
  const isSealed = ([name]: [string, unknown]): boolean => SEALED_OF_PROVIDERS.some((field) => field === name);
  const fields = Object.entries(entry);
  const sealed = fields.filter(isSealed).map(([name, value]) => [name, JSON.stringify(value, revealed)]);
  const doc = Object.fromEntries(fields.filter((field) => !isSealed(field)));
  return { doc, secrets: Object.fromEntries(sealed) as Record<string, string> };
}

/** `toJSON` of a secret names its source: the value itself is in its holder. */
function revealed(this: unknown, name: string, value: unknown): unknown {
  const held = isObject(this) ? this[name] : undefined;
  return held instanceof Secret ? held.reveal() : value;
}

/** The change that writes an entry of keys.yaml to the store. A key given by reference is stored as its digest. */
function changeOf(entry: GatewayKey, now: number): PutChange {
  const { id, digest: _digest, key: _key, previous, expires_at: end, ...doc } = entry;
  const [own = '', before] = digestsOf(entry);
  const validTo = end === undefined ? undefined : Date.parse(end);
  const digests = [{ slot: 0, digest: own, last4: '', validFrom: now, validTo }];
  if (previous && before !== undefined)
    digests.push({ slot: 1, digest: before, last4: '', validFrom: 0, validTo: Date.parse(previous.expires_at) });
  return { op: 'put', kind: 'keys', id, doc: doc as EntityDoc, digests, ifVersion: 0 };
}
