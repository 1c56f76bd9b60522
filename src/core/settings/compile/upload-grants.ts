import { createHmac, timingSafeEqual } from 'node:crypto';
import { UPLOAD_LIFE_MS, type UploadGrants } from '../../kernel/index.ts';
import type { Clock } from '../../../plugin/index.ts';
import type { Admit, KnownKeys } from './key-record.ts';

/** `upload.END.KEY.MAC`: the end in milliseconds since 1970 in base 36, the id of the key and the MAC in base64url. */
const GRANT = /^upload\.([0-9a-z]{1,11})\.([\w-]{1,88})\.([\w-]{43})$/;

/**
 * Grants of uploads. The MAC is made with the digest of the gateway key: every process with the same keys can check it, and it ends with
 * the key. A reader of keys.yaml knows the digest, and not the ids of uploads, which are random.
 */
export const uploadGrants = (known: () => KnownKeys, clock: Pick<Clock, 'wall'>, admit: Admit): UploadGrants => ({
  grant(keyId, uploadId) {
    const digests = known().key(keyId)?.parts.digests ?? [];
    // A grant made with the previous digest of a rotation would end with that one.
    const digest = digests.find((name) => !known().digest(name)?.previous) ?? digests[0];
    if (digest === undefined) return undefined;
    const end = Math.floor(clock.wall() + UPLOAD_LIFE_MS).toString(36);
    const mac = macOf(digest, { end, keyId, uploadId });
    return `upload.${end}.${Buffer.from(keyId).toString('base64url')}.${mac.toString('base64url')}`;
  },
  find(grant, uploadId, remoteAddress) {
    const [, end, id, given] = GRANT.exec(grant) ?? [];
    if (end === undefined || id === undefined || given === undefined) return undefined;
    if (clock.wall() >= Number.parseInt(end, 36)) return undefined;
    const keyId = Buffer.from(id, 'base64url').toString();
    const record = known().key(keyId);
    const mac = Buffer.from(given, 'base64url');
    for (const name of record?.parts.digests ?? []) {
      const digest = known().digest(name);
      if (record && digest && timingSafeEqual(mac, macOf(name, { end, keyId, uploadId })))
        return admit(digest, record, remoteAddress);
    }
    return undefined;
  },
});

const macOf = (digest: string, { end, keyId, uploadId }: Record<'end' | 'keyId' | 'uploadId', string>): Buffer =>
  createHmac('sha256', digest).update(`gatehouse upload\n${end}\n${keyId}\n${uploadId}`).digest();
