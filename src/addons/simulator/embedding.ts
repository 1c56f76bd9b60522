import { SimulatorRefusal } from './chat-request.ts';
import type { JsonObject } from '../../formats/conversation.ts';
import { createHash } from 'node:crypto';

const DEFAULT_DIMENSIONS = 256;
const MAX_DIMENSIONS = 4_096;
/** OpenAI's limit (docs/protocols/embeddings.md#openai-request). */
const MAX_INPUTS = 2_048;

/** A reply with vectors (docs/protocols/embeddings.md#openai-request). Throws SimulatorRefusal. */
export function embeddingReply(body: JsonObject): JsonObject {
  const encoding = body['encoding_format'] ?? 'float';
  if (encoding !== 'base64' && encoding !== 'float')
    throw new SimulatorRefusal('`encoding_format` must be float or base64.', 'encoding_format');
  const dimensions = Number(body['dimensions'] ?? DEFAULT_DIMENSIONS);
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > MAX_DIMENSIONS)
    throw new SimulatorRefusal(`\`dimensions\` must be a whole number from 1 to ${MAX_DIMENSIONS}.`, 'dimensions');
  const texts = readInput(body['input']);
  const tokens = texts.reduce((sum, text) => sum + wordsOf(text).length, 0);
  return {
    object: 'list',
    data: texts.map((text, index) => {
      const vector = vectorOf(text, dimensions);
      const embedding = encoding === 'base64' ? Buffer.from(vector.buffer).toString('base64') : [...vector];
      return { object: 'embedding', index, embedding };
    }),
    model: body['model'],
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
}

/** A text, a list of texts, a list of tokens, or a list of such lists. */
function readInput(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) && !isTokens(value) ? value : [value];
  if (list.length === 0 || list.length > MAX_INPUTS)
    throw new SimulatorRefusal(`\`input\` must have 1 to ${MAX_INPUTS} items.`, 'input');
  return list.map((item) => {
    if (typeof item === 'string' && item !== '') return item;
    if (isTokens(item)) return item.join(' ');
    throw new SimulatorRefusal('`input` must be a text, tokens, or a list of texts or of tokens.', 'input');
  });
}

const isTokens = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((token) => Number.isInteger(token));

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];

/** The sum of one pseudo-random direction per word, so that texts with common words are near each other. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions);
  for (const word of wordsOf(text)) {
    const next = noise(word);
    for (let at = 0; at < dimensions; at += 1) sum[at]! += next();
  }
  // Unit length, as OpenAI's vectors have.
  const length = Math.hypot(...sum);
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
