import { describe, expect, it } from 'vitest';
import { apiOf, APIS, DOORS, END, PARTS, PLAIN, STREAMS } from '../http/broken-replies.testkit.ts';
import { KEY } from '../support/gateway.ts';
import { json } from '../support/upstream.ts';
import { startLedger } from './ledger.testkit.ts';

/** A provider that reports a broken generation charges what it counted: here 1 token of the prompt and 3 of the answer. */

const ways = APIS.flatMap((api) => (['none', 'half', 'call'] as const).map((kind) => [api, kind] as const));

const startBroken = async (kind: 'none' | 'half' | 'call', isBegun: () => Promise<unknown>) => {
  const entry =
    (slug: string, provider: string, path: string, more: object = {}) =>
    (url: string) => ({
      slug,
      provider,
      base_url: url + path,
      api_key: '${env:NONE:-upstream-secret-key}',
      allow_insecure: true,
      ...more,
    });
  const entries = [
    entry('of-chat', 'openai', '/v1', { api: 'chat' }),
    entry('of-responses', 'openai', '/v1', { api: 'responses' }),
    entry('of-messages', 'anthropic', ''),
    entry('of-gemini', 'google-ai-studio', ''),
  ];
  return startLedger(
    async (request, res) => {
      const api = apiOf(request);
      if (request.json['stream'] !== true && !request.url.includes('streamGenerateContent'))
        return json(res, PLAIN[api](PARTS[kind]));
      const [begun = '', end = ''] = STREAMS[api](PARTS[kind]).split(END);
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write(begun);
      if (kind !== 'none') await isBegun();
      res.end(end);
    },
    {
      entries,
      gateway: Object.fromEntries(
        APIS.map((api) => [
          api,
          { strategy: { mode: 'single' }, targets: [{ provider: `@of-${api}`, override_params: { model: 'm' } }] },
        ]),
      ),
    },
  );
};

describe.each(ways)('a generation of %s that breaks (%s)', (api, kind) => {
  it('is booked with what its upstream counted, at each door, plain and streamed', { timeout: 60_000 }, async () => {
    let begins = Promise.withResolvers();
    const pair = await startBroken(kind, () => begins.promise);
    let requests = 0;
    for (const door of APIS)
      for (const stream of [false, true]) {
        begins = Promise.withResolvers();
        const [path, body] = DOORS[door](stream, String(requests));
        const reply = await fetch(pair.gateway.data.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': api },
          body: JSON.stringify(body),
        });
        begins.resolve(undefined);
        await reply.arrayBuffer();
        requests += 1;
      }
    const rows = await pair.rows(requests);
    expect(rows).toHaveLength(requests);
    for (const row of rows) expect(row).toMatchObject({ src: 'told', input: 1, output: 3, nano: 31_000 });
  });
});

describe.each(['error', 'abort', 'network_error'])('a completion of the older API that ends with %s', (reason) => {
  it.each([
    ['plain', false, 'half', 'rescued'],
    ['before content', true, '', 'rescued'],
    ['behind content', true, 'half', '"error":'],
  ])('is no success, and is booked with what was counted: %s', async (_, stream, text, shown) => {
    let begins = Promise.withResolvers();
    const usage = { prompt_tokens: 1, completion_tokens: 3, total_tokens: 4 };
    const of = (model: unknown, one: string, finish_reason: string | null, more: object = {}) => ({
      id: 'c',
      object: 'text_completion',
      model,
      choices: [{ index: 0, text: one, finish_reason }],
      ...more,
    });
    const pair = await startLedger(
      async ({ json: { model } }, res) => {
        const [words, end] = model === 'bad' ? [text, reason] : ['rescued', 'stop'];
        if (!stream) return json(res, of(model, words, end, { usage }));
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        if (words !== '') {
          res.write(`data: ${JSON.stringify(of(model, words, null))}\n\n`);
          await begins.promise;
        }
        res.end(`data: ${JSON.stringify(of(model, '', end, { usage }))}\n\ndata: [DONE]\n\n`);
      },
      {
        entries: [
          (url) => ({
            slug: 'old',
            provider: 'openai',
            base_url: `${url}/v1`,
            api_key: '${env:NONE:-upstream-secret-key}',
            allow_insecure: true,
          }),
        ],
        gateway: {
          it: {
            strategy: { mode: 'fallback' },
            targets: ['bad', 'good'].map((model) => ({ provider: '@old', override_params: { model } })),
          },
        },
      },
    );
    begins = Promise.withResolvers();
    const reply = await fetch(`${pair.gateway.data.url}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, 'x-gateway-config': 'it' },
      body: JSON.stringify({ model: 'm', prompt: 'hi', max_tokens: 9, stream }),
    });
    begins.resolve(undefined);
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining(shown)]);
    const rows = await pair.rows(shown === 'rescued' ? 2 : 1);
    const booked = { src: 'told', input: 1, output: 3, nano: 31_000 };
    expect(rows.find(({ model }) => model === 'bad')).toMatchObject(booked);
  });
});
