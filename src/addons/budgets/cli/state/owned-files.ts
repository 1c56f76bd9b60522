import { priceFilesOf } from '../../settings/price-files.ts';
import { changeOf } from '../../state/stored-entities.ts';
import type { EntityDoc, PutChange } from '../../../../core/ports/entities.ts';
import type { FileObject } from '../../../../core/settings/read/file-objects.ts';
import { webhooksIn } from '../../../../core/settings/source/stored-objects.ts';
import type { FoundStore } from './read.ts';

/** An object of a file that the store could have. */
export interface ObjectOfFile {
  readonly kind: FileObject['kind'];
  readonly id: string;
  /** `configs/keys.yaml:12:5` */
  readonly place: string;
  readonly change: (now: number) => PutChange;
}

/** The objects of the files, those first to which others refer. */
export function objectsOfFiles({ loaded, settings }: Pick<FoundStore, 'loaded' | 'settings'>): ObjectOfFile[] {
  const { written, server } = settings;
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
  return [...nodes, ...keys, ...prices, ...alerts];
}

const WORDS = {
  keys: 'key',
  teams: 'team',
  organizations: 'organization',
  prices: 'price',
  alerts: 'alert',
} as const;

export const wordOf = (kind: ObjectOfFile['kind']): string => WORDS[kind];
