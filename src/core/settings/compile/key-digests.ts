import type { GatewayKey } from '../../../../schemas/types.generated.ts';
import type { KeyValue } from '../source/stored-objects.ts';
import { keyDigest } from './api-keys.ts';
import type { DigestEntry } from './key-record.ts';

/** The digests of a key of keys.yaml, by their names in the ring. Both digests have one key: limits and records see one. */
export function digestsOfFile(key: GatewayKey): ReadonlyMap<string, DigestEntry> {
  const end = endOf(key);
  const { id: keyId, previous } = key;
  const own: [string, DigestEntry] = [ringName(keyDigest(key)), { keyId, validFrom: -Infinity, validTo: end }];
  if (!previous) return new Map([own]);
  const validTo = Math.min(end, parseMoment(previous.expires_at));
  return new Map<string, DigestEntry>([
    [ringName(previous.digest), { keyId, validFrom: -Infinity, validTo, previous: { reportedAt: -Infinity } }],
    own,
  ]);
}

/** The digests of a key of the store. @param key its own end, if it has one, ends them all */
export function digestsOfStored(
  keyId: string,
  { digests }: KeyValue,
  key: GatewayKey,
): ReadonlyMap<string, DigestEntry> {
  const end = endOf(key);
  return new Map(
    digests.map(({ slot, digest, validFrom, validTo = Infinity }) => [
      ringName(digest),
      {
        keyId,
        validFrom,
        validTo: Math.min(validTo, end),
        previous: slot === 0 ? undefined : { reportedAt: -Infinity },
      },
    ]),
  );
}

const SHA256 = 'sha256:';

/** Most digests are SHA-256: their name is the hash alone. */
const ringName = (digest: string): string => (digest.startsWith(SHA256) ? digest.slice(SHA256.length) : digest);

const endOf = ({ expires_at: end }: GatewayKey): number => (end === undefined ? Infinity : parseMoment(end));

/** Throws for an invalid time: comparisons with NaN are always false, so the key would never expire. */
function parseMoment(text: string): number {
  const moment = Date.parse(text);
  if (Number.isNaN(moment)) throw new RangeError(`${text} is not a valid date and time`);
  return moment;
}
