import { hash } from 'node:crypto';
import type { GatewayKey, KeysFile } from '../../../schemas/types.generated.ts';
import {
  GatewayError,
  parseBytes,
  parseDuration,
  type Caller,
  type Clock,
  type FileLimits,
  type KeyRing,
} from '../../plugin/index.ts';
import { compileFields } from '../../catalog/fields/field-rules.ts';
import { compileCustomHosts } from './gateway-config.ts';
import { keyDigest } from './api-keys.ts';
import { createNetworkTest, type NetworkTest } from './networks.ts';

interface Entry {
  readonly expiresAt: number;
  readonly allowsAddress: NetworkTest;
  readonly caller: Caller;
}

/** The gateway keys of keys.yaml. Only digests are kept: the memory holds no usable key. */
export function createKeyRing(file: KeysFile, clock: Pick<Clock, 'wall'>): KeyRing {
  const entries = new Map(file.keys.map((key) => [keyDigest(key).slice('sha256:'.length), createEntry(key)]));
  return {
    find(key, remoteAddress) {
      // The lookup is by digest: its timing does not let a caller approach a known key byte by byte.
      const entry = entries.get(hash('sha256', key, 'hex'));
      if (!entry) return undefined;
      if (clock.wall() >= entry.expiresAt)
        throw new GatewayError('expired_api_key', `The key ${entry.caller.keyId} has expired.`);
      if (!entry.allowsAddress(remoteAddress)) {
        throw new GatewayError(
          'network_not_allowed',
          `The key ${entry.caller.keyId} may not be used from this address.`,
        );
      }
      return entry.caller;
    },
  };
}

/** Throws for an invalid time: comparisons with NaN are always false, so the key would never expire. */
function parseMoment(text: string): number {
  const moment = Date.parse(text);
  if (Number.isNaN(moment)) throw new RangeError(`${text} is not a valid date and time`);
  return moment;
}

function createEntry(key: GatewayKey): Entry {
  return {
    expiresAt: key.expires_at === undefined ? Infinity : parseMoment(key.expires_at),
    allowsAddress: key.networks ? createNetworkTest(key.networks) : () => true,
    caller: callerOf(key),
  };
}

/** The caller identified by a key, with its permissions. */
export const callerOf = (key: GatewayKey): Caller => ({
  keyId: key.id,
  providers: key.providers,
  models: key.models,
  configs: key.configs,
  ...(key.prompts && { prompts: key.prompts }),
  defaultConfig: key.default_config,
  inlineConfigs: key.inline_configs ?? false,
  inlinePlugins: key.inline_plugins ?? false,
  customHosts: compileCustomHosts(key.custom_hosts),
  fields: compileFields(key.fields),
  ...(key.files && { files: compileFileLimits(key.files) }),
});

const compileFileLimits = (files: NonNullable<GatewayKey['files']>): Partial<FileLimits> => ({
  ...(files.max_file_bytes !== undefined && { maxFileBytes: parseBytes(files.max_file_bytes) }),
  ...(files.max_total_bytes !== undefined && { maxTotalBytes: parseBytes(files.max_total_bytes) }),
  ...(files.max_files !== undefined && { maxFiles: files.max_files }),
  ...(files.ttl !== undefined && { ttlMs: parseDuration(files.ttl) }),
});
