import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { accumulated } from '../../src/formats/openai-responses/sdk.testkit.ts';
import { createFakeClock } from '../../src/plugin/testing/index.ts';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';
import { connect } from './websockets/kit.testkit.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const sse = (...events: object[]): string =>
  events
    .map((event) => `${'type' in event ? `event: ${String(event.type)}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('');

const chunk = (content: string, finish: string | null = null): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});
const candidate = (text: string, finishReason?: string): object => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason, index: 0 }],
});
const usage = { input_tokens: 1, output_tokens: 1 };
const delta = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const response = (status: string, output: readonly object[] = []) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status,
  model: 'm',
  output,
  usage: status === 'completed' ? { ...usage, total_tokens: 2 } : null,
});
const part = (text: string) => ({ type: 'output_text', text, annotations: [] });
const item = (status: string, text?: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status,
  content: text === undefined ? [] : [part(text)],
});
const numbered = (from: number, events: readonly object[]): readonly object[] =>
  events.map((event, at) => ({ ...event, sequence_number: from + at }));
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };

/** The events of each upstream before its silence and after it. */
const UPSTREAMS = {
  chat: [sse(chunk('one ')), `${sse(chunk('two'), chunk('', 'stop'))}data: [DONE]\n\n`],
  messages: [
    sse(
      {
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], usage },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      delta('one '),
    ),
    sse(
      delta('two'),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
      { type: 'message_stop' },
    ),
  ],
  responses: [
    sse(
      ...numbered(0, [
        { type: 'response.created', response: response('in_progress') },
        { type: 'response.output_item.added', output_index: 0, item: item('in_progress') },
        { type: 'response.content_part.added', ...at, part: part('') },
        { type: 'response.output_text.delta', ...at, delta: 'one ', logprobs: [] },
      ]),
    ),
    sse(
      ...numbered(4, [
        { type: 'response.output_text.delta', ...at, delta: 'two', logprobs: [] },
        { type: 'response.output_text.done', ...at, text: 'one two', logprobs: [] },
        { type: 'response.content_part.done', ...at, part: part('one two') },
        { type: 'response.output_item.done', output_index: 0, item: item('completed', 'one two') },
        { type: 'response.completed', response: response('completed', [item('completed', 'one two')]) },
      ]),
    ),
  ],
  gemini: [sse(candidate('one ')), sse(candidate('two', 'STOP'))],
} as const;
type Upstream = keyof typeof UPSTREAMS;
const UPSTREAM_NAMES = Object.keys(UPSTREAMS) as Upstream[];

/** A gateway whose time stands still, before upstreams that say something and then wait for the test. */
async function start(says: Partial<Record<Upstream, readonly [string, string]>> = {}) {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  const upstream = await startUpstream(({ url }, res) => {
    const name = UPSTREAM_NAMES.find((one) => url.startsWith(`/${one}`))!;
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.write((says[name] ?? UPSTREAMS[name])[0]);
    resolve(res);
  });
  const clock = createFakeClock();
  const entry = { allow_insecure: true, api_key: 'k' };
  const gateway = await startTestGateway(
    {
      server: { timeouts: { first_byte: '1h', first_content: '1h', idle: '10m', total: '1h' } },
      catalog: {
        providers: [
          { ...entry, slug: 'chat', provider: 'openai', base_url: `${upstream.url}/chat/v1`, api: 'chat' },
          {
            ...entry,
            slug: 'responses',
            provider: 'openai',
            base_url: `${upstream.url}/responses/v1`,
            api: 'responses',
          },
          { ...entry, slug: 'messages', provider: 'anthropic', base_url: `${upstream.url}/messages` },
          { ...entry, slug: 'gemini', provider: 'google-ai-studio', base_url: `${upstream.url}/gemini` },
        ],
      },
    },
    { clock },
  );
  open.push(gateway, upstream);
  return { gateway, clock, asked: promise, goOn: async (text: string) => void (await promise).end(text) };
}

const messages = [{ role: 'user', content: 'x' }];
const contents = [{ role: 'user', parts: [{ text: 'x' }] }];
const geminiPath = (verb: string) => (upstream: Upstream) =>
  [`/v1beta/models/%40${upstream}%2Fm:${verb}`, { contents }] as const;

/** The texts of the events, each of which Google's SDKs for Python and Go read from one line. */
function geminiTexts(text: string): string {
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  for (const line of lines) expect(line).toMatch(/^data: \{/);
  return textsOf(lines.map((line) => JSON.parse(line.slice(6)) as unknown));
}
const textsOf = (candidates: unknown): string =>
  (candidates as { candidates: [{ content?: { parts?: [{ text?: string }] } }] }[])
    .map(({ candidates: [one] }) => one.content?.parts?.[0]?.text ?? '')
    .join('');

/** The data of each event as OpenAI's SDK for Python reads them: a blank line ends an event also where only an id is known. */
function chatTexts(text: string): string {
  let [id, data, whole] = ['', '', ''];
  for (const line of text.split(/\r?\n/).slice(0, -1)) {
    if (line.startsWith('id:')) id = line;
    else if (line.startsWith('data:')) data += line.slice(5).trim();
    if (line !== '' || (id === '' && data === '')) continue;
    if (data !== '[DONE]')
      whole += (JSON.parse(data) as { choices: [{ delta?: { content?: string } }?] }).choices[0]?.delta?.content ?? '';
    data = '';
  }
  return whole;
}

const messageTexts = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => (JSON.parse(line.slice(6)) as { delta?: { text?: string } }).delta?.text ?? '')
    .join('');

interface Stream {
  readonly ask: (upstream: Upstream) => readonly [string, object];
  readonly heartbeat: RegExp;
  /** The text of the whole answer, as the strictest client of the API reads it. */
  readonly read: (text: string) => string | Promise<string>;
}

const STREAMS: Readonly<Record<string, Stream>> = {
  'chat completions': {
    ask: (upstream) => ['/v1/chat/completions', { model: `@${upstream}/m`, stream: true, messages }],
    heartbeat: /^: ping\n\n$/,
    read: chatTexts,
  },
  Messages: {
    ask: (upstream) => ['/v1/messages', { model: `@${upstream}/m`, max_tokens: 5, stream: true, messages }],
    heartbeat: /^event: ping\ndata: \{"type":"ping"\}\n\n$/,
    read: messageTexts,
  },
  Responses: {
    ask: (upstream) => ['/v1/responses', { model: `@${upstream}/m`, stream: true, input: 'x' }],
    heartbeat: /^event: keepalive\ndata: \{"type":"keepalive","sequence_number":\d+\}\n\n$/,
    read: async (text) => String((await accumulated(text))['output_text']),
  },
  'Gemini as server-sent events': {
    ask: geminiPath('streamGenerateContent?alt=sse'),
    heartbeat: /^\n\n$/,
    read: geminiTexts,
  },
  'Gemini as a JSON array': {
    ask: geminiPath('streamGenerateContent'),
    heartbeat: /^\r\n$/,
    read: (text) => textsOf(JSON.parse(text)),
  },
};

async function ask({ url }: TestGateway, [path, body]: readonly [string, object]) {
  const headers = { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-goog-api-key': KEY };
  const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return answer.body!.pipeThrough(new TextDecoderStream()).getReader();
}

async function readUntil(reader: ReadableStreamDefaultReader<string>, piece = '\0'): Promise<string> {
  let text = '';
  for (;;) {
    if (text.includes(piece)) return text;
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
  }
  return text;
}

describe.each(Object.entries(STREAMS))('a silent stream of %s', (_, { ask: request, heartbeat, read }) => {
  it.each(UPSTREAM_NAMES)('gets its heartbeat 15 s after its last byte: from %s', async (name) => {
    const { gateway, clock, goOn } = await start();
    const reader = await ask(gateway, request(name));
    let text = await readUntil(reader, 'one');
    await clock.advance(14_999);
    await clock.advance(1);
    for (let count = 0; count < 2; count += 1) {
      const { value = '' } = await reader.read();
      expect(value).toMatch(heartbeat);
      text += value;
      await clock.advance(15_000);
    }
    text += (await reader.read()).value;
    await goOn(UPSTREAMS[name][1]);
    expect(await read(text + (await readUntil(reader)))).toBe('one two');
  });
});

/** A space before the body would commit the status 200, and a later failure could not have its own status. */
describe.each(['chat completions', 'Messages', 'Responses', 'Gemini'])('a plain reply of %s', (name) => {
  it('gets no heartbeat', async () => {
    const plain = sse(candidate('one two', 'STOP')).slice(6);
    const { gateway, clock, asked, goOn } = await start({ gemini: [plain.slice(0, 10), ''] });
    const [path, body] = (STREAMS[name] ?? STREAMS['Gemini as a JSON array']!).ask('gemini');
    let answered = false;
    const answer = ask(gateway, [
      path.replace('streamG', 'g'),
      { ...body, ...('stream' in body && { stream: false }) },
    ]);
    void answer.then(() => (answered = true));
    await asked;
    await clock.advance(60_000);
    expect(answered).toBe(false);
    await goOn(plain.slice(10));
    expect(JSON.stringify(JSON.parse(await readUntil(await answer)))).toContain('one two');
  });
});

describe('a turn of a WebSocket', () => {
  it.each(UPSTREAM_NAMES)('gets its heartbeat as a message, which Codex counts: from %s', async (name) => {
    const { gateway, clock, goOn } = await start();
    const client = await connect(gateway);
    client.create({ model: `@${name}/m`, input: 'x' });
    await expect.poll(() => client.frames.some(({ delta: text }) => text === 'one ')).toBe(true);
    await clock.advance(15_000);
    await expect.poll(() => client.frames.at(-1)).toEqual({ type: 'keepalive', sequence_number: expect.any(Number) });
    await goOn(UPSTREAMS[name][1]);
    expect((await client.turn()).at(-1)).toMatchObject({ type: 'response.completed' });
  });
});

it('a stream hears nothing between words that come in time', async () => {
  const { gateway, clock, goOn } = await start();
  const reader = await ask(gateway, STREAMS['chat completions']!.ask('chat'));
  await readUntil(reader, 'one');
  await clock.advance(14_000);
  await goOn(UPSTREAMS.chat[1]);
  expect(await readUntil(reader)).not.toContain('ping');
});

it.each([
  ['before its data', (data: string) => `id: 7\n${data}\n\n`],
  ['behind its data', (data: string) => `${data}\nid: 7\n\n`],
  ['before other events', (data: string) => `id: 7\n${data}\n\n${data}\n\n`],
])('the heartbeat of chat completions has no blank line after an id of the upstream %s', async (_, write) => {
  const first = write(`data: ${JSON.stringify(chunk('one '))}`);
  const { gateway, clock, goOn } = await start({ chat: [first, ''] });
  const reader = await ask(gateway, STREAMS['chat completions']!.ask('chat'));
  let text = await readUntil(reader, 'one');
  while (text.length < first.length) text += (await reader.read()).value;
  await clock.advance(15_000);
  const { value = '' } = await reader.read();
  expect(value).toBe(': ping\n');
  await goOn(UPSTREAMS.chat[1]);
  expect(chatTexts(text + value + (await readUntil(reader)))).toMatch(/^(?:one )+two$/);
});

it('lines that Google’s SDKs fail at do not reach clients of Gemini', async () => {
  const odd = [
    ': comment',
    'event: x',
    'id: 7',
    'retry: 10',
    `data:${JSON.stringify(candidate('one '))}`,
    '',
    ': more',
    '',
    '',
  ];
  const rest = `data: ${JSON.stringify(candidate('two', 'STOP')).replace(',', ',\ndata: ')}\n\ndata: [DONE]\n\n: end\n`;
  const { gateway, goOn } = await start({ gemini: [odd.join('\n'), ''] });
  const reader = await ask(gateway, geminiPath('streamGenerateContent?alt=sse')('gemini'));
  const text = await readUntil(reader, 'one');
  await goOn(rest);
  expect(geminiTexts(text + (await readUntil(reader)))).toBe('one two');
});

it('a stream of Responses that only comments so far gets a comment: its SDK throws at an event before the first', async () => {
  const { gateway, clock, goOn } = await start({ responses: [': wait\n\n', ''] });
  let reader: Awaited<ReturnType<typeof ask>> | undefined;
  void ask(gateway, STREAMS['Responses']!.ask('responses')).then((one) => (reader = one));
  const isAnswered = async () => (await clock.advance(1000), reader !== undefined);
  await expect.poll(isAnswered, { interval: 10, timeout: 20_000 }).toBe(true);
  await clock.advance(15_000);
  const text = await readUntil(reader!, ': ping\n\n');
  await goOn(UPSTREAMS.responses.join(''));
  const whole = text + (await readUntil(reader!));
  expect(whole).not.toContain('keepalive');
  expect((await accumulated(whole))['output_text']).toBe('one two');
});
