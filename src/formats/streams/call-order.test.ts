import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { formats } from '../index.ts';
import { clientContext, replyContext } from '../contexts.testkit.ts';
import { CallOrder } from './call-order.ts';
import { translatingReader } from './readers.ts';

const call = (number: number, more: { custom?: boolean; choice?: number } = {}): GenerationEvent => ({
  type: 'tool_call',
  choice: 0,
  block: number,
  call: number,
  id: `call_${number}`,
  name: 'f',
  ...more,
});
const args = (call: number, text: string, last?: boolean): GenerationEvent => ({
  type: 'tool_arguments',
  choice: 0,
  call,
  text,
  ...(last && { last }),
});
const text = (text: string, choice = 0): GenerationEvent => ({ type: 'text', choice, block: 100, text });
const finish: GenerationEvent = { type: 'finish', choice: 0, reason: 'tool_calls' };
const end: GenerationEvent = { type: 'end' };

/** The output after each event: calls by number, arguments and texts. */
function sent(order: CallOrder, events: readonly GenerationEvent[]): string[] {
  return events.map((event) =>
    order
      .push([event])
      .map((one) => (one.type === 'tool_call' ? `#${one.call}` : 'text' in one ? one.text : one.type))
      .join(' '),
  );
}

describe('the order of calls', () => {
  it('passes a batch without calls as it is', () => {
    const batch = [text('a'), text('b'), end];
    expect(new CallOrder().push(batch)).toBe(batch);
  });

  it.each<[string, readonly GenerationEvent[], readonly string[]]>([
    [
      'sends fragments of the open call as they come',
      [call(0), args(0, '{"a'), args(0, '":1}')],
      ['#0', '{"a', '":1}'],
    ],
    [
      'lets a text through once the open call is a whole object',
      [call(0), args(0, '{"a":"}'), text('t'), args(0, '"}'), text('u')],
      ['#0', '{"a":"}', '', '"} t', 'u'],
    ],
    ['knows a whole list', [call(0), args(0, '[{}'), text('t'), args(0, ']')], ['#0', '[{}', '', '] t']],
    ['knows a whole string', [call(0), args(0, '"\\"'), text('t'), args(0, '"')], ['#0', '"\\"', '', '" t']],
    ['knows `null`', [call(0), args(0, 'null'), text('t')], ['#0', 'null', 't']],
    [
      'waits for the end of a number',
      [call(0), args(0, '1'), text('t'), args(0, '2'), finish],
      ['#0', '1', '', '2', 't finish'],
    ],
    [
      'waits for the end of arguments that are not JSON, though their brackets match',
      [call(0), args(0, "{'a': 1}"), text('t'), args(0, '{}'), finish],
      ['#0', "{'a': 1}", '', '{}', 't finish'],
    ],
    [
      'takes the word of the upstream that a call has ended',
      [call(0), args(0, '{"a'), text('t'), args(0, '', true)],
      ['#0', '{"a', '', ' t'],
    ],
    [
      'ends free text only where the upstream or the answer ends it',
      [
        call(0, { custom: true }),
        args(0, '{}'),
        text('t'),
        args(0, 'more', true),
        call(1, { custom: true }),
        args(1, '{}'),
        text('u'),
        finish,
      ],
      ['#0', '{}', '', 'more t', '#1', '{}', '', 'u finish'],
    ],
    [
      'sends waiting calls one after the other, each with all of its arguments',
      [call(0), call(1), call(2), args(2, '{"c"'), args(1, '{}'), args(2, ':2}'), text('t'), args(0, '{}')],
      ['#0', '', '', '', '', '', '', '{} #1 {} #2 {"c":2} t'],
    ],
    [
      'opens a waiting call that can still grow',
      [call(0), call(1), args(1, '{"b"'), text('t'), args(0, '{}'), args(1, ':1'), args(1, '}')],
      ['#0', '', '', '', '{} #1 {"b"', ':1', '} t'],
    ],
    ['lets white space behind a call go', [call(0), args(0, '{}'), text('t'), args(0, ' \n')], ['#0', '{}', 't', '']],
    [
      'ends all calls with the reply',
      [call(0), args(0, '{'), text('t'), call(1), end],
      ['#0', '{', '', '', 't #1  end'],
    ],
    [
      'sends nothing that waits before an error',
      [call(0), text('t'), { type: 'error', failure: { status: 502, message: 'cut' } }],
      ['#0', '', 'error'],
    ],
  ])('%s', (_, events, expected) => expect(sent(new CallOrder(), events)).toEqual(expected));

  it('keeps several answers apart', () => {
    const events = [call(0), text('other', 1), text('own'), call(0, { choice: 1 }), args(0, '{}')];
    expect(sent(new CallOrder(), events)).toEqual(['#0', 'other', '', '#0', '{} own']);
  });

  it('keeps fields of a call with the call', () => {
    const fields = (block: number): GenerationEvent => ({
      type: 'opaque',
      choice: 0,
      block,
      format: 'anthropic-messages',
      value: { type: 'tool_use' },
      attached: true,
    });
    const events = [call(0), fields(0), call(1), fields(1), args(1, '{}'), args(0, '{}')];
    expect(sent(new CallOrder(), events)).toEqual(['#0', 'opaque', '', '', '', '{} #1 opaque {}']);
  });

  it('keeps a text in the block of a call that waits behind the call', () => {
    const reopened: GenerationEvent = { type: 'text', choice: 0, block: 1, text: 't' };
    const events = [call(0), call(1), args(1, '{}', true), reopened, args(0, '{}')];
    expect(sent(new CallOrder(), events)).toEqual(['#0', '', '', '', '{} #1 {} t']);
  });

  it('refuses arguments of a call that has ended', () => {
    const order = new CallOrder();
    expect(sent(order, [call(0), args(0, '{}'), text('t'), args(0, '{"a":1}'), text('u'), end])).toEqual([
      '#0',
      '{}',
      't',
      'error',
      '',
      '',
    ]);
    expect(order.failure).toMatchObject({ status: 502, kind: 'unreadable_reply' });
  });

  it.each([
    ['texts', () => text('x'.repeat(50))],
    ['empty texts', () => text('')],
    ['arguments of calls that wait', () => args(1, 'x'.repeat(50))],
    ['calls', (at: number) => call(at + 2)],
    ['texts of other answers', (at: number) => (at % 2 ? text('x', 1) : call(at, { choice: 1 }))],
  ])('ends the reply with a failure when too many %s wait', (_, more) => {
    const order = new CallOrder(4000);
    order.push([call(0), args(0, '{"a":'), call(1)]);
    let pushes = 0;
    while (!order.failure && pushes < 1000) order.push([more(pushes++)]);
    expect(pushes).toBeGreaterThan(10);
    expect(pushes).toBeLessThan(101);
    expect(order.failure).toEqual({
      status: 502,
      kind: 'reply_too_large',
      message:
        'A call of the reply has not ended, and the content that waits for it exceeds 4000 bytes (limits.hold_bytes).',
    });
    expect(order.push([args(0, '1}'), text('t'), finish, end])).toEqual([]);
  });

  it('counts only what waits at one time', () => {
    const order = new CallOrder(500);
    for (let at = 0; at < 100; at += 1) {
      order.push([call(at), args(at, '{'), text('x'.repeat(200)), args(at, '}')]);
      expect(order.failure).toBeUndefined();
    }
  });
});

describe('a hostile upstream of the chat API', () => {
  const chunk = (delta: object): string => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta }] })}\n\n`;
  const item = (index: number | undefined, text: string, more: object = {}, name?: string): string =>
    chunk({ tool_calls: [{ index, ...more, function: { ...(name && { name }), arguments: text } }] });
  const open = (index: number | undefined, id: string, text = ''): string => item(index, text, { id }, 'f');
  const words = (content: string): string => chunk({ content });

  function answered(to: keyof typeof formats, stream: string) {
    const context = clientContext({ holdBytes: 1024 * 1024 });
    const translation = { upstream: formats['openai-chat'], client: formats[to], reply: replyContext(), context };
    const reader = translatingReader(translation, true, 'text/event-stream');
    const last = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n';
    const bytes = [reader.push(Buffer.from(stream + last)), reader.end()].filter((piece) => piece !== undefined);
    const events = [...formats[to].decodeStream(replyContext()).push(Buffer.concat(bytes))];
    const calls: string[] = [];
    for (const event of events) {
      if (event.type === 'tool_call') calls.push('');
      if (event.type === 'tool_arguments') calls[event.call] += event.text;
    }
    return { calls, failure: reader.signals.failure?.kind, ends: events.some(({ type }) => type === 'end') };
  }

  const LONG = 100_000;
  it.each<[string, string, readonly string[] | string]>([
    ['uses one index for all calls', open(0, 'a', '{"a":1}') + open(0, 'b', '{"b":1}'), ['{"a":1}', '{"b":1}']],
    [
      'sends no index',
      open(undefined, 'a', '{"a"') + item(undefined, ':1}') + open(undefined, 'b', '{}'),
      ['{"a":1}', '{}'],
    ],
    ['jumps over indexes', open(7, 'a', '{"a"') + open(3, 'b', '{}') + item(7, ':1}'), ['{"a":1}', '{}']],
    ['sends an id late', item(0, '{"a"', {}, 'f') + words('x') + item(0, ':1}', { id: 'a' }), ['{"a":1}']],
    ['sends no arguments at all', open(0, 'a') + open(1, 'b', '{}') + words('x'), ['{}', '{}']],
    [
      'sends empty fragments behind a call',
      open(0, 'a', '{}') + words('x') + item(0, '') + open(1, 'b', '{}'),
      ['{}', '{}'],
    ],
    ['never ends a call', open(0, 'a', '{"a":') + open(1, 'b', '{}') + words('x'), ['{"a":', '{}']],
    [
      'goes on with a call that has ended',
      open(0, 'a', '{}') + open(1, 'b', '{}') + item(0, '{"a":1}'),
      'unreadable_reply',
    ],
    ['fills what waits behind a call', open(0, 'a', '{') + words('x'.repeat(2000)).repeat(600), 'reply_too_large'],
    [
      'nests deep',
      open(0, 'a') + open(1, 'b', '{}') + item(0, '['.repeat(LONG)) + item(0, ']'.repeat(LONG)) + words('x'),
      ['['.repeat(LONG) + ']'.repeat(LONG), '{}'],
    ],
    [
      'sends a call in a hundred thousand fragments',
      open(0, 'a', '{"a":"') + open(1, 'b', '{}') + item(0, 'x').repeat(LONG) + item(0, '"}'),
      [`{"a":"${'x'.repeat(LONG)}"}`, '{}'],
    ],
  ])('that %s loses no argument in silence', (_, stream, expected) => {
    for (const client of ['anthropic-messages', 'openai-responses'] as const) {
      const { calls, failure, ends } = answered(client, stream);
      if (typeof expected === 'string')
        expect({ client, failure, ends }).toEqual({ client, failure: expected, ends: false });
      else
        expect({ client, calls, failure, ends }).toEqual({ client, calls: expected, failure: undefined, ends: true });
    }
  });
});
