import { describe, expect, it } from 'vitest';
import { connect } from '../http/websockets/kit.testkit.ts';
import { KEY, type TestGateway } from '../support/gateway.ts';
import { startPair, type PairSetup } from '../support/pair.ts';
import {
  anthropicEvents,
  anthropicReply,
  geminiReply,
  json,
  openaiChunk,
  openaiReply,
  sse,
  type Script,
} from '../support/upstream.ts';
import { CAPTURING, fetchCapture, replayOf, startCapture, textOf } from './kit.ts';

const UPSTREAM_KEY = 'upstream-canary-key-0123456789';

const responseOf = (status: string, output: readonly object[]) => ({
  id: 'resp_up',
  object: 'response',
  created_at: 1_795_132_800,
  status,
  model: 'gpt-5',
  output,
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
});
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Hello there', annotations: [] }],
};
const PLACE = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const PART = { type: 'output_text', text: 'Hello there', annotations: [] };

const RESPONSE_EVENTS = [
  { type: 'response.created', response: responseOf('in_progress', []) },
  { type: 'response.output_item.added', output_index: 0, item: { ...MESSAGE, status: 'in_progress', content: [] } },
  { type: 'response.content_part.added', ...PLACE, part: { ...PART, text: '' } },
  { type: 'response.output_text.delta', ...PLACE, delta: 'Hello ' },
  { type: 'response.output_text.delta', ...PLACE, delta: 'there' },
  { type: 'response.output_text.done', ...PLACE, text: 'Hello there' },
  { type: 'response.content_part.done', ...PLACE, part: PART },
  { type: 'response.output_item.done', output_index: 0, item: MESSAGE },
  { type: 'response.completed', response: responseOf('completed', [MESSAGE]) },
].map((event, index) => ({ ...event, sequence_number: index }));

/** Every upstream at once, by the path. */
const upstreams: Script = async ({ url, json: body }, res) => {
  if (url.includes(':streamGenerateContent'))
    return sse(res, [
      { ...geminiReply('Hello '), candidates: [{ content: { role: 'model', parts: [{ text: 'Hello ' }] }, index: 0 }] },
      geminiReply('there'),
    ]);
  if (url.includes(':generateContent')) return json(res, geminiReply('Hello there'));
  const streams = body['stream'] === true;
  if (url.endsWith('/messages'))
    return streams ? sse(res, anthropicEvents('Hello ', 'there')) : json(res, anthropicReply('Hello there'));
  if (url.endsWith('/responses'))
    return streams ? sse(res, RESPONSE_EVENTS) : json(res, responseOf('completed', [MESSAGE]));
  if (!streams) return json(res, openaiReply('Hello there'));
  return sse(res, [
    openaiChunk({ role: 'assistant', content: 'Hello ' }),
    openaiChunk({ content: 'there' }),
    openaiChunk({}, 'stop'),
    { ...openaiChunk({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
    'data: [DONE]\n\n',
  ]);
};

const settingsAt = (url: string): PairSetup => {
  const at = { api_key: `\${env:NONE:-${UPSTREAM_KEY}}`, allow_insecure: true };
  return {
    server: CAPTURING,
    catalog: {
      providers: [
        { slug: 'openai', provider: 'openai', base_url: `${url}/v1`, ...at },
        { slug: 'claude', provider: 'anthropic', base_url: url, ...at },
        { slug: 'studio', provider: 'google-ai-studio', base_url: url, ...at },
      ],
    },
    gateway: {
      openai: { provider: '@openai', override_params: { model: 'gpt-5' } },
      claude: { provider: '@claude', override_params: { model: 'claude-sonnet-4-5-20250929' } },
      studio: { provider: '@studio', override_params: { model: 'gemini-2.5-flash' } },
    },
  };
};

interface DoorCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const HI = [{ role: 'user', content: 'Hi' }];
const CONTENTS = [{ role: 'user', parts: [{ text: 'Hi' }] }];

const DOORS: Readonly<Record<string, DoorCall>> = {
  chat: { path: '/v1/chat/completions', body: { model: 'any', messages: HI } },
  'chat, streamed': { path: '/v1/chat/completions', body: { model: 'any', messages: HI, stream: true } },
  Messages: { path: '/v1/messages', body: { model: 'any', max_tokens: 99, messages: HI } },
  'Messages, streamed': { path: '/v1/messages', body: { model: 'any', max_tokens: 99, messages: HI, stream: true } },
  Responses: { path: '/v1/responses', body: { model: 'any', input: 'Hi' } },
  'Responses, streamed': { path: '/v1/responses', body: { model: 'any', input: 'Hi', stream: true } },
  Gemini: { path: '/v1beta/models/any:generateContent', body: { contents: CONTENTS } },
  'Gemini, streamed': { path: '/v1beta/models/any:streamGenerateContent?alt=sse', body: { contents: CONTENTS } },
};

const TARGETS = ['openai', 'claude', 'studio'];

async function askDoor({ url }: TestGateway, { path, body }: DoorCall, config: string): Promise<string> {
  const reply = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}`, 'x-gateway-config': config },
    body: JSON.stringify(body),
  });
  return `${reply.status} ${await reply.text()}`;
}

/** Ids and times that the gateway makes anew. */
const withoutIds = (text: string): string =>
  text
    .replaceAll(/"(?:id|item_id|response_id|responseId|request_id)":"[^"]*"/g, '"id":""')
    .replaceAll(/"(?:created|created_at|completed_at)":\d+/g, '"at":0')
    .replaceAll(/"createTime":"[^"]*"/g, '"at":""');

async function askSocket(gateway: TestGateway, config: string): Promise<string> {
  const client = await connect(gateway, { headers: { 'x-gateway-config': config } });
  const frames = await client.turn({ model: 'any', input: 'Hi' });
  client.ws.close();
  return JSON.stringify(frames);
}

describe.each(TARGETS)('a capture of requests to %s', (config) => {
  it(
    'replayed as the upstream gives each door the recorded bytes, but ids and times',
    { timeout: 120_000 },
    async () => {
      const { gateway } = await startPair(upstreams, settingsAt);
      const doors = Object.values(DOORS);
      const id = await startCapture(gateway, { where: { config }, requests: doors.length + 1 });
      const replies: string[] = [];
      for (const door of doors) replies.push(await askDoor(gateway, door, config));
      const frames = await askSocket(gateway, config);
      const { text, exchanges } = await fetchCapture(gateway, id);
      expect(exchanges).toHaveLength(doors.length + 1);
      // What the client got is in the capture, too.
      expect(exchanges.slice(0, -1).map((one) => `${one.reply.status} ${textOf(one)}`)).toEqual(replies);
      expect(replies.filter((reply) => reply.includes('Hello'))).toHaveLength(doors.length);
      for (const secret of [UPSTREAM_KEY, KEY]) expect(text).not.toContain(secret);

      const replay = await replayOf(text);
      const { gateway: again } = await startPair(upstreams, settingsAt(replay.url));
      const same: string[] = [];
      for (const door of doors) same.push(await askDoor(again, door, config));
      expect(replay.misses).toEqual([]);
      expect(same.map(withoutIds)).toEqual(replies.map(withoutIds));
      expect(withoutIds(await askSocket(again, config))).toBe(withoutIds(frames));
    },
  );
});

it('A replay keeps the pace of the recording', async () => {
  const { gateway } = await startPair(upstreams, settingsAt);
  const id = await startCapture(gateway, { requests: 1 });
  const door = DOORS['chat, streamed']!;
  const before = await askDoor(gateway, door, 'openai');
  const { text, exchanges } = await fetchCapture(gateway, id);
  const [{ id: request, calls }] = exchanges as [(typeof exchanges)[number]];
  const reply = calls[0]!.reply!;
  const slow = { ...reply, pieces: reply.pieces.map(([, bytes], index) => [index * 60, bytes]) };
  const [head] = text.split('\n');
  const file = `${head}\n${JSON.stringify({ id: request, calls: [{ ...calls[0], reply: slow }] })}\n`;
  const { gateway: again } = await startPair(upstreams, settingsAt((await replayOf(file, false)).url));
  const from = performance.now();
  expect(withoutIds(await askDoor(again, door, 'openai'))).toBe(withoutIds(before));
  // A timer of Node may fire a millisecond early.
  expect(performance.now() - from).toBeGreaterThanOrEqual((reply.pieces.length - 1) * 60 - 2);
});

it('A call that was not recorded is refused with what differs', async () => {
  const { gateway } = await startPair(upstreams, settingsAt);
  const id = await startCapture(gateway, { requests: 1 });
  await askDoor(gateway, DOORS['chat']!, 'openai');
  const replay = await replayOf((await fetchCapture(gateway, id)).text);
  const { gateway: again } = await startPair(upstreams, settingsAt(replay.url));
  const { path, body } = DOORS['chat']!;
  const reply = await askDoor(
    again,
    { path, body: { ...body, messages: [{ role: 'user', content: 'Ho' }] } },
    'openai',
  );
  expect(reply).toMatch(/^404 .*messages\.0\.content is \\"Ho\\", recorded \\"Hi\\"/);
  expect(replay.misses).toEqual([expect.stringContaining('messages.0.content is "Ho", recorded "Hi"')]);
});
