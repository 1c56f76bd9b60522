import { nanoOf, type Fraction, type Nano, type Pico } from '../../../core/ports/money.ts';
import type { PriceList } from './price-list.ts';
import type { PriceTier, Rates, Rating, PricedPlace, UnknownPrice } from './rates.ts';

/** The bounds of the usage of a request, read before it is sent. */
export interface RequestSize {
  /** Bytes of the prompt that are text, tools and schemas among it, without media. */
  readonly textBytes: number;
  readonly media?: readonly PromptMedium[] | undefined;
  /** The most tokens of an answer, reasoning included: the request's own limit, else that of the gateway config; 0 for vectors. */
  readonly maxOutput?: number | undefined;
  /** `max_out` and the context window of the table of models; undefined: not known. */
  readonly tableOutput?: number | undefined;
  readonly window?: number | undefined;
  /** The request has a list of prompts: each may fill the window, and may be a list of numbers with a token for each two bytes. */
  readonly isList?: boolean | undefined;
  /** `n`, `candidateCount`. Default: 1. */
  readonly answers?: number | undefined;
  /** Media that an answer may have besides text. Default: all media with a price of the model. */
  readonly outputs?: readonly ('audio' | 'image')[] | undefined;
  /** The prompt is marked for a cache of the provider, for 5 minutes (or the provider's own time), or for an hour. */
  readonly cacheWrite?: '5m' | '1h' | undefined;
  /** The service tier asked for; undefined: the standard one. */
  readonly tier?: PriceTier | undefined;
  /** Anthropic's `speed: fast`. */
  readonly fast?: boolean | undefined;
  /** Anthropic's `inference_geo`. */
  readonly geo?: string | undefined;
  /** Pictures to be made, seconds of sound of a transcription, searches at most. */
  readonly images?: number | undefined;
  readonly seconds?: number | undefined;
  readonly searches?: number | undefined;
}

/** Percentiles of the usage of earlier requests to the model; undefined: too few requests. */
export interface Learned {
  /** Tokens of the prompt by byte of its text, at the 99.9th percentile and at the 99th. */
  readonly ratioP999?: number | undefined;
  readonly ratioP99?: number | undefined;
  /** Tokens of the answers, at the 99th percentile. */
  readonly outputP99?: number | undefined;
}

/** `bound`: the most that the request can cost, but for tools of the provider. `typical`: what 99 of 100 cost at most. */
export type ReserveMode = 'bound' | 'typical';

export interface ReserveOptions {
  readonly learned?: Learned | undefined;
  readonly mode?: ReserveMode | undefined;
}

/** The largest answer of a model in data/models.json. */
const LARGEST_OUTPUT = 262_144;

/** The most tokens of one picture made: 6,240 of OpenAI's at high quality and 1024×1536, times the factor of its larger ones. */
const MADE_PICTURE = 16_000;

/** Providers that write prompts to their cache unasked, where a model has a price for it. */
const WRITES_UNASKED: ReadonlySet<string> = new Set(['openai', 'azure-openai']);

/** The dearest admissible price of a request, or why it is unknown. Pure. */
export function reserve(
  prices: PriceList,
  asked: RequestSize,
  place: PricedPlace,
  { learned = {}, mode = 'bound' }: ReserveOptions = {},
): Nano | UnknownPrice {
  const { provider } = place;
  const { tier, fast } = asked;
  const tokens = promptOf(asked, place, { learned, mode });
  const output = outputOf(asked, learned, mode);
  const most = { prompt: tokens, output, asked, unasked: WRITES_UNASKED.has(provider) };
  const terms = { tier, fast, assumed: true };
  const long = prices.rating({ ...terms, prompt: tokens.all }, place);
  if (typeof long === 'string') return long;
  // A prompt that may be long can be a short one, whose prices may be the higher ones.
  const ratings = [long, prices.rating({ ...terms, prompt: 0 }, place)];
  if (asked.geo !== undefined) {
    const there = { ...place, geo: asked.geo };
    ratings.push(...[tokens.all, 0].map((prompt) => prices.rating({ ...terms, prompt }, there)));
  }
  const nano = Math.max(...ratings.map((rating) => (typeof rating === 'string' ? 0 : mostOf(most, rating))));
  return Number.isNaN(nano) ? 'kind' : Math.min(nano, Number.MAX_SAFE_INTEGER);
}

export function promptOf(
  { textBytes, media = [], window, isList }: RequestSize,
  { provider, model }: Pick<PricedPlace, 'provider' | 'model'>,
  { learned = {}, mode = 'bound' }: ReserveOptions,
): PromptTokens {
  const ratio = isList ? TOKENS_PER_BYTE : tokensPerByte(learned, mode);
  return boundPrompt({ textBytes, media, ratio, window, isList, provider, model });
}

function tokensPerByte({ ratioP999, ratioP99 }: Learned, mode: ReserveMode): number {
  const learned = mode === 'typical' ? (ratioP99 ?? ratioP999) : ratioP999;
  return learned === undefined ? TOKENS_PER_BYTE : Math.max(learned, LEAST_TOKENS_PER_BYTE);
}

/** The most tokens of one answer: the request's limit, else that of the table. */
export const longestAnswer = ({
  maxOutput,
  tableOutput,
  window = Infinity,
}: Pick<RequestSize, 'maxOutput' | 'tableOutput' | 'window'>): number =>
  maxOutput ?? tableOutput ?? Math.min(LARGEST_OUTPUT, window);

function outputOf(
  { maxOutput, tableOutput, window, answers = 1, images }: RequestSize,
  learned: Learned,
  mode: ReserveMode,
): number {
  // Requests for pictures have no limit of tokens.
  const drawn = images === undefined ? undefined : images * MADE_PICTURE;
  if (drawn !== undefined && maxOutput === undefined) return drawn;
  const most = longestAnswer({ maxOutput, tableOutput, window });
  return answers * (mode === 'typical' && learned.outputP99 !== undefined ? Math.min(most, learned.outputP99) : most);
}

interface Most {
  readonly prompt: PromptTokens;
  readonly output: number;
  readonly asked: RequestSize;
  readonly unasked: boolean;
}

/** NaN if a kind that the request may use has no price. */
function mostOf({ prompt, output, asked, unasked }: Most, { rates, tokens, units, searches: paid }: Rating): Nano {
  const { cacheWrite, images = 0, seconds = 0 } = asked;
  const searches = paid === 'each' ? 1 : Math.min(asked.searches ?? 0, paid === 'once' ? 1 : Infinity);
  const bySecond = rates.input === undefined && seconds > 0;
  const write5m = cacheWrite !== undefined || unasked ? rates.write5m : undefined;
  const write1h = cacheWrite === '1h' ? rates.write1h : undefined;
  const written = part(output, outputRates(rates, asked), tokens);
  // Pictures that a provider does not count as tokens pay their price besides that of the text.
  const drawn =
    rates.image === undefined ? 0 : part(output, [rates.output], tokens) + part(images, [rates.image], units);
  const read =
    part(prompt.text, [rates.input, rates.cached, write5m, write1h], tokens) +
    part(prompt.audio, [rates.audioIn, rates.audioCached, write5m, write1h], tokens) +
    part(prompt.image, [rates.imageIn, rates.imageCached, write5m, write1h], tokens);
  return (
    (bySecond ? 0 : read + Math.max(written, drawn)) +
    part(seconds, [rates.second ?? 0], units) +
    part(searches, [rates.search], units)
  );
}

function outputRates({ output, audioOut, imageOut }: Rates, { outputs }: RequestSize): readonly (Pico | undefined)[] {
  const may = (kind: 'audio' | 'image'): boolean => outputs?.includes(kind) ?? true;
  return [output, may('audio') ? audioOut : undefined, may('image') ? imageOut : undefined];
}

/** At the dearest of the prices that apply. */
function part(units: number, rates: readonly (Pico | undefined)[], factor: Fraction): Nano {
  if (units === 0) return 0;
  const known = rates.filter((rate) => rate !== undefined);
  return known.length === 0 ? NaN : nanoOf(units, Math.max(...known), factor);
}

export interface PromptMedium {
  readonly kind: 'image' | 'audio' | 'video' | 'document';
  /** Of the medium itself, not of its base64; undefined: the provider reads it at an address. */
  readonly bytes?: number | undefined;
}

interface PromptTokens {
  readonly text: number;
  readonly audio: number;
  readonly image: number;
  readonly all: number;
}

interface Prompt {
  readonly textBytes: number;
  readonly media: readonly PromptMedium[];
  readonly ratio: number;
  /** The context window of the model; undefined: not known. */
  readonly window: number | undefined;
  /** The text consists of several prompts, each of which may fill the window. */
  readonly isList?: boolean | undefined;
  readonly provider: string;
  readonly model: string;
}

/** No tokenizer of the vendors makes a token of less than two bytes of ordinary text, and most make one of four. */
const TOKENS_PER_BYTE = 1 / 2;
/** Tokens of ordinary text have about four bytes. After prompts of blanks, which have more, a key may send ordinary text. */
const LEAST_TOKENS_PER_BYTE = 1 / 4;

/** The largest window of a model in data/models.json. */
const LARGEST_WINDOW = 2_000_000;

/**
 * The most tokens of one picture. OpenAI: 1,536 patches of up to 2.46 tokens, and 10,000 patches at `detail: original`; gpt-4o-mini has
 * 2,833 tokens and 5,667 for each of up to eight tiles. Anthropic: 4,784 at the highest resolution. Google: 2,240 (`ULTRA_HIGH`), and 258
 * for each of up to 16 tiles before Gemini 3.
 */
const OPENAI_PICTURE = 10_000;
const GPT_4O_MINI_PICTURE = 48_169;
const PICTURE = 4_784;

/** Google counts 32 tokens a second of sound, and OpenAI 10. Speech has 1,000 bytes a second or more. */
const SOUND_TOKENS_PER_BYTE = 32 / 1000;
/** Google counts up to 290 tokens a second of film (258 a frame, 32 of sound). A film has 5,000 bytes a second or more. */
const FILM_TOKENS_PER_BYTE = 290 / 5000;
/** The text of a PDF is compressed to about a quarter, and each page counts as a picture too. */
const DOCUMENT_TOKENS_PER_BYTE = 1;

/** Tokens of a prompt are no more than the window: a provider refuses a longer one. */
function boundPrompt(prompt: Prompt): PromptTokens {
  const { textBytes, media, ratio, window = LARGEST_WINDOW, isList = false } = prompt;
  let text = Math.ceil(textBytes * ratio);
  let [audio, image] = [0, 0];
  for (const { kind, bytes } of media) {
    if (kind === 'image') image += pictureOf(prompt);
    else if (kind === 'audio') audio += tokensOf(bytes, SOUND_TOKENS_PER_BYTE, window);
    else if (kind === 'video') text += tokensOf(bytes, FILM_TOKENS_PER_BYTE, window);
    else text += tokensOf(bytes, DOCUMENT_TOKENS_PER_BYTE, window);
  }
  const most = isList ? Infinity : window;
  const bounded = (tokens: number): number => Math.min(tokens, most);
  return { text: bounded(text), audio: bounded(audio), image: bounded(image), all: bounded(text + audio + image) };
}

const tokensOf = (bytes: number | undefined, perByte: number, window: number): number =>
  bytes === undefined ? window : Math.ceil(bytes * perByte);

function pictureOf({ provider, model }: Prompt): number {
  if (provider !== 'openai' && provider !== 'azure-openai') return PICTURE;
  return model.startsWith('gpt-4o-mini') ? GPT_4O_MINI_PICTURE : OPENAI_PICTURE;
}
