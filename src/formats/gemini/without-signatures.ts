import type { JsonObject } from '../conversation.ts';
import type { BodyView, Cleaning } from '../body-view.ts';
import type { RequestTarget } from '../request-target.ts';
import { isObject } from '../json/object.ts';
import { LossReport } from '../losses/losses.ts';
import { traitsOf } from './models.ts';
import { signed } from './parts.ts';
import { SKIP_SIGNATURE } from './thought-signature.ts';
import { asList, bothSpellings, pick } from './wire.ts';
import { REFUSED_SIGNATURE } from '../refused-signature.ts';

/** The body without signatures, and with the escape value where Gemini 3 demands one. */
export function withoutSignatures(body: BodyView, { model }: Pick<RequestTarget, 'model'>): Cleaning | undefined {
  const losses = new LossReport();
  const { third } = traitsOf(model);
  const contents = asList(body.value('contents')).flatMap((content, at) => {
    const parts = isObject(content) ? asList(content['parts']) : [];
    if (!isObject(content) || !parts.some(isSigned)) return [content];
    losses.dropped(`contents[${at}].parts[].thoughtSignature`, REFUSED_SIGNATURE);
    const bare = parts.map((part) => (isSigned(part) ? withoutSignature(part) : part)).filter((part) => !isEmpty(part));
    const call = third ? bare.findIndex((part) => isObject(part) && pick(part, 'functionCall') !== undefined) : -1;
    const kept = bare.map((part, index) => (index === call && isObject(part) ? signed(part, SKIP_SIGNATURE) : part));
    return kept.length > 0 ? [{ ...content, parts: kept }] : [];
  });
  const list = losses.list();
  return list.length === 0
    ? undefined
    : { edits: [{ path: ['contents'], value: contents, source: 'gateway' }], losses: list };
}

function isSigned(part: unknown): part is JsonObject {
  const signature = isObject(part) ? pick(part, 'thoughtSignature') : undefined;
  return signature !== undefined && signature !== SKIP_SIGNATURE;
}

const SIGNATURE = bothSpellings('thoughtSignature');

const withoutSignature = (part: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(part).filter(([name]) => !SIGNATURE.has(name)));

/** True for a part that only carried a signature. */
const isEmpty = (part: unknown): boolean =>
  isObject(part) &&
  Object.entries(part).every(([name, value]) => name === 'thought' || (name === 'text' && value === ''));
