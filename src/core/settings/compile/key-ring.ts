import { hash } from 'node:crypto';
import type { GatewayKey, KeysFile, TeamsFile } from '../../../../schemas/types.generated.ts';
import { GatewayError, type Clock } from '../../../plugin/index.ts';
import {
  holdsKeyShape,
  type Caller,
  type CertificateRules,
  type KeyRing,
  type UploadGrants,
} from '../../kernel/index.ts';
import { certificateRules } from './certificate-rules.ts';
import { callerWith, type Admit, type DigestEntry, type KeyRecord, type KnownKeys, teamsOfKey } from './key-record.ts';
import { pepperedDigest } from './api-keys.ts';
import { lentKeyOf } from './lent-keys.ts';
import { Tenants } from './tenants.ts';
import { uploadGrants } from './upload-grants.ts';

/** A use of a previous key is reported at most once in this time. */
const REPORT_EVERY_MS = 60_000;

export interface KeyRingOptions {
  readonly clock: Pick<Clock, 'wall'>;
  /** Called when a request used the previous key of `keyId`, which is valid until `expiresAt`. */
  readonly onPreviousKey?: ((keyId: string, expiresAt: number) => void) | undefined;
  readonly onUse?: ((keyId: string, remoteAddress: string, now: number) => void) | undefined;
  /** Clients must have certificates (`tls.client_ca`). */
  readonly clientCertificates?: boolean | undefined;
  /** Secrets of digests of the form `hmac:<name>:`, by name. */
  readonly peppers?: ReadonlyMap<string, Buffer> | undefined;
}

/** The gateway keys of keys.yaml and of the state store. Only digests are kept: the memory holds no usable key. */
export class DigestRing implements KeyRing {
  readonly #known: () => KnownKeys;
  readonly #options: KeyRingOptions;
  /** Undefined: clients need no certificates. */
  readonly certificates: CertificateRules | undefined;
  readonly uploads: UploadGrants;

  constructor(known: () => KnownKeys, options: KeyRingOptions) {
    this.#known = known;
    this.#options = options;
    const admit: Admit = (...found) => this.#admit(...found);
    this.certificates = options.clientCertificates ? certificateRules(known, admit) : undefined;
    this.uploads = uploadGrants(known, options.clock, admit);
  }

  find(key: string, remoteAddress: string): Caller | undefined {
    const keys = this.#known();
    const own = this.#digestOf(keys, key);
    const digest = own ?? lentDigest(key);
    const now = this.#options.clock.wall();
    const record = digest && now >= digest.validFrom ? keys.key(digest.keyId) : undefined;
    if (!digest || !record) {
      // A 401 would make a client give up a valid key.
      if (!keys.known && holdsKeyShape(key)) throw unknownNow();
      return undefined;
    }
    const caller = this.#admit(digest, record, remoteAddress);
    return own ? caller : { ...caller, origin: 'playground' };
  }

  /** The caller of the key with this id, for who has identified it in another way. Throws as `find`. */
  byId(id: string, remoteAddress: string): Caller | undefined {
    const keys = this.#known();
    const record = keys.key(id);
    if (record) return this.#admit({ keyId: id, validFrom: 0, validTo: record.parts.expiresAt }, record, remoteAddress);
    if (!keys.known) throw unknownNow();
    return undefined;
  }

  /** Throws GatewayError. */
  #admit({ keyId, validTo, previous }: DigestEntry, record: KeyRecord, remoteAddress: string): Caller {
    if (record.parts.isStored && !this.#known().known) throw unknownNow();
    const now = this.#options.clock.wall();
    if (now >= validTo) {
      const what = previous ? 'The previous key of' : 'The key';
      throw new GatewayError('expired_api_key', `${what} ${keyId} has expired.`);
    }
    record.check(remoteAddress);
    if (previous && now - previous.reportedAt >= REPORT_EVERY_MS) {
      previous.reportedAt = now;
      this.#options.onPreviousKey?.(keyId, validTo);
    }
    if (record.parts.isStored) this.#options.onUse?.(keyId, remoteAddress, now);
    return record.caller;
  }

  /** The look-up is by digest: its timing does not let a caller approach a known key byte by byte. */
  #digestOf(keys: KnownKeys, key: string): DigestEntry | undefined {
    const found = keys.digest(hash('sha256', key, 'hex'));
    if (found) return found;
    for (const [name, secret] of this.#options.peppers ?? []) {
      const peppered = keys.digest(pepperedDigest(name, secret, key));
      if (peppered) return peppered;
    }
    return undefined;
  }
}

/** A key that the gateway lent itself, for a request of the playground. */
function lentDigest(key: string): DigestEntry | undefined {
  const keyId = lentKeyOf(key);
  return keyId === undefined ? undefined : { keyId, validFrom: 0, validTo: Infinity, previous: undefined };
}

const unknownNow = (): GatewayError =>
  new GatewayError('store_unavailable', 'The state store does not answer, so the gateway key cannot be checked.');

interface KeysAndTeams extends KeysFile {
  readonly teams?: TeamsFile | undefined;
  /** Clients must have certificates (`tls.client_ca`). */
  readonly clientCertificates?: boolean;
}

export function createKeyRing(
  { keys, teams = {}, clientCertificates }: KeysAndTeams,
  clock: Pick<Clock, 'wall'>,
  onPreviousKey?: KeyRingOptions['onPreviousKey'],
): KeyRing {
  const tenants = Tenants.of({ keys: { keys }, teams });
  return new DigestRing(() => tenants, { clock, onPreviousKey, clientCertificates });
}

export const callerOf = (key: GatewayKey, teams: TeamsFile = {}): Caller => callerWith(key, teamsOfKey(key, teams));
