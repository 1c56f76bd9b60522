import type { JsonObject } from '../../formats/conversation.ts';
import { createHash } from 'node:crypto';
import { endianness } from 'node:os';
import type { EmbeddingRequest } from './embedding-request.ts';

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
