import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NAMES, readBehaviour } from './script.ts';
import { FAST_EVENTS, Simulation } from './simulate.ts';

type Json = Record<string, unknown>;

const USER = [{ role: 'user', content: 'How are you today?' }];
const WEATHER = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city'],
    },
  },
};
const TIME = { type: 'function', function: { name: 'get_time' } };

const steps = (body: Json | string, simulation = new Simulation()) =>
  simulation.run(
    Buffer.from(typeof body === 'string' ? body : JSON.stringify({ model: 'sim', messages: USER, ...body })),
  );

const sent = (body: Json | string) =>
  steps(body)
    .map((step) => (step.kind === 'send' ? String(step.bytes) : ''))
    .join('');
const statusOf = (body: Json | string) => steps(body).find((step) => step.kind === 'head')?.status;
// The reply is the simulator's own JSON.
const reply = (body: Json) =>
  JSON.parse(sent(body)) as { choices: { message: Json; finish_reason: string }[]; usage: Json };
const choice = (body: Json) => reply(body).choices[0];
const calls = (body: Json) => choice(body)?.message['tool_calls'];
const asking = (text: string) => ({ messages: [{ role: 'user', content: text }] });

describe('simulated embeddings', () => {
  const embed = (body: Json) => {
    const steps = new Simulation().embed(Buffer.from(JSON.stringify({ model: 'sim', ...body })));
    const status = steps.find((step) => step.kind === 'head')?.status;
    const text = steps.map((step) => (step.kind === 'send' ? String(step.bytes) : '')).join('');
    // The reply is the simulator's own JSON.
    return {
      status,
      ...(JSON.parse(text) as { data: { index: number; embedding: number[] }[]; error: Json; usage: Json }),
    };
  };
  const vectors = (body: Json) => embed(body).data.map(({ embedding }) => embedding);
  const closeness = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, at) => sum + x * b[at]!, 0);

  test('are one vector of unit length for each input, in its order and always the same', () => {
    const { data, usage } = embed({ input: ['one two', 'three'] });
    expect(data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
      [0, 256],
      [1, 256],
    ]);
    for (const { embedding } of data) expect(closeness(embedding, embedding)).toBeCloseTo(1, 5);
    expect(usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
    expect(vectors({ input: 'three' })).toEqual([data[1]?.embedding]);
  });

  test('of texts that share words are near each other', () => {
    const [cat, same, other] = vectors({ input: ['a black cat', 'the cat is black', 'stock market report'] });
    expect(closeness(cat!, same!)).toBeGreaterThan(closeness(cat!, other!) + 0.3);
  });

  test('have the requested length, and the same values in base64', () => {
    const [floats] = vectors({ input: 'x', dimensions: 5 });
    const [text] = vectors({ input: 'x', dimensions: 5, encoding_format: 'base64' });
    const bytes = Buffer.from(String(text), 'base64');
    expect(bytes.length).toBe(20);
    expect(floats).toEqual(Array.from({ length: 5 }, (_, at) => bytes.readFloatLE(at * 4)));
  });

  test('accept tokens too', () => {
    expect(vectors({ input: [1, 2] })).toHaveLength(1);
    expect(vectors({ input: [[1, 2], [3]] })).toHaveLength(2);
  });

  test.each([
    [{ input: '' }, 'input'],
    [{ input: [] }, 'input'],
    [{ input: ['a', 1] }, 'input'],
    [{}, 'input'],
    [{ input: 'a', dimensions: 0 }, 'dimensions'],
    [{ input: 'a', encoding_format: 'hex' }, 'encoding_format'],
  ])('are refused for %j', (body, param) => {
    expect(embed(body)).toMatchObject({ status: 400, error: { param } });
  });

  test('fail by the name of the model', () => {
    expect(embed({ model: 'sim-error-503', input: 'x' }).status).toBe(503);
    expect(embed({ model: 'sim-error-midstream', input: 'x' }).status).toBe(500);
  });
});

describe('the simulated model', () => {
  test('repeats the last message in its answer', () => {
    expect(choice({})).toMatchObject({
      message: { role: 'assistant', content: 'Simulated reply to: How are you today?' },
      finish_reason: 'stop',
    });
  });

  test('gives the same bytes for the same request', () => {
    expect(sent({ stream: true })).toBe(sent({ stream: true }));
  });

  test('counts words as tokens', () => {
    expect(reply({}).usage).toMatchObject({ prompt_tokens: 8, completion_tokens: 7, total_tokens: 15 });
  });

  test('stops at max_tokens, which max_completion_tokens overrides', () => {
    expect(choice({ max_tokens: 2 })).toMatchObject({
      message: { content: 'Simulated reply' },
      finish_reason: 'length',
    });
    expect(choice({ max_tokens: 2, max_completion_tokens: 100 })?.finish_reason).toBe('stop');
  });

  test('ends before the first stop sequence', () => {
    expect(choice({ stop: ['you', ' How'] })?.message['content']).toBe('Simulated reply to:');
    expect(choice({ stop: 'reply' })?.message['content']).toBe('Simulated ');
  });

  test('gives n different answers', () => {
    expect(reply({ n: 2 }).choices.map(({ message }) => message['content'])).toEqual([
      'Simulated reply to: How are you today?',
      'Simulated reply 2 to: How are you today?',
    ]);
  });

  test('reads text parts and names the others', () => {
    const content = [
      { type: 'text', text: 'Look: ' },
      { type: 'image_url', image_url: { url: 'data:,' } },
    ];
    expect(choice({ messages: [{ role: 'user', content }] })?.message['content']).toBe(
      'Simulated reply to: Look: [image_url]',
    );
  });

  test('answers in JSON when requested', () => {
    expect(choice({ response_format: { type: 'json_object' } })?.message['content']).toBe('{"reply":"sample"}');
    const schema = WEATHER.function.parameters;
    expect(
      choice({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } } })?.message['content'],
    ).toBe('{"city":"sample"}');
  });
});

describe('its tools', () => {
  const tools = [WEATHER, TIME];

  test.each<[string, Json, string[]]>([
    ['are not called by small talk', {}, []],
    ['are called by name', asking('Please use get_weather.'), ['get_weather']],
    ['are called by the words of the name', asking('Get weather for me'), ['get_weather']],
    ['are called in parallel when several are named', asking('get_time and get_weather'), ['get_weather', 'get_time']],
    ['are all called in parallel on request', asking('Call the tools in parallel'), ['get_weather', 'get_time']],
    ['one named, in parallel: twice', asking('get_time twice, in parallel'), ['get_time', 'get_time']],
    ['the first is called when none is named', asking('Use a tool'), ['get_weather']],
    [
      'not more than one with parallel_tool_calls false',
      { ...asking('Use tools in parallel'), parallel_tool_calls: false },
      ['get_weather'],
    ],
    ['are forced by required', { tool_choice: 'required' }, ['get_weather']],
    ['are forced by name', { tool_choice: { type: 'function', function: { name: 'get_time' } } }, ['get_time']],
    ['are not forced by a list of allowed ones', { tool_choice: { type: 'allowed_tools', allowed_tools: {} } }, []],
    ['are not called with none', { ...asking('get_weather'), tool_choice: 'none' }, []],
  ])('%s', (_, body, names) => {
    const list = (calls({ tools, ...body }) ?? []) as { function: { name: string } }[];
    expect(list.map((call) => call.function.name)).toEqual(names);
  });

  test('get arguments that are valid for their schema, and unique ids', () => {
    const list = calls({ tools, ...asking('get_weather and get_time') });
    expect(list).toEqual([
      {
        id: expect.stringMatching(/^call_[a-z0-9]{24}$/),
        type: 'function',
        function: { name: 'get_weather', arguments: '{"city":"sample"}' },
      },
      {
        id: expect.stringMatching(/^call_[a-z0-9]{24}$/),
        type: 'function',
        function: { name: 'get_time', arguments: '{}' },
      },
    ]);
    const ids = (list as { id: string }[]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  });

  test('may be custom ones', () => {
    const tools = [{ type: 'custom', custom: { name: 'shell' } }];
    expect(calls({ tools, ...asking('shell') })).toMatchObject([
      { type: 'custom', custom: { name: 'shell', input: 'sample input' } },
    ]);
  });

  test('are followed by text once their results are sent', () => {
    const messages = [
      { role: 'user', content: 'get_weather' },
      { role: 'assistant', content: null, tool_calls: [] },
      { role: 'tool', tool_call_id: 'a', content: 'sunny' },
      { role: 'tool', tool_call_id: 'b', content: '12:00' },
    ];
    expect(choice({ tools, messages })).toMatchObject({
      message: { content: 'Simulated reply after tool results: sunny; 12:00' },
      finish_reason: 'stop',
    });
  });
});

describe('an invalid request', () => {
  test.each<[string, Json | string, string | null]>([
    ['no JSON', '{', null],
    ['no object', '[]', null],
    ['no model', { model: 1 }, 'model'],
    ['no messages', { messages: [] }, 'messages'],
    ['n of 0', { n: 0 }, 'n'],
    ['n of a million', { n: 1_000_000 }, 'n'],
    ['half a token', { max_tokens: 1.5 }, 'max_tokens'],
    ['a forced tool that is not offered', { tool_choice: 'required' }, 'tool_choice'],
  ])('%s is a 400 that names the parameter', (_, body, param) => {
    expect(statusOf(body)).toBe(400);
    expect(JSON.parse(sent(body))).toMatchObject({ error: { type: 'invalid_request_error', param } });
  });
});

describe('model names with a special behaviour', () => {
  test('are those in the table of the README', () => {
    const readme = readFileSync(join(import.meta.dirname, '../../../docs/providers/simulator.md'), 'utf8');
    const rows = [...readme.matchAll(/^\| `(sim[^`]*)` \|/gm)].map(([, name]) => name);
    expect(rows.toSorted()).toEqual(Object.keys(NAMES).toSorted());
  });

  test.each(Object.entries(NAMES))('%s is read as %s', (name, kind) => {
    const example = name.replace('<status>', '503').replace('<ms>', '20').replace('<n>', '3');
    const number = /\d+/.exec(example)?.[0] ?? (name === 'sim-cut' ? 2 : 0);
    expect(readBehaviour(example)).toMatchObject({ kind, number: Number(number) });
  });

  test.each([
    'gpt-5',
    'sim',
    'sim-anything',
    'sim-error-200',
    'sim-error-600',
    'sim-cut-x',
    'x-sim-cut',
    'sim-slow-9999999',
  ])('%s answers normally', (model) => {
    expect(readBehaviour(model)).toEqual({ kind: 'answer', number: 0 });
  });

  test.each([400, 401, 402, 403, 404, 409, 413, 429, 500, 503, 529, 599])('sim-error-%i has that status', (status) => {
    expect(statusOf({ model: `sim-error-${status}` })).toBe(status);
    expect(JSON.parse(sent({ model: `sim-error-${status}` }))).toMatchObject({
      error: { message: `Simulated error ${status}.`, type: expect.any(String), param: null },
    });
  });

  test('sim-flaky-<n> fails n times for each body, then answers, then starts again', () => {
    const simulation = new Simulation();
    const status = (text: string) => {
      const head = steps({ model: 'sim-flaky-2', ...asking(text) }, simulation).find((step) => step.kind === 'head');
      return head?.status;
    };
    expect([status('a'), status('b'), status('a'), status('a'), status('a'), status('b'), status('b')]).toEqual([
      503, 503, 503, 200, 503, 503, 200,
    ]);
  });

  test('sim-fast is about 1 KB, or 200 events with or without usage', () => {
    const body = sent({ model: 'sim-fast' });
    expect(Math.abs(Buffer.byteLength(body) - 1_024)).toBeLessThan(200);
    for (const stream_options of [undefined, { include_usage: true }]) {
      for (const model of ['sim-fast', 'sim-fast-each']) {
        const events = sent({ model, stream: true, stream_options }).split('\n\n').slice(0, -1);
        expect(events).toHaveLength(FAST_EVENTS);
        expect(events.at(-1)).toBe('data: [DONE]');
        expect(events.some((event) => event.includes('"usage":{'))).toBe(stream_options !== undefined);
      }
    }
  });
});

describe('a stream', () => {
  const events = (body: Json) =>
    sent({ stream: true, ...body })
      .split('\n\n')
      .slice(0, -2)
      // The simulator's own JSON.
      .map(
        (line) =>
          JSON.parse(line.slice('data: '.length)) as { choices: { index: number; delta: Json }[]; usage?: Json | null },
      );

  test('has the same content as the plain reply', () => {
    for (const body of [
      {},
      { n: 3 },
      { max_tokens: 3 },
      { tools: [WEATHER, TIME], ...asking('get_weather, get_time') },
    ]) {
      const plain = reply(body);
      const chunks = events({ ...body, stream_options: { include_usage: true } });
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: plain.usage });
      expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
      for (const [index, { message }] of plain.choices.entries()) {
        const deltas = chunks.flatMap(({ choices }) =>
          choices.filter((each) => each.index === index).map(({ delta }) => delta),
        );
        const text = deltas.map(({ content }) => content ?? '').join('');
        expect(text).toBe(message['content'] ?? '');
        const fragments = deltas.flatMap(
          ({ tool_calls }) => (tool_calls ?? []) as { index: number; function: { arguments: string } }[],
        );
        const expected = (message['tool_calls'] ?? []) as { function: { arguments: string } }[];
        for (const [at, call] of expected.entries()) {
          const joined = fragments
            .filter((each) => each.index === at)
            .map((each) => each.function.arguments)
            .join('');
          expect(joined).toBe(call.function.arguments);
        }
      }
    }
  });

  test('has no usage unless it is requested', () => {
    expect(events({}).some((event) => 'usage' in event)).toBe(false);
  });
});
