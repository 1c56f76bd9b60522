import { describe, expect, it } from 'vitest';
import { formats } from '../index.ts';
import { clientContext, replyContext, replyWith } from '../contexts.testkit.ts';
import { decodeAll } from '../laws.testkit.ts';
import { toEvents } from '../generations.testkit.ts';
import { translatingReader } from '../streams/readers.ts';
import type { PassThrough } from '../format.ts';

const MARK = Buffer.from('\ufeff');
const NAMES = ['openai-chat', 'anthropic-messages', 'gemini'] as const;
const reply = toEvents({
  id: 'reply-1',
  model: 'model-ran',
  choices: [{ blocks: [{ type: 'text', text: 'Hello' }], finish: 'stop' }],
  usage: { input: 1, output: 1, total: 2 },
});

/** Reads that end within the mark, right after it, and after white space. */
const CUTS: readonly (readonly number[])[] = [[], [1], [2], [1, 2], [3], [1, 2, 3], [2, 5]];

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  return [...cuts, bytes.length].map((to, index) => bytes.subarray(index === 0 ? 0 : cuts[index - 1], to));
}

function readAll(reader: PassThrough, pieces: readonly Buffer[]): string {
  const out = pieces.map((piece) => reader.push(piece));
  return [...out, reader.end()].map((piece) => piece?.toString() ?? '').join('');
}

describe.each(NAMES)('a byte order mark before a reply of %s', (name) => {
  const upstream = formats[name];
  const stream = Buffer.from(upstream.encodeStream(clientContext()).push(reply));
  const plain = Buffer.from(JSON.stringify(replyWith(upstream, reply, clientContext())));
  const array = Buffer.from(`[${stream.toString().replaceAll('data: ', '').trim().replaceAll('\r\n\r\n', ',')}]`);
  const translation = { upstream, client: formats['openai-chat'], reply: replyContext(), context: clientContext() };
  const bodies = [['events', stream], ...(name === 'gemini' ? ([['array', array]] as const) : [])] as const;

  describe.each(CUTS.map((cuts) => [cuts.join(', ') || 'nowhere', cuts] as const))('cut at %s', (_, cuts) => {
    it.each(bodies)('hides no event of a stream (%s)', (_form, bytes) => {
      const marked = cutAt(Buffer.concat([MARK, bytes]), cuts);
      const decode = (pieces: readonly Buffer[]) => decodeAll(upstream.decodeStream(replyContext()), pieces);
      expect(decode(marked)).toEqual(decode([bytes]));
      const through = upstream.passThrough!.open(clientContext(), true);
      // An array passes through as the events that its elements are.
      expect(readAll(through, marked)).toBe(stream.toString());
      expect(through.signals).toMatchObject({ ended: true, finish: 'stop', failure: undefined });
    });

    it.each([...bodies, ['whole', plain] as const])(
      'hides nothing of a stream that does not say so (%s)',
      (_form, bytes) => {
        const open = () => translatingReader(translation, true, 'text/plain');
        expect(readAll(open(), cutAt(Buffer.concat([MARK, bytes]), cuts))).toBe(readAll(open(), [bytes]));
      },
    );

    it('hides no part of a plain reply', () => {
      const marked = cutAt(Buffer.concat([MARK, plain]), cuts);
      const open = () => translatingReader(translation, false, 'application/json');
      expect(readAll(open(), marked)).toBe(readAll(open(), [plain]));
      const through = upstream.passThrough!.open(clientContext(), false);
      expect(readAll(through, marked).replace('\ufeff', '')).toBe(plain.toString());
      expect(through.signals).toMatchObject({ ended: true, failure: undefined });
    });
  });
});
