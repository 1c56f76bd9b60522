import { parseDuration } from '../../../../core/kernel/units.ts';
import type { KeyDigest } from '../../../../core/ports/entities.ts';
import { reasonOf, type Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { storeSettings } from '../../../../core/settings/source/stored-objects.ts';
import { invalidBody } from '../schemas.ts';
import { putOf, toChange, write, type ShownObject } from './objects.ts';
import { createSecret } from '../secrets.ts';
import { answerWith } from './object-answers.ts';

const OVERLAP = '24h';
const LONGEST_MS = 90 * 86_400_000;

/** A new secret in slot 0; the one before moves to slot 1 until the overlap has passed. */
export const rotateKey: Handler = async (call) => {
  const { overlap = OVERLAP, reason } = call.body as { readonly overlap?: string | number; readonly reason?: string };
  const key = toChange('keys', call);
  const own = key.entity.digests.find(({ slot }) => slot === 0);
  if (!own) throw new ApiProblem('key_revoked', `The key "${key.id}" is revoked.`);
  const overlapMs = parseDuration(overlap);
  if (overlapMs > LONGEST_MS)
    throw invalidBody([{ pointer: '/overlap', message: 'an overlap is at most 90 days: 2160h' }]);
  const now = call.clock.wall();
  const secret = createSecret(storeSettings(call.settings.server)?.peppers);
  const end = Math.min(now + overlapMs, own.validTo ?? Infinity);
  const digests: KeyDigest[] = [
    { slot: 0, digest: secret.digest, last4: secret.last4, validFrom: now, validTo: own.validTo },
  ];
  if (overlapMs > 0) digests.push({ ...own, slot: 1, validTo: end });
  const object = await write(changeOf(key, digests, reasonOf(call, reason)), call);
  const answered = await answerWith(object, call);
  return { ...answered, body: { key: call.query.dryRun ? null : secret.text, object: answered.body } };
};

/** Removes both secrets of the key, or only the one of before its last rotation. */
export const revokeKey: Handler = async (call) => {
  const { which = 'all', reason } = call.body as { readonly which?: 'all' | 'previous'; readonly reason?: string };
  const key = toChange('keys', call);
  const digests = which === 'all' ? [] : key.entity.digests.filter(({ slot }) => slot === 0);
  return answerWith(await write(changeOf(key, digests, reasonOf(call, reason)), call), call);
};

const changeOf = ({ id, spec, entity }: ShownObject, digests: readonly KeyDigest[], reason: string) =>
  putOf({ kind: 'keys', id, spec, digests, reason, ifVersion: entity.version });
