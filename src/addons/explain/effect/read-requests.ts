import { isObject } from '../../../core/kernel/index.ts';
import { systemClock } from '../../../core/kernel/system-clock.ts';
import { BadQuestion } from '../../../core/process/explain-port.ts';
import { readQuestion, toQuestion } from '../explain/question.ts';
import type { ExplainQuestion } from '../explain/question.ts';
import { MAX_SAMPLES } from './effect.ts';
import { sampleOfRecord, type RecordReading } from './record-sample.ts';
import type { Sample, UnknownSample } from './sample.ts';

/** A line that is neither a record nor a question. */
export class BadLine extends Error {}

/** Limits of a question: it comes from a file of the user. */
const LIMITS = { json: { depth: 256, keys: 1_000_000, items: 1_000_000 }, header: 1024 * 1024 };

/** Names that only a gateway that serves can answer. */
const OF_GATEWAY = ['of', 'settings'];

/**
 * Reads a record, or a question of `explain`, from each line. Throws BadLine.
 * @param name of the file, for messages
 */
export function readRequests(
  text: string,
  name: string,
  reading: RecordReading,
): { readonly samples: readonly (Sample | UnknownSample)[]; readonly more: number } {
  const lines = text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [{ line, at: index + 1 }]));
  const samples = lines.slice(0, MAX_SAMPLES).map(({ line, at }) => readLine(line, `${name}:${at}`, reading));
  return { samples, more: lines.length - samples.length };
}

function readLine(line: string, place: string, reading: RecordReading): Sample | UnknownSample {
  const value = parsed(line, place);
  if ('request_id' in value) return sampleOfRecord(value, reading);
  const other = OF_GATEWAY.find((name) => name in value);
  if (other !== undefined) throw new BadLine(`${place}: \`${other}\` is for a gateway that serves`);
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
