import { describe, expect, it } from 'vitest';
import { KEY } from '../support/gateway.ts';
import { sse, type Script } from '../support/upstream.ts';
import { startLedger, type LedgerGateway } from './ledger.testkit.ts';

/** Bytes, because `JSON.stringify` writes no number that is infinite. */
type Claim = '1e300' | '-1' | '1e999' | '"NaN"' | '2000001';
const CLAIMS: readonly Claim[] = ['1e300', '-1', '1e999', '"NaN"', '2000001'];

/** Answers each API with this count of output tokens. */
const claiming =
  (claim: () => Claim): Script =>
  async ({ url, json: asked }, res) => {
    const count = claim();
    const whole = (reply: string): void =>
      void res.writeHead(200, { 'content-type': 'application/json' }).end(reply.replaceAll('"#"', count));
    const pieces = (...events: readonly (readonly [name: string, data: string])[]): Promise<void> =>
      sse(
        res,
        events.map(
          ([name, data]) => `${name === '' ? '' : `event: ${name}\n`}data: ${data.replaceAll('"#"', count)}\n\n`,
        ),
      );
    if (url.includes('enerateContent')) {
      const reply =
        '{"candidates":[{"index":0,"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":"#"},"modelVersion":"m"}';
      return url.includes('stream') ? pieces(['', reply]) : whole(reply);
    }
    if (url.includes('messages')) {
      const start = '"type":"message","id":"msg_1","role":"assistant","model":"m"';
      if (asked.stream !== true)
        return whole(
          `{${start},"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":"#"}}`,
        );
      return pieces(
        [
          'message_start',
          `{"type":"message_start","message":{${start},"content":[],"usage":{"input_tokens":3,"output_tokens":1}}}`,
        ],
        ['content_block_start', '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}'],
        ['content_block_stop', '{"type":"content_block_stop","index":0}'],
        ['message_delta', '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":"#"}}'],
        ['message_stop', '{"type":"message_stop"}'],
      );
    }
    const usage = '"usage":{"prompt_tokens":3,"completion_tokens":"#"}';
    if (asked.stream !== true)
      return whole(
        `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],${usage}}`,
      );
    const chunk = '"id":"c","object":"chat.completion.chunk","created":1,"model":"m"';
    return pieces(
      ['', `{${chunk},"choices":[{"index":0,"delta":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`],
      ['', `{${chunk},"choices":[],${usage}}`],
      ['', '[DONE]'],
    );
  };

const CHAT = { max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] };
const GEMINI = {
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  generationConfig: { maxOutputTokens: 1000 },
};
/** The four APIs of clients. */
const DOORS: Readonly<Record<string, (model: string, stream: boolean) => readonly [path: string, body: object]>> = {
  chat: (model, stream) => ['/v1/chat/completions', { model, stream, ...CHAT }],
  Messages: (model, stream) => ['/v1/messages', { model, stream, ...CHAT }],
  Responses: (model, stream) => ['/v1/responses', { model, stream, input: 'hi', max_output_tokens: 1000 }],
  Gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    GEMINI,
  ],
};
const MODELS = ['@openai/m', '@claude/claude-unknown', '@gemini/gemini-unknown'];

const send = (
  { gateway }: LedgerGateway,
  [path, body]: readonly [string, object],
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  fetch(gateway.data.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-api-key': KEY,
      // The entry of Vertex AI has no credentials of its own.
      authorization: 'Bearer token-of-the-caller',
      ...headers,
    },
    body: JSON.stringify(body),
  });

const admin = async ({ gateway }: LedgerGateway, path: string): Promise<{ status: number; body: never }> => {
  const reply = await fetch(`${gateway.admin!.url}/admin/v1${path}`);
  return { status: reply.status, body: (await reply.json()) as never };
};

interface Sums {
  readonly items: readonly { readonly nano: number; readonly input: number; readonly output: number }[];
}

const keys = { keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, budgets: [{ cap: '100 USD', period: 'total' }] }] };

describe.each(CLAIMS)('a count of %s', (claim) => {
  it('is booked as the reserve at each door and each target, plain and streamed', { timeout: 60_000 }, async () => {
    const pair = await startLedger(
      claiming(() => claim),
      { keys },
    );
    let requests = 0;
    for (const model of MODELS)
      for (const door of Object.values(DOORS))
        for (const stream of [false, true]) {
          const reply = await send(pair, door(model, stream));
          const text = await reply.text();
          expect([reply.status, /"error":\{|event: error/.test(text)]).toEqual([200, false]);
          requests += 1;
        }
    const rows = await pair.rows(requests);
    expect(rows).toHaveLength(requests);
    for (const row of rows) {
      expect(row).toMatchObject({ src: 'estimated', nano: row.held, output: 1000, kind: 'try', status: 'ok' });
      expect(row.nano).toBeGreaterThan(0);
      expect(row.nano).toBeLessThan(100_000_000);
    }
    const { status, body } = await admin(pair, '/usage?step=all');
    expect(status).toBe(200);
    expect((body as Sums).items[0]!.nano).toBe(rows.reduce((sum, { nano }) => sum + nano, 0));
    const metrics = await (await fetch(`${pair.gateway.status.url}/metrics`)).text();
    const counted = metrics.matchAll(/^gatehouse_usage_doubted_total\{.*\} (\d+)$/gm);
    expect([...counted].reduce((sum, [, value]) => sum + Number(value), 0)).toBe(requests);
    expect(metrics).not.toMatch(/^gatehouse_(?:tokens|cost).* (?:NaN|[0-9.]+e\+?\d{2,}|-)/m);
  });

  it('stands in the record of the request', async () => {
    const pair = await startLedger(
      claiming(() => claim),
      { keys },
    );
    const reply = await send(pair, DOORS.chat!('@openai/m', false));
    await reply.arrayBuffer();
    await pair.rows();
    const { body } = await admin(pair, `/requests/${reply.headers.get('x-gateway-request-id')}`);
    const { attempts } = body as {
      attempts: readonly { tokens: object; tokens_claimed: object; cost_source: string }[];
    };
    const claimed = { '1e300': '1e+300', '1e999': 'Infinity', '"NaN"': 'NaN' }[claim as string] ?? claim;
    expect(attempts).toMatchObject([
      { tokens: { output: 1000 }, tokens_claimed: { input: '3', output: claimed }, cost_source: 'estimated' },
    ]);
  });
});

it('counts that can be true are booked as they are, beyond the limit of the request too', async () => {
  const pair = await startLedger((_, res) => {
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 20_003 };
    const choices = [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }];
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ model: 'm', choices, usage }));
  });
  await (await send(pair, DOORS.chat!('@openai/m', false))).arrayBuffer();
  expect(await pair.rows()).toMatchObject([{ src: 'told', input: 3, output: 20_000 }]);
});

describe('a host of a caller', () => {
  const start = (prices: object) => {
    const [key] = keys.keys;
    const hosts = { hosts: ['127.0.0.1:*'], allow_insecure: true };
    const all = [
      { ...key, custom_hosts: hosts },
      { id: 'free', key: '${env:NONE:-free-key-0123456789}', custom_hosts: hosts },
    ];
    return startLedger(
      claiming(() => '1e300'),
      { keys: { keys: all }, prices },
    );
  };
  const ask = async (pair: LedgerGateway, more: Readonly<Record<string, string>> = {}) => {
    const headers = { 'x-gateway-custom-host': `${pair.upstream.url}/v1`, ...more };
    const reply = await send(pair, DOORS.chat!('gpt-4o', false), headers);
    const { error } = (await reply.json()) as { error?: { code: string } };
    return [reply.status, error?.code];
  };

  it('has no price but that of a rule for it: a budget in USD refuses it', async () => {
    const pair = await start({ prices: [{ model: '*', usd: { input: 1, output: 10 } }] });
    expect(await ask(pair)).toEqual([403, 'model_unpriced']);
    expect(await ask(pair, { 'x-gateway-api-key': 'free-key-0123456789' })).toEqual([200, undefined]);
    expect(await pair.rows()).toMatchObject([{ src: 'none', nano: 0, key: 'free' }]);
  });

  it('with a rule has its price, and its claims empty no budget', async () => {
    const pair = await start({ prices: [{ model: '*', host: '127.0.0.1:*', usd: { input: 1, output: 10 } }] });
    expect(await ask(pair)).toEqual([200, undefined]);
    const [row] = await pair.rows();
    expect(row).toMatchObject({ src: 'estimated', nano: row!.held, output: 1000 });
    expect(await ask(pair)).toEqual([200, undefined]);
  });
});
