import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KEY, until } from '../../support/gateway.ts';
import { startPair, type PairSetup } from '../../support/pair.ts';
import { anthropicEvents, json, sse, type Script } from '../../support/upstream.ts';
import { codeOf, connect, inFlight, refusal, responseOf, shownText, type Client } from './kit.testkit.ts';

/** The WebSocket form of `/v1/responses`, with a real client, before a scripted Claude. */

const MODEL = '@claude/claude-sonnet-4-5';
const hello: Script = (_, res) => sse(res, anthropicEvents('Hel', 'lo'));
const start = (script: Script = hello, setup: PairSetup = {}) => startPair(script, setup);

/** A turn that the test lets go on. */
function heldScript() {
  const held: (() => void)[] = [];
  const script: Script = async (_, res) => {
    await sse(res, anthropicEvents('one').slice(0, 3), false);
    held.push(() => {
      for (const event of anthropicEvents('one').slice(3)) res.write(`data: ${JSON.stringify(event)}\n\n`);
      res.end();
    });
  };
  return { held, script };
}

describe('a turn of a WebSocket', () => {
  it('is a response in events, one frame each, without the ends of a stream', async () => {
    const { gateway, upstream } = await start();
    const client = await connect(gateway);
    const frames = await client.turn({ model: MODEL, input: 'hi', stream: true, store: false, background: true });
    // Deltas that are read together leave as one.
    const types = frames.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]);
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(frames.map((frame) => frame['sequence_number'])).toEqual(frames.keys().toArray());
    expect(shownText(frames.at(-1))).toBe('Hello');
    expect(upstream.seen).toMatchObject([{ json: { stream: true, messages: [{ role: 'user' }] } }]);
  });

  it.each([60_000, 1_000_000])(
    'with an answer of %d characters goes on when its socket has drained',
    async (length) => {
      const { gateway } = await start((_, res) => sse(res, anthropicEvents('x'.repeat(length))));
      const client = await connect(gateway);
      const frames = await client.turn({ model: MODEL, input: 'hi', instructions: 'y'.repeat(length) });
      expect(shownText(frames.at(-1))).toHaveLength(length);
      expect(await inFlight(gateway)).toBe(0);
    },
  );

  it('that the upstream refuses with 429 ends in an error event, and the socket lives on', async () => {
    let asked = 0;
    const { gateway } = await start((...args) => {
      asked += 1;
      if (asked > 1) return hello(...args);
      const [, res] = args;
      const error = { type: 'rate_limit_error', message: 'Slow down.' };
      return json(res, { type: 'error', error }, 429, { 'retry-after': '2' });
    });
    const client = await connect(gateway);
    const refused = (await client.turn({ model: MODEL, input: 'one' })).at(-1);
    expect(refused).toMatchObject({ type: 'error', status: 429, error: { message: expect.stringContaining('Slow') } });
    expect(codeOf(refused)).toBe('rate_limit_exceeded');
    expect(shownText((await client.turn({ model: MODEL, input: 'two' })).at(-1))).toBe('Hello');
    expect(asked).toBe(2);
  });

  it('is a request with an id, a record and a place of its own', async () => {
    const { gateway } = await start();
    const client = await connect(gateway, { headers: { 'x-request-id': 'of-the-socket' } });
    const ids = [];
    for (const input of ['one', 'two'])
      ids.push(responseOf((await client.turn({ model: MODEL, input })).at(-1)).id.replace('resp_', ''));
    const text = JSON.stringify(gateway.gateway.records({ limit: 10 })).replaceAll('-', '');
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(text).toContain(id);
    expect(text).toContain('ofthesocket');
    const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
    const counted = metrics.match(/^gatehouse_requests_total\{route="\/v1\/responses",[^}]*\} [1-9].*$/gm) ?? [];
    expect(counted.map((line) => line.replace(/.*status_class="(\w+)".* /, '$1 '))).toEqual(['1xx 1', '2xx 2']);
    expect(await inFlight(gateway)).toBe(0);
  });

  it('waits for the turn before it, and repeats the name of its stream', async () => {
    const { held, script } = heldScript();
    const { gateway, upstream } = await start(script);
    const client = await connect(gateway);
    client.create({ model: MODEL, input: 'one', stream_id: 'a' });
    client.create({ model: MODEL, input: 'two', stream_id: 'b' });
    await until(() => held.length === 1 && client.frames.length > 0, 'the first turn runs');
    expect(upstream.seen).toHaveLength(1);
    held[0]!();
    const first = await client.turn();
    await until(() => held.length === 2, 'the second turn runs');
    held[1]!();
    const second = await client.turn();
    expect(new Set(first.map((frame) => frame['stream_id']))).toEqual(new Set(['a']));
    expect(new Set(second.map((frame) => frame['stream_id']))).toEqual(new Set(['b']));
  });

  it('that an upstream refuses is an error frame, and the socket goes on', async () => {
    const refused = { type: 'error', error: { type: 'invalid_request_error', message: 'no' } };
    const { gateway } = await start((_, res, index) =>
      index > 0 ? sse(res, anthropicEvents('ok')) : json(res, refused, 400),
    );
    const client = await connect(gateway);
    expect(await client.turn({ model: MODEL, input: 'hi', stream_id: 's' })).toEqual([
      {
        type: 'error',
        stream_id: 's',
        status: 400,
        error: { type: 'invalid_request_error', code: 'upstream_rejected', message: expect.any(String), param: null },
      },
    ]);
    expect(shownText((await client.turn({ model: MODEL, input: 'hi' })).at(-1))).toBe('ok');
  });

  it('whose upstream breaks off ends with response.failed', async () => {
    const { gateway } = await start((_, res) => sse(res, [...anthropicEvents('Hel').slice(0, 3), null]));
    const client = await connect(gateway);
    const frames = await client.turn({ model: MODEL, input: 'hi' });
    expect(frames.at(-1)).toMatchObject({ type: 'response.failed', response: { error: { code: 'server_error' } } });
    expect(frames.map(({ type }) => type)).not.toContain('error');
    expect(responseOf(frames.at(-1)).id).toBe(responseOf(frames[0]).id);
  });

  it('is aborted at the upstream when its client leaves', async () => {
    const { held, script } = heldScript();
    const { gateway, upstream } = await start(script);
    const client = await connect(gateway);
    client.create({ model: MODEL, input: 'hi' });
    await until(() => held.length === 1, 'the turn runs');
    client.ws.close();
    await until(() => upstream.seen[0]!.aborted, 'the upstream request is aborted');
    await until(
      () => gateway.logText().includes('client_closed') || gateway.logText().includes('aborted'),
      'it is logged',
    );
  });

  it('without a model, of another type, or of no JSON is an error, and no socket is lost', async () => {
    const { gateway } = await start();
    const client = await connect(gateway);
    expect(codeOf((await client.turn({ input: 'hi' })).at(-1))).toBe('missing_required_parameter');
    client.ws.send('{"type":');
    expect(codeOf((await client.turn()).at(-1))).toBe('invalid_json');
    client.ws.send('[]');
    expect(codeOf((await client.turn()).at(-1))).toBe('invalid_request');
    client.send({ type: 'response.cancel' });
    expect((await client.turn()).at(-1)).toMatchObject({ status: 400, error: { param: 'type' } });
    client.send({ type: 'response.steer', input: 'x', previous_response_id: 'r' });
    await until(() => client.frames.length === 1, 'the steering is answered');
    expect(client.frames.pop()).toMatchObject({
      type: 'response.steer.failed',
      steer: { input: 'x', previous_response_id: 'r' },
      error: { code: 'steering_not_supported' },
    });
    expect((await client.turn({ model: MODEL, input: 'hi' })).at(-1)?.type).toBe('response.completed');
  });
});

describe('a continued turn', () => {
  const inputs = (seen: readonly { readonly json: Record<string, unknown> }[]) =>
    seen.map(({ json: body }) =>
      (body['messages'] as { role: string; content: unknown }[]).map(({ role, content }) => [
        role,
        typeof content === 'string' ? content : JSON.stringify(content).match(/"text":"([^"]*)"/)?.[1],
      ]),
    );

  it('gets what went before it, even with store: false', async () => {
    const { gateway, upstream } = await start();
    const client = await connect(gateway);
    const first = await client.turn({ model: MODEL, input: 'one', store: false });
    const previous_response_id = responseOf(first.at(-1)).id;
    const input = [{ role: 'user', content: 'two' }];
    const second = await client.turn({ model: MODEL, input, previous_response_id, store: false });
    const id = responseOf(second.at(-1)).id;
    await client.turn({ model: MODEL, input: 'three', previous_response_id: id, store: false });
    expect(inputs(upstream.seen)[2]).toEqual([
      ['user', 'one'],
      ['assistant', 'Hello'],
      ['user', 'two'],
      ['assistant', 'Hello'],
      ['user', 'three'],
    ]);
    expect(second.flatMap((frame) => responseOf(frame)?.previous_response_id ?? [])).toEqual(
      Array.from({ length: 3 }, () => previous_response_id),
    );
  });

  it('begins with a warm-up that asks no model', async () => {
    const { gateway, upstream } = await start();
    const client = await connect(gateway);
    const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' } }];
    const input = [{ type: 'message', role: 'developer', content: 'rules' }];
    const warm = await client.turn({ model: MODEL, input, tools, generate: false, stream_id: 'w' });
    expect(warm.map(({ type, stream_id }) => [type, stream_id])).toEqual([
      ['response.created', 'w'],
      ['response.completed', 'w'],
    ]);
    expect(responseOf(warm[1])).toMatchObject({
      status: 'completed',
      output: [],
      model: MODEL,
      tools: [{ name: 'f' }],
    });
    expect(upstream.seen).toHaveLength(0);
    const previous_response_id = responseOf(warm[1]).id;
    await client.turn({ model: MODEL, input: 'hi', previous_response_id });
    expect(JSON.stringify(upstream.seen[0]!.json)).toContain('rules');
  });

  it('of an unknown response is `previous_response_not_found`, and so is that of another socket', async () => {
    const { gateway, upstream } = await start();
    const client = await connect(gateway);
    const { id } = responseOf((await client.turn({ model: MODEL, input: 'one', store: false })).at(-1));
    const other = await connect(gateway);
    const asked = { model: MODEL, input: 'two', previous_response_id: id, store: false };
    expect((await other.turn(asked)).at(-1)).toMatchObject({
      type: 'error',
      status: 400,
      error: { code: 'previous_response_not_found', param: 'previous_response_id' },
    });
    expect(upstream.seen).toHaveLength(1);
  });

  it('of a response that the gateway has lost is the same where it has only results of calls', async () => {
    for (const store of [true, false]) {
      const { gateway } = await start();
      const client = await connect(gateway);
      const input = [{ type: 'function_call_output', call_id: 'call_1', output: '{}' }];
      // As after a restart.
      const last = (await client.turn({ model: MODEL, input, previous_response_id: 'resp_lost', store })).at(-1);
      expect(last).toMatchObject({
        type: 'error',
        status: 400,
        error: { code: 'previous_response_not_found', param: 'previous_response_id' },
      });
    }
  });

  it('that fails takes the response that it named with it', async () => {
    const { gateway } = await start();
    const client = await connect(gateway);
    const { id } = responseOf((await client.turn({ model: MODEL, input: 'one', store: false })).at(-1));
    const output = [{ type: 'function_call_output', call_id: 'call_unknown', output: 'x' }];
    const named = { model: MODEL, previous_response_id: id, store: false };
    expect((await client.turn({ ...named, input: output })).at(-1)).toMatchObject({ type: 'error', status: 400 });
    expect(codeOf((await client.turn({ ...named, input: 'two' })).at(-1))).toBe('previous_response_not_found');
  });

  it('is not kept beyond `kept_bytes`', async () => {
    const { gateway } = await start(hello, { server: { websockets: { kept_bytes: 2000 } } });
    const client = await connect(gateway);
    const { id } = responseOf((await client.turn({ model: MODEL, input: 'x'.repeat(3000), store: false })).at(-1));
    const asked = { model: MODEL, input: 'two', previous_response_id: id, store: false };
    expect(codeOf((await client.turn(asked)).at(-1))).toBe('previous_response_not_found');
  });

  it('passes its input to a server of the Responses API in the bytes of the client', async () => {
    const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }];
    const reply = (id: string, status: string, more: object) => ({
      type: status === 'completed' ? 'response.completed' : 'response.created',
      sequence_number: 0,
      response: { id, object: 'response', status, model: 'm', output: [], previous_response_id: null, ...more },
    });
    const { gateway, upstream } = await startPair(
      (_, res, index) => {
        const id = `resp_${index}`;
        const thought = { type: 'reasoning', id: 'rs_1', summary: [] };
        return sse(res, [reply(id, 'in_progress', {}), reply(id, 'completed', { output: [thought, ...output] })]);
      },
      (url) => ({
        catalog: {
          providers: [
            {
              slug: 'own',
              provider: 'openai',
              base_url: `${url}/v1`,
              allow_insecure: true,
              api: 'responses',
              unknown_ids: 'pass',
            },
          ],
        },
      }),
    );
    const client = await connect(gateway);
    const { id } = responseOf(
      (await client.turn({ model: '@own/m', input: 'one', previous_response_id: 'resp_of_upstream' })).at(-1),
    );
    client.ws.send(
      `{"type":"response.create","model":"@own/m","input":[{"role":"user","content":"two","n":12345678901234567890}],"previous_response_id":"${id}"}`,
    );
    await client.turn();
    expect(upstream.seen[1]!.text).toContain(
      '{"type":"message","role":"user","content":"one"},{"type":"message","id":"msg_1"',
    );
    expect(upstream.seen[1]!.text).toContain('"n":12345678901234567890');
    // The upstream knows the response with which the conversation begins.
    expect(upstream.seen[1]!.json).toMatchObject({ previous_response_id: 'resp_of_upstream' });
    expect(upstream.seen[1]!.text).not.toMatch(/rs_1|resp_0|response\.create/);
  });
});

describe('a socket', () => {
  it('opens for a key in any header that takes one, and carries the headers of a reply', async () => {
    const { gateway } = await start();
    const client = await connect(gateway, { headers: { authorization: '', 'x-api-key': KEY } });
    expect((await client.turn({ model: MODEL, input: 'hi' })).at(-1)?.type).toBe('response.completed');
    expect(client.ws.extensions).toBe('');
  });

  it.each([
    ['without a key', {}, 401, 'missing_api_key'],
    ['with a wrong key', { headers: { authorization: 'Bearer wrong' } }, 401, 'invalid_api_key'],
    ['with the key in its query', { path: `/v1/responses?key=${KEY}` }, 401, 'missing_api_key'],
    [
      'with the key as a protocol',
      { headers: { 'sec-websocket-protocol': `openai-insecure-api-key.${KEY}` } },
      401,
      'missing_api_key',
    ],
    [
      'from a foreign page',
      { headers: { authorization: `Bearer ${KEY}` }, origin: 'https://evil.example' },
      403,
      'origin_not_allowed',
    ],
    [
      'from a sandboxed page',
      { headers: { authorization: `Bearer ${KEY}`, origin: 'null' } },
      403,
      'origin_not_allowed',
    ],
    [
      'at a route without sockets',
      { path: '/v1/chat/completions', headers: { authorization: `Bearer ${KEY}` } },
      426,
      'upgrade_required',
    ],
  ])('is refused %s', async (_, options, status, code) => {
    const { gateway } = await start();
    const refused = await refusal(gateway, options);
    expect(refused).toMatchObject({ status, code });
    expect(refused.headers['x-request-id']).toBeDefined();
    expect(gateway.logText()).not.toContain(KEY);
  });

  it('opens for a page of the gateway’s own origin, and of those in the settings', async () => {
    const { gateway } = await start(hello, { server: { websockets: { origins: ['app://console'] } } });
    await connect(gateway, { origin: gateway.url });
    await connect(gateway, { origin: 'app://console' });
  });

  it('is a 426 where sockets are off', async () => {
    const { gateway } = await start(hello, { server: { websockets: { enabled: false } } });
    const refused = await refusal(gateway, { headers: { authorization: `Bearer ${KEY}` } });
    expect(refused).toMatchObject({ status: 426, code: 'upgrade_required', headers: { upgrade: 'HTTP/1.1' } });
  });

  it('counts for its key, until it closes', async () => {
    const keys = {
      keys: [
        { id: 'test', key: KEY },
        { id: 'other', key: 'gatehouse-other-key-0123456789' },
      ],
    };
    const { gateway } = await start(hello, { keys, server: { websockets: { per_key: 2 } } });
    const [first] = [await connect(gateway), await connect(gateway)] as [Client, Client];
    const headers = { authorization: `Bearer ${KEY}` };
    const refused = await refusal(gateway, { headers });
    expect(refused).toMatchObject({ status: 503, code: 'busy', headers: { 'retry-after': '1' } });
    await connect(gateway, { headers: { authorization: 'Bearer gatehouse-other-key-0123456789' } });
    first.ws.close();
    await first.end();
    await expect
      .poll(() =>
        connect(gateway).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  it('is in a gauge by what it does', async () => {
    const { gateway, upstream } = await start((_, res) => sse(res, anthropicEvents('Hello').slice(0, 3), false));
    const counts = async () => {
      const metrics = await (await fetch(`${gateway.statusUrl}/metrics`)).text();
      return ['answering', 'waiting'].map((state) =>
        Number(new RegExp(`^gatehouse_websockets_open\\{state="${state}"\\} (\\d+)$`, 'm').exec(metrics)?.[1]),
      );
    };
    expect(await counts()).toEqual([0, 0]);
    const [one, two] = [await connect(gateway), await connect(gateway)] as [Client, Client];
    await expect.poll(counts).toEqual([0, 2]);
    one.create({ model: MODEL, input: 'hi' });
    await until(() => upstream.seen.length === 1, 'the turn arrives');
    expect(await counts()).toEqual([1, 1]);
    one.ws.terminate();
    two.ws.close();
    await expect.poll(counts).toEqual([0, 0]);
  });

  it('closes after its turns, with the code after which Codex connects again', async () => {
    const { gateway } = await start(hello, { server: { websockets: { turns: 1 } } });
    const client = await connect(gateway);
    await client.turn({ model: MODEL, input: 'hi' });
    expect(codeOf((await client.turn({ model: MODEL, input: 'hi' })).at(-1))).toBe(
      'websocket_connection_limit_reached',
    );
    expect(await client.end()).toMatchObject({ code: 1000 });
  });

  it('closes after its lifetime, when its turn has ended', async () => {
    const { held, script } = heldScript();
    const { gateway } = await start(script, { server: { websockets: { lifetime: '200ms' } } });
    const client = await connect(gateway);
    client.create({ model: MODEL, input: 'hi' });
    await until(() => held.length === 1, 'the turn runs');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(client.closed).toBeUndefined();
    held[0]!();
    expect((await client.turn()).at(-1)?.type).toBe('response.completed');
    expect(codeOf((await client.turn()).at(-1))).toBe('websocket_connection_limit_reached');
    await client.end();
  });

  it('closes when it rests for too long', async () => {
    const { gateway } = await start(hello, { server: { websockets: { idle_time: '150ms' } } });
    const client = await connect(gateway);
    await client.turn({ model: MODEL, input: 'hi' });
    expect(await client.end()).toMatchObject({ code: 1000 });
  });

  it('ends at its next turn when a reload has revoked its key', async () => {
    const { gateway } = await start(hello, { options: {} });
    const client = await connect(gateway);
    await client.turn({ model: MODEL, input: 'hi' });
    const { configs } = gateway;
    writeFileSync(
      join(configs, 'keys.yaml'),
      JSON.stringify({ keys: [{ id: 'new', key: 'gatehouse-new-key-0123456789' }] }),
    );
    await gateway.gateway.reload();
    expect(codeOf((await client.turn({ model: MODEL, input: 'hi' })).at(-1))).toBe('invalid_api_key');
    expect(await client.end()).toMatchObject({ code: 1008 });
  });

  it('ends its turn before the gateway stops, and then closes as one that goes away', async () => {
    const { held, script } = heldScript();
    const { gateway } = await start(script, { server: { drain: { delay: '0s', timeout: '10s' } } });
    const [client, idle] = [await connect(gateway), await connect(gateway)] as [Client, Client];
    client.create({ model: MODEL, input: 'hi' });
    await until(() => held.length === 1, 'the turn runs');
    const drained = gateway.gateway.drain();
    expect(await idle.end()).toMatchObject({ code: 1001 });
    expect(client.closed).toBeUndefined();
    held[0]!();
    expect((await client.turn()).at(-1)?.type).toBe('response.completed');
    expect(await client.end()).toMatchObject({ code: 1001 });
    expect(await drained).toEqual({ cut: 0 });
  });

  it('tells its turn’s end when the drain runs out of time', async () => {
    const { held, script } = heldScript();
    const { gateway } = await start(script, { server: { drain: { delay: '0s', timeout: '100ms' } } });
    const client = await connect(gateway);
    client.create({ model: MODEL, input: 'hi' });
    await until(() => held.length === 1, 'the turn runs');
    const drained = gateway.gateway.drain();
    expect((await client.turn()).at(-1)).toMatchObject({ type: 'response.failed' });
    expect(await client.end()).toMatchObject({ code: 1001 });
    expect(await drained).toEqual({ cut: 1 });
  });
});
