import type { JsonObject } from '../conversation.ts';
import type { BodyEdit, BodyView, Cleaning, SearchableBody } from '../body-view.ts';
import type { RequestTarget } from '../request-target.ts';
import { editItems, isObject, objectOf, stringOf } from '../json/object.ts';
import { LossReport } from '../losses/losses.ts';
import { makerOf, type Signed } from '../maker.ts';
import { NESTED } from './count-request.ts';
import { registered } from '../media/media-types.ts';
import { labelsFor } from '../labels.ts';
import { traitsOf } from './models.ts';
import { signed } from './parts.ts';
import { OWN_MAKER, SIGN_OF_ENVELOPE, SKIP_SIGNATURE, signatureOfClient, thoughtOnCall } from './thought-signature.ts';
import { asList, bothSpellings, pick } from './wire.ts';
import { REFUSED_SIGNATURE } from '../refused-signature.ts';

/** Adds the labels of the caller's metadata to a body for Gemini, and removes what other providers have signed. Throws RequestFault. */
export function clean(body: SearchableBody, target: CleanedFor): Cleaning | undefined {
  const losses = new LossReport();
  const edits = [...withoutForeign(body, target, losses), ...withLabels(body, target, losses)];
  return edits.length > 0 ? { edits, losses: losses.list() } : undefined;
}

type CleanedFor = Pick<RequestTarget, 'model' | 'host' | 'labels' | 'boundLabels'>;

/** A value that is no object stays: Vertex AI refuses it. */
function withLabels(body: SearchableBody, target: CleanedFor, losses: LossReport): readonly BodyEdit[] {
  if (target.host !== 'vertex' || Object.keys(target.labels ?? {}).length === 0) return [];
  const given = (body.has('labels') ? body.value('labels') : undefined) ?? undefined;
  if (given !== undefined && !isObject(given)) return [];
  return [{ path: ['labels'], value: labelsFor(objectOf(given), target, losses), source: 'gateway' }];
}

/**
 * Removes the signatures and thoughts of other providers from a body for Gemini, which refuses them. They are in
 * envelopes, which this gateway wrote into earlier replies (docs/protocols/replies.md#foreign-signatures). Gemini 3
 * demands a signature on the first call of a turn: a call that loses it gets the documented escape value.
 */
function withoutForeign(body: SearchableBody, { model }: CleanedFor, losses: LossReport): readonly BodyEdit[] {
  if (!SIGNS.some((sign) => body.contains(sign))) return [];
  const { third } = traitsOf(model);
  return placesOf(body).flatMap(({ path, contents }): BodyEdit[] => {
    const cleaned = cleanContents(contents, { place: path.join('.'), third, losses });
    return cleaned ? [{ path, value: cleaned, source: 'gateway' }] : [];
  });
}

interface ContentsPlace {
  readonly path: readonly [string, ...string[]];
  readonly contents: unknown;
}

/** A token count may hold the whole request in a field of its own (docs/protocols/gemini.md#count-tokens). */
function placesOf(body: SearchableBody): readonly ContentsPlace[] {
  const places: ContentsPlace[] = CONTENTS.filter((name) => body.has(name)).map((name) => ({
    path: [name],
    contents: body.value(name),
  }));
  for (const outer of NESTED) {
    const request = body.has(outer) ? objectOf(body.value(outer)) : undefined;
    for (const name of CONTENTS)
      if (request?.[name] !== undefined) places.push({ path: [outer, name], contents: request[name] });
  }
  return places;
}

const SIGNS = [SIGN_OF_ENVELOPE, '"image/jpg"'];
const CONTENTS = [...bothSpellings('contents')];

interface Cleaned {
  readonly place: string;
  readonly third: boolean;
  readonly losses: LossReport;
}

/** Undefined when nothing changes. */
const cleanContents = (contents: unknown, { place, third, losses }: Cleaned): readonly unknown[] | undefined =>
  editItems(asList(contents), (content, at) => {
    const parts = editItems(asList(content['parts']), (part, index) =>
      judge(part, `${place}[${at}].parts[${index}]`, losses),
    );
    if (!parts) return content;
    return parts.length > 0 ? { ...content, parts: third ? withEscape(parts) : parts } : undefined;
  });

const SIGNATURE = bothSpellings('thoughtSignature');

const withoutSignature = (part: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(part).filter(([name]) => !SIGNATURE.has(name)));

function judge(given: JsonObject, place: string, losses: LossReport): JsonObject | undefined {
  const part = withRegisteredType(given);
  const type = typeOf(part);
  if (!foreignSignature(part, type)) return part;
  if (type === 'thinking') return losses.dropped(place, 'the thinking of another provider');
  losses.dropped(`${place}.thoughtSignature`, 'the signature of another provider');
  const bare = withoutSignature(part);
  // A part that only carried the signature is empty without it.
  return Object.keys(bare).length === 1 && bare['text'] === '' ? undefined : bare;
}

/** Media whose type clients derive from the extension of a file (media/media-types.ts): Google refuses it. */
function withRegisteredType(part: JsonObject): JsonObject {
  for (const [name, value] of Object.entries(part)) {
    if (!MEDIA.has(name) || !isObject(value)) continue;
    for (const field of TYPE) {
      const stated = stringOf(value[field]);
      if (stated !== undefined && registered(stated) !== stated)
        return { ...part, [name]: { ...value, [field]: registered(stated) } };
    }
  }
  return part;
}

const MEDIA = bothSpellings('inlineData', 'fileData');
const TYPE = bothSpellings('mimeType');

function typeOf(part: JsonObject): string {
  if (part['thought'] === true) return 'thinking';
  return pick(part, 'functionCall') === undefined ? 'text' : 'tool_call';
}

/** Gemini's own signatures are in no envelope. */
function foreignSignature(part: JsonObject, type: string): Signed | undefined {
  const value = stringOf(pick(part, 'thoughtSignature'));
  const read = (type === 'tool_call' ? thoughtOnCall(value) : undefined) ?? signatureOfClient(type, value);
  if (read.signature === undefined) return undefined;
  return makerOf({ type, ...read }) === OWN_MAKER ? undefined : read;
}

function withEscape(parts: readonly unknown[]): readonly unknown[] {
  const first = parts.findIndex((part) => isObject(part) && pick(part, 'functionCall') !== undefined);
  return parts.map((part, index) =>
    index === first && isObject(part) && pick(part, 'thoughtSignature') === undefined
      ? signed(part, SKIP_SIGNATURE)
      : part,
  );
}

/** The body without signatures, and with the escape value where Gemini 3 demands one. */
export function withoutSignatures(body: BodyView, { model }: Pick<RequestTarget, 'model'>): Cleaning | undefined {
  const losses = new LossReport();
  const { third } = traitsOf(model);
  const value = editItems(asList(body.value('contents')), (content, at) => {
    const parts = asList(content['parts']);
    if (!parts.some(isSigned)) return content;
    losses.dropped(`contents[${at}].parts[].thoughtSignature`, REFUSED_SIGNATURE);
    const bare = parts.map((part) => (isSigned(part) ? withoutSignature(part) : part)).filter((part) => !isEmpty(part));
    return bare.length > 0 ? { ...content, parts: third ? withEscape(bare) : bare } : undefined;
  });
  return value && { edits: [{ path: ['contents'], value, source: 'gateway' }], losses: losses.list() };
}

function isSigned(part: unknown): part is JsonObject {
  const signature = isObject(part) ? pick(part, 'thoughtSignature') : undefined;
  return signature !== undefined && signature !== SKIP_SIGNATURE;
}

/** True for a part that only carried a signature. */
const isEmpty = (part: unknown): boolean =>
  isObject(part) &&
  Object.entries(part).every(([name, value]) => name === 'thought' || (name === 'text' && value === ''));
