import { SimulatorRefusal } from './chat-request.ts';
import type { JsonObject } from '../../formats/conversation.ts';
import { createHash } from 'node:crypto';
import { endianness } from 'node:os';

/** The fields of an embedding request that the simulator reads. Other fields are accepted and ignored. */
interface EmbeddingRequest {
  readonly model: string;
  /** The input texts; a list of tokens becomes the text of its numbers. */
  readonly texts: readonly string[];
  readonly dimensions: number;
  readonly base64: boolean;
}

const DEFAULT_DIMENSIONS = 256;
const MAX_DIMENSIONS = 4_096;
/** OpenAI's limit (docs/protocols/embeddings.md#openai-request). */
const MAX_INPUTS = 2_048;

/** Throws SimulatorRefusal. */
export function readEmbeddingRequest(body: unknown): EmbeddingRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new SimulatorRefusal('The body is not a JSON object.', null);
  const { model, input, dimensions, encoding_format: encoding } = body as Readonly<Record<string, unknown>>;
  if (typeof model !== 'string' || model === '') throw new SimulatorRefusal('`model` must be a string.', 'model');
  const base64 = encoding === 'base64';
  if (!base64 && encoding !== undefined && encoding !== null && encoding !== 'float')
    throw new SimulatorRefusal('`encoding_format` must be float or base64.', 'encoding_format');
  return { model, texts: readInput(input), dimensions: readDimensions(dimensions), base64 };
}

function readDimensions(value: unknown): number {
  if (value === undefined || value === null) return DEFAULT_DIMENSIONS;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_DIMENSIONS) return value;
  throw new SimulatorRefusal(`\`dimensions\` must be a whole number from 1 to ${MAX_DIMENSIONS}.`, 'dimensions');
}

/** A text, a list of texts, a list of tokens, or a list of such lists. */
function readInput(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) && !isTokens(value) ? value : [value];
  if (list.length > MAX_INPUTS) throw new SimulatorRefusal(`\`input\` must have at most ${MAX_INPUTS} items.`, 'input');
  if (list.length === 0) throw new SimulatorRefusal('`input` must not be empty.', 'input');
  return list.map((item) => {
    if (typeof item === 'string' && item !== '') return item;
    if (isTokens(item)) return item.join(' ');
    throw new SimulatorRefusal(
      '`input` must be a text that is not empty, a list of such texts, or of tokens.',
      'input',
    );
  });
}

const isTokens = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((token) => Number.isInteger(token));

/** A reply with vectors (docs/protocols/embeddings.md#openai-request). */
export function embeddingReply({ model, texts, dimensions, base64 }: EmbeddingRequest): JsonObject {
  const tokens = texts.reduce((sum, text) => sum + wordsOf(text).length, 0);
  return {
    object: 'list',
    data: texts.map((text, index) => {
      const vector = vectorOf(text, dimensions);
      return { object: 'embedding', index, embedding: base64 ? toBase64(vector) : [...vector] };
    }),
    model,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];

/** The sum of one pseudo-random direction per word, so that texts with common words are near each other. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const word of wordsOf(text)) {
    const next = noise(word);
    for (let at = 0; at < dimensions; at += 1) sum[at]! += next();
  }
  const length = Math.hypot(...sum);
  // Normalized to unit length, as OpenAI's vectors are.
  return sum.map((value) => value / length);
}

/** Pseudo-random numbers between -1 and 1, seeded by the word: xorshift32, https://www.jstatsoft.org/article/view/v008i14. */
function noise(word: string): () => number {
  // xorshift never leaves a zero state.
  let state = createHash('sha256').update(word).digest().readInt32LE() || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state / 2 ** 31;
  };
}

/** Little-endian floats of 32 bits. */
function toBase64(vector: Float32Array): string {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return (endianness() === 'LE' ? bytes : bytes.swap32()).toString('base64');
}
