import { isUtf8 } from 'node:buffer';
import { isObject } from '../../../core/kernel/index.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { BadQuestion } from '../../../core/process/explain-port.ts';
import { type ExplainQuestion, readQuestion, toQuestion } from '../explain/question.ts';
import { MAX_SAMPLES } from './effect.ts';
import { sampleOfRecord, type RecordReading } from './record-sample.ts';
import type { Sample, UnknownSample } from './sample.ts';

export class BadLine extends Error {}

/** Limits of a question: it comes from a file of the user. */
const LIMITS = { json: { depth: 256, keys: 1_000_000, items: 1_000_000 }, header: 1024 * 1024 };

/** Bytes of a line: more than a gateway takes of a body. */
const MAX_LINE = 64 * 1024 * 1024;

/** Fields of a question that only a running gateway can answer. */
const OF_GATEWAY = ['of', 'settings'];

/**
 * Reads a record, or a question of `explain`, from each line, in the memory of the lines that are looked at. Rejects with BadLine.
 * @param name of the file, for messages
 */
export async function readRequests(
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>,
  name: string,
  reading: RecordReading,
): Promise<{ readonly samples: readonly (Sample | UnknownSample)[]; readonly more: number }> {
  const samples: (Sample | UnknownSample)[] = [];
  let [at, more] = [0, 0];
  for await (const line of linesIn(bytes)) {
    at += 1;
    const place = `${name}:${at}`;
    if (line === undefined) throw new BadLine(`${place}: it has more than ${MAX_LINE / 1024 / 1024} MiB`);
    if (line.every(isSpace)) continue;
    if (samples.length === MAX_SAMPLES) more += 1;
    else if (isUtf8(line)) samples.push(readLine(line.toString(), place, reading));
    else throw new BadLine(`${place}: it is not UTF-8 text`);
  }
  return { samples, more };
}

const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d);

/** Undefined: the line is too long, and the last one. */
async function* linesIn(bytes: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer | undefined> {
  let kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      yield Buffer.concat([...kept, chunk.subarray(from, end)]);
      kept = [];
      size = 0;
      from = end + 1;
    }
    size += chunk.length - from;
    if (size > MAX_LINE) return yield undefined;
    kept.push(chunk.subarray(from));
  }
  yield Buffer.concat(kept);
}

function readLine(line: string, place: string, reading: RecordReading): Sample | UnknownSample {
  const value = parsed(line, place);
  if ('request_id' in value) return sampleOfRecord(value, reading);
  const other = OF_GATEWAY.find((name) => name in value);
  if (other !== undefined) throw new BadLine(`${place}: \`${other}\` is for a running gateway`);
  try {
    const asked = readQuestion(Buffer.from(line), LIMITS);
    return sampleOf(
      toQuestion({ ...asked, headers: { 'content-type': 'application/json', ...asked.headers } }, systemClock),
      place,
    );
  } catch (error) {
    if (error instanceof BadQuestion) throw new BadLine(`${place}: ${error.message}`, { cause: error });
    throw error;
  }
}

function parsed(line: string, place: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // Engines quote the text, which may be a prompt.
    throw new BadLine(`${place}: it is not JSON`);
  }
  if (isObject(value)) return value;
  throw new BadLine(`${place}: it is neither a record nor a question of explain`);
}

export const sampleOf = (question: ExplainQuestion, name: string): Sample => ({
  name,
  question,
  sameAs: JSON.stringify([{ ...question, body: '' }, question.body.toString()]),
});
