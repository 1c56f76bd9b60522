import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LedgerRow } from '../../src/core/ports/ledger.ts';
import { json, openaiChunk, openaiReply, sse, type Script } from '../support/upstream.ts';
import { startLedger, usageOf } from './ledger.testkit.ts';

const answers: Script = (_, res) => json(res, openaiReply('ok', usageOf(100, 10)));

const short = ({ att, kind, src, status, nano }: LedgerRow) => [att, kind, src, status, nano];
const streamed =
  (events: readonly (object | null)[]): Script =>
  async (_, res) =>
    sse(res, events);
const content = (text: string): object => openaiChunk({ role: 'assistant', content: text });
const lastUsage = { ...openaiChunk({}), choices: [], ...usageOf(100, 10) };

interface Case {
  readonly name: string;
  readonly script: Script;
  readonly body?: object;
  readonly config?: string;
  /** Requests, one after the other. Default: 1. */
  readonly times?: number;
  /** att, kind, src, status, nano. */
  readonly rows: readonly (readonly unknown[])[];
}

const GATEWAY = {
  retry: { targets: [{ provider: '@openai', override_params: { model: 'm' }, retry: { attempts: 2 } }] },
  fallback: {
    strategy: { mode: 'fallback' },
    targets: [
      { provider: '@openai', override_params: { model: 'first' } },
      { provider: '@claude', override_params: { model: 'second' } },
    ],
  },
  cached: { targets: [{ provider: '@openai', override_params: { model: 'm' }, cache: { mode: 'exact' } }] },
};

const CASES: readonly Case[] = [
  { name: 'a reply', script: answers, rows: [[0, 'try', 'told', 'ok', 200_000]] },
  {
    name: 'a stream with its usage at the end',
    body: { stream: true },
    script: streamed([content('a'), openaiChunk({}, 'stop'), lastUsage]),
    rows: [[0, 'try', 'told', 'ok', 200_000]],
  },
  {
    name: 'a stream without usage',
    body: { stream: true },
    script: streamed([content('a'), content('b'), openaiChunk({}, 'stop')]),
    rows: [[0, 'try', 'estimated', 'ok', expect.any(Number)]],
  },
  {
    name: 'a stream that ends in its content',
    body: { stream: true },
    script: streamed([content('a'), content('b'), null]),
    rows: [[0, 'try', 'estimated', 'stream_interrupted', expect.any(Number)]],
  },
  {
    name: 'a request that the provider refused',
    script: (request, res, index) =>
      index === 0
        ? json(res, { error: { message: 'no', type: 'invalid_request_error' } }, 400)
        : answers(request, res, index),
    rows: [],
  },
  {
    name: 'a retry after a refusal',
    config: 'retry',
    script: (request, res, index) =>
      index === 0 ? json(res, { error: { message: 'busy' } }, 503) : answers(request, res, index),
    rows: [[0, 'try', 'told', 'ok', 200_000]],
  },
  {
    name: 'a fallback after a reply that broke off',
    config: 'fallback',
    script: (_, res, index) => {
      if (index > 0)
        return json(res, {
          id: 'msg',
          type: 'message',
          role: 'assistant',
          model: 'second',
          stop_reason: 'end_turn',
          stop_sequence: null,
          content: [{ type: 'text', text: 'ok' }],
          usage: { input_tokens: 100, output_tokens: 10 },
        });
      res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"id":');
      setTimeout(() => res.destroy(), 20);
      return undefined;
    },
    rows: [
      [0, 'try', 'estimated', expect.any(String), expect.any(Number)],
      [1, 'try', 'told', 'ok', 200_000],
    ],
  },
  {
    name: 'a reply and the same one from the cache',
    config: 'cached',
    times: 2,
    script: answers,
    rows: [
      [0, 'try', 'told', 'ok', 200_000],
      [0, 'hit', 'told', 'ok', 0],
    ],
  },
];

describe('the ledger has', () => {
  it.each(CASES)('what $name costs', async ({ script, body, config, times = 1, rows }) => {
    const ledger = await startLedger(script, { gateway: GATEWAY });
    for (let sent = 0; sent < times; sent += 1)
      await ledger
        .post(body, config === undefined ? {} : { config })
        .then((reply) => reply.text())
        .catch(() => '');
    // A last request behind it: what it follows has no more rows to come.
    await ledger.post({ model: '@openai/last' }).then((reply) => reply.text());
    const all = await ledger.rows(rows.length + 1);
    expect(all.filter(({ asked }) => asked !== '@openai/last').map(short)).toEqual(rows);
  });

  it('who paid, for what, and what was reserved', async () => {
    const ledger = await startLedger(
      (_, res) =>
        json(
          res,
          openaiReply('ok', {
            model: 'm-2026-01-01',
            usage: {
              prompt_tokens: 100,
              completion_tokens: 10,
              total_tokens: 110,
              prompt_tokens_details: { cached_tokens: 40 },
              completion_tokens_details: { reasoning_tokens: 4 },
            },
          }),
        ),
      {
        prices: { prices: [{ model: '*', usd: { input: 1, cached: 0.5, output: 10 } }] },
        teams: { organizations: { acme: {} }, teams: { search: { organization: 'acme' } } },
        keys: { keys: [{ id: 'ci', key: '${env:NONE:-gatehouse-test-key-0123456789}', team: 'search', owner: 'ann' }] },
        gateway: { main: { targets: [{ provider: '@openai', override_params: { model: 'm' } }] } },
      },
    );
    await ledger.post({}, { config: 'main' }).then((reply) => reply.text());
    const [row] = await ledger.rows();
    expect(row).toMatchObject({
      req: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/) as string,
      key: 'ci',
      user: 'ann',
      team: 'search',
      organization: 'acme',
      config: 'main',
      asked: '@openai/m',
      model: 'm-2026-01-01',
      priceVersion: expect.stringMatching(/^20\d\d-\d\d-\d\d\+[0-9a-f]{8}$/) as string,
      input: 60,
      cacheRead: 40,
      output: 10,
      reasoning: 4,
      nano: 60_000 + 20_000 + 100_000,
    });
    expect(row!.held).toBeGreaterThan(10_000_000);
  });

  it('a row for each of two requests with the same id of their caller, each with that id', async () => {
    const ledger = await startLedger(answers);
    for (let sent = 0; sent < 2; sent += 1) await ledger.post({}, { id: 'mine' }).then((reply) => reply.text());
    const rows = await ledger.rows(2);
    expect(rows.map(({ requestId }) => requestId)).toEqual(['mine', 'mine']);
    expect(new Set(rows.map(({ req }) => req)).size).toBe(2);
    expect(ledger.gateway.record('mine')).toMatchObject({ request_id: 'mine', same_id: 2 });
  });

  it('a marked row for a model without a price, and nothing for a request that a budget refused', async () => {
    const ledger = await startLedger(answers, {
      prices: { prices: [{ model: 'other', usd: { input: 1, output: 1 } }] },
      keys: {
        keys: [
          {
            id: 'test',
            key: '${env:NONE:-gatehouse-test-key-0123456789}',
            budgets: [{ cap: '0.000001 USD', period: 'day', models: ['other'] }],
          },
        ],
      },
    });
    expect((await ledger.post({ model: '@openai/other' })).status).toBe(429);
    await ledger.post().then((reply) => reply.text());
    expect((await ledger.rows()).map(short)).toEqual([[0, 'try', 'none', 'ok', 0]]);
  });

  it('nothing more to write when the gateway has ended in order', async () => {
    const ledger = await startLedger(answers);
    for (let sent = 0; sent < 20; sent += 1) await ledger.post().then((reply) => reply.text());
    await ledger.close();
    expect(readdirSync(join(ledger.folder, 'spool'))).toEqual([]);
  });
});
