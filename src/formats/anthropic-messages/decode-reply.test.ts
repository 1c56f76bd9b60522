import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import { ReplyFault } from '../faults.ts';
import type { ReplyContext } from '../format.ts';
import { fold } from '../streams/fold.ts';
import { decodeAll, expectOneTerminal } from '../laws.testkit.ts';
import { replyContext } from '../contexts.testkit.ts';
import { anthropicMessages as format } from './index.ts';

/** The stream and the plain reply of the same blocks. */
function bothWays(content: readonly JsonObject[], message: JsonObject = {}, overrides: Partial<ReplyContext> = {}) {
  const { usage = { input_tokens: 3, output_tokens: 4 }, stop_reason = 'end_turn', ...others } = message;
  const base = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x' };
  const plain = format.decodeReply(
    { ...base, content, stop_reason, stop_sequence: null, ...others, usage },
    replyContext(overrides),
  );
  const records: JsonObject[] = [
    { type: 'message_start', message: { ...base, content: [], stop_reason: null, usage } },
    ...content.flatMap((block, index) => blockRecords(block, index)),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null, ...others }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ];
  const stream = decodeAll(format.decodeStream(replyContext(overrides)), [Buffer.from(sse(records))]);
  return { plain, stream };
}

function sse(records: readonly JsonObject[]): string {
  return records.map((record) => `event: ${String(record.type)}\ndata: ${JSON.stringify(record)}\n\n`).join('');
}

function blockRecords(block: JsonObject, index: number): JsonObject[] {
  const delta = (fields: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta: fields });
  const open = (content_block: JsonObject): JsonObject => ({ type: 'content_block_start', index, content_block });
  const close: JsonObject = { type: 'content_block_stop', index };
  switch (block.type) {
    case 'text': {
      const citations = Array.isArray(block.citations) ? block.citations : [];
      const cited = citations.map((citation: unknown) => delta({ type: 'citations_delta', citation }));
      return [
        open({ ...block, text: '', citations: [] }),
        ...cited,
        delta({ type: 'text_delta', text: block.text }),
        close,
      ];
    }
    case 'thinking':
      return [
        open({ ...block, thinking: '', signature: '' }),
        delta({ type: 'thinking_delta', thinking: block.thinking }),
        delta({ type: 'signature_delta', signature: block.signature }),
        close,
      ];
    case 'tool_use':
    case 'server_tool_use': {
      const json = JSON.stringify(block.input);
      const half = Math.ceil(json.length / 2);
      const pieces = json === '{}' ? [''] : [json.slice(0, half), json.slice(half)];
      return [
        open({ ...block, input: {} }),
        ...pieces.map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        close,
      ];
    }
    default:
      return [open(block), close];
  }
}

function expectBoth(
  content: readonly JsonObject[],
  check: (choice: ReturnType<typeof fold>['choices'][number], events: readonly GenerationEvent[]) => void,
  options: { message?: JsonObject; context?: Partial<ReplyContext> } = {},
): void {
  const { plain, stream } = bothWays(content, options.message, options.context);
  for (const events of [plain, stream]) {
    expectOneTerminal(events);
    check(fold(events).choices[0]!, events);
  }
}

describe('decodeReply and decodeStream', () => {
  it('read thinking, also empty but signed, redacted thinking, text and calls', () => {
    const content = [
      { type: 'thinking', thinking: '', signature: 'sig' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', text: 'Hi', citations: null },
      { type: 'tool_use', id: 't1', name: 'f', input: { a: [1] }, caller: { type: 'direct' } },
      { type: 'tool_use', id: 't2', name: 'g', input: {} },
    ];
    expectBoth(content, (choice, events) => {
      expect(choice.parts).toEqual([
        { type: 'thinking', text: '', signature: 'sig' },
        { type: 'redacted_thinking', data: 'd' },
        { type: 'text', text: 'Hi' },
        { type: 'tool_call', id: 't1', name: 'f', arguments: '{"a":[1]}' },
        { type: 'tool_call', id: 't2', name: 'g', arguments: '{}' },
      ]);
      const numbers = events.flatMap((event) => ('block' in event ? [event.block] : []));
      expect([...new Set(numbers)]).toEqual([0, 1, 2, 3, 4]);
    });
  });

  it('keep server tools whole and apart: no call is counted and none of their input is an argument', () => {
    const search = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'rain' } };
    const found = { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result' }] };
    const call = { type: 'tool_use', id: 't1', name: 'f', input: { b: 1 } };
    expectBoth([search, found, call], (choice, events) => {
      expect(choice.parts).toEqual([
        { type: 'opaque', format: 'anthropic-messages', value: search },
        { type: 'opaque', format: 'anthropic-messages', value: found },
        { type: 'tool_call', id: 't1', name: 'f', arguments: '{"b":1}' },
      ]);
      expect(events.find((event) => event.type === 'tool_call')).toMatchObject({ call: 0, block: 2 });
    });
  });

  it('return web citations as spans of the answer in UTF-16 units, and every citation verbatim', () => {
    const web = { type: 'web_search_result_location', url: 'https://a.example', title: 'A', encrypted_index: 'e' };
    const other = { type: 'char_location', document_index: 0 };
    const content = [
      { type: 'text', text: '😀 ' },
      { type: 'text', text: 'It rains.', citations: [web, other] },
    ];
    expectBoth(content, (choice) => {
      expect(choice.citations).toEqual([{ url: 'https://a.example', title: 'A', start: 3, end: 12 }]);
      expect(choice.parts.at(-1)).toEqual({
        type: 'opaque',
        format: 'anthropic-messages',
        value: { type: 'text', citations: [web, other] },
        attached: true,
      });
    });
  });

  it('keep a caller that is not direct', () => {
    const caller = { type: 'code_execution_20260120', tool_id: 's1' };
    expectBoth([{ type: 'tool_use', id: 't1', name: 'f', input: {}, caller }], (choice) => {
      expect(choice.parts[1]).toMatchObject({ value: { type: 'tool_use', caller }, attached: true });
    });
  });

  it('unwrap the arguments of a free-text tool', () => {
    const content = [{ type: 'tool_use', id: 't1', name: 'sql', input: { input: 'SELECT "1"' } }];
    expectBoth(
      content,
      (choice) => {
        expect(choice.parts).toEqual([
          { type: 'tool_call', id: 't1', name: 'sql', arguments: 'SELECT "1"', custom: true },
        ]);
      },
      { message: { stop_reason: 'tool_use' }, context: { customTools: new Set(['sql']) } },
    );
  });

  it('turn the tool that stands for a JSON answer into the text of a plain stop', () => {
    const content = [{ type: 'tool_use', id: 't1', name: 'json', input: { n: 1 } }];
    expectBoth(
      content,
      (choice) => {
        expect(choice.parts).toEqual([{ type: 'text', text: '{"n":1}' }]);
        expect(choice).toMatchObject({ finish: 'stop', native: 'tool_use' });
      },
      { message: { stop_reason: 'tool_use' }, context: { jsonTool: 'json' } },
    );
  });

  it('make an id for a call that has none', () => {
    expectBoth([{ type: 'tool_use', name: 'f', input: {} }], (choice) => {
      expect(choice.parts[0]).toMatchObject({ id: expect.stringMatching(/^call_[a-z0-9]{24}$/) });
    });
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['compaction', 'length'],
    ['tool_use', 'tool_calls'],
    ['refusal', 'content_filter'],
    ['tomorrow', 'stop'],
  ])('read %s as %s', (stop_reason, finish) => {
    const message = { stop_reason, stop_sequence: stop_reason === 'stop_sequence' ? 'END' : null };
    expectBoth(
      [{ type: 'text', text: 'x' }],
      (choice) => {
        expect(choice).toMatchObject({ finish, native: stop_reason });
        expect(choice.stopSequence).toBe(message.stop_sequence ?? undefined);
      },
      { message },
    );
  });

  it('give the explanation of a refusal', () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'No.' };
    expectBoth(
      [],
      (choice) => {
        expect(choice).toMatchObject({ finish: 'content_filter', message: 'No.', refusal: 'No.' });
        expect(choice.parts).toEqual([{ type: 'opaque', format: 'anthropic-messages', value: { stop_details } }]);
      },
      { message: { stop_reason: 'refusal', stop_details } },
    );
  });

  it('count cached tokens as input', () => {
    const usage = {
      input_tokens: 3,
      output_tokens: 4,
      cache_read_input_tokens: 10,
      cache_creation_input_tokens: 5,
      output_tokens_details: { thinking_tokens: 2 },
    };
    const { plain, stream } = bothWays([], { usage });
    for (const events of [plain, stream]) {
      expect(fold(events).usage).toEqual({
        input: 18,
        output: 4,
        total: 22,
        cacheRead: 10,
        cacheWrite: 5,
        reasoning: 2,
      });
      expect(fold(events).rawUsage).toMatchObject(usage);
    }
  });
});

describe('decodeStream', () => {
  it('treats a field named __proto__ of an unknown block like any other', () => {
    const events = [
      { type: 'message_start', message: { id: 'm', model: 'x' } },
      { type: 'content_block_start', index: 0, content_block: { type: 'server_tool_use', id: 's' } },
      '{"type":"content_block_delta","index":0,"delta":{"type":"other","__proto__":{"a":1},"toString":"x"}}',
      { type: 'content_block_stop', index: 0 },
      { type: 'message_stop' },
    ];
    const wire = events.map((event) => (typeof event === 'string' ? event : JSON.stringify(event)));
    const bytes = Buffer.from(wire.map((data) => `data: ${data}\n\n`).join(''));
    const [part] = fold(decodeAll(format.decodeStream(replyContext()), [bytes])).choices[0]!.parts;
    expect(JSON.stringify(part)).toContain('"__proto__":{"a":1},"toString":"x"');
  });

  const start = {
    type: 'message_start',
    message: { id: 'm', model: 'x', usage: { input_tokens: 9, output_tokens: 1 } },
  };
  const text = [
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  ];
  const decode = (wire: string) => decodeAll(format.decodeStream(replyContext()), [Buffer.from(wire)]);

  it('replaces earlier counts by later ones that are not null', () => {
    const delta = {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: null },
    };
    expect(fold(decode(sse([start, ...text, delta, { type: 'message_stop' }]))).usage).toEqual({
      input: 5,
      output: 7,
      total: 12,
    });
  });

  describe('with content in message_start, as some proxies send it', () => {
    const said = (content: readonly JsonObject[]) => ({
      type: 'message_start',
      message: { ...start.message, content, stop_reason: 'max_tokens' },
    });
    const first = { type: 'text', text: 'Well' };
    const partsOf = (wire: string) => fold(decode(wire)).choices[0]?.parts;

    it('keeps its text and other blocks, without any further event', () => {
      const call = { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } };
      const events = decode(sse([said([first, call]), { type: 'message_stop' }]));
      expectOneTerminal(events);
      expect(fold(events).choices).toMatchObject([
        {
          parts: [
            { type: 'text', text: 'Well' },
            { type: 'tool_call', id: 't', name: 'f', arguments: '{"a":1}' },
          ],
          finish: 'length',
        },
      ]);
    });

    it('appends text streamed under the same index, as the SDK does', () => {
      const stop = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }];
      expect(partsOf(sse([said([first]), ...text.slice(1), ...stop]))).toEqual([{ type: 'text', text: 'WellHi' }]);
      expect(partsOf(sse([said([first]), ...text, ...stop]))).toEqual([{ type: 'text', text: 'WellHi' }]);
    });

    it.each([[[]], [[{ type: 'text', text: '' }]], [[1, null]], ['x'], [null]])('reads nothing from %j', (content) => {
      const message = { ...start.message, content };
      expect(partsOf(sse([{ type: 'message_start', message }, ...text, { type: 'message_stop' }]))).toEqual([
        { type: 'text', text: 'Hi' },
      ]);
    });
  });

  it.each([
    ['overloaded_error', 529],
    ['rate_limit_error', 429],
    ['api_error', 500],
    ['tomorrow_error', 500],
  ])('ends with an error where the provider reports %s', (type, status) => {
    const events = decode(sse([start, ...text, { type: 'error', error: { type, message: 'Sorry' } }, ...text]));
    expectOneTerminal(events);
    expect(events.at(-1)).toEqual({ type: 'error', failure: { status, message: 'Sorry', kind: type } });
  });

  const down = '{"error":{"code":503,"message":"Down","status":"UNAVAILABLE"}}';
  it.each([down, `[${down}]`])('ends with an error where Google’s platform reports one in the middle: %s', (data) => {
    const end = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }];
    const events = decode(`${sse([start, ...text])}data: ${data}\n\n${sse(end)}`);
    expectOneTerminal(events);
    expect(events.at(-1)).toMatchObject({
      type: 'error',
      failure: { status: 503, message: 'Down', kind: 'UNAVAILABLE' },
    });
  });

  it('keeps text of a block that was never opened or is already closed', () => {
    const close = { type: 'content_block_stop', index: 0 };
    const think = {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'thinking_delta', thinking: 'Hm' },
    };
    const events = decode(sse([start, ...text.slice(1), close, ...text.slice(1), think, { type: 'message_stop' }]));
    expectOneTerminal(events);
    expect(fold(events).choices).toMatchObject([
      {
        parts: [
          { type: 'text', text: 'HiHi' },
          { type: 'thinking', text: 'Hm' },
        ],
      },
    ]);
  });

  it('ends with an error at arguments of a call that is not open', () => {
    const more = (partial_json: string) => ({
      type: 'content_block_delta',
      index: 4,
      delta: { type: 'input_json_delta', partial_json },
    });
    expect(decode(sse([start, more('{"a":'), ...text])).at(-1)).toMatchObject({
      type: 'error',
      failure: { status: 502 },
    });
    expect(decode(sse([start, more(''), ...text, { type: 'message_stop' }])).at(-1)).toEqual({ type: 'end' });
  });

  it.each(['', undefined])('ends with an error at a call whose name is %j', (name) => {
    const block = { type: 'tool_use', id: 'a', name, input: {} };
    const events = [start, { type: 'content_block_start', index: 0, content_block: block }, { type: 'message_stop' }];
    expect(decode(sse(events)).at(-1)).toMatchObject({ type: 'error', failure: { kind: 'unreadable_reply' } });
    expect(() => format.decodeReply({ content: [block] }, replyContext())).toThrow('a call without a name');
  });

  it('ends with an error when a named event is not JSON, a second message begins, or no event came', () => {
    const garbage = `${sse([start])}event: content_block_delta\ndata: {"type":\n\n`;
    for (const wire of [garbage, sse([start, ...text, start]), '']) {
      const events = decode(wire);
      expectOneTerminal(events);
      expect(events.at(-1)).toMatchObject({ type: 'error', failure: { status: 502 } });
    }
  });

  it('reads a last record without its blank line, and CRLF', () => {
    const wire = sse([
      start,
      ...text,
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} },
      { type: 'message_stop' },
    ]);
    expect(decode(wire.trimEnd()).at(-1)).toEqual({ type: 'end' });
    expect(decode(wire.replaceAll('\n', '\r\n'))).toEqual(decode(wire));
  });

  it('gives each text as soon as its event is whole', () => {
    const decoder = format.decodeStream(replyContext());
    decoder.push(Buffer.from(sse([start, ...text.slice(0, 1)])));
    expect(decoder.push(Buffer.from(sse(text.slice(1))))).toEqual([{ type: 'text', choice: 0, block: 0, text: 'Hi' }]);
  });
});

describe('decodeReply', () => {
  it.each([undefined, 'text', [], {}, { content: 'x' }, { content: [1] }])('throws a ReplyFault for %j', (body) => {
    expect(() => format.decodeReply(body, replyContext())).toThrow(ReplyFault);
  });

  it('reports an error that came with a 2xx, in a list too', () => {
    const body = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };
    expect(format.decodeReply(body, replyContext())).toMatchObject([{ type: 'error', failure: { status: 529 } }]);
    expect(format.decodeReply([body], replyContext())).toMatchObject([{ type: 'error', failure: { status: 529 } }]);
  });
});
