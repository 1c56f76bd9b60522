import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  anthropicEvents,
  anthropicReply,
  entriesFor,
  json,
  openaiReply,
  startUpstream,
  type Script,
  type ScriptedUpstream,
} from '../support/upstream.ts';
import { BODIES } from './messages.testkit.ts';

/** `/v1/messages` in front of Claude: what the caller wrote arrives, and what Claude answered comes back. */

let gateway: TestGateway;
let upstream: ScriptedUpstream;
let script: Script = (_, res) => json(res, anthropicReply('ok'));
beforeAll(async () => {
  upstream = await startUpstream((request, res, index) => script(request, res, index));
  gateway = await startTestGateway({ catalog: { providers: entriesFor(upstream.url) } });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const DIRECT = '@claude/claude-sonnet-4-5-20250929';
/** Bodies that Claude takes from 4.7 on; test/http/claude-code.test.ts has what becomes of them before. */
const OF_NEWER: ReadonlySet<string> = new Set(['a system turn', 'adaptive thinking with effort']);
const VERTEX = '@gemini/anthropic.claude-sonnet-4-5@20250929';
const TOKEN = 'ya29.caller-token';

function post(body: object | string, headers: Record<string, string> = {}, path = '/v1/messages'): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': KEY, authorization: `Bearer ${TOKEN}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const full = (model: string, body: object) => ({
  model,
  max_tokens: 10,
  messages: [{ role: 'user', content: 'hi' }],
  ...body,
});

/** The last request the upstream saw. */
const last = () => upstream.seen.at(-1)!;

describe('a body for Claude', () => {
  it.each(Object.entries(BODIES))('with %s arrives as it was written', async (title, body) => {
    script = (_request, res) => json(res, anthropicReply('ok'));
    const model = OF_NEWER.has(title) ? 'claude-opus-5' : 'claude-sonnet-4-5@20250929';
    const name = model.replace('@', '-');
    const direct = await post(full(`@claude/${name}`, body));
    expect([direct.status, direct.headers.get('x-gateway-dropped-params')]).toEqual([200, null]);
    expect(last().url).toBe('/v1/messages');
    expect(last().json).toEqual(full(name, body));

    // Vertex AI accepts no media by address (docs/protocols/vertex-ai.md#claude-features-not-served); another test covers those.
    if (JSON.stringify(body).includes('https://a.example/x')) return;
    // Nor these fields without their betas (test/http/claude-code.test.ts).
    if (
      /"(?:container|mcp_servers|context_management|defer_loading|speed|inference_geo|diagnostics|strict|input_examples|json_schema)"/.test(
        JSON.stringify(body),
      )
    )
      return;
    const { model: _model, ...rest } = full(VERTEX, body);
    const vertex = await post(full(`@gemini/anthropic.${model}`, body));
    expect([vertex.status, vertex.headers.get('x-gateway-dropped-params')]).toEqual([200, null]);
    expect(last().url.replace('%40', '@')).toMatch(new RegExp(`publishers/anthropic/models/${model}:rawPredict$`));
    expect(last().json).toEqual({ ...rest, anthropic_version: 'vertex-2023-10-16' });
  });

  it('of more than 64 KiB arrives as it was written, unknown parts among it', async () => {
    const body = full(DIRECT, {
      tomorrow: { a: 1 },
      messages: [{ role: 'user', content: [{ type: 'new', x: 'y'.repeat(200_000) }] }],
    });
    expect((await post(body)).status).toBe(200);
    expect(last().json).toEqual({ ...body, model: 'claude-sonnet-4-5-20250929' });
  });

  it('keeps numbers that no double can hold', async () => {
    const body = full(DIRECT, { tomorrow: 0 });
    const text = JSON.stringify(body).replace('"tomorrow":0', '"tomorrow":9007199254740993');
    expect((await post(text)).status).toBe(200);
    expect(last().text).toContain('"tomorrow":9007199254740993');
  });

  it('keeps a version of its own on Vertex', async () => {
    await post(full(VERTEX, { anthropic_version: 'vertex-2026-10-21' }));
    expect(last().json['anthropic_version']).toBe('vertex-2026-10-21');
  });

  it('may be sent with ?beta=true, which is not for routing', async () => {
    expect((await post(full(DIRECT, {}), {}, '/v1/messages?beta=true')).status).toBe(200);
    expect(last().url).toBe('/v1/messages');
  });

  it('loses a signature of another provider too that is written with escapes', async () => {
    const thought = {
      type: 'thinking',
      thinking: '',
      signature: 'gh1.gemini.s.eyJmb3IiOiJ0ZXh0Iiwic2lnbmF0dXJlIjoicyJ9',
    };
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [thought, { type: 'text', text: 'a' }] },
      { role: 'user', content: 'b' },
    ];
    const body = JSON.stringify(full(DIRECT, { messages })).replace('"gh1.', String.raw`"\u0067h\u0031.`);
    const answer = await post(body);
    expect([answer.status, answer.headers.get('x-gateway-dropped-params')]).toEqual([200, 'messages[1].content[0]']);
    expect(last().text).not.toContain('gemini');
  });

  it('loses what this gateway wrote of another provider’s answer, and says so', async () => {
    const messages = [
      { role: 'user', content: 'hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: '' },
          { type: 'thinking', thinking: '', signature: 'gh1.gemini.s.eyJmb3IiOiJ0ZXh0Iiwic2lnbmF0dXJlIjoicyJ9' },
          { type: 'tool_use', id: 'call_1__thought__abcd', name: 'f', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1__thought__abcd', content: 'x' }] },
    ];
    const answer = await post(full(DIRECT, { messages, thinking: { type: 'enabled', budget_tokens: 1024 } }));
    expect(answer.headers.get('x-gateway-dropped-params')).toBe(
      'messages[1].content[0],messages[1].content[1],messages[1].content[2].id,thinking',
    );
    expect(last().json).toEqual(
      full('claude-sonnet-4-5-20250929', {
        messages: [
          messages[0],
          { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'x' }] },
        ],
      }),
    );
  });
});

describe('headers for Claude', () => {
  it.each([
    [undefined, '2023-06-01'],
    ['2026-10-21', '2026-10-21'],
    ['2031-01-01', '2031-01-01'],
  ])('have the version %s as %s at the API, and none on Vertex', async (version, expected) => {
    const headers = version === undefined ? {} : { 'anthropic-version': version };
    await post(full(DIRECT, {}), headers);
    expect(last().headers['anthropic-version']).toBe(expected);
    expect(last().headers['x-api-key']).toBe('upstream-secret-key');
    await post(full(VERTEX, {}), headers);
    expect(last().headers['anthropic-version']).toBeUndefined();
  });

  it('have the gateway’s version where the body was written for another API', async () => {
    await post(full(DIRECT, {}), { 'anthropic-version': '2026-10-21' }, '/v1/chat/completions');
    expect(last().headers['anthropic-version']).toBe('2023-06-01');
  });

  it.each<[string, Record<string, string>, string]>([
    ['the API’s own header', { 'anthropic-beta': 'a-1, b-2,,a-1' }, 'a-1,b-2'],
    ['the gateway’s', { 'x-gateway-anthropic-beta': 'a-1' }, 'a-1'],
    ['the neutral name', { 'x-gateway-familya-beta': 'a-1' }, 'a-1'],
    [
      'all of them',
      { 'anthropic-beta': 'a-1', 'x-gateway-anthropic-beta': 'b-2,a-1', 'x-gateway-familya-beta': 'c-3' },
      'a-1,b-2,c-3',
    ],
  ])('have the betas of %s, on both routes', async (_, headers, expected) => {
    for (const path of ['/v1/messages', '/v1/chat/completions']) {
      await post(full(DIRECT, {}), headers, path);
      expect(last().headers['anthropic-beta']).toBe(expected);
    }
  });

  it('join the caller’s betas with those a translation needs', async () => {
    const file = { type: 'file', file: { file_id: 'file_1' } };
    await post(
      full(DIRECT, { messages: [{ role: 'user', content: [file] }] }),
      { 'anthropic-beta': 'a-1' },
      '/v1/chat/completions',
    );
    expect(String(last().headers['anthropic-beta']).split(',').toSorted()).toEqual(['a-1', 'files-api-2025-04-14']);
  });

  it.each(['/v1/messages', '/v1/chat/completions'])(
    'on Vertex have those it takes, and %s reports the others',
    async (path) => {
      const answer = await post(full(VERTEX, {}), { 'anthropic-beta': 'context-1m-2025-08-07,tomorrow-1' }, path);
      expect(last().headers['anthropic-beta']).toBe('context-1m-2025-08-07');
      expect(answer.headers.get('x-gateway-dropped-params')).toBe('anthropic-beta: tomorrow-1');
    },
  );

  it('are for Claude alone: another upstream gets none, and each beta is reported', async () => {
    script = (_request, res) => json(res, openaiReply('ok'));
    const answer = await post(full('@openai/m', {}), {
      'anthropic-beta': 'a-1,b-2',
      'anthropic-version': '2026-10-21',
    });
    expect(Object.keys(last().headers).filter((name) => name.includes('anthropic'))).toEqual([]);
    expect(answer.headers.get('x-gateway-dropped-params')).toBe('anthropic-beta: a-1,anthropic-beta: b-2');
    const strict = await post(full('@openai/m', {}), { 'anthropic-beta': 'a-1', 'x-gateway-strict-params': 'true' });
    expect(strict.status).toBe(400);
  });
});

describe('a reply of Claude', () => {
  const reply = {
    ...anthropicReply('ok'),
    content: [
      { type: 'text', text: 'ok', citations: null, tomorrow: 1 },
      { type: 'hologram', beam: 1 },
    ],
    usage: { input_tokens: 3, output_tokens: 2, service_tier: 'standard', iterations: [] },
    context_management: { applied_edits: [] },
    tomorrow: [1],
  };

  it.each([DIRECT, VERTEX])('of %s comes back byte by byte, with the headers clients read', async (model) => {
    script = (_request, res) =>
      json(res, reply, 200, { 'request-id': 'req_up', 'anthropic-ratelimit-requests-limit': '9', 'set-cookie': 'a=b' });
    const answer = await post(full(model, {}));
    expect(await answer.text()).toBe(JSON.stringify(reply));
    expect(answer.headers.get('request-id')).toBe('req_up');
    // The limits of the caller's own account, but not those of the gateway's.
    expect(answer.headers.get('anthropic-ratelimit-requests-limit')).toBe(model === VERTEX ? '9' : null);
    expect(answer.headers.get('set-cookie')).toBeNull();
  });

  const events = [
    ...anthropicEvents('Grüße ', '😀 aus', ' Oslo').slice(0, -2),
    { type: 'content_block_start', index: 1, content_block: { type: 'hologram', beam: 1 } },
    { type: 'content_block_delta', index: 1, delta: { type: 'beam_delta', beam: 2 } },
    { type: 'content_block_stop', index: 1 },
    { type: 'tomorrow', x: 1 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];
  const record = (event: object): string =>
    `event: ${'type' in event ? String(event.type) : ''}\ndata: ${JSON.stringify(event)}\n\n`;
  const own = 'event: vertex_event\ndata: {"type":"vertex_event","x":1}\n\n';

  it.each([DIRECT, VERTEX])('of %s streams byte by byte in any split, without Vertex’ own events', async (model) => {
    const expected = events.map(record).join('');
    const bytes = Buffer.from(own + events.map(record).join(own));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
        script = async (_request, res) => {
          res.writeHead(200, { 'content-type': 'text/event-stream' });
          const ends = [...cuts.toSorted((a, b) => a - b), bytes.length];
          let from = 0;
          for (const to of ends) {
            res.write(bytes.subarray(from, to));
            await new Promise(setImmediate);
            from = to;
          }
          res.end();
        };
        const answer = await post(full(model, { stream: true }));
        expect(answer.headers.get('content-type')).toMatch(/^text\/event-stream/);
        expect(await answer.text()).toBe(expected);
      }),
      { numRuns: 15 },
    );
  });

  it('has its usage counted, plain and streamed', async () => {
    script = (request, res) => {
      if (request.json['stream'] !== true) return json(res, reply);
      res.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.map(record).join(''));
      return undefined;
    };
    const tokens = async (): Promise<number> => {
      const text = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
      const lines = text
        .split('\n')
        .filter((line) => line.startsWith('gatehouse_tokens_total') && line.includes('type="input"'));
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    };
    const before = await tokens();
    await (await post(full(DIRECT, {}))).text();
    await (await post(full(DIRECT, { stream: true }))).text();
    await expect.poll(tokens).toBe(before + 6);
  });
});
