import type { Usage } from './events.ts';

/** No reply uses as much. Larger numbers are no counts: JSON has numbers up to 1e308, and `1e999` is read as infinity. */
const MOST = 1e12;

const DIGITS = /^\d{1,19}$/;

const isCount = (value: number): boolean => value >= 0 && value <= MOST;

/**
 * A count as a provider claims it, whatever its value; `sound` decides about it. Undefined without one, NaN for a value that is no number. The
 * JSON of protobuf writes integers of 64 bits as text (https://protobuf.dev/programming-guides/json/).
 */
export function claimOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Math.ceil(value);
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' && DIGITS.test(value) ? Number(value) : NaN;
}

/** A count from 0 up, as an integer. Undefined for all else. */
export function countOf(value: unknown): number | undefined {
  const claim = claimOf(value);
  return claim !== undefined && isCount(claim) ? claim : undefined;
}

/** The sum of two claims. One that cannot be true makes a sum that cannot: a larger one must not hide it. */
export const sumOfClaims = (one = 0, other = 0): number => (isCount(one) && isCount(other) ? one + other : NaN);

/**
 * The output of a reply: some providers leave reasoning out of it and have it in the total alone (docs/protocols/replies.md#usage). A
 * total says nothing beside a claim that cannot be true.
 */
export const outputWithin = (total: number | undefined, input: number | undefined, output = 0): number =>
  total !== undefined && input !== undefined && total > sumOfClaims(input, output) ? total - input : output;

export type Count = { [K in keyof Usage]-?: Usage[K] extends number | undefined ? K : never }[keyof Usage];

/** Pairs of counts: a part and its whole. */
const PARTS = [
  ['cacheRead', 'input'],
  ['cacheWrite', 'input'],
  ['cacheWrite1h', 'cacheWrite'],
  ['inputAudio', 'input'],
  ['inputImage', 'input'],
  ['toolUse', 'input'],
  ['cacheReadAudio', 'cacheRead'],
  ['cacheReadImage', 'cacheRead'],
  ['reasoning', 'output'],
  ['outputAudio', 'output'],
  ['outputImage', 'output'],
  ['acceptedPrediction', 'output'],
  ['rejectedPrediction', 'output'],
] as const satisfies readonly (readonly [Count, Count])[];

/** Counts of other units than tokens. */
const UNITS = [
  'seconds',
  'searches',
  'fileSearches',
  'mapSearches',
  'containers',
  'images',
] as const satisfies readonly Count[];

/**
 * The usage if its counts can be true: numbers from 0 up, no part above its whole. Otherwise a copy of what can be true, with the claims
 * beside it. `total` is always the sum.
 */
export function sound(claims: Usage): Usage {
  if (isSound(claims)) return claims;
  const copy: { -readonly [K in keyof Usage]: Usage[K] } = { ...claims, claimed: claims };
  const truth = (value: number): number => (isCount(value) ? value : 0);
  copy.input = truth(claims.input);
  copy.output = truth(claims.output);
  copy.total = copy.input + copy.output;
  for (const [part, whole] of PARTS) {
    const value = claims[part];
    if (value !== undefined) copy[part] = Math.min(truth(value), copy[whole] ?? 0);
  }
  for (const unit of UNITS) if (claims[unit] !== undefined) copy[unit] = truth(claims[unit]);
  return copy;
}

function isSound(usage: Usage): boolean {
  if (!isCount(usage.input) || !isCount(usage.output)) return false;
  if ((usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) > usage.input) return false;
  for (let at = 0; at < PARTS.length; at += 1) {
    const [part, whole] = PARTS[at]!;
    const value = usage[part];
    if (value !== undefined && !(value >= 0 && value <= (usage[whole] ?? MOST))) return false;
  }
  for (let at = 0; at < UNITS.length; at += 1) {
    const value = usage[UNITS[at]!];
    if (value !== undefined && !isCount(value)) return false;
  }
  return true;
}

/** The most tokens of the prompt and of the answer that a model has. */
export interface MostUsage {
  readonly input: number;
  readonly output: number;
}

/** The limits of a model that data/models.json does not have. */
export const UNKNOWN_MOST: MostUsage = { input: 1_000_000, output: 1_000_000 };

/** Limits of one reply in other units than tokens. A day of audio is longer than a file that any vendor takes. */
const MOST_UNITS: Readonly<Record<(typeof UNITS)[number], number>> = {
  seconds: 86_400,
  searches: 1000,
  fileSearches: 1000,
  mapSearches: 1000,
  containers: 1000,
  images: 1000,
};

/** Limit of further models that one reply used. Anthropic documents one, the advisor (docs/protocols/anthropic-messages.md#usage-iterations). */
const MOST_MODELS = 8;

/** True if the counts are possible for one reply of a model with these limits. */
export function isWithin(usage: Usage, input: number, output: number): boolean {
  if (usage.claimed || usage.input > input || usage.output > output) return false;
  for (let at = 0; at < UNITS.length; at += 1) {
    const unit = UNITS[at]!;
    if ((usage[unit] ?? 0) > MOST_UNITS[unit]) return false;
  }
  const { otherModels } = usage;
  return (
    otherModels === undefined ||
    (otherModels.length <= MOST_MODELS && otherModels.every((other) => isOfUnknown(other.usage)))
  );
}

const isOfUnknown = (usage: Usage): boolean => isWithin(usage, UNKNOWN_MOST.input, UNKNOWN_MOST.output);
