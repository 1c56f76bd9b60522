import type { JsonObject } from './conversation.ts';
import { RequestFault } from './faults.ts';
import type { RequestTarget } from './request-target.ts';
import type { LossReport } from './losses/losses.ts';

/** Rules of Google Cloud labels (docs/protocols/vertex-ai.md#labels). Letters without case count as letters. */
const MAX_LABELS = 64;
/** For partner models, such as Claude and Llama. */
const MAX_OF_PARTNERS = 32;
const MAX_LENGTH = 63;
const KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u;
const VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u;
const LETTER = /^[\p{Ll}\p{Lo}]/u;
const ILLEGAL = /[^\p{Ll}\p{Lo}\p{N}_-]/gu;

/** The caller's labels are checked and never rewritten: a changed label would book costs to the wrong account. */
export function checkLabels(labels: JsonObject, most = MAX_LABELS): JsonObject {
  const entries = Object.entries(labels);
  if (entries.length > most) fail('labels', `there are ${entries.length} labels, ${most} are allowed`);
  for (const [key, value] of entries) {
    const param = `labels.${key}`;
    if (!KEY.test(key)) fail(param, 'a key has 1 to 63 lowercase letters, digits, "_" or "-" and begins with a letter');
    if (typeof value !== 'string') fail(param, 'a value is a string');
    if (!VALUE.test(value)) fail(param, 'a value has at most 63 lowercase letters, digits, "_" or "-"');
  }
  return labels;
}

function fail(param: string, reason: string): never {
  throw new RequestFault('invalid_value', `${param} is not a valid label: ${reason}.`, param);
}

export type LabelledTarget = Pick<RequestTarget, 'host' | 'labels' | 'boundLabels' | 'labelHeader'>;

/**
 * The labels of a request: those that the caller wrote, and those of its metadata. Elsewhere than on Vertex AI the caller's are a loss; the
 * translator reports those of the metadata.
 */
export function labelsFor(
  explicit: JsonObject | undefined,
  { host, labels: derived, boundLabels }: LabelledTarget,
  losses: LossReport,
  most = MAX_LABELS,
): JsonObject | undefined {
  const checked = explicit && checkLabels(explicit, most);
  if (host !== 'vertex') {
    if (checked) losses.dropped('labels', 'only Vertex AI has cost labels');
    return undefined;
  }
  const labels = derived ? addDerived(checked ?? {}, { labels: derived, boundLabels }, losses, most) : checked;
  return labels && (checked || Object.keys(labels).length > 0) ? labels : undefined;
}

/** The header in which partner models on Vertex AI take labels (docs/protocols/vertex-ai.md#labels). */
const LABEL_HEADER = 'x-vertex-ai-labels';

/** The labels of a request to a partner model; undefined where there are none. */
export function labelHeader(
  explicit: JsonObject | undefined,
  target: LabelledTarget,
  losses: LossReport,
): Readonly<Record<string, string>> | undefined {
  if (!target.labelHeader) {
    if (explicit) losses.dropped('labels', 'this target has no cost labels');
    return undefined;
  }
  const labels = labelsFor(explicit, target, losses, MAX_OF_PARTNERS);
  if (!labels || Object.keys(labels).length === 0) return undefined;
  return { [LABEL_HEADER]: Buffer.from(JSON.stringify(labels)).toString('base64') };
}

/** Metadata that the operator's settings turn into a label is not lost. */
export function reportMetadata(
  metadata: JsonObject,
  { host, labels }: Pick<RequestTarget, 'host' | 'labels'>,
  losses: LossReport,
): void {
  if (host !== 'vertex' || !labels) {
    losses.dropped('metadata', 'this API has no metadata; cost labels are `labels`');
    return;
  }
  for (const [name, value] of Object.entries(metadata)) {
    const carried = Object.hasOwn(labels, name) && labels[name] === value;
    if (!carried) losses.dropped(`metadata.${name}`, 'no cost label is derived from it, and this API has no metadata');
  }
}

interface DerivedLabels {
  readonly labels: Readonly<Record<string, string>>;
  readonly boundLabels?: ReadonlySet<string> | undefined;
}

/**
 * Adds labels derived from metadata to the explicit ones, which win key by key, except against `bound` names: those come
 * from the key's own metadata. Metadata can have any spelling, so the
 * names and values are converted to the rules. The order is sorted, so that the same metadata always give the same
 * labels (docs/protocols/vertex-ai.md#labels).
 */
export function addDerived(
  explicit: JsonObject,
  { labels: derived, boundLabels: bound }: DerivedLabels,
  losses: LossReport,
  most = MAX_LABELS,
): JsonObject {
  const added = new Map<string, string>();
  let room = most - Object.keys(explicit).length;
  for (const name of Object.keys(derived).sort()) {
    const key = toKey(name);
    if (Object.hasOwn(explicit, key)) {
      const value = toAlphabet(derived[name]!);
      if (!bound?.has(name) || explicit[key] === value) continue;
      losses.dropped(`labels.${key}`, 'the metadata of the gateway key set this label');
      added.set(key, value);
    } else if (key === '') losses.dropped(`metadata.${name}`, 'a label needs a key');
    else if (added.has(key)) losses.dropped(`metadata.${name}`, `other metadata is the label "${key}" already`);
    else if (room === 0) losses.dropped(`metadata.${name}`, `a request has at most ${most} labels`);
    else {
      added.set(key, toAlphabet(derived[name]!));
      room -= 1;
    }
  }
  return { ...explicit, ...Object.fromEntries(added) };
}

function toKey(name: string): string {
  if (name === '') return '';
  const key = toAlphabet(name);
  return LETTER.test(key) ? key : cut(`k_${key}`);
}

function toAlphabet(text: string): string {
  return cut(text.toLowerCase().replace(ILLEGAL, '_'));
}

/** Cuts by code points, as the rule counts: a letter outside the basic plane is one. */
function cut(text: string): string {
  return text.length <= MAX_LENGTH ? text : [...text].slice(0, MAX_LENGTH).join('');
}
