import { describe, expect, it } from 'vitest';
import { fold } from '../streams/fold.ts';
import { decodeAll } from '../laws.testkit.ts';
import { replyContext } from '../contexts.testkit.ts';
import { MAX_EVENT_BYTES } from '../sse/held-bytes.ts';
import { decodeReply, decodeStream } from './decode-reply.ts';
import { toArray, toSse } from './stream.testkit.ts';

const chunk = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
});
const read = (text: string) => decodeAll(decodeStream(replyContext()), [Buffer.from(text)]);
const last = (text: string) => read(text).at(-1);
const stopped = chunk([{ text: 'b' }], { finishReason: 'STOP' });

describe('a stream', () => {
  it('gives events as soon as they are complete', () => {
    const decoder = decodeStream(replyContext());
    const [head, tail] = [toSse([chunk([{ text: 'a' }])]), toSse([stopped])];
    expect(decoder.push(Buffer.from(head.slice(0, 30)))).toEqual([]);
    expect(decoder.push(Buffer.from(head.slice(30))).map(({ type }) => type)).toEqual(['start', 'text']);
    expect(decoder.push(Buffer.from(tail)).map(({ type }) => type)).toEqual(['text']);
    expect(decoder.end().map(({ type }) => type)).toEqual(['finish', 'end']);
    expect(decoder.end()).toEqual([]);
  });

  it('in the form of a JSON array gives its elements as they arrive', () => {
    const decoder = decodeStream(replyContext());
    expect(decoder.push(Buffer.from(' \r\n['))).toEqual([]);
    expect(decoder.push(Buffer.from(JSON.stringify(chunk([{ text: 'a]}"\\' }]))))).toMatchObject([
      {},
      { text: 'a]}"\\' },
    ]);
    expect(decoder.push(Buffer.from(`,\r\n${JSON.stringify(stopped)}`))).toMatchObject([{ text: 'b' }]);
    expect(decoder.push(Buffer.from(']'))).toEqual([]);
    expect(decoder.end().at(-1)).toEqual({ type: 'end' });
  });

  it('applies a finish reason only at its end, so that later calls count', () => {
    const text = toSse([stopped, chunk([{ functionCall: { name: 'f' } }])]);
    expect(fold(read(text)).choices).toMatchObject([{ finish: 'tool_calls', native: 'STOP' }]);
  });

  it('takes the last usage, and the counts that only earlier chunks have', () => {
    const text = toSse([
      {
        ...chunk([{ text: 'a' }]),
        usageMetadata: { promptTokenCount: 5, cachedContentTokenCount: 4, totalTokenCount: 6, candidatesTokenCount: 1 },
      },
      { ...stopped, usageMetadata: { promptTokenCount: 5, totalTokenCount: 8, candidatesTokenCount: 3 } },
      { usageMetadata: { trafficType: 'ON_DEMAND' } },
    ]);
    expect(fold(read(text)).usage).toEqual({ input: 5, output: 3, total: 8, cacheRead: 4 });
  });

  it('is unreadable when it holds only arguments without a name', () => {
    const text = toSse([chunk([{ functionCall: { args: { a: 1 } } }], { finishReason: 'STOP' })]);
    expect(last(text)).toMatchObject({ type: 'error', failure: { status: 502, kind: 'unreadable_reply' } });
    expect(read(text).map(({ type }) => type)).toEqual(['start', 'error']);
  });

  it('joins grounding of several chunks', () => {
    const grounded = (text: string, groundingMetadata: object) => chunk([{ text }], { groundingMetadata });
    const segment = { startIndex: 3, endIndex: 8 };
    const events = read(
      toSse([
        grounded('é ', { webSearchQueries: ['q'] }),
        grounded('wörd', { groundingChunks: [{ web: { uri: 'https://a', title: 'a' } }] }),
        grounded('.', { groundingSupports: [{ segment, groundingChunkIndices: [0] }] }),
        chunk([], { finishReason: 'STOP', groundingMetadata: {} }),
      ]),
    );
    const [choice] = fold(events).choices;
    expect(choice!.citations).toEqual([{ url: 'https://a', title: 'a', start: 2, end: 6 }]);
    expect(choice!.parts.at(-1)).toMatchObject({
      value: { groundingMetadata: { webSearchQueries: ['q'], groundingChunks: [{}], groundingSupports: [{}] } },
    });
  });

  it.each([
    ['go on where they stopped', ['a'], ['b'], ['a', 'b']],
    ['are repeated with more', ['a'], ['a', 'b'], ['a', 'b']],
    ['are repeated unchanged', ['a', 'b'], ['a', 'b'], ['a', 'b']],
  ])('keeps all of grounding whose lists %s', (_, first, second, whole) => {
    const support = (name: string) => ({
      segment: { startIndex: 0, endIndex: 1, text: name },
      groundingChunkIndices: [0],
    });
    const reported = (names: readonly string[], more = {}) =>
      chunk([{ text: 'x' }], {
        groundingMetadata: {
          groundingChunks: [{ web: { uri: 'https://a' } }],
          groundingSupports: names.map(support),
          webSearchQueries: names,
        },
        ...more,
      });
    const [choice] = fold(read(toSse([reported(first), reported(second, { finishReason: 'STOP' })]))).choices;
    expect(choice!.citations).toHaveLength(whole.length);
    expect(choice!.parts.at(-1)).toMatchObject({
      value: {
        groundingMetadata: { webSearchQueries: whole, groundingSupports: whole.map(support), groundingChunks: [{}] },
      },
    });
  });

  it('reports usage once for each chunk with counts', () => {
    const usageMetadata = { promptTokenCount: 5, totalTokenCount: 5 };
    const events = read(
      toSse([
        { ...chunk([{ text: 'a' }]), usageMetadata },
        { ...stopped, usageMetadata: {} },
      ]),
    );
    expect(events.filter(({ type }) => type === 'usage')).toHaveLength(1);
  });

  it('reads its last event without a blank line', () => {
    expect(last(toSse([stopped]).trimEnd())).toEqual({ type: 'end' });
  });

  it('of a blocked prompt ends as a filtered answer', () => {
    const events = read(toSse([{ promptFeedback: { blockReason: 'SAFETY' } }]));
    expect(events.slice(1)).toEqual([
      { type: 'finish', choice: 0, reason: 'content_filter', native: 'SAFETY' },
      { type: 'end' },
    ]);
  });

  it('that the filter stops in the middle ends as a filtered answer, its text kept', () => {
    const promptFeedback = { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'No more.' };
    const events = read(toSse([chunk([{ text: 'a' }]), { promptFeedback }]));
    expect(events.slice(1)).toEqual([
      { type: 'text', choice: 0, block: 0, text: 'a' },
      { type: 'finish', choice: 0, reason: 'content_filter', native: 'PROHIBITED_CONTENT', message: 'No more.' },
      { type: 'end' },
    ]);
  });

  it('keeps the finish reason of an answer that ended before the filter blocked it', () => {
    const events = read(toSse([stopped, { promptFeedback: { blockReason: 'SAFETY' } }]));
    expect(fold(events).choices).toMatchObject([{ finish: 'stop', native: 'STOP' }]);
  });

  it('keeps counts that a later chunk makes null', () => {
    const nulls = { promptTokenCount: null, candidatesTokenCount: null, totalTokenCount: null };
    const counts = { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 };
    const events = read(toSse([{ ...stopped, usageMetadata: counts }, { usageMetadata: nulls }]));
    expect(fold(events).usage).toEqual({ input: 5, output: 2, total: 7 });
  });

  it.each(['data:\r\n\r\n', 'data: [DONE]\r\n\r\n'])('skips %j, which holds no event', (line) => {
    expect(read(line + toSse([stopped]) + line)).toEqual(read(toSse([stopped])));
  });

  it('keeps answers apart when an index of 0 is omitted, in any order', () => {
    const answer = (text: string, index?: number) => ({
      ...(index !== undefined && { index }),
      content: { parts: [{ text }] },
      finishReason: 'STOP',
    });
    for (const candidates of [
      [answer('a'), answer('b', 1)],
      [answer('b', 1), answer('a')],
    ]) {
      expect(fold(read(toSse([{ candidates }]))).choices).toMatchObject([
        { index: 0, parts: [{ text: 'a' }] },
        { index: 1, parts: [{ text: 'b' }] },
      ]);
    }
  });

  it.each([
    ['closes without a finish reason', toSse([chunk([{ text: 'a' }])])],
    ['is empty', ''],
    ['is cut inside an event', toSse([stopped, stopped]).slice(0, -40)],
    ['is cut inside an array element', toArray([stopped, stopped]).slice(0, -10)],
    [
      'lacks the finish of one of its answers',
      toSse([stopped, { candidates: [{ index: 1, content: { parts: [{ text: 'x' }] } }] }]),
    ],
    ['is a web page', '<html><body>Bad gateway</body></html>'],
  ])('that %s ends in an error', (_, text) => {
    expect(last(text)).toMatchObject({ type: 'error', failure: { status: 502, kind: 'stream_interrupted' } });
  });

  const error = { error: { code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' } };
  it.each([
    ['a data line', toSse([chunk([{ text: 'a' }]), error, stopped])],
    ['a data line with an array', toSse([chunk([{ text: 'a' }]), [error], stopped])],
    ['an array element', toArray([chunk([{ text: 'a' }]), error])],
    ['an array before the stream', JSON.stringify([error])],
    ['an object before the stream', JSON.stringify(error)],
    ['a data line without its word', toSse([{ error: { code: 503, message: 'Overloaded.' } }])],
  ])('an error in %s ends it, with nothing after it', (_, text) => {
    const events = read(text);
    expect(events.filter(({ type }) => type === 'error')).toHaveLength(1);
    expect(events.at(-1)).toEqual({
      type: 'error',
      failure: { status: 503, message: 'Overloaded.', kind: 'UNAVAILABLE' },
    });
  });

  it.each([['data: {"candidates":\r\n\r\n'], ['data: nonsense\n\n'], ['data: 7\n\n']])(
    '%j is unreadable and gives an error',
    (text) => {
      expect(last(text)).toMatchObject({ type: 'error', failure: { status: 502, kind: 'unreadable_reply' } });
    },
  );

  it.each([['data: "'], ['[{"a":"']])('an endless event beginning %j is an error', (head) => {
    const decoder = decodeStream(replyContext());
    const piece = Buffer.alloc(MAX_EVENT_BYTES / 4, 'a');
    const events = [Buffer.from(head), piece, piece, piece, piece, piece].flatMap((bytes) => decoder.push(bytes));
    expect(events).toMatchObject([{ type: 'error', failure: { kind: 'unreadable_reply' } }]);
    expect(decoder.end()).toEqual([]);
  });
});

describe('a call whose arguments are streamed', () => {
  const call = (functionCall: object, more: object = {}) => chunk([{ functionCall, ...more }]);
  const piece = (partial: object, more: object = {}) => call({ partialArgs: [partial], ...more });

  it('equals the call of a plain reply', () => {
    const stream = [
      call({ name: 'f', willContinue: true }, { thoughtSignature: 's' }),
      piece({ jsonPath: '$.a', stringValue: 'Bos', willContinue: true }, { willContinue: true }),
      call({ willContinue: true }),
      piece({ jsonPath: '$.a', stringValue: 'ton', willContinue: true }, { willContinue: true }),
      piece({ jsonPath: '$.a', stringValue: '' }, { willContinue: true }),
      piece({ jsonPath: '$.n[0]', numberValue: 1 }, { willContinue: true }),
      call({}),
      call({ name: 'g', willContinue: true }),
      piece({ jsonPath: '$.b', boolValue: true }),
      chunk([], { finishReason: 'STOP' }),
    ];
    const plain = chunk(
      [
        { functionCall: { name: 'f', args: { a: 'Boston', n: [1] } }, thoughtSignature: 's' },
        { functionCall: { name: 'g', args: { b: true } } },
      ],
      { finishReason: 'STOP' },
    );
    const events = read(toSse(stream));
    expect(fold(events)).toEqual(fold(decodeReply(plain, replyContext())));
    // The idle timeout watches events, so every piece must give one.
    expect(events.filter(({ type }) => type === 'tool_arguments').length).toBeGreaterThan(5);
  });

  const signed = { thoughtSignature: 's' };
  const whole = [{ functionCall: { name: 'f', id: '1', args: { a: 'Bos' } }, thoughtSignature: 's' }];
  const [start, grow, end] = [
    { name: 'f', id: '1', willContinue: true },
    { partialArgs: [{ jsonPath: '$.a', stringValue: 'Bos' }], willContinue: true },
    {},
  ];
  const done = chunk([], { finishReason: 'STOP' });
  it.each([
    ['its first piece', [call(start, signed), call(grow), call(end), done]],
    ['a later piece', [call(start), call(grow, signed), call(end), done]],
    ['its end', [call(start), call(grow), call(end, signed), done]],
    ['every piece', [call(start, signed), call(grow, signed), call(end, signed), done]],
    ['an empty part in the middle', [call(start), chunk([{ text: '', ...signed }]), call(grow), call(end), done]],
    ['an empty part behind it', [call(start), call(grow), call(end), chunk([{ text: '' }, signed]), done]],
    [
      'an empty part of the finish chunk',
      [call(start), call(grow), call(end), chunk([{ text: '', ...signed }], { finishReason: 'STOP' })],
    ],
    [
      'an empty part behind a call that came whole',
      [call({ name: 'f', id: '1', args: { a: 'Bos' } }), chunk([{ text: '', ...signed }], { finishReason: 'STOP' })],
    ],
    ['a last piece that brings the arguments whole', [call(start), call({ args: { a: 'Bos' } }, signed), done]],
  ])('has the signature that comes on %s', (_, chunks) => {
    const events = read(toSse(chunks));
    expect(fold(events)).toEqual(fold(decodeReply(chunk(whole, { finishReason: 'STOP' }), replyContext())));
    expect(events.filter(({ type }) => type === 'tool_call')).toHaveLength(1);
  });

  it('is signed by its own pieces when it is a parallel one', () => {
    const events = read(
      toSse([
        call({ name: 'e', id: '0' }, { thoughtSignature: 'first' }),
        call(start),
        call(grow, signed),
        call(end),
        done,
      ]),
    );
    expect(fold(events).choices[0]!.parts).toMatchObject([
      { name: 'e', signature: 'first' },
      { name: 'f', signature: 's', arguments: '{"a":"Bos"}' },
    ]);
  });

  it('continues after a part between its pieces', () => {
    const events = read(toSse([call(start), chunk([{ text: 'x' }]), call(grow, signed), call(end), done]));
    expect(fold(events).choices[0]!.parts).toMatchObject([
      { name: 'f', arguments: '{"a":"Bos"}' },
      { type: 'text', text: 'x' },
      { type: 'text', text: '', signature: 's' },
    ]);
  });

  it('keeps a second signature, alone', () => {
    const other = { thoughtSignature: 'other' };
    const events = read(toSse([call(start, signed), call(grow, other), call(end), done]));
    expect(fold(events).choices[0]!.parts).toMatchObject([
      { name: 'f', signature: 's' },
      { type: 'text', text: '', signature: 'other' },
    ]);
  });

  it('is emitted before its end when it is signed, or too long to hold', () => {
    const types = (chunks: readonly object[]) => {
      const decoder = decodeStream(replyContext());
      return decoder.push(Buffer.from(toSse(chunks))).map(({ type }) => type);
    };
    expect(types([call(start)])).not.toContain('tool_call');
    expect(types([call(start, signed)])).toContain('tool_call');
    const long = [call(start), ...Array.from({ length: 256 }, () => call(grow))];
    expect(types(long)).toContain('tool_call');
    const late = fold(read(toSse([...long, call(end, signed), done]))).choices[0]!.parts;
    expect(late).toMatchObject([{ name: 'f' }, { type: 'text', text: '', signature: 's' }]);
  });

  it('without arguments has empty arguments', () => {
    const events = read(
      toSse([call({ name: 'f', willContinue: true }), call({}), chunk([], { finishReason: 'STOP' })]),
    );
    expect(fold(events).choices[0]!.parts).toMatchObject([{ name: 'f', arguments: '{}' }]);
  });

  it('that never ends is closed with the stream', () => {
    const stream = [
      call({ name: 'f', willContinue: true }),
      piece({ jsonPath: '$.a', numberValue: 1 }, { willContinue: true }),
      chunk([], { finishReason: 'STOP' }),
    ];
    expect(fold(read(toSse(stream))).choices[0]!.parts).toMatchObject([{ arguments: '{"a":1}' }]);
  });

  it('with an unreadable path ends the stream in an error', () => {
    const stream = [call({ name: 'f', willContinue: true }), piece({ jsonPath: '$.a[', numberValue: 1 })];
    expect(last(toSse(stream))).toMatchObject({ type: 'error', failure: { kind: 'unreadable_reply' } });
  });
});
