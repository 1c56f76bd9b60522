import { ReplyFault } from './faults.ts';

/** Little-endian float32, as OpenAI's SDKs ask for it (docs/protocols/embeddings.md#base64-vectors). */
export function toBase64(values: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(values.length * Float32Array.BYTES_PER_ELEMENT);
  // Not the bytes of a Float32Array, whose byte order is that of the machine.
  for (const [at, value] of values.entries()) bytes.writeFloatLE(value, at * Float32Array.BYTES_PER_ELEMENT);
  return bytes.toString('base64');
}

/** Vectors are float32: a larger number would become null in JSON and infinity in base64. */
const isFloat = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(Math.fround(value));

/** @param name the name of the vector in a fault */
export function readVector(value: unknown, name: string): readonly number[] {
  if (!Array.isArray(value) || value.length === 0) throw new ReplyFault(`${name} is missing`);
  if (!value.every(isFloat)) throw new ReplyFault(`${name} has items that are not numbers`);
  return value;
}
