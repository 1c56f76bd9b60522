import type { JsonObject } from '../conversation.ts';
import { random } from '../laws.testkit.ts';
import { isObject, objectsOf } from './wire.ts';

/**
 * A plain reply as Google would stream it: text cut anywhere, a signature on the last piece or on an empty part after it, other
 * parts whole, running usage on every chunk and the finish on the last one. Does not use the code under test.
 */
export function chunksOfPlain(body: JsonObject, seed: number): JsonObject[] {
  const next = random(seed);
  const { candidates, usageMetadata, ...envelope } = body;
  const chunks: JsonObject[] = [];
  const endings: JsonObject[] = [];
  for (const { content, index, ...ending } of objectsOf(candidates)) {
    const parts = isObject(content) ? objectsOf(content['parts']) : [];
    for (const part of parts.flatMap((part) => pieces(part, next))) {
      const usage = { promptTokenCount: 1, candidatesTokenCount: chunks.length, trafficType: 'ON_DEMAND' };
      const candidate = { content: { role: 'model', parts: [part] }, index };
      chunks.push({ candidates: [candidate], usageMetadata: usage, ...envelope });
    }
    endings.push({ content: { role: 'model' }, index, ...ending });
  }
  return [...chunks, { candidates: endings, usageMetadata, ...envelope }];
}

function pieces(part: JsonObject, next: () => number): JsonObject[] {
  const { text, thoughtSignature, ...rest } = part;
  if (typeof text !== 'string') return [part];
  const units = [...text];
  const cut: JsonObject[] = [];
  while (units.length > 0) cut.push({ ...rest, text: units.splice(0, 1 + Math.floor(next() * 5)).join('') });
  if (thoughtSignature === undefined) return cut;
  if (cut.length > 0 && next() < 0.5) return [...cut.slice(0, -1), { ...cut.at(-1), thoughtSignature }];
  return [...cut, { ...rest, text: '', thoughtSignature }];
}

export function toSse(chunks: readonly unknown[], eol = '\r\n'): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}${eol}${eol}`).join('');
}

/** The body without `alt=sse`. */
export function toArray(chunks: readonly unknown[]): string {
  return `[${chunks.map((chunk) => JSON.stringify(chunk, null, 2)).join('\n,\r\n')}\n]\n`;
}
