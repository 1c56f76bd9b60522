import { explainOf } from '../support/explain-of.ts';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEY, startTestGateway, until, type TestGateway } from '../support/gateway.ts';
import {
  entriesFor,
  json,
  openaiChunk,
  openaiReply,
  sse,
  startUpstream,
  type ScriptedUpstream,
} from '../support/upstream.ts';

const OTHER = 'gatehouse-other-key-0123456789';
const model = '@openai/gpt-x';
let gateway: TestGateway;
let off: TestGateway;
let upstream: ScriptedUpstream;

const keys = {
  keys: [KEY, OTHER].map((key, at) => ({ id: `k${at}`, key: `\${env:NONE:-${key}}`, inline_configs: true })),
};

/** As an upstream of OpenAI's Responses API answers. */
const native = (id: string, { text = 'Hello.', encrypted = true, store = false } = {}) => ({
  id,
  store,
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-x',
  output: [
    { type: 'reasoning', id: `rs_${id}`, summary: [], ...(encrypted && { encrypted_content: 'gAAAA' }) },
    {
      type: 'message',
      id: `msg_${id}`,
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});

beforeAll(async () => {
  upstream = await startUpstream(async ({ url, text, json: body }, res, index) => {
    if (url.endsWith('/input_tokens')) return json(res, { object: 'response.input_tokens', input_tokens: text.length });
    if (url.includes('/responses'))
      return json(
        res,
        native(`resp_native_${index}`, {
          ...(text.includes('Essay') && { text: 'Essay '.repeat(150_000) }),
          encrypted: !text.includes('Bare'),
          store: text.includes('Stored'),
        }),
      );
    if (text.includes('Fail')) return json(res, { error: { message: 'No.' } }, 400);
    if (body['stream'] !== true) {
      const tooLong = text.includes('Long');
      const [choice] = openaiReply('Hello.').choices;
      return json(res, openaiReply('', { choices: [{ ...choice, finish_reason: tooLong ? 'length' : 'stop' }] }));
    }
    const hangs = text.includes('Hang');
    const cut = text.includes('Cut');
    const events = [openaiChunk({ role: 'assistant', content: 'Hel' }), openaiChunk({ content: 'lo.' })];
    const last = [openaiChunk({}, 'stop'), 'data: [DONE]\n\n'];
    await sse(res, [...events, ...(hangs ? [] : cut ? [null] : last)], !hangs);
  });
  const catalog = {
    providers: [
      ...entriesFor(upstream.url),
      {
        slug: 'native',
        provider: 'openai',
        api: 'responses',
        api_key: '${env:NONE:-upstream-secret-key}',
        base_url: `${upstream.url}/v1`,
        allow_insecure: true,
      },
      {
        slug: 'own',
        provider: 'openai',
        api: 'responses',
        unknown_ids: 'pass',
        base_url: `${upstream.url}/v1`,
        allow_insecure: true,
      },
    ],
  };
  const gatewayConfigs = {
    told: { provider: '@openai', reply_headers: ['explain_id'] },
    cached: { provider: '@openai', cache: { mode: 'exact', max_age: 60 }, override_params: { input: 'Hi' } },
    forbids: { provider: '@openai', override_params: { store: false } },
  };
  gateway = await startTestGateway({ catalog, keys, gateway: gatewayConfigs });
  off = await startTestGateway({ catalog, keys, server: { responses: { store: false } } });
});
afterAll(async () => {
  await gateway.close();
  await off.close();
  await upstream.close();
});

const clientOf = (apiKey = KEY, { url } = gateway, headers: Record<string, string> = {}): OpenAI =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: headers });

const sent = (field = 'messages') => upstream.seen.at(-1)?.json[field];
const NOT_FOUND = { status: 404, code: 'response_not_found' };
/** What OpenAI's own client gets where there is no such response. */
async function expectGone({ responses }: OpenAI, id: string): Promise<void> {
  const reads = [
    () => responses.retrieve(id),
    () => responses.delete(id),
    () => responses.cancel(id),
    () => responses.inputItems.list(id),
  ];
  for (const read of reads) await expect(read()).rejects.toMatchObject(NOT_FOUND);
}

const NO_PREVIOUS = { status: 400, code: 'previous_response_not_found', param: 'previous_response_id' };

describe('a response that the gateway keeps', () => {
  it.each([false, true])('has ids of its own where the cache answers, with stream: %s', async (stream) => {
    const client = clientOf(KEY, gateway, { 'x-gateway-config': 'cached' });
    const ask = async (input: string) => {
      // The config sends one question for all of them.
      const body = { model: 'gpt-x', input, user: `stream ${stream}` };
      if (!stream) {
        const { data, response } = await client.responses.create(body).withResponse();
        return { data, status: response.headers.get('x-gateway-cache-status') };
      }
      const { data: events, response } = await client.responses.create({ ...body, stream }).withResponse();
      const status = response.headers.get('x-gateway-cache-status');
      const all: OpenAI.Responses.ResponseStreamEvent[] = [];
      for await (const event of events) all.push(event);
      const [last] = all.flatMap((event) => (event.type === 'response.completed' ? [event.response] : []));
      const ids = all.flatMap((event) => ('item_id' in event ? [event.item_id] : []));
      expect(new Set(ids)).toEqual(new Set([last!.output[0]!.id]));
      return { data: last!, status };
    };
    const [first, second] = [await ask('Is it one?'), await ask('Is it two?')];
    expect([first.status, second.status]).toEqual(['MISS', 'HIT']);
    expect(second.data.id).not.toBe(first.data.id);
    expect(second.data.output[0]!.id).not.toBe(first.data.output[0]!.id);
    for (const [{ data }, text] of [
      [first, 'Is it one?'],
      [second, 'Is it two?'],
    ] as const)
      expect((await client.responses.inputItems.list(data.id)).data).toMatchObject([{ content: [{ text }] }]);
    await client.responses.delete(second.data.id);
    expect(await client.responses.retrieve(first.data.id)).toMatchObject({ output: first.data.output });
    await expectGone(client, second.data.id);
  });

  it('is continued by its id, without its instructions', async () => {
    const client = clientOf();
    const first = await client.responses.create({ model, input: 'Hi', instructions: 'Be brief.' });
    expect(Object(first).store).toBe(true);
    const second = await client.responses.create({ model, input: 'Go on', previous_response_id: first.id });
    expect(sent()).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'Go on' },
    ]);
    expect(second.previous_response_id).toBe(first.id);
    await client.responses.create({
      model,
      input: [{ role: 'user', content: 'And?' }],
      previous_response_id: second.id,
    });
    expect(sent()).toHaveLength(5);
  });

  it('is shown, listed with its input in pages, and deleted', async () => {
    const client = clientOf();
    const input = ['1', '2', '3'].map((content) => ({ role: 'user' as const, content }));
    const first = await client.responses.create({ model, input });
    const shown = await client.responses.retrieve(first.id);
    expect(shown).toEqual(first);
    const newest = await client.responses.inputItems.list(first.id, { limit: 2 });
    expect(newest.data).toMatchObject([{ content: '3' }, { content: '2' }]);
    const rest = await newest.getNextPage();
    expect([rest.data, rest.hasNextPage()]).toMatchObject([[{ content: '1' }], false]);
    await expect(client.responses.inputItems.list(first.id, { after: 'item_unknown' })).rejects.toMatchObject({
      status: 400,
      param: 'after',
    });
    const oldest = await client.responses.inputItems.list(first.id, { order: 'asc', limit: 1 });
    expect(oldest).toMatchObject({ data: [{ content: '1' }], has_more: true });
    await expect(client.responses.cancel(first.id)).rejects.toMatchObject({ status: 400 });
    await expect(client.responses.retrieve(first.id, { stream: true })).rejects.toMatchObject({ param: 'stream' });
    await client.responses.delete(first.id);
    await expectGone(client, first.id);
    await expect(
      client.responses.create({ model: '@native/gpt-x', input: 'x', previous_response_id: first.id }),
    ).rejects.toMatchObject(NO_PREVIOUS);
    await expect(client.responses.create({ model, input: 'x', previous_response_id: first.id })).rejects.toMatchObject(
      NO_PREVIOUS,
    );
  });

  it('lists its input in pages of bounded size', async () => {
    const client = clientOf();
    const input = Array.from({ length: 8 }, (_, at) => ({
      role: 'user' as const,
      content: String(at).repeat(400_000),
    }));
    const { id } = await client.responses.create({ model, input });
    const page = await client.responses.inputItems.list(id, { order: 'asc' });
    expect([page.data.length, page.has_more]).toEqual([3, true]);
    const seen: string[] = [];
    for await (const item of page) seen.push(String(Object(item).content).slice(0, 1));
    expect(seen.join('')).toBe('01234567');
  });

  it('gives its items by reference, after a stream too', async () => {
    const client = clientOf();
    const first = await client.responses.stream({ model, input: 'Hi' }).finalResponse();
    expect(await client.responses.retrieve(first.id)).toMatchObject({ status: 'completed', output_text: 'Hello.' });
    const input = [
      { role: 'user' as const, content: 'Hi' },
      { type: 'item_reference' as const, id: first.output[0]?.id ?? '' },
      { role: 'user' as const, content: 'And?' },
    ];
    await client.responses.create({ model, input });
    expect(sent()).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'And?' },
    ]);
    await expect(
      client.responses.create({ model, input: [{ type: 'item_reference', id: 'msg_unknown' }] }),
    ).rejects.toMatchObject({ status: 400, param: 'input[0].id' });
  });

  it('cannot grow a small request beyond the limit of a body by many references to a long item', async () => {
    const client = clientOf();
    const { output } = await client.responses.create({ model: '@native/gpt-x', input: 'Essay' });
    const id = output.at(-1)?.id ?? '';
    // More than the longest string of V8.
    const input = Array.from({ length: 700 }, () => ({ type: 'item_reference' as const, id }));
    await expect(client.responses.create({ model, input })).rejects.toMatchObject({
      status: 413,
      code: 'request_too_large',
    });
  });

  it('is counted whole when a request continues it', async () => {
    const client = clientOf();
    const count = (more: object) =>
      client.responses.inputTokens.count({ model: '@native/gpt-x', input: 'Go on', ...more });
    const first = await client.responses.create({ model, input: 'A long question about nothing in particular' });
    const { input_tokens: whole } = await count({ previous_response_id: first.id });
    expect(whole).toBeGreaterThan((await count({})).input_tokens + 5);
  });

  it('is what it is: incomplete, failed, cancelled', async () => {
    const client = clientOf();
    const long = await client.responses.create({ model, input: 'Long' });
    expect(await client.responses.retrieve(long.id)).toMatchObject({ status: 'incomplete' });
    const idOf = async (input: string, isLast: (type: string) => boolean): Promise<string> => {
      let id = '';
      const stream = await client.responses.create({ model, input, stream: true });
      const read = async (): Promise<void> => {
        for await (const event of stream) {
          if ('response' in event) id ||= event.response.id;
          if (isLast(event.type)) break;
        }
      };
      await read().catch((error: unknown) => failures.push(error));
      return id;
    };
    const failures: unknown[] = [];
    const cut = await idOf('Cut', () => false);
    expect(failures).toMatchObject([{ code: 'server_error', type: 'server_error' }]);
    expect(await client.responses.retrieve(cut)).toMatchObject({
      id: cut,
      status: 'failed',
      error: { code: 'server_error' },
    });
    const left = await idOf('Hang', (type) => type.endsWith('delta'));
    await until(() => upstream.seen.at(-1)?.aborted === true, 'the upstream request is over');
    expect(await client.responses.retrieve(left)).toMatchObject({ id: left, status: 'cancelled', output: [] });
    await expect(client.responses.create({ model, input: 'Fail' })).rejects.toMatchObject({ status: 400 });
  });
});

describe('explain', () => {
  it('continues what is kept, and keeps and deletes nothing', async () => {
    const first = await clientOf().responses.create({ model, input: 'Hi' });
    const ask = (method: string, path: string, body?: object) =>
      explainOf(gateway.gateway).explain({
        method,
        path,
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        body: body ? JSON.stringify(body) : '',
      });
    const before = upstream.seen.length;
    const continued = await ask('POST', '/v1/responses', { model, input: 'Go on', previous_response_id: first.id });
    expect(JSON.stringify(continued)).toContain(`continues ${first.id}; keeps the response for key k0`);
    expect(JSON.stringify(continued.targets[0])).toContain('Hello.');
    expect(JSON.stringify(await ask('DELETE', `/v1/responses/${first.id}`))).toContain('answers from the responses');
    expect(upstream.seen).toHaveLength(before);
    expect(await clientOf().responses.retrieve(first.id)).toMatchObject({ id: first.id });
  });

  it('shows a served request whole after what it continued is gone', async () => {
    const client = clientOf(KEY, gateway, { 'x-gateway-config': 'told' });
    const first = await client.responses.create({ model, input: 'Hi' });
    const { response } = await client.responses
      .create({ model, input: 'Go on', previous_response_id: first.id })
      .withResponse();
    await client.responses.delete(first.id);
    const explained = await explainOf(gateway.gateway).explained(response.headers.get('x-gateway-explain-id') ?? '');
    expect(explained.answer).toBeUndefined();
    expect(JSON.stringify(explained)).toContain(`continues ${first.id}`);
    expect(JSON.stringify(explained.targets[0])).toContain('Hello.');
  });
});

describe('a key', () => {
  it('never sees the responses of another key, by any operation and at any target', async () => {
    const [own, other] = [clientOf(), clientOf(OTHER)];
    for (const target of [model, '@native/gpt-x']) {
      const first = await own.responses.create({ model: target, input: 'A secret of the first key' });
      const before = upstream.seen.length;
      const item = first.output.at(-1)?.id ?? '';
      await expectGone(other, first.id);
      for (const at of [model, '@native/gpt-x']) {
        await expect(
          other.responses.create({ model: at, input: 'x', previous_response_id: first.id }),
        ).rejects.toMatchObject(NO_PREVIOUS);
        await expect(
          other.responses.create({
            model: at,
            input: [
              { type: 'item_reference', id: item },
              { role: 'user', content: 'x' },
            ],
          }),
        ).rejects.toMatchObject({ status: 400, param: 'input[0].id' });
      }
      expect(upstream.seen).toHaveLength(before);
      expect(await own.responses.retrieve(first.id)).toMatchObject({ id: first.id });
    }
  });

  it('gets one answer for an id of another key and for an id that no key has, by any operation and at any target', async () => {
    const differs = /^(date|x-request-id|x-gateway-(request|trace)-id)$/;
    const ask = async (method: string, path: string, body?: object) => {
      const before = upstream.seen.length;
      const reply = await fetch(`${gateway.url}/v1/responses${path}`, {
        method,
        headers: { authorization: `Bearer ${OTHER}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await reply.text();
      const headers = [...reply.headers].filter(([name]) => !differs.test(name));
      const sentOn = upstream.seen.slice(before).map((seen) => `${seen.url} ${seen.text}`);
      // A reply has ids of its own.
      return { status: reply.status, sentOn, ...(!reply.ok && { headers, text }) };
    };
    type Question = (id: string) => ReturnType<typeof ask>;
    const asksOf = (at: string): Record<'response' | 'item', readonly Question[]> => ({
      response: ['', '/input_tokens'].map(
        (path) => (id) => ask('POST', path, { model: at, input: 'x', previous_response_id: id }),
      ),
      item: [(id) => ask('POST', '', { model: at, input: [{ id }, { role: 'user', content: 'x' }] })],
    });
    const reads: readonly Question[] = [
      (id) => ask('GET', `/${id}`),
      (id) => ask('GET', `/${id}/input_items`),
      (id) => ask('POST', `/${id}/cancel`),
      (id) => ask('DELETE', `/${id}`),
    ];
    const asks = [model, '@native/gpt-x', '@own/gpt-x'].map(asksOf);
    for (const target of [model, '@native/gpt-x']) {
      const { id, output } = await clientOf().responses.create({ model: target, input: 'A secret of the first key' });
      const questions = [
        ...[...reads, ...asks.flatMap(({ response }) => response)].map((question) => [id, question] as const),
        ...output.flatMap((item) =>
          asks.flatMap((of) => of.item.map((question) => [item.id ?? '', question] as const)),
        ),
      ];
      expect(questions.length).toBeGreaterThan(12);
      for (const [kept, question] of questions) {
        const unknown = kept.replace(/.{4}$/, '~~~~');
        const [ofOther, ofNone] = [await question(kept), await question(unknown)];
        expect(JSON.parse(JSON.stringify(ofOther).replaceAll(kept, unknown))).toEqual(ofNone);
      }
    }
  });

  it('cannot take the id of another key’s response by its request id', async () => {
    const id = 'cdfe2c5f-0000-4000-8000-000000000001';
    const headers = { 'x-request-id': id };
    const first = await clientOf(KEY, gateway, headers).responses.create({ model, input: 'Mine' });
    const second = await clientOf(OTHER, gateway, headers).responses.create({ model, input: 'Theirs' });
    expect(second.id).not.toBe(first.id);
    const { data } = await clientOf().responses.inputItems.list(first.id);
    expect(data).toMatchObject([{ content: [{ text: 'Mine' }] }]);
    await expectGone(clientOf(), second.id);
  });

  it.each([false, true])(
    'gets a response of its own for each use of one request id, with stream: %s',
    async (stream) => {
      const client = clientOf(KEY, gateway, { 'x-request-id': 'order-4711' });
      const ask = async (input: string): Promise<string> => {
        if (!stream) return (await client.responses.create({ model, input })).id;
        const ids = new Set<string>();
        for await (const event of await client.responses.create({ model, input, stream }))
          if ('response' in event) ids.add(event.response.id);
        expect(ids.size).toBe(1);
        return [...ids][0]!;
      };
      const [first, second] = [await ask('One'), await ask('Two')];
      for (const [id, text] of [
        [first, 'One'],
        [second, 'Two'],
      ] as const) {
        expect(id).toMatch(/^resp_[0-9a-f]{32}$/);
        expect((await client.responses.inputItems.list(id)).data).toMatchObject([{ content: [{ text }] }]);
      }
    },
  );
});

describe('an upstream that speaks Responses', () => {
  it('gets the conversation that the gateway keeps whole, whichever target answered before', async () => {
    const client = clientOf();
    const first = await client.responses.create({ model: '@native/gpt-x', input: 'Hi' });
    expect(first.id).toMatch(/^resp_native_/);
    const second = await client.responses.create({
      model: '@native/gpt-x',
      input: 'Go on',
      previous_response_id: first.id,
    });
    expect([sent('previous_response_id'), sent('input')]).toEqual([
      undefined,
      [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        ...native(first.id).output,
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on' }] },
      ],
    ]);
    await client.responses.create({ model, input: 'And?', previous_response_id: second.id });
    expect(sent()).toHaveLength(5);
  });

  const sentTo = async (at: string, more: object, { url } = gateway, headers: Record<string, string> = {}) => {
    const reply = await fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      body: typeof more === 'string' ? more : JSON.stringify({ model: `@${at}/gpt-x`, input: 'Hi', ...more }),
    });
    const { error } = (await reply.json()) as { error?: { code: string; param: string } };
    dropped = reply.headers.get('x-gateway-dropped-params');
    return { status: reply.status, code: error?.code, param: error?.param };
  };
  let dropped: string | null = null;

  it.each(['item_reference', null])(
    'never gets the id of reasoning that the gateway does not keep, which is reported, with type: %s',
    async (type) => {
      const input = list(JSON.stringify({ type, id: 'rs_1' }));
      for (const at of [gateway, off]) {
        expect(await sentTo('native', { input }, at)).toMatchObject({ status: 200 });
        expect([sent('input'), dropped]).toEqual([[{ role: 'user', content: 'Hi' }], 'input[1]']);
        expect(await sentTo('native', { input, instructions: 'x'.repeat(100_000) }, at)).toMatchObject({ status: 200 });
        expect(sent('input')).toEqual([{ role: 'user', content: 'Hi' }]);
      }
      await clientOf().responses.inputTokens.count({ model: '@native/gpt-x', input: input as never });
      expect(sent('input')).toEqual([{ role: 'user', content: 'Hi' }]);
    },
  );

  it('never gets reasoning without its encrypted content, which is reported, nor the ids of items beside it', async () => {
    const client = clientOf();
    const first = await client.responses.create({ model: '@native/gpt-x', input: 'Bare' });
    const [reasoning, answer] = first.output;
    const { id: _, ...unnamed } = native('', {}).output[1]!;
    const turn = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Bare' }] };
    await sentTo('native', { previous_response_id: first.id });
    expect([sent('input'), dropped]).toMatchObject([[turn, unnamed, { role: 'user' }], 'previous_response_id']);
    expect(JSON.stringify(sent('input'))).not.toContain(answer!.id);
    // The vendor may keep an item that it has named.
    await sentTo('native', { input: [{ id: reasoning!.id }, { id: answer!.id }] });
    expect([sent('input'), dropped]).toMatchObject([[{ type: 'reasoning' }, { id: answer!.id }], null]);
  });

  it('gets the ids of a response that its vendor keeps too, with reasoning and without its encrypted content', async () => {
    const client = clientOf();
    const first = await client.responses.create({ model: '@native/gpt-x', input: 'Bare, Stored' });
    await sentTo('native', { previous_response_id: first.id });
    const [, reasoning, answer] = sent('input') as readonly unknown[];
    expect([reasoning, answer, dropped]).toMatchObject([
      { id: first.output[0]!.id },
      { id: first.output[1]!.id },
      null,
    ]);
  });

  it.each(['native', 'own'])(
    'never runs a response in the background that the gateway cannot give out: %s',
    async (at) => {
      const before = upstream.seen.length;
      const refused = { status: 400, code: 'unsupported_parameter', param: 'background' };
      expect(await sentTo(at, { background: true })).toEqual(refused);
      expect(upstream.seen).toHaveLength(before);
      expect(await sentTo(at, { background: false })).toMatchObject({ status: 200 });
    },
  );
  const list = (item: string) => JSON.parse(`[{"role":"user","content":"Hi"},${item}]`) as unknown;
  const unknownIds: readonly [string, object, string, string][] = [
    ['a response', { previous_response_id: 'resp_elsewhere' }, 'previous_response_not_found', 'previous_response_id'],
    ['an item', { input: list('{"type":"item_reference","id":"msg_1"}') }, 'invalid_value', 'input[1].id'],
    ['an item without a type', { input: list('{"id":"msg_1"}') }, 'invalid_value', 'input[1].id'],
    ['an item whose type is null', { input: list('{"type":null,"id":"fc_1"}') }, 'invalid_value', 'input[1].id'],
    ['a conversation', { conversation: 'conv_1' }, 'unsupported_parameter', 'conversation'],
    ['a conversation by an object', { conversation: { id: 'conv_1' } }, 'unsupported_parameter', 'conversation'],
    [
      'a response in extra_body',
      { extra_body: { previous_response_id: 'resp_elsewhere' } },
      'previous_response_not_found',
      'extra_body.previous_response_id',
    ],
  ];

  it.each(unknownIds)(
    'never gets the id of %s that the gateway does not keep for the key',
    async (_, more, code, param) => {
      const before = upstream.seen.length;
      for (const at of [gateway, off]) {
        expect(await sentTo('native', more, at)).toEqual({ status: 400, code, param });
        // A long text, with which only an abridged body is parsed.
        const long = { ...more, instructions: 'x'.repeat(100_000) };
        expect(await sentTo('native', long, at)).toEqual({ status: 400, code, param });
      }
      expect(upstream.seen).toHaveLength(before);
    },
  );

  it('never gets an unknown id from a config that the caller wrote, in a count, or with its type escaped', async () => {
    const before = upstream.seen.length;
    const config = JSON.stringify({ provider: '@native', override_params: { previous_response_id: 'resp_elsewhere' } });
    const refused = { status: 400, code: 'previous_response_not_found' };
    expect(await sentTo('native', {}, gateway, { 'x-gateway-config': config })).toMatchObject(refused);
    const item = '{"type":"item\\u005freference","id":"msg_1"}';
    expect(await sentTo('native', `{"model":"@native/gpt-x","input":[${item}]}` as never)).toMatchObject({
      code: 'invalid_value',
    });
    await expect(
      clientOf().responses.inputTokens.count({
        model: '@native/gpt-x',
        input: 'Hi',
        previous_response_id: 'resp_elsewhere',
      }),
    ).rejects.toMatchObject(NO_PREVIOUS);
    expect(upstream.seen).toHaveLength(before);
  });

  it.each(unknownIds)('gets the id of %s with the setting of its catalog entry', async (_, more) => {
    for (const at of [gateway, off]) {
      expect(await sentTo('own', more, at)).toMatchObject({ status: 200 });
      expect(upstream.seen.at(-1)?.json).toMatchObject(more);
    }
  });
});

describe('no response is kept', () => {
  const expectUnkept = async (client: OpenAI, { id, ...shown }: OpenAI.Responses.Response): Promise<void> => {
    expect(Object(shown).store).toBe(false);
    await expect(client.responses.retrieve(id)).rejects.toMatchObject(NOT_FOUND);
    await expect(client.responses.create({ model, input: 'x', previous_response_id: id })).rejects.toMatchObject(
      NO_PREVIOUS,
    );
  };

  it('where the request forbids it', async () => {
    const client = clientOf();
    await expectUnkept(client, await client.responses.create({ model, input: 'Hi', store: false }));
  });

  it('where the parameters of the target forbid it', async () => {
    const client = clientOf(KEY, gateway, { 'x-gateway-config': 'forbids' });
    await expectUnkept(client, await client.responses.create({ model, input: 'Hi', store: true }));
  });

  it('where server.yaml turns the store off, whatever the request asks for', async () => {
    const client = clientOf(KEY, off);
    const asked = await client.responses.create({ model, input: 'Hi', store: true }).withResponse();
    await expectUnkept(client, asked.data);
    expect(asked.response.headers.get('x-gateway-dropped-params')).toBe('store');
    const strict = clientOf(KEY, off, { 'x-gateway-strict-params': 'true' });
    await expect(strict.responses.create({ model, input: 'Hi', store: true })).rejects.toMatchObject({ status: 400 });
    await strict.responses.create({ model, input: 'Hi' });
    const input = [
      { role: 'user' as const, content: 'Hi' },
      { type: 'item_reference' as const, id: 'rs_1' },
    ];
    await client.responses.create({ model, input });
    expect(sent()).toEqual([{ role: 'user', content: 'Hi' }]);
  });
});

it('Conversations are refused by name', async () => {
  const client = clientOf();
  const refused = { status: 400, code: 'unsupported_parameter' };
  for (const ask of [
    () => client.conversations.create({}),
    () => client.conversations.retrieve('conv_1'),
    () => client.conversations.update('conv_1', { metadata: {} }),
    () => client.conversations.delete('conv_1'),
    () => client.conversations.items.list('conv_1'),
    () => client.responses.create({ model, input: 'Hi', conversation: 'conv_1' }),
  ])
    await expect(ask()).rejects.toMatchObject(refused);
});
