import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { GenerationEvent } from '../events.ts';
import { clientContext, deepFreeze, replyWith } from '../contexts.testkit.ts';
import { openaiChat } from './index.ts';

const strict = clientContext({ includeUsage: false });
const lax = clientContext({ includeUsage: false, strict: false });

const write = (events: readonly GenerationEvent[], client = strict) =>
  openaiChat.encodeStream(client).push(deepFreeze(events));

const HEAD = '{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795132800,"model":"gpt-ran"';
const start: GenerationEvent = { type: 'start', id: 'chatcmpl-1', model: 'gpt-ran' };
const end: GenerationEvent = { type: 'end' };
const stop: GenerationEvent = { type: 'finish', choice: 0, reason: 'stop' };
const text = (text: string, block = 0, choice = 0): GenerationEvent => ({ type: 'text', choice, block, text });

/** The chunks of a golden: each is the JSON text of `choices`; anything else is a whole payload. */
const golden = (...choices: readonly string[]) =>
  choices.map((choice) => `data: ${HEAD},"choices":[${choice}]}\n\n`).join('') + 'data: [DONE]\n\n';
const delta = (json: string, index = 0) => `{"index":${index},"delta":${json},"finish_reason":null}`;
const ROLE = delta('{"role":"assistant","content":""}');
const finish = (reason: string, index = 0) => `{"index":${index},"delta":{},"finish_reason":"${reason}"}`;

describe('chunks', () => {
  it.each<[string, readonly GenerationEvent[], string]>([
    [
      'text, piece by piece',
      [start, text('Hel'), text(''), text('lo "🙂"\n'), stop, end],
      golden(ROLE, delta('{"content":"Hel"}'), delta('{"content":"lo \\"🙂\\"\\n"}'), finish('stop')),
    ],
    ['an answer without anything', [start, stop, end], golden(ROLE, finish('stop'))],
    ['a reply without a choice', [start, end], golden(ROLE, finish('stop'))],
    [
      'calls: name first, then arguments, indexes in a row whatever their blocks',
      [
        start,
        text('Let me see.'),
        { type: 'tool_call', choice: 0, block: 4, call: 0, id: 'call_a', name: 'f' },
        { type: 'tool_arguments', choice: 0, call: 0, text: '{"a"' },
        { type: 'tool_arguments', choice: 0, call: 0, text: ':1}' },
        { type: 'tool_call', choice: 0, block: 9, call: 3, id: 'call_b', name: 'g' },
        { type: 'tool_arguments', choice: 0, call: 3, text: '{}' },
        { type: 'finish', choice: 0, reason: 'tool_calls' },
        end,
      ],
      golden(
        ROLE,
        delta('{"content":"Let me see."}'),
        delta('{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"f","arguments":""}}]}'),
        delta('{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a\\""}}]}'),
        delta('{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}'),
        delta('{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"g","arguments":""}}]}'),
        delta('{"tool_calls":[{"index":1,"function":{"arguments":"{}"}}]}'),
        finish('tool_calls'),
      ),
    ],
    [
      'a call of a free-text tool without input, which stays empty as in the plain reply',
      [
        start,
        { type: 'tool_call', choice: 0, block: 0, call: 0, id: 'call_a', name: 'f', custom: true },
        { type: 'tool_arguments', choice: 0, call: 0, text: '' },
        { type: 'finish', choice: 0, reason: 'tool_calls' },
        end,
      ],
      golden(
        ROLE,
        delta('{"tool_calls":[{"index":0,"id":"call_a","type":"custom","custom":{"name":"f","input":""}}]}'),
        finish('tool_calls'),
      ),
    ],
    [
      'a call without arguments, which gets the empty object',
      [
        start,
        { type: 'tool_call', choice: 0, block: 0, call: 0, id: 'call_a', name: 'f' },
        { type: 'tool_arguments', choice: 0, call: 0, text: '' },
        { type: 'finish', choice: 0, reason: 'tool_calls' },
        end,
      ],
      golden(
        ROLE,
        delta('{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"f","arguments":""}}]}'),
        delta('{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}'),
        finish('tool_calls'),
      ),
    ],
    [
      'a call of a custom tool, whose input is text',
      [
        start,
        { type: 'tool_call', choice: 0, block: 0, call: 0, id: 'call_a', name: 'sh', custom: true },
        { type: 'tool_arguments', choice: 0, call: 0, text: 'ls' },
        { type: 'finish', choice: 0, reason: 'tool_calls' },
        end,
      ],
      golden(
        ROLE,
        delta('{"tool_calls":[{"index":0,"id":"call_a","type":"custom","custom":{"name":"sh","input":""}}]}'),
        delta('{"tool_calls":[{"index":0,"custom":{"input":"ls"}}]}'),
        finish('tool_calls'),
      ),
    ],
    [
      'several choices, each with its role and its finish, at the end and in order',
      [start, text('b', 0, 1), { type: 'finish', choice: 1, reason: 'length' }, text('a'), stop, end],
      golden(
        ROLE,
        delta('{"role":"assistant","content":""}', 1),
        delta('{"content":"b"}', 1),
        delta('{"content":"a"}'),
        finish('stop'),
        finish('length', 1),
      ),
    ],
    [
      'a refusal',
      [
        start,
        { type: 'refusal', choice: 0, text: 'No.' },
        { type: 'finish', choice: 0, reason: 'content_filter', message: 'why' },
        end,
      ],
      golden(ROLE, delta('{"refusal":"No."}'), finish('content_filter')),
    ],
    [
      'the explanation of a filter as the refusal',
      [start, { type: 'finish', choice: 0, reason: 'content_filter', message: 'Blocked.' }, end],
      golden(ROLE, delta('{"refusal":"Blocked."}'), finish('content_filter')),
    ],
    [
      'citations and logprobs, bytes in UTF-8',
      [
        start,
        { type: 'logprobs', choice: 0, tokens: [{ token: 'é', logprob: -1, top: [{ token: 'e', logprob: -2 }] }] },
        { type: 'citation', choice: 0, citation: { url: 'https://a.example', title: 'A', start: 1, end: 2 } },
        stop,
        end,
      ],
      golden(
        ROLE,
        '{"index":0,"delta":{},"logprobs":{"content":[{"token":"é","logprob":-1,"bytes":[195,169],"top_logprobs":[{"token":"e","logprob":-2,"bytes":[101]}]}],"refusal":null},"finish_reason":null}',
        delta(
          '{"annotations":[{"type":"url_citation","url_citation":{"start_index":1,"end_index":2,"url":"https://a.example","title":"A"}}]}',
        ),
        finish('stop'),
      ),
    ],
    [
      'sound, in the field OpenAI has for it',
      [
        start,
        { type: 'media', choice: 0, block: 0, mime: 'audio/wav', data: 'UklG' },
        { type: 'media', choice: 0, block: 1, mime: 'audio/wav', data: 'Rg==' },
        stop,
        end,
      ],
      golden(
        ROLE,
        delta('{"audio":{"id":"audio_chatcmpl-test","expires_at":1795132800,"data":"UklG"}}'),
        delta('{"audio":{"data":"Rg=="}}'),
        finish('stop'),
      ),
    ],
    [
      'what is heard beside what is read, under the name the provider keeps it',
      [
        start,
        { type: 'text', choice: 0, block: 0, text: 'So: ' },
        { type: 'text', choice: 0, block: 1, text: 'Hi', spoken: true },
        {
          type: 'media',
          choice: 0,
          block: 2,
          mime: 'audio/wav',
          data: 'UklG',
          stored: { id: 'audio_x', expiresAt: 5 },
        },
        stop,
        end,
      ],
      golden(
        ROLE,
        delta('{"content":"So: "}'),
        delta('{"audio":{"transcript":"Hi"}}'),
        delta('{"audio":{"id":"audio_x","expires_at":5,"data":"UklG"}}'),
        finish('stop'),
      ),
    ],
    [
      'the deprecated call in its own form, beside others in theirs',
      [
        start,
        { type: 'tool_call', choice: 0, block: 0, call: 0, id: 'a', name: 'old', legacy: true },
        { type: 'tool_arguments', choice: 0, call: 0, text: '{"x":1}' },
        { type: 'tool_call', choice: 0, block: 1, call: 1, id: 'b', name: 'new' },
        { type: 'finish', choice: 0, reason: 'tool_calls', native: 'function_call' },
        end,
      ],
      golden(
        ROLE,
        delta('{"function_call":{"name":"old","arguments":""}}'),
        delta('{"function_call":{"arguments":"{\\"x\\":1}"}}'),
        delta('{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"new","arguments":""}}]}'),
        delta('{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}'),
        finish('function_call'),
      ),
    ],
  ])('hold %s', (_title, events, expected) => expect(write(events)).toBe(expected));

  it('take id and model from the request when the reply has none', () => {
    expect(write([text('x'), stop, end])).toContain(
      'data: {"id":"chatcmpl-test","object":"chat.completion.chunk","created":1795132800,"model":"model-asked","choices"',
    );
  });

  it('send the role with the first event', () => {
    const encoder = openaiChat.encodeStream(strict);
    expect(encoder.push([{ type: 'ping' }])).toBe('');
    expect(encoder.push([start])).toBe(`data: ${HEAD},"choices":[${ROLE}]}\n\n`);
    expect(encoder.push([{ type: 'usage', usage: { input: 1, output: 1, total: 2 } }])).toBe('');
  });

  it('finish with tool_calls when the upstream sent no reason', () => {
    const call: GenerationEvent = { type: 'tool_call', choice: 0, block: 0, call: 0, id: 'c', name: 'f' };
    expect(write([start, call, end])).toContain('"finish_reason":"tool_calls"');
    expect(write([start, text('x'), end])).toContain('"finish_reason":"stop"');
  });

  it('stay few when the upstream’s choice indexes are far apart', () => {
    const written = write([text('x', 0, 4_294_967_294), end]);
    expect(written.match(/^data: \{/gm)).toHaveLength(3);
    expect(write([text('x', 0, -1), end])).toContain('{"index":-1,"delta":{},"finish_reason":"stop"}');
  });
});

describe('usage', () => {
  const usage: GenerationEvent = {
    type: 'usage',
    usage: { input: 9, output: 3, total: 12, cacheRead: 4, cacheWrite: 2, reasoning: 1 },
  };

  it('is in one last chunk, with null on all before it, when the client requested it', () => {
    const asked = clientContext({ includeUsage: true });
    const written = write([start, usage, text('x'), stop, usage, end], asked);
    const tail = '],"usage":null}\n\n';
    expect(written).toBe(
      `data: ${HEAD},"choices":[${ROLE}${tail}` +
        `data: ${HEAD},"choices":[${delta('{"content":"x"}')}${tail}` +
        `data: ${HEAD},"choices":[${finish('stop')}${tail}` +
        `data: ${HEAD},"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,` +
        '"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":2},"completion_tokens_details":{"reasoning_tokens":1}}}\n\n' +
        'data: [DONE]\n\n',
    );
  });

  it('is never sent when the client did not request it', () => {
    expect(write([start, usage, text('x'), usage, stop, end])).not.toContain('usage');
    expect(write([start, usage, text('x'), usage, stop, end], lax)).not.toContain('usage');
  });

  it('is not invented when the upstream counted nothing', () => {
    const written = write([start, text('x'), stop, end], clientContext({ includeUsage: true }));
    expect(written).not.toContain('"choices":[]');
    expect(written.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('shows the provider’s own counts to a client that is not strict', () => {
    const written = write([start, usage, stop, end], clientContext({ includeUsage: true, strict: false }));
    expect(written).toContain('"cache_read_input_tokens":4,"cache_creation_input_tokens":2');
  });
});

describe('an error', () => {
  const failure = { status: 529, message: 'Busy.' };

  it('ends the stream without a finish reason, without [DONE], and nothing follows', () => {
    const encoder = openaiChat.encodeStream(clientContext());
    const before = encoder.push([start, text('Hel')]);
    expect(before).not.toContain('finish_reason":"');
    expect(encoder.push([{ type: 'error', failure }, text('lo'), stop, end])).toBe('');
    expect(encoder.push([text('lo'), stop, end])).toBe('');
  });

  it('as the first event sends nothing', () => expect(write([{ type: 'error', failure }, end])).toBe(''));

  it('nothing follows the end either', () => {
    const encoder = openaiChat.encodeStream(strict);
    encoder.push([start, stop, end]);
    expect(encoder.push([text('late'), end])).toBe('');
  });
});

describe('content that only some providers have', () => {
  const thought: readonly GenerationEvent[] = [
    start,
    { type: 'thinking', choice: 0, block: 0, text: 'Hm' },
    { type: 'thinking', choice: 0, block: 0, text: '' },
    { type: 'signature', choice: 0, block: 0, signature: 'c2ln' },
    { type: 'redacted_thinking', choice: 0, block: 1, data: 'ZGF0YQ' },
    text('Yes', 2),
    { type: 'opaque', choice: 0, block: 3, format: 'anthropic-messages', value: { type: 'server_tool_use', id: 's' } },
    { type: 'code', choice: 0, block: 4, language: 'python', code: '1+1' },
    { type: 'code_result', choice: 0, block: 5, outcome: 'ok', output: '2' },
    { type: 'media', choice: 0, block: 6, mime: 'image/png', data: 'iVBO', signature: 'bWVk' },
    { type: 'tool_call', choice: 0, block: 7, call: 0, id: 'c', name: 'f', signature: 'Y2FsbA' },
    { type: 'tool_arguments', choice: 0, call: 0, text: '{}' },
    { type: 'opaque', choice: 0, block: 8, format: 'gemini', value: { groundingMetadata: { q: 1 }, index: 7 } },
    { type: 'finish', choice: 0, reason: 'tool_calls', native: 'tool_use' },
    end,
  ];
  const call = (signature: string, beside = '') =>
    delta(
      `{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""${signature}}${beside}}]}`,
    );
  const args = delta('{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}');

  it('is hidden from a strict client', () => {
    expect(write(thought)).toBe(golden(ROLE, delta('{"content":"Yes"}'), call(''), args, finish('tool_calls')));
  });

  it('is shown to a client that is not strict', () => {
    const block = (index: number, json: string) => delta(`{"content_blocks":[{"index":${index},"delta":${json}}]}`);
    expect(write(thought, lax)).toBe(
      golden(
        ROLE,
        block(0, '{"thinking":"Hm"}'),
        block(0, '{"signature":"c2ln"}'),
        block(1, '{"data":"ZGF0YQ"}'),
        delta('{"content":"Yes","content_blocks":[{"index":2,"delta":{"text":"Yes"}}]}'),
        block(3, '{"type":"server_tool_use","id":"s"}'),
        block(4, '{"type":"code","language":"python","code":"1+1"}'),
        block(5, '{"type":"code_result","outcome":"ok","output":"2"}'),
        delta(
          '{"content_parts":[{"type":"text","text":"Yes"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"},"signature":"bWVk"}]}',
        ),
        call(',"thought_signature":"Y2FsbA"', ',"extra_content":{"google":{"thought_signature":"Y2FsbA"}}'),
        args,
        '{"index":0,"delta":{},"groundingMetadata":{"q":1},"finish_reason":null}',
        '{"index":0,"delta":{},"finish_reason":"tool_calls","native_finish_reason":"tool_use"}',
      ),
    );
  });

  it('adds no blocks to an answer that is only text', () => {
    const plain = [start, text('a'), text('b'), stop, end];
    expect(write(plain, lax)).toBe(write(plain));
  });

  it('separates adjacent texts, which content cannot', () => {
    expect(write([start, text('a'), text('b', 1), stop, end], lax)).toBe(
      golden(
        ROLE,
        delta('{"content":"a"}'),
        delta('{"content":"b","content_blocks":[{"index":0,"delta":{"text":"a"}},{"index":1,"delta":{"text":"b"}}]}'),
        finish('stop'),
      ),
    );
  });

  it('sends empty thinking, so that its signature is not read as that of a text', () => {
    const hidden: readonly GenerationEvent[] = [
      start,
      { type: 'thinking', choice: 0, block: 0, text: '' },
      { type: 'signature', choice: 0, block: 0, signature: 'c2ln' },
      { type: 'tool_call', choice: 0, block: 1, call: 0, id: 'c', name: 'f' },
      { type: 'finish', choice: 0, reason: 'tool_calls' },
      end,
    ];
    const fragments = [
      { index: 0, delta: { thinking: '' } },
      { index: 0, delta: { signature: 'c2ln' } },
    ];
    expect(write(hidden, lax)).toBe(
      golden(
        ROLE,
        ...fragments.map((fragment) => delta(JSON.stringify({ content_blocks: [fragment] }))),
        call(''),
        args,
        finish('tool_calls'),
      ),
    );
    expect(write(hidden)).toBe(golden(ROLE, call(''), args, finish('tool_calls')));

    const said = { index: 0, delta: { thinking: 'Hm' } };
    const idle: readonly GenerationEvent[] = [
      start,
      { type: 'thinking', choice: 0, block: 0, text: 'Hm' },
      { type: 'thinking', choice: 0, block: 0, text: '' },
      stop,
      end,
    ];
    expect(write(idle, lax)).toBe(golden(ROLE, delta(JSON.stringify({ content_blocks: [said] })), finish('stop')));

    const block = { type: 'thinking', thinking: '', signature: 'c2ln' };
    expect(replyWith(openaiChat, hidden, lax)).toMatchObject({ choices: [{ message: { content_blocks: [block] } }] });
    for (const content_blocks of [fragments, [block]]) {
      const { turns } = openaiChat.decodeRequest({ model: 'm', messages: [{ role: 'assistant', content_blocks }] });
      expect(turns[0]?.parts).toEqual([{ type: 'thinking', text: '', signature: 'c2ln' }]);
    }
  });

  it('repeats the texts already sent as content when the first block comes late', () => {
    const late: readonly GenerationEvent[] = [
      start,
      text('a'),
      text('b'),
      { type: 'signature', choice: 0, block: 0, signature: 'c2ln' },
      text('c', 1),
      stop,
      end,
    ];
    expect(write(late, lax)).toBe(
      golden(
        ROLE,
        delta('{"content":"a"}'),
        delta('{"content":"b"}'),
        delta('{"content_blocks":[{"index":0,"delta":{"text":"ab"}},{"index":0,"delta":{"signature":"c2ln"}}]}'),
        delta('{"content":"c","content_blocks":[{"index":1,"delta":{"text":"c"}}]}'),
        finish('stop'),
      ),
    );
  });
});

describe('a chain of thought that its model writes as text', () => {
  const thought = (text: string): GenerationEvent => ({ type: 'thinking', choice: 0, block: 0, text, inline: true });
  const events = [start, thought('Let '), thought('me see.'), text('It is '), text('4.'), stop, end];

  it('precedes the answer, two line ends apart, for a client that is not strict', () => {
    expect(write(events, lax)).toBe(
      golden(
        ROLE,
        delta('{"content":"Let ","content_blocks":[{"index":0,"delta":{"thinking":"Let "}}]}'),
        delta('{"content":"me see.","content_blocks":[{"index":0,"delta":{"thinking":"me see."}}]}'),
        delta('{"content":"\\r\\n\\r\\n"}'),
        delta('{"content":"It is ","content_blocks":[{"index":0,"delta":{"text":"It is "}}]}'),
        delta('{"content":"4.","content_blocks":[{"index":0,"delta":{"text":"4."}}]}'),
        finish('stop'),
      ),
    );
    expect(replyWith(openaiChat, events, lax)).toMatchObject({
      choices: [
        {
          message: {
            content: 'Let me see.\r\n\r\nIt is 4.',
            content_blocks: [
              { type: 'thinking', thinking: 'Let me see.' },
              { type: 'text', text: 'It is 4.' },
            ],
          },
        },
      ],
    });
  });

  it('is hidden from a strict client', () => {
    expect(write(events)).toBe(golden(ROLE, delta('{"content":"It is "}'), delta('{"content":"4."}'), finish('stop')));
    expect(replyWith(openaiChat, events, clientContext())).toMatchObject({
      choices: [{ message: { content: 'It is 4.' } }],
    });
  });

  it('is the whole content when no answer follows', () => {
    expect(replyWith(openaiChat, [start, thought('Hm'), stop, end], lax)).toMatchObject({
      choices: [{ message: { content: 'Hm' } }],
    });
  });
});

describe('a client that sent the deprecated functions', () => {
  const client = clientContext({ functionCalls: true, includeUsage: false });
  const call = (call: number, name: string): readonly GenerationEvent[] => [
    { type: 'tool_call', choice: 0, block: call, call, id: `call_${call}`, name },
    { type: 'tool_arguments', choice: 0, call, text: '{}' },
  ];
  const called: GenerationEvent = { type: 'finish', choice: 0, reason: 'tool_calls', native: 'tool_use' };

  it('gets its call as function_call', () => {
    const events = [start, ...call(0, 'f'), called, end];
    expect(write(events, client)).toBe(
      golden(
        ROLE,
        delta('{"function_call":{"name":"f","arguments":""}}'),
        delta('{"function_call":{"arguments":"{}"}}'),
        finish('function_call'),
      ),
    );
    const body = replyWith(openaiChat, events, client);
    expect(body).toMatchObject({
      choices: [{ message: { function_call: { name: 'f', arguments: '{}' } }, finish_reason: 'function_call' }],
    });
    expect(JSON.stringify(body)).not.toContain('tool_calls');
  });

  it('gets further calls in tool_calls, so that none is lost', () => {
    const body = replyWith(openaiChat, [start, ...call(0, 'f'), ...call(1, 'g'), called, end], client);
    expect(body).toMatchObject({
      choices: [{ message: { function_call: { name: 'f' }, tool_calls: [{ id: 'call_1', function: { name: 'g' } }] } }],
    });
  });
});

it('is assembled by the OpenAI SDK to the plain reply', async () => {
  const events: readonly GenerationEvent[] = [
    start,
    text('Let me '),
    text('see. 日本語'),
    { type: 'tool_call', choice: 0, block: 1, call: 0, id: 'call_1', name: 'weather' },
    { type: 'tool_arguments', choice: 0, call: 0, text: '{"city":' },
    { type: 'tool_arguments', choice: 0, call: 0, text: '"Rome"}' },
    { type: 'tool_call', choice: 0, block: 2, call: 1, id: 'call_2', name: 'now' },
    { type: 'usage', usage: { input: 9, output: 3, total: 12 } },
    { type: 'finish', choice: 0, reason: 'tool_calls' },
    end,
  ];
  const client = clientContext();
  const sdk = new OpenAI({
    apiKey: 'test',
    maxRetries: 0,
    fetch: () =>
      Promise.resolve(new Response(write(events, client), { headers: { 'content-type': 'text/event-stream' } })),
  });
  const stream = sdk.chat.completions.stream({ model: 'm', messages: [], stream_options: { include_usage: true } });
  const assembled = await stream.finalChatCompletion();
  const plain = JSON.parse(JSON.stringify(replyWith(openaiChat, events, client))) as OpenAI.ChatCompletion;
  const [wanted] = plain.choices;
  expect(assembled).toMatchObject({ id: plain.id, created: plain.created, model: plain.model, usage: plain.usage });
  expect(assembled.choices[0]).toMatchObject({
    finish_reason: wanted?.finish_reason,
    message: { role: 'assistant', content: wanted?.message.content, tool_calls: wanted?.message.tool_calls },
  });
});
