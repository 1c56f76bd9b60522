import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createExplainer, questionOf } from '../../../explain/explain/explain.testkit.ts';
import { GatewayError } from '../../../../plugin/index.ts';
import { anthropicMessages } from '../../../../formats/anthropic-messages/index.ts';
import type { AttemptBudget, Outbound, RequestBudgets } from '../../../../core/kernel/index.ts';
import { newBoot } from '../../../../core/ports/boot.ts';
import { anthropic } from '../../../../core/record/exchange.testkit.ts';
import { createAttempt, createExchange, createFakeClock, runPlugin } from '../../../../plugin/testing/index.ts';
import { RequestLedger } from '../../ledger/request-ledger.ts';
import type { LedgerReports } from '../../ledger/reports.ts';
import { PriceList, PricesInForce } from '../../prices/price-list.ts';
import { AttemptReservations } from '../../reserve/attempt-reservations.ts';
import { BudgetState } from '../../reserve/budget-state.ts';
import { readSpool, spoolsIn } from '../../store/spool/read-spool.ts';
import budget from './index.ts';

const KEY = 'gatehouse-test-key-0123456789';
const CLAUDE = { slug: 'claude', provider: 'anthropic', api_key: '${env:NONE:-upstream-secret-key}' };

const explainerOf = (budgets: readonly object[] | undefined, server: object = {}) =>
  createExplainer({
    server: { default_config: 'prod', ...server },
    catalog: { providers: [CLAUDE] },
    keys: { keys: [{ id: 'search', key: `\${env:NONE:-${KEY}}`, ...(budgets && { budgets }) }] },
    gateway: { prod: { provider: '@claude', override_params: { model: 'claude-sonnet-4-5' } } },
  });

const question = (max: number) =>
  questionOf({ json: { model: 'any', max_tokens: max }, headers: { authorization: `Bearer ${KEY}` } });

describe('explain', () => {
  it('shows what would be reserved, of which budgets', async () => {
    const explainer = explainerOf([
      { cap: '5 USD', period: 'month' },
      { cap: '9000 tokens', period: 'day', models: ['claude-*'] },
      { cap: '1 tokens', period: 'day', models: ['gpt-*'] },
    ]);
    const { steps } = await explainer.observe(question(1000));
    expect(steps.find(({ place }) => place.plugin === budget)?.words?.does).toMatch(
      /^reserves 0\.015\d+ USD and 10\d\d tokens of key:search:month:usd; key:search:day:tokens:claude-\*, with an answer of at most 1000 tokens$/,
    );
  });

  it('shows a request that no budget can cover as refused, at every call', async () => {
    const explainer = explainerOf([{ cap: '0.02 USD', period: 'month' }]);
    const codes: unknown[] = [];
    for (const max of [1000, 1000, 1000, 2000])
      codes.push((await explainer.observe(question(max))).exchange.error?.code === 'budget_exceeded');
    expect(codes).toEqual([false, false, false, true]);
  });
});

describe('the plan of a chain', () => {
  it('has no such plugin where nothing has a budget', async () => {
    const { steps } = await explainerOf(undefined).observe(question(1000));
    expect(steps.map(({ place }) => place.plugin.name)).not.toContain('budget');
  });
});

const outbound: Outbound = {
  origin: anthropic.origin,
  path: anthropic.path,
  headers: {},
  body: '{}',
  stream: false,
  contentType: undefined,
  openReader: () =>
    anthropicMessages.passThrough.open({ id: '', created: 0, strict: true, includeUsage: false, model: '' }, false),
  decodeError: anthropicMessages.decodeError,
};

const reports: LedgerReports = {
  waiting() {},
  written() {},
  dropped() {},
  failed() {},
  recovered() {},
  spoolBytes() {},
  expired() {},
};

describe('the plugin', () => {
  const note: AttemptBudget = { counted: ['team:search:month:usd'], usd: 5, tokens: undefined, output: 10, warned: [] };
  const run = (reserve: RequestBudgets['reserve'], options: Readonly<Record<string, unknown>> = {}) => {
    const exchange = createExchange();
    const attempt = createAttempt(exchange);
    return runPlugin(budget, { exchange, attempt, options, needs: { budgets: { reserve, preview() {} } } });
  };

  it('hands its options to the budgets, and sends what they admit', async () => {
    const seen: unknown[] = [];
    const admit: RequestBudgets['reserve'] = (_, attempt, rules) => {
      seen.push(rules);
      attempt.budget = note;
      return undefined;
    };
    await run(admit);
    await run(admit, { reserve: 'typical', unknown_price: { input: 1, output: 2 }, on_overrun: 'cut' });
    expect(seen).toEqual([
      { reserve: 'bound', unknownPrice: 'refuse', onOverrun: 'continue' },
      { reserve: 'typical', unknownPrice: { input: 1, output: 2 }, onOverrun: 'cut' },
    ]);
  });

  it('sends nothing that they refuse', async () => {
    const refusal = new GatewayError('budget_exceeded', 'no');
    await expect(run(() => Promise.reject(refusal))).rejects.toBe(refusal);
  });

  it('sends a request once its line is on the disk, so that the ledger knows what a killed process had sent', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-budget-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const clock = createFakeClock();
    const boot = newBoot('single', clock);
    const store = { append: async () => 0 };
    const ledger = new RequestLedger({ clock, boot, folder, ledger: store, reports, endOfTurn: setImmediate });
    onTestFinished(() => ledger.close());
    const tree = { pathOf: () => [], nodes: () => [], hasBudgets: false, hasLimits: false };
    const prices = new PricesInForce(new PriceList());
    const state = new BudgetState({ clock, ledger });
    const budgets = new AttemptReservations({ tree, prices, clock, state, whenDown: 'refuse' });
    const exchange = createExchange();
    const attempt = createAttempt(exchange, { resolved: anthropic, outbound });
    let spooled: unknown;
    const next = async (): Promise<void> => {
      const [spool] = spoolsIn(folder);
      spooled = spool && (await readSpool(spool, async () => {})).open.map(({ row }) => row.asked);
    };
    await runPlugin(budget, { exchange, attempt, needs: { budgets }, next });
    expect(spooled).toEqual(['@claude/claude-sonnet-4-5']);
  });
});
