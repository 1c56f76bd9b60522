import type { GatewayKey, TeamsFile } from '../../../../schemas/types.generated.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { Caller } from '../../kernel/index.ts';
import { compileFields } from '../../catalog/fields/field-rules.ts';
import type { NodePath, TreeNode } from '../../tenants/tree.ts';
import { addedToCaller } from './added-parts.ts';
import { compileCustomHosts } from './gateway-config.ts';
import { createNetworkTest, type NetworkTest } from './networks.ts';
import type { StoredDigest } from '../source/stored-objects.ts';
import { keyDigest } from './api-keys.ts';

export interface OuterNode {
  readonly node: TreeNode;
  readonly metadata: Readonly<Record<string, string>> | undefined;
  /** The organization of a team, if there is one of that name. */
  readonly organization: OuterNode | undefined;
  /** Why its keys are refused. */
  readonly problem: string | undefined;
}

interface KeyParts {
  readonly key: GatewayKey;
  readonly isStored: boolean;
  readonly node: TreeNode;
  readonly team: OuterNode | undefined;
  /** Names of its digests in the ring. */
  readonly digests: readonly string[];
  /** The end of its own digest, in milliseconds since 1970; Infinity: never. */
  readonly expiresAt: number;
  /** Why the key is refused, whatever is above it. */
  readonly ownProblem: string | undefined;
  /** Why the key is refused. */
  readonly problem: string | undefined;
}

/** A key with what is above it. Most keys of a large store are used rarely, so their permissions are compiled at their first request. */
export class KeyRecord {
  readonly parts: KeyParts;
  #path: NodePath | undefined;
  #caller: Caller | undefined;
  #allows: NetworkTest | undefined;

  constructor(parts: KeyParts) {
    this.parts = parts;
  }

  get id(): string {
    return this.parts.key.id;
  }

  /** Its organization, its team, itself. One list for all requests of the key. */
  get path(): NodePath {
    const { team, node } = this.parts;
    return (this.#path ??= [team?.organization?.node, team?.node, node].filter((one) => one !== undefined));
  }

  get caller(): Caller {
    return (this.#caller ??= callerWith(this.parts.key, teamsOf(this.parts.team)));
  }

  /** Throws GatewayError. */
  check(remoteAddress: string): void {
    const { key, problem } = this.parts;
    if (key.disabled) throw new GatewayError('invalid_api_key', `The key ${key.id} is disabled.`);
    if (key.networks && !(this.#allows ??= createNetworkTest(key.networks))(remoteAddress))
      throw new GatewayError('network_not_allowed', `The key ${key.id} may not be used from this address.`);
    if (problem !== undefined) throw misconfigured(key.id, problem);
  }
}

export const misconfigured = (keyId: string, problem: string | undefined): GatewayError =>
  new GatewayError('key_misconfigured', `The key ${keyId} cannot be used: ${problem}.`);

const teamsOf = (team: OuterNode | undefined): TeamsOfKey => ({
  team: team && { id: team.node.id, metadata: team.metadata },
  organization: team?.organization && { id: team.organization.node.id, metadata: team.organization.metadata },
});

export const callerWith = (key: GatewayKey, teams: TeamsOfKey): Caller => ({
  keyId: key.id,
  ...(teams.organization && { organization: teams.organization.id }),
  ...(key.team !== undefined && { team: key.team }),
  ...(key.owner !== undefined && { owner: key.owner }),
  providers: key.providers,
  models: key.models,
  configs: key.configs,
  defaultConfig: key.default_config,
  inlineConfigs: key.inline_configs ?? false,
  inlinePlugins: key.inline_plugins ?? false,
  customHosts: compileCustomHosts(key.custom_hosts),
  fields: compileFields(key.fields),
  metadata: metadataOf(key, teams),
  ...(key.bound === 'strict' && { metadataStrict: true }),
  ...addedToCaller(key),
});

export interface DigestEntry {
  readonly keyId: string;
  /** Milliseconds since 1970. */
  readonly validFrom: number;
  /** Milliseconds since 1970, excluded. */
  readonly validTo: number;
  /** Set for the digest of before a rotation. */
  readonly previous?: UseOfPrevious | undefined;
}

/** When it was last reported, by the wall clock; -Infinity before the first use. */
type UseOfPrevious = { reportedAt: number };

/** The caller of a key that is found. Throws GatewayError if the key may not be used now, or from this address. */
export type Admit = (digest: DigestEntry, record: KeyRecord, remoteAddress: string) => Caller;

export interface KnownKeys {
  /** False: the keys of the state store are not known. A key that is not found may be one of them. */
  readonly known: boolean;
  /** @param digest without `sha256:` */
  digest(digest: string): DigestEntry | undefined;
  key(id: string): KeyRecord | undefined;
  keys(): Iterable<KeyRecord>;
}

/**
 * The digests of a key, by their names in the ring. An end of the key itself ends them all. Both digests have one key: limits and records
 * see one.
 * @param digests of a key of the store
 */
export function ringDigests(
  key: GatewayKey,
  digests: readonly StoredDigest[] = digestsOfFile(key),
): ReadonlyMap<string, DigestEntry> {
  const end = endOf(key);
  return new Map(
    digests.map(({ slot, digest, validFrom, validTo = Infinity }) => [
      ringName(digest),
      {
        keyId: key.id,
        validFrom,
        validTo: Math.min(validTo, end),
        previous: slot === 0 ? undefined : { reportedAt: -Infinity },
      },
    ]),
  );
}

/** The key's own digest comes last: it counts where both are the same. */
function digestsOfFile(key: GatewayKey): readonly StoredDigest[] {
  const own = { slot: 0, digest: keyDigest(key), validFrom: -Infinity, validTo: undefined };
  if (!key.previous) return [own];
  const { digest, expires_at: end } = key.previous;
  return [{ slot: 1, digest, validFrom: -Infinity, validTo: parseMoment(end) }, own];
}

/** Most digests are SHA-256: their name is the hash alone. */
const ringName = (digest: string): string => digest.replace(/^sha256:/, '');

const endOf = ({ expires_at: end }: GatewayKey): number => (end === undefined ? Infinity : parseMoment(end));

/** Throws for an invalid time: comparisons with NaN are always false, so the key would never expire. */
function parseMoment(text: string): number {
  const moment = Date.parse(text);
  if (Number.isNaN(moment)) throw new RangeError(`${text} is not a valid date and time`);
  return moment;
}

interface NamedOwner {
  readonly id: string;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

interface TeamsOfKey {
  readonly team: NamedOwner | undefined;
  readonly organization: NamedOwner | undefined;
}

export function teamsOfKey({ team: id }: GatewayKey, { organizations = {}, teams = {} }: TeamsFile): TeamsOfKey {
  const team = id === undefined ? undefined : teams[id];
  const outer = team?.organization;
  return {
    team: team && { id: id!, metadata: team.metadata },
    organization: outer === undefined ? undefined : { id: outer, metadata: organizations[outer]?.metadata },
  };
}

/** The metadata of the key, its team and its organization; the nearer to the key wins. Undefined: none. */
export function metadataOf(
  { metadata }: GatewayKey,
  { organization, team }: TeamsOfKey,
): Readonly<Record<string, string>> | undefined {
  if (!organization?.metadata && !team?.metadata) return metadata;
  return { ...organization?.metadata, ...team?.metadata, ...metadata };
}
