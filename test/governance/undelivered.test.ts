import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { LedgerRow } from '../../src/core/ports/ledger.ts';
import { startLedger, usageOf, type LedgerGateway } from '../state/ledger.testkit.ts';
import { KEY } from '../support/gateway.ts';
import { json, openaiChunk, openaiReply, sse, type Script } from '../support/upstream.ts';

/** Upstreams that compute, and may charge, although the gateway gets no count of it. */

const CAPS = ['1000 USD', '10000000 tokens'];

interface Case {
  readonly name: string;
  readonly script: Script;
  readonly path?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The client leaves as soon as the upstream has the request. */
  readonly leaves?: boolean;
}

const CHAT = { model: '@openai/m', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
const PICTURE = { model: '@gpt/gpt-image-1', prompt: 'a cat', size: '1024x1024' };

const late: Script = (_, res) => {
  setTimeout(() => json(res, openaiReply('ok', usageOf(100, 100))), 2000);
};
const lateContent: Script = async (_, res) => {
  await sse(res, [openaiChunk({ role: 'assistant', content: '' })], false);
};
/** A connection that ends without any byte looks like one that had died before, on which the gateway sends again. */
const broken = (res: ServerResponse): void => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"id":');
  setTimeout(() => res.destroy(), 20);
};

function start(script: Script, onRequest: () => void = () => {}): Promise<LedgerGateway> {
  return startLedger(
    (request, res, index) => {
      onRequest();
      return script(request, res, index);
    },
    {
      keys: {
        keys: [{ id: 'test', key: `\${env:NONE:-${KEY}}`, budgets: CAPS.map((cap) => ({ cap, period: 'month' })) }],
      },
      gateway: {
        again: { targets: [{ provider: '@openai', override_params: { model: 'm' }, retry: { attempts: 2 } }] },
        cached: { targets: [{ provider: '@openai', override_params: { model: 'm' }, cache: { mode: 'exact' } }] },
      },
    },
  );
}

async function ask(
  { gateway }: LedgerGateway,
  { path = '/v1/chat/completions', body = CHAT, headers = {} }: Pick<Case, 'path' | 'body' | 'headers'> = {},
  signal: AbortSignal | null = null,
): Promise<number> {
  const reply = await fetch(gateway.data.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gateway-api-key': KEY, ...headers },
    body: JSON.stringify(body),
    signal,
  });
  await reply.text();
  return reply.status;
}

/** What the budgets have booked: nano-USD and tokens. */
async function booked({ gateway }: LedgerGateway): Promise<readonly number[]> {
  const sums = { usd: 0, tokens: 0 };
  for await (const piece of gateway.state!.store!.counters.all())
    for (const { node, spent } of piece) sums[node.includes('tokens') ? 'tokens' : 'usd'] += spent;
  return [sums.usd, sums.tokens];
}

const nanoOf = (rows: readonly LedgerRow[]): number => rows.reduce((sum, { nano }) => sum + nano, 0);

const CASES: readonly Case[] = [
  { name: 'a plain request whose client leaves', script: late, leaves: true },
  {
    name: 'a stream whose client leaves before its content',
    script: lateContent,
    body: { ...CHAT, stream: true },
    leaves: true,
  },
  {
    name: 'a request that its client’s time limit ends',
    script: late,
    headers: { 'x-gateway-request-timeout': '600' },
  },
  { name: 'a reply whose connection breaks', script: (_, res) => broken(res) },
  { name: 'a picture whose client leaves', script: late, path: '/v1/images/generations', body: PICTURE, leaves: true },
];

describe('the reserve is booked, on the budgets and in the ledger, for', () => {
  it.each(CASES)('$name', async ({ script, leaves = false, ...question }) => {
    const leaving = new AbortController();
    const ledger = await start(script, () => leaves && setTimeout(() => leaving.abort(), 50));
    await ask(ledger, question, leaving.signal).catch(() => 0);
    const rows = await ledger.rows();
    expect(rows).toEqual([expect.objectContaining({ kind: 'try', src: 'estimated', nano: rows[0]!.held })]);
    expect(rows[0]!.held).toBeGreaterThanOrEqual(1_000_000);
    await expect.poll(async () => (await booked(ledger))[0]).toBe(rows[0]!.held);
    // The prompt and the longest answer.
    expect((await booked(ledger))[1]).toBeGreaterThan(100);
  });

  it('each try that broke, beside the count of the one that did not', async () => {
    const ledger = await start((_, res, index) =>
      index === 0 ? broken(res) : json(res, openaiReply('ok', usageOf(10, 10))),
    );
    expect(await ask(ledger, { headers: { 'x-gateway-config': 'again' } })).toBe(200);
    const rows = await ledger.rows(2);
    expect(rows.map(({ src, status }) => [src, status])).toEqual([
      ['estimated', 'retried'],
      ['told', 'ok'],
    ]);
    expect(rows[0]!.nano).toBe(rows[1]!.held);
    expect(rows[1]!.nano).toBe(110_000);
    await expect.poll(async () => (await booked(ledger))[0]).toBe(nanoOf(rows));
  });
});

describe('the text is booked, as an estimate,', () => {
  it.each<[string, string, object]>([
    ['of a chat', '/v1/chat/completions', openaiReply('x'.repeat(3000), { usage: undefined })],
    [
      'of a completion',
      '/v1/completions',
      {
        id: 'c',
        object: 'text_completion',
        model: 'm',
        choices: [{ index: 0, text: 'x'.repeat(3000), finish_reason: 'stop' }],
      },
    ],
  ])('%s without a count', async (_, path, reply) => {
    const ledger = await start((__, res) => json(res, reply));
    const body = path.includes('chat') ? CHAT : { model: '@gpt/m', prompt: 'hi', max_tokens: 1000 };
    expect(await ask(ledger, { path, body })).toBe(200);
    const rows = await ledger.rows();
    const prompt = Math.ceil(JSON.stringify(body).length / 4);
    expect(rows).toEqual([expect.objectContaining({ src: 'estimated', nano: prompt * 1000 + 750 * 10_000 })]);
    await expect.poll(() => booked(ledger)).toEqual([rows[0]!.nano, prompt + 750]);
  });
});

describe('nothing is booked for', () => {
  it.each<[string, Script, number]>([
    ['a request that the provider refuses', (_, res) => json(res, { error: { message: 'no' } }, 400), 400],
    ['a provider that has failed', (_, res) => json(res, { error: { message: 'no' } }, 500), 500],
  ])('%s', async (_, script, status) => {
    let isFirst = true;
    const ledger = await start((request, res, index) => {
      if (isFirst) return script(request, res, index);
      return json(res, openaiReply('ok', usageOf(10, 10)));
    });
    expect(await ask(ledger)).toBe(status);
    isFirst = false;
    await ask(ledger);
    expect(nanoOf(await ledger.rows())).toBe(110_000);
    await expect.poll(() => booked(ledger)).toEqual([110_000, 20]);
  });

  it('a connection that is refused', async () => {
    const ledger = await start(late);
    await ledger.upstream.close();
    expect(await ask(ledger)).toBe(502);
    await ledger.close();
    expect(ledger.upstream.seen).toEqual([]);
    const again = await ledger.again();
    expect(await again.rows(0)).toEqual([]);
  });

  it('a reply of the cache', async () => {
    const ledger = await start((_, res) => json(res, openaiReply('ok', usageOf(10, 10))));
    for (let sent = 0; sent < 2; sent += 1) await ask(ledger, { headers: { 'x-gateway-config': 'cached' } });
    expect((await ledger.rows(2)).map(({ kind, nano }) => [kind, nano])).toEqual([
      ['try', 110_000],
      ['hit', 0],
    ]);
    await expect.poll(() => booked(ledger)).toEqual([110_000, 20]);
  });
});
