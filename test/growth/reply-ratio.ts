import { readSse } from '../../src/formats/sse/event-stream.ts';
import { cpuOf, LARGE_BYTES } from './measure.ts';
import { CLIENTS, NAMES, pairOf, readReply, readsOf, SHAPES } from './replies-run.ts';
import type { ReplyShape } from './replies-build.ts';
import { parseAndWrite } from './request-run.ts';

/** Cheaper pairs are measured once: they keep the rule of the bench (6). */
const CHEAP = 5;

export interface ReplyRatio {
  readonly form: 'stream' | 'plain';
  readonly shape: string;
  readonly pair: string;
  readonly milliseconds: number;
  /** Cost of reading and translating a reply, in costs of the least that can be done with the same bytes. */
  readonly ratio: number;
}

/** Over every shape and every pair, the dearest first. */
export function replyRatios(bytes = LARGE_BYTES): readonly ReplyRatio[] {
  const ratios = NAMES.flatMap((upstream) =>
    SHAPES[upstream].flatMap((shape) => {
      const reads = readsOf(shape, bytes);
      const least = cpuOf(leastWork(reads, shape));
      return CLIENTS.map(({ client, strict }): ReplyRatio => {
        const one = { upstream, client, strict, shape };
        const cost = cpuOf(() => void readReply(one, reads), { enough: least * CHEAP });
        const form = shape.stream ? 'stream' : 'plain';
        return { form, shape: shape.name, pair: pairOf(one), milliseconds: cost / 1000, ratio: cost / least };
      });
    }),
  );
  return ratios.toSorted((a, b) => b.ratio - a.ratio);
}

/**
 * The least that any reader does with a reply: it puts the reads together, and parses and writes the JSON of each event. A reply that
 * has little JSON (comments, blank lines, an event that never ends) is compared with a JSON list of its lines, a string each: its
 * reader has to look at each line as a JSON parser has to look at each string.
 */
export function leastWork(reads: readonly Buffer[], shape: ReplyShape): () => void {
  const reply = Buffer.concat(reads);
  const events = jsonOf(reply, shape) ?? [linesOf(reply)];
  return () => {
    if (reads.length > 1) Buffer.concat(reads);
    for (const event of events) work(event);
  };
}

/** A value that nests deeper than the stack cannot be serialized, and invalid JSON is read up to its error. */
function work(json: Buffer): void {
  try {
    parseAndWrite(json);
  } catch (error) {
    if (!(error instanceof RangeError) && !(error instanceof SyntaxError)) throw error;
  }
}

/** The body, or the data of each event, and the JSON within them. Undefined where that is less than half of the reply. */
function jsonOf(reply: Buffer, { stream }: ReplyShape): readonly Buffer[] | undefined {
  const isBody = !stream || reply[0] === 0x5b;
  const texts = isBody ? [reply.toString()] : readSse(reply).map(({ data }) => data);
  const readable = texts.filter((text) => text !== '[DONE]' && text !== '');
  const length = readable.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (length < reply.length / 2) return undefined;
  return [...readable, ...readable.flatMap(argumentsIn)].map((text) => Buffer.from(text));
}

/** OpenAI writes the arguments of a call as JSON inside of a string, other APIs as an object: they are parsed and written, too. */
function argumentsIn(text: string): string[] {
  const found: string[] = [];
  try {
    JSON.parse(text, (key, value: unknown) => {
      if (key === 'arguments' && typeof value === 'string' && value.length > 2) found.push(value);
    });
  } catch {
    return [];
  }
  return found;
}

const linesOf = (reply: Buffer): Buffer => Buffer.from(JSON.stringify(reply.toString().split(/\r\n?|\n/)));
