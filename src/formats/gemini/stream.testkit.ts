import type { JsonObject } from '../conversation.ts';
import { random } from '../generations.testkit.ts';
import { objectsOf } from './wire.ts';
import { isObject } from '../json/object.ts';

/**
 * Streams a plain reply as Google would: text cut anywhere, a signature on the last piece or on an empty part after it,
 * calls whole or in pieces, any of which has the signature, other parts whole, running usage on every chunk, and the
 * finish reason on the last one. Does not use the code under test.
 */
export function chunksOfPlain(body: JsonObject, seed: number): JsonObject[] {
  const next = random(seed);
  const { candidates, usageMetadata, ...envelope } = body;
  const chunks: JsonObject[] = [];
  const endings: JsonObject[] = [];
  for (const { content, index, ...ending } of objectsOf(candidates)) {
    const parts = isObject(content) ? objectsOf(content['parts']) : [];
    const first = parts.find((part) => 'functionCall' in part);
    const cut = parts.flatMap((part) =>
      'functionCall' in part ? callPieces(part, part === first, next) : pieces(part, next),
    );
    for (const part of cut) {
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

function callPieces(part: JsonObject, first: boolean, next: () => number): JsonObject[] {
  const { functionCall, thoughtSignature } = part;
  if (!isObject(functionCall)) return [part];
  const { args, ...named } = functionCall;
  const leaves = isObject(args) && next() < 0.7 ? argumentPieces(args, '$') : undefined;
  const cut: JsonObject[] = leaves
    ? [
        { functionCall: { ...named, willContinue: true } },
        ...leaves.map((leaf) => ({ functionCall: { partialArgs: [leaf], willContinue: true } })),
        { functionCall: {} },
      ]
    : [{ functionCall }];
  if (thoughtSignature === undefined) return cut;
  // The signature of the first call may follow it on a part of its own.
  const at = Math.floor(next() * (cut.length + (first ? 1 : 0)));
  if (at === cut.length) return [...cut, next() < 0.5 ? { thoughtSignature } : { text: '', thoughtSignature }];
  return cut.map((piece, index) => (index === at ? { ...piece, thoughtSignature } : piece));
}

/** Arguments leaf by leaf, strings in two pieces. Undefined for empty lists and objects, which no path can express. */
export function argumentPieces(value: unknown, path: string): JsonObject[] | undefined {
  if (Array.isArray(value)) {
    return value.length === 0
      ? undefined
      : joinAll(value.map((item, index) => argumentPieces(item, `${path}[${index}]`)));
  }
  if (isObject(value)) {
    const entries = Object.entries(value);
    if (entries.length === 0 && path !== '$') return undefined;
    return joinAll(entries.map(([name, item]) => argumentPieces(item, `${path}['${name.replace(/['\\]/g, '\\$&')}']`)));
  }
  if (typeof value === 'number') return [{ jsonPath: path, numberValue: value }];
  if (typeof value === 'boolean') return [{ jsonPath: path, boolValue: value }];
  if (typeof value !== 'string') return [{ jsonPath: path, nullValue: 'NULL_VALUE' }];
  const half = Math.floor(value.length / 2);
  return [
    { jsonPath: path, stringValue: value.slice(0, half), willContinue: true },
    { jsonPath: path, stringValue: value.slice(half), willContinue: true },
    { jsonPath: path, stringValue: '' },
  ];
}

function joinAll(lists: readonly (JsonObject[] | undefined)[]): JsonObject[] | undefined {
  const joined: JsonObject[] = [];
  for (const list of lists) {
    if (!list) return undefined;
    joined.push(...list);
  }
  return joined;
}

export function toSse(chunks: readonly unknown[], eol = '\r\n'): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}${eol}${eol}`).join('');
}

/** The body without `alt=sse`. */
export function toArray(chunks: readonly unknown[]): string {
  return `[${chunks.map((chunk) => JSON.stringify(chunk, null, 2)).join('\n,\r\n')}\n]\n`;
}
