import { randomUUID } from 'node:crypto';
import type { Caller } from '../kernel/index.ts';
import { digestOf, digestsOf } from '../settings/compile/api-keys.ts';
import { callerOf } from '../settings/compile/key-ring.ts';
import type { Settings } from '../settings/read/load.ts';
import { looksSecret } from '../settings/values/show.ts';
import type { Snapshot } from '../compose/snapshot.ts';

export class UnknownKey extends Error {
  override readonly name = 'UnknownKey';
  readonly known: readonly string[];
  /** The given id in printable form: the user may have given the key itself in place of its id. */
  readonly named: string;
  constructor(id: string, { keys }: Settings['keys']) {
    const meant = keys.find((entry) => digestsOf(entry).includes(digestOf(id)));
    const isSecret = meant !== undefined || looksSecret(id);
    const named = isSecret ? 'this id' : `the id ${JSON.stringify(id)}`;
    super(`There is no key with ${named}.`);
    this.named = named;
    this.known = meant ? [meant.id] : keys.map((entry) => entry.id);
  }
}

interface DryRequest {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  /** The caller, when no key in the headers identifies it: the id of a key of keys.yaml, or a known caller. */
  readonly as?: string | Caller | undefined;
}

/** A caller that the headers do not identify. */
export interface Supposed {
  /** A random key that no caller has. */
  readonly key: string;
  readonly caller: Caller;
  readonly how: 'named' | 'unknown';
}

interface KnownSettings {
  readonly settings: Settings;
  readonly snapshot: Pick<Snapshot, 'headerNames'>;
}

export function suppose(
  { as, headers, path }: DryRequest,
  { settings, snapshot }: KnownSettings,
): Supposed | undefined {
  const key = `explain-${randomUUID()}`;
  if (typeof as === 'object') return { key, caller: as, how: 'named' };
  if (typeof as === 'string') {
    const entry = settings.keys.keys.find(({ id }) => id === as);
    if (!entry) throw new UnknownKey(as, settings.keys);
    return { key, caller: callerOf(entry, settings.teams), how: 'named' };
  }
  const given =
    snapshot.headerNames.read(headers, 'api-key') ??
    headers['authorization'] ??
    headers['x-api-key'] ??
    headers['x-goog-api-key'] ??
    keyIn(path);
  return given === undefined ? { key, caller: ANYBODY, how: 'unknown' } : undefined;
}

/** It has no restrictions: the question is about the configs, not about a key's limits. */
export const ANYBODY: Caller = {
  keyId: 'any key',
  providers: undefined,
  models: undefined,
  configs: undefined,
  defaultConfig: undefined,
  inlineConfigs: true,
  inlinePlugins: true,
  customHosts: undefined,
};

/** A note about an expired key: a key given by id is not looked up, so `auth` does not check its expiry. */
export function expired({ as }: Pick<DryRequest, 'as'>, { keys }: Settings, wall: number): readonly string[] {
  const named = keys.keys.find(({ id }) => id === as);
  if (named?.expires_at === undefined || Date.parse(named.expires_at) > wall) return [];
  return [`the key ${named.id} has expired (${named.expires_at}): a request with it is rejected`];
}

/** The gateway's own header overrides others with keys: `Authorization` stays the caller's upstream credential. */
export function withKey<Q extends Pick<DryRequest, 'headers'>>(
  question: Q,
  key: string,
  { headerNames }: Pick<Snapshot, 'headerNames'>,
): Q {
  return { ...question, headers: { ...question.headers, [headerNames.nameFor({}, 'api-key')]: key } };
}

/** The key in the query of a path (http/listener/keys-in-urls.ts). */
const keyIn = (path: string): string | undefined => new URLSearchParams(path.split('?')[1]).get('key') ?? undefined;
