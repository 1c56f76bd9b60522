import { LARGE_BYTES } from './measure.ts';
import { readSse } from '../../src/formats/sse.ts';
import { CLIENTS, NAMES, pairOf, readReply, readsOf, SHAPES } from './replies-run.ts';
import type { ReplyShape } from './replies-build.ts';

export interface Ratio {
  /** Cost of reading and translating a reply, in costs of JSON.parse and JSON.stringify of the same bytes. */
  readonly ratio: number;
  readonly shape: string;
  readonly pair: string;
}

function best(task: () => void, times = 3): number {
  let least = Infinity;
  for (let time = 0; time < times; time += 1) {
    const from = performance.now();
    task();
    least = Math.min(least, performance.now() - from);
  }
  return least;
}

/** The JSON in a reply: the body, or the data of each event. Undefined where there is little of it, or it is none. */
function jsonOf(reply: Buffer, { stream }: ReplyShape): readonly string[] | undefined {
  const isArray = reply[0] === 0x5b;
  const texts = stream && !isArray ? readSse(reply).map(({ data }) => data) : [reply.toString()];
  const readable = texts.filter((text) => text !== '[DONE]' && text !== '');
  const length = readable.reduce((sum, text) => sum + text.length, 0);
  if (length < reply.length / 2) return undefined;
  try {
    for (const text of readable) JSON.stringify(JSON.parse(text));
    return readable;
  } catch {
    return undefined;
  }
}

/** Over every shape and every pair, the costliest first. */
export function replyRatios(bytes = LARGE_BYTES): Ratio[] {
  const found: Ratio[] = [];
  for (const upstream of NAMES) {
    for (const shape of SHAPES[upstream]) {
      const reads = readsOf(shape, bytes);
      const json = jsonOf(Buffer.concat(reads), shape);
      if (!json) continue;
      const base = best(() => {
        for (const text of json) JSON.stringify(JSON.parse(text));
      });
      for (const { client, strict } of CLIENTS) {
        const one = { upstream, client, strict, shape };
        const ratio = best(() => void readReply(one, reads)) / base;
        found.push({ ratio, shape: `${shape.stream ? 'stream' : 'plain'}: ${shape.name}`, pair: pairOf(one) });
      }
    }
  }
  return found.sort((a, b) => b.ratio - a.ratio);
}

export const worstReplyRatio = (): Ratio => replyRatios()[0]!;
