import { hash } from 'node:crypto';
import type { GatewayKey, KeysFile, TeamsFile } from '../../../schemas/types.generated.ts';
import {
  GatewayError,
  holdsKeyShape,
  parseBytes,
  parseDuration,
  type Caller,
  type CertificateRules,
  type Clock,
  type FileLimits,
  type KeyRing,
} from '../../plugin/index.ts';
import { compileFields } from '../../catalog/fields/field-rules.ts';
import { compileCustomHosts } from './gateway-config.ts';
import { keyDigest } from './api-keys.ts';
import { demandedNames } from './certificate-names.ts';
import { metadataOf } from './teams.ts';
import { createNetworkTest, type NetworkTest } from './networks.ts';

interface Entry {
  readonly expiresAt: number;
  /** Set for a key that was rotated. */
  readonly previous?: PreviousUse;
  readonly allowsAddress: NetworkTest;
  readonly caller: Caller;
  /** Names that the client's certificate must have. */
  readonly certificate: readonly string[];
}

interface PreviousUse {
  /** Wall clock; -Infinity before the first use. */
  reportedAt: number;
}

/** A use of a previous key is reported at most once in this time. */
const REPORT_EVERY_MS = 60_000;

/** Called when a request used the previous key of `keyId`, which is valid until `expiresAt`. */
type OnPreviousKey = (keyId: string, expiresAt: number) => void;

/** The keys and the teams they belong to. */
export interface KeysAndTeams extends KeysFile {
  readonly teams?: TeamsFile | undefined;
  /** The keys of the state store are not known: a key that is not found may be one of them. */
  readonly incomplete?: boolean;
  /** Clients must have certificates (`tls.client_ca`). */
  readonly clientCertificates?: boolean;
}

/** The gateway keys of keys.yaml and of the state store. Only digests are kept: the memory holds no usable key. */
export function createKeyRing(
  { keys, teams, incomplete, clientCertificates = false }: KeysAndTeams,
  clock: Pick<Clock, 'wall'>,
  onPreviousKey: OnPreviousKey = () => {},
): KeyRing {
  const entries = new Map(keys.flatMap((key) => entriesOf(key, teams)));
  const admit = (entry: Entry, remoteAddress: string): Caller => {
    const now = clock.wall();
    if (now >= entry.expiresAt) {
      const what = entry.previous ? 'The previous key of' : 'The key';
      throw new GatewayError('expired_api_key', `${what} ${entry.caller.keyId} has expired.`);
    }
    if (!entry.allowsAddress(remoteAddress)) {
      throw new GatewayError('network_not_allowed', `The key ${entry.caller.keyId} may not be used from this address.`);
    }
    const { previous } = entry;
    if (previous && now - previous.reportedAt >= REPORT_EVERY_MS) {
      previous.reportedAt = now;
      onPreviousKey(entry.caller.keyId, entry.expiresAt);
    }
    return entry.caller;
  };
  return {
    find(key, remoteAddress) {
      // The lookup is by digest: its timing does not let a caller approach a known key byte by byte.
      const entry = entries.get(hash('sha256', key, 'hex'));
      if (entry) return admit(entry, remoteAddress);
      // A 401 would make a client give up a valid key.
      if (incomplete && holdsKeyShape(key))
        throw new GatewayError(
          'store_unavailable',
          'The state store does not answer, so the gateway key cannot be checked.',
        );
      return undefined;
    },
    ...(clientCertificates && { certificates: certificateRules([...entries.values()], admit) }),
  };
}

function certificateRules(
  entries: readonly Entry[],
  admit: (entry: Entry, remoteAddress: string) => Caller,
): CertificateRules {
  const demanding = entries.filter(({ certificate, previous }) => certificate.length > 0 && !previous);
  const byCaller = new Map(demanding.map(({ caller, certificate }) => [caller, certificate]));
  const byName = Map.groupBy(demanding, ({ certificate }) => certificate[0]!);
  const refuse = (message: string): GatewayError => new GatewayError('invalid_client_certificate', message);
  return {
    verify(certificate) {
      if (!certificate) throw refuse('The connection has no client certificate.');
      if (certificate.problem === undefined) return certificate;
      throw refuse(`The client certificate is not accepted (${certificate.problem}).`);
    },
    allow(caller, { names }) {
      const missing = byCaller.get(caller)?.some((name) => !names.has(name)) ?? false;
      if (missing) throw refuse(`The key ${caller.keyId} demands another client certificate.`);
    },
    find({ names }, remoteAddress) {
      const found = [...names]
        .flatMap((name) => byName.get(name) ?? [])
        .filter(({ certificate }) => certificate.every((name) => names.has(name)));
      const [entry, other] = found;
      if (entry && other)
        throw refuse(
          `The client certificate is that of several keys (${entry.caller.keyId}, ${other.caller.keyId}): send one of them.`,
        );
      return entry && admit(entry, remoteAddress);
    },
  };
}

/** Throws for an invalid time: comparisons with NaN are always false, so the key would never expire. */
function parseMoment(text: string): number {
  const moment = Date.parse(text);
  if (Number.isNaN(moment)) throw new RangeError(`${text} is not a valid date and time`);
  return moment;
}

const hexOf = (digest: string): string => digest.slice('sha256:'.length);

/** The entries of a key and of its previous one, by digest. Both have one caller: limits and records see one key. */
function entriesOf(key: GatewayKey, teams: TeamsFile | undefined): [string, Entry][] {
  const expiresAt = key.expires_at === undefined ? Infinity : parseMoment(key.expires_at);
  const entry: Entry = {
    expiresAt,
    allowsAddress: key.networks ? createNetworkTest(key.networks) : () => true,
    caller: callerOf(key, teams),
    certificate: key.client_certificate ? demandedNames(key.client_certificate) : [],
  };
  const { previous } = key;
  const own: [string, Entry] = [hexOf(keyDigest(key)), entry];
  if (!previous) return [own];
  const end = Math.min(expiresAt, parseMoment(previous.expires_at));
  return [[hexOf(previous.digest), { ...entry, expiresAt: end, previous: { reportedAt: -Infinity } }], own];
}

/** The caller identified by a key, with its permissions. */
export const callerOf = (key: GatewayKey, teams: TeamsFile = {}): Caller => ({
  keyId: key.id,
  ...ownersOf(key, teams),
  providers: key.providers,
  models: key.models,
  configs: key.configs,
  ...(key.prompts && { prompts: key.prompts }),
  defaultConfig: key.default_config,
  inlineConfigs: key.inline_configs ?? false,
  inlinePlugins: key.inline_plugins ?? false,
  customHosts: compileCustomHosts(key.custom_hosts),
  fields: compileFields(key.fields),
  metadata: metadataOf(key, teams),
  ...(key.bound === 'strict' && { metadataStrict: true }),
  ...(key.files && { files: compileFileLimits(key.files) }),
});

function ownersOf(
  { team, owner }: GatewayKey,
  { teams = {} }: TeamsFile,
): Pick<Caller, 'team' | 'organization' | 'owner'> {
  const organization = team === undefined ? undefined : teams[team]?.organization;
  return {
    ...(organization !== undefined && { organization }),
    ...(team !== undefined && { team }),
    ...(owner !== undefined && { owner }),
  };
}

const compileFileLimits = (files: NonNullable<GatewayKey['files']>): Partial<FileLimits> => ({
  ...(files.max_file_bytes !== undefined && { maxFileBytes: parseBytes(files.max_file_bytes) }),
  ...(files.max_total_bytes !== undefined && { maxTotalBytes: parseBytes(files.max_total_bytes) }),
  ...(files.max_files !== undefined && { maxFiles: files.max_files }),
  ...(files.ttl !== undefined && { ttlMs: parseDuration(files.ttl) }),
});
