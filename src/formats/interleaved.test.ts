import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName, JsonObject } from './conversation.ts';
import { formats } from './index.ts';
import { customTools, said, UPSTREAMS, write, type Said } from './interleaved.testkit.ts';
import { clientContext, replyContext } from './contexts.testkit.ts';
import { decodeAll, rechunk } from './laws.testkit.ts';
import { seed } from './generations.testkit.ts';
import { fold, type Generation } from './streams/fold.ts';
import { translatingReader } from './streams/readers.ts';
import { plainFromStream } from './streams/replay.ts';

/** Interleavings for each upstream format; each is read by all four client formats. */
const RUNS = Number(process.env.INTERLEAVINGS ?? 40);

function translate(from: FormatName, to: FormatName, reads: readonly Buffer[], stream: boolean): Buffer {
  const reply = replyContext({ customTools: customTools(from) });
  const context = clientContext({ strict: false, holdBytes: 1024 * 1024 });
  const translation = { upstream: formats[from], client: formats[to], reply, context };
  const reader = translatingReader(translation, stream, stream ? 'text/event-stream' : 'application/json');
  const pieces = [...reads.map((read) => reader.push(read)), reader.end()];
  expect(reader.signals).toMatchObject({ failure: undefined, ended: true });
  return Buffer.concat(pieces.filter((piece) => piece !== undefined));
}

/** The answer as a client has it after joining the fragments. */
function seen({ choices }: Generation) {
  const { parts = [], finish } = choices[0] ?? {};
  const joined = (kind: 'text' | 'thinking'): string =>
    parts.map((part) => (part.type === kind ? part.text : '')).join('');
  const calls = parts.flatMap((part) =>
    part.type === 'tool_call'
      ? [{ name: part.name, input: part.custom ? { input: part.arguments } : (JSON.parse(part.arguments) as unknown) }]
      : [],
  );
  return { text: joined('text'), thinking: joined('thinking'), calls, finish };
}

/** Names the first block that begins while another is open. */
function overlap(client: FormatName, stream: Buffer): string | undefined {
  const steps = {
    'anthropic-messages': /"type":"content_block_(start|stop)","index":(\d+)/g,
    'openai-responses': /"type":"response.output_item.(added|done)","sequence_number":\d+,"output_index":(\d+)/g,
  };
  let open: string | undefined;
  for (const [, step, index] of client in steps
    ? stream.toString().matchAll(steps[client as keyof typeof steps])
    : []) {
    const begins = step === 'start' || step === 'added';
    if (begins ? open !== undefined : open !== index) return index;
    open = begins ? index : undefined;
  }
  return open;
}

const expected = ({ text, thinking, calls }: Said) => ({
  text,
  thinking,
  calls: calls.map(({ name, input }) => ({ name, input })),
  finish: calls.length > 0 ? 'tool_calls' : 'stop',
});

describe.each(UPSTREAMS)('however the fragments of a reply of %s are interleaved,', (upstream) => {
  it('the fold of the stream equals the plain reply for clients of every API', () => {
    fc.assert(
      fc.property(said, seed, (reply, cuts) => {
        const { plain, stream } = write(upstream, reply, cuts);
        for (const client of UPSTREAMS) {
          const whole = translate(upstream, client, [Buffer.from(JSON.stringify(plain))], false);
          const pieces = translate(upstream, client, rechunk(Buffer.from(stream), cuts), true);
          const { decodeReply, decodeStream } = formats[client];
          const body = JSON.parse(whole.toString()) as JsonObject;
          const ofPlain = seen(fold(decodeReply(body, replyContext())));
          const ofStream = seen(fold(decodeAll(decodeStream(replyContext()), [pieces])));
          expect(overlap(client, pieces)).toBeUndefined();
          expect({ client, ...ofStream }).toEqual({ client, ...ofPlain });
          expect({ client, ...ofStream }).toEqual({ client, ...expected(reply) });
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('a kept stream is the plain reply when it is sent again', () => {
    fc.assert(
      fc.property(said, seed, (reply, cuts) => {
        const format = formats[upstream];
        const { stream } = write(upstream, reply, cuts);
        const plain = plainFromStream(format, Buffer.from(stream), undefined, clientContext({ strict: false }));
        const folded = fold(format.decodeReply(JSON.parse(plain.toString()), replyContext()));
        expect(seen(folded)).toEqual(expected(reply));
      }),
      { numRuns: RUNS },
    );
  });
});

describe('a stream of the chat API, as servers were reported to send it,', () => {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const item = (index: number, text: string, more: object = {}): string =>
    chunk({ ...more, tool_calls: [{ index, function: { arguments: text } }] });
  const open = (index: number, name: string): string =>
    chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '' } }] });
  const free = (index: number, input: string): string =>
    chunk({ tool_calls: [{ index, id: `call_${index}`, type: 'custom', custom: { name: 'custom', input } }] });
  const [patch, x, y] = [{ input: '*** Begin Patch' }, { c: 'X' }, { c: 'Y' }];
  const first = '{"c":';
  const second = '"X"}';

  it.each<[string, string, readonly unknown[]]>([
    [
      'fragments of two calls in turn',
      open(0, 'f') + open(1, 'f') + item(0, JSON.stringify(x)) + item(1, JSON.stringify(y)),
      [x, y],
    ],
    [
      'a free-text call, then another call',
      open(0, 'wrapped') + item(0, JSON.stringify(patch)) + open(1, 'f') + item(1, JSON.stringify(y)),
      [patch, y],
    ],
    [
      'a free-text call, then a text',
      open(0, 'wrapped') + item(0, JSON.stringify(patch)) + chunk({ content: 'Done.' }),
      [patch],
    ],
    [
      'free text in fragments, then another call',
      free(0, '*** Begin') + chunk({ tool_calls: [{ index: 0, custom: { input: ' Patch' } }] }) + free(1, ''),
      [patch, { input: '' }],
    ],
    ['a text beside a fragment', open(0, 'f') + item(0, first) + item(0, second, { content: '\n' }), [x]],
    ['a text between fragments', open(0, 'f') + item(0, first) + chunk({ content: 'So' }) + item(0, second), [x]],
    [
      'a thought between fragments',
      open(0, 'f') + item(0, first) + chunk({ reasoning_content: 'So' }) + item(0, second),
      [x],
    ],
    ['an empty text between fragments', open(0, 'f') + item(0, first) + chunk({ content: '' }) + item(0, second), [x]],
  ])('%s: keeps all arguments for clients of every API', (_, stream, inputs) => {
    const bytes = Buffer.from(`${stream}${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
    for (const client of UPSTREAMS) {
      const sent = translate('openai-chat', client, [bytes], true);
      const { calls } = seen(fold(decodeAll(formats[client].decodeStream(replyContext()), [sent])));
      expect({ client, inputs: calls.map(({ input }) => input) }).toEqual({ client, inputs });
    }
  });
});
