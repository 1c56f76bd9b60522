import { hash, timingSafeEqual } from 'node:crypto';
import type { GatewayKey, KeysFile } from '../../schemas/types.generated.ts';
import { GatewayError, type Caller, type Clock, type KeyRing } from '../plugin/index.ts';
import { compileCustomHosts } from './gateway-config.ts';
import { digestBytes, keyDigest } from './key-digest.ts';
import { createNetworkTest, type NetworkTest } from './networks.ts';

interface Entry {
  readonly digest: Buffer;
  readonly expiresAt: number;
  readonly allowsAddress: NetworkTest;
  readonly caller: Caller;
}

/** Compared with on a miss, so that a miss takes as long as a hit. */
const NO_DIGEST = Buffer.alloc(32);

/** The gateway keys of keys.yaml. Only digests are kept: what is in memory opens nothing. */
export function createKeyRing(file: KeysFile, clock: Pick<Clock, 'wall'>): KeyRing {
  const entries = new Map(file.keys.map((key) => [keyDigest(key).slice('sha256:'.length), createEntry(key)]));
  return {
    find(key, remoteAddress) {
      const digest = hash('sha256', key, 'buffer');
      // The map is asked for a digest, which a caller cannot steer towards a known one byte by byte.
      const entry = entries.get(digest.toString('hex'));
      const same = timingSafeEqual(digest, entry?.digest ?? NO_DIGEST);
      if (!entry || !same) return undefined;
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

/** A moment that cannot be read must not become "never": NaN is in no order with any time. */
function parseMoment(text: string): number {
  const moment = Date.parse(text);
  if (Number.isNaN(moment)) throw new RangeError(`${text} is not a moment`);
  return moment;
}

function createEntry(key: GatewayKey): Entry {
  return {
    digest: digestBytes(keyDigest(key)),
    expiresAt: key.expires_at === undefined ? Infinity : parseMoment(key.expires_at),
    allowsAddress: key.networks ? createNetworkTest(key.networks) : () => true,
    caller: callerOf(key),
  };
}

/** Who has the key, and what that one may do. */
export const callerOf = (key: GatewayKey): Caller => ({
  keyId: key.id,
  providers: key.providers,
  models: key.models,
  configs: key.configs,
  defaultConfig: key.default_config,
  inlineConfigs: key.inline_configs ?? false,
  customHosts: compileCustomHosts(key.custom_hosts),
});
