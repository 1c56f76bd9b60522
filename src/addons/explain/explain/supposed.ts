import { randomUUID } from 'node:crypto';
import type { Snapshot } from '../../../core/compose/snapshot.ts';
import { ANYBODY, UnknownKey } from '../../../core/dry-run/supposed-caller.ts';
import type { Caller } from '../../../core/kernel/index.ts';
import { callerOf } from '../../../core/settings/compile/key-ring.ts';
import type { Settings } from '../../../core/settings/read/load.ts';

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

export function suppose(
  { as, headers, path }: DryRequest,
  { settings, snapshot }: { readonly settings: Settings; readonly snapshot: Pick<Snapshot, 'headerNames'> },
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
