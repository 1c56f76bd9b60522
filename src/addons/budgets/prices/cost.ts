import type { Usage } from '../../../formats/events.ts';
import { nanoOf, type Fraction, type Nano, type Pico } from '../../../core/ports/money.ts';
import type { Rates, Rating } from './rates.ts';

/** Tokens of the whole prompt, which decide whether it is a long one. */
export const promptTokens = ({ input }: Usage): number => input;

export const totalOfAll = ({ total, otherModels = [] }: Usage): number =>
  otherModels.reduce((sum, { usage }) => sum + usage.total, total);

export const cachedOfAll = ({ cacheRead = 0, otherModels = [] }: Usage): number =>
  otherModels.reduce((sum, { usage }) => sum + (usage.cacheRead ?? 0), cacheRead);

/** The cost of what one model used. Kinds are disjoint: a part of the input is paid once. Undefined: a used kind has no price. */
export function costOf(usage: Usage, { rates, tokens, units, searches }: Rating): Nano | undefined {
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
  const { input, output } = rates;
  const nano =
    part(left - imageIn, input, tokens) +
    part(cached - audioCached - imageCached, rates.cached, tokens) +
    part(write5m, rates.write5m, tokens) +
    part(write1h, rates.write1h, tokens) +
    part(audioIn, rates.audioIn, tokens) +
    part(audioCached, rates.audioCached, tokens) +
    part(imageIn, rates.imageIn, tokens) +
    part(imageCached, rates.imageCached, tokens) +
    part(usage.output - audioOut - imageOut, output, tokens) +
    part(audioOut, rates.audioOut, tokens) +
    part(imageOut, rates.imageOut, tokens) +
    part(searches === undefined ? (usage.searches ?? 0) : paidSearches(usage, searches), rates.search, units) +
    part(usage.fileSearches ?? 0, rates.fileSearch, units) +
    part(usage.mapSearches ?? 0, rates.mapSearch, units) +
    part(usage.containers ?? 0, rates.container, units) +
    part(usage.seconds ?? 0, rates.second, units) +
    picturesOf(usage, rates, units);
  return Number.isNaN(nano) ? undefined : Math.min(nano, Number.MAX_SAFE_INTEGER);
}

/** Counts are numbers of an upstream: JSON has negative and infinite ones (1e999). No reply has as much. */
const MAX_UNITS = 1e12;

/** NaN if units were used whose price is unknown. */
function part(used: number, price: Pico | undefined, factor: Fraction): Nano {
  if (!(used > 0)) return 0;
  return price === undefined ? NaN : nanoOf(Math.min(used, MAX_UNITS), price, factor);
}

const paidSearches = ({ searches = 0 }: Usage, paid: 'once' | 'each'): number =>
  paid === 'each' ? 1 : Math.min(1, searches);

/** Pictures cost as tokens where a model has no price per picture, or reports tokens: Gemini's two prices are the same. */
function picturesOf({ images = 0, outputImage }: Usage, { image }: Rates, units: Fraction): Nano {
  return image === undefined || outputImage ? 0 : part(images, image, units);
}
