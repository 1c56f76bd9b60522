import type { Usage } from '../../../formats/events.ts';
import { nanoOf, type Nano } from '../../../core/ports/money.ts';
import { PRICE_KINDS, TOKENS, type PriceKind, type Rating } from './rates.ts';

export const totalOfAll = ({ total, otherModels = [] }: Usage): number =>
  otherModels.reduce((sum, { usage }) => sum + usage.total, total);

export const cachedOfAll = ({ cacheRead = 0, otherModels = [] }: Usage): number =>
  otherModels.reduce((sum, { usage }) => sum + (usage.cacheRead ?? 0), cacheRead);

/** The cost of what one model used. Undefined: a used kind has no price. */
export function costOf(usage: Usage, rating: Rating): Nano | undefined {
  const { rates, tokens, units } = rating;
  const used = usedOf(usage, rating);
  let nano = 0;
  for (const { kind, per } of PRICE_KINDS) {
    if (!(used[kind] > 0)) continue;
    const price = rates[kind];
    if (price === undefined) return undefined;
    nano += nanoOf(Math.min(used[kind], MAX_UNITS), price, per === TOKENS ? tokens : units);
  }
  return Math.min(nano, Number.MAX_SAFE_INTEGER);
}

/** The number of units of each kind. Kinds are disjoint: a part of the input is paid once. */
function usedOf(usage: Usage, { rates, searches }: Rating): Readonly<Record<PriceKind, number>> {
  const cached = usage.cacheRead ?? 0;
  const write1h = usage.cacheWrite1h ?? 0;
  const write5m = Math.max(0, (usage.cacheWrite ?? 0) - write1h);
  const audioCached = Math.min(usage.cacheReadAudio ?? 0, cached);
  const imageCached = Math.min(usage.cacheReadImage ?? 0, cached - audioCached);
  let left = Math.max(0, usage.input - cached - write5m - write1h);
  // A provider that does not say how much of the sound was cached counts it twice.
  const audioIn = Math.min(Math.max(0, (usage.inputAudio ?? 0) - audioCached), left);
  left -= audioIn;
  const imageIn = Math.min(Math.max(0, (usage.inputImage ?? 0) - imageCached), left);
  const audioOut = Math.min(usage.outputAudio ?? 0, usage.output);
  const imageOut = Math.min(usage.outputImage ?? 0, usage.output - audioOut);
  return {
    input: left - imageIn,
    cached: cached - audioCached - imageCached,
    write5m,
    write1h,
    audioIn,
    audioCached,
    imageIn,
    imageCached,
    output: usage.output - audioOut - imageOut,
    audioOut,
    imageOut,
    search: searches === undefined ? (usage.searches ?? 0) : paidSearches(usage, searches),
    fileSearch: usage.fileSearches ?? 0,
    mapSearch: usage.mapSearches ?? 0,
    container: usage.containers ?? 0,
    second: usage.seconds ?? 0,
    // Pictures cost as tokens where a model has no price per picture, or reports tokens: Gemini's two prices are the same.
    image: rates.image === undefined || usage.outputImage ? 0 : (usage.images ?? 0),
  };
}

/** Counts are numbers of an upstream: JSON has negative and infinite ones (1e999). No reply has as much. */
const MAX_UNITS = 1e12;

const paidSearches = ({ searches = 0 }: Usage, paid: 'once' | 'each'): number =>
  paid === 'each' ? 1 : Math.min(1, searches);
