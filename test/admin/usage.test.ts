import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowOf } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import type { LedgerRow } from '../../src/core/ports/ledger.ts';
import { startAdmin, type AdminGateway, type Answer } from './kit.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** 2026-11-20, midnight. */
const START = Date.UTC(2026, 10, 20);
const SPAN = 'from=2026-11-20&to=2026-11-23';

/** Costs whose sum no floating-point number of USD holds exactly. */
const ROWS: readonly LedgerRow[] = Array.from({ length: 250 }, (_, number) =>
  rowOf(number, {
    at: START + number * (HOUR / 4),
    team: number % 2 === 0 ? 'search' : 'ads',
    key: `key-${number % 3}`,
    model: number % 5 === 0 ? '=cmd|calc' : 'gemini',
    input: number,
    output: 1,
    nano: 1_000_000_007 + number,
    asked: number % 3 === 0 ? '@openai/gpt' : '@vertex/gemini',
    labels: number % 3 === 0 ? '' : '{"env":"prod"}',
  }),
);

let admin: AdminGateway;
let token: string;
beforeAll(async () => {
  admin = await startAdmin({ state: { ledger_labels: ['env'] } });
  token = await admin.token('viewer');
  await admin.gateway.state!.store!.ledger.append(ROWS);
});
afterAll(() => admin.close());

const get = (path: string): Promise<Answer> => admin.ask('GET', path, { token });

interface UsageItem {
  readonly start: string;
  readonly team: string;
  readonly nano: number;
  readonly cost_usd: string;
  readonly input: number;
}

async function all(path: string): Promise<UsageItem[]> {
  const items: UsageItem[] = [];
  for (let cursor = ''; ;) {
    const { json } = await get(`${path}${cursor}`);
    items.push(...(json.items as UsageItem[]));
    if (json.next === undefined) return items;
    cursor = `&cursor=${json.next as string}`;
  }
}

const sum = (rows: readonly { readonly nano: number }[]): bigint =>
  rows.reduce((total, { nano }) => total + BigInt(nano), 0n);

describe('usage', () => {
  it('sums by hour, day and altogether, by each dimension, to the nano-USD', async () => {
    const total = sum(ROWS);
    for (const query of ['step=hour', 'step=day', 'step=all', 'step=hour&by=team,model&limit=7', 'step=day&by=key'])
      expect([query, sum(await all(`/usage?${SPAN}&${query}`))]).toEqual([query, total]);
    const [only] = await all(`/usage?${SPAN}&step=all`);
    expect(only).toMatchObject({ nano: Number(total), requests: 250, attempts: 250, output: 250 });
    expect(BigInt(only!.cost_usd.replace('.', ''))).toBe(total);
    const teams = await all(`/usage?${SPAN}&step=all&by=team`);
    expect(teams.map(({ team }) => team)).toEqual(['ads', 'search']);
    expect(sum(teams)).toBe(total);
  });

  it('counts only what its conditions name', async () => {
    const wanted = ROWS.filter(({ team, key }) => team === 'search' && key !== 'key-0');
    const [found] = await all(`/usage?${SPAN}&step=all&team=search&key=key-1&key=key-2`);
    expect(BigInt(found!.nano)).toBe(sum(wanted));
    const day = ROWS.filter(({ at }) => at < START + DAY);
    expect(BigInt((await all('/usage?from=2026-11-20&to=2026-11-21'))[0]!.nano)).toBe(sum(day));
  });

  it('sums days of a time zone, and by catalog entry and label', async () => {
    const query = 'from=2026-11-20&to=2026-11-24&time_zone=America/New_York';
    const days = (await all(`/usage?${query}&by=provider,label.env&label.env=prod&label.env=`)) as (UsageItem & {
      date: string;
      day: string;
      provider: string;
      labels: { env: string };
    })[];
    const dateOf = new Intl.DateTimeFormat('sv', { timeZone: 'America/New_York', dateStyle: 'short' });
    const wanted = ROWS.filter(({ at }) => dateOf.format(at) >= '2026-11-20');
    expect(sum(days)).toBe(sum(wanted));
    const ofDates = (rows: Iterable<readonly [string, readonly { readonly nano: number }[]]>) =>
      Object.fromEntries([...rows].map(([date, of]) => [date, sum(of)]));
    expect(ofDates(Map.groupBy(days, ({ date }) => date))).toEqual(
      ofDates(Map.groupBy(wanted, ({ at }) => dateOf.format(at))),
    );
    expect(new Set(days.map(({ day }) => day))).toEqual(new Set(['zone']));
    expect(new Set(days.map(({ provider, labels }) => `${provider} ${labels.env}`))).toEqual(
      new Set(['vertex prod', 'openai ']),
    );
    const csv = csvRows((await get(`/usage?${query}&by=label.env&format=csv`)).text);
    expect(csv[0]).toEqual(expect.arrayContaining(['start', 'date', 'day', 'label.env', 'nano']));
  });

  it("has the columns of FOCUS, with a cost that is the ledger's", async () => {
    const { text, headers } = await get(`/usage?${SPAN}&format=focus`);
    expect(headers['content-disposition']).toContain('usage-focus.csv');
    const [head = [], ...rows] = quotedRows(text);
    const column = (name: string): string[] => rows.map((row) => row[head.indexOf(name)]!);
    expect(column('BilledCost').reduce((total, usd) => total + nanoOf(usd), 0n)).toBe(sum(ROWS));
    expect(column('EffectiveCost')).toEqual(column('BilledCost'));
    expect(rows[0]!.length).toBe(head.length);
    expect(new Set(column('SubAccountId'))).toEqual(new Set(['search', 'ads']));
    expect(new Set(column('Tags'))).toEqual(new Set(['{"env":"prod"}', '{}']));
    expect(new Set(column('BillingPeriodStart'))).toEqual(new Set(['2026-11-01T00:00:00.000Z']));
    expect(new Set(column('BillingPeriodEnd'))).toEqual(new Set(['2026-12-01T00:00:00.000Z']));
    expect(column('ChargePeriodEnd')[0]).toBe('2026-11-21T00:00:00.000Z');
    expect((await get(`/usage?${SPAN}&format=focus&by=team`)).json.code).toBe('invalid_query');
    expect((await get(`/ledger?${SPAN}&format=focus`)).json.code).toBe('invalid_query');
  });

  it('refuses times and dimensions that it cannot sum', async () => {
    for (const query of [
      'by=label.colour',
      'by=label.env,label.env',
      'label.colour=red',
      'time_zone=Nowhere',
      'time_zone=%2B02:00',
      'time_zone=Asia/Kolkata',
      'time_zone=Asia/Kathmandu&step=all&from=2023-11-01&to=2026-11-01',
      'time_zone=Australia/Lord_Howe&step=all&from=2026-01-01&to=2026-11-01',
      'time_zone=Europe/Berlin&step=all&from=1970-01-01&to=9999-12-31',
      'by=colour',
      'by=team,team',
      'from=2026-11-20&to=2026-11-19',
      'from=yesterday',
      'step=hour&from=2026-01-01&to=2026-11-01',
      'cursor=xyz',
    ])
      expect([query, (await get(`/usage?${query}`)).json.code]).toEqual([query, 'invalid_query']);
  });
});

describe('the rows of the ledger', () => {
  it('are read page by page, each once', async () => {
    const rows = (await all(`/ledger?${SPAN}&limit=33`)) as unknown as { req: string; nano: number }[];
    expect(rows.map(({ req }) => req).sort()).toEqual(ROWS.map(({ req }) => req).sort());
    expect(sum(rows)).toBe(sum(ROWS));
    expect((await get(`/ledger?${SPAN}&team=ads&limit=200`)).json.items.length).toBe(125);
    for (const cursor of [
      '',
      'xyz',
      Buffer.from('[1,"[1,2]"]').toString('base64url'),
      Buffer.from('[1,"[0,\\"no\\",0,\\"try\\"]"]').toString('base64url'),
    ])
      expect((await get(`/ledger?${SPAN}&cursor=${cursor}`)).json.code).toBe('invalid_query');
  });
});

/** Without quoted line ends, which the rows have not. */
const csvRows = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(',').map((cell) => cell.replaceAll(/^"|"$/g, '')));

/** With quoted cells, which have no line end here. */
const quotedRows = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\r\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) =>
        quoted === undefined ? plain! : quoted.replaceAll('""', '"'),
      ),
    );

const nanoOf = (usd: string): bigint => {
  const [whole = '0', rest = ''] = usd.split('.');
  return BigInt(whole) * 1_000_000_000n + BigInt(rest.padEnd(9, '0'));
};

describe('exports', () => {
  it('have the sums of usage to the nano-USD, as CSV without formulas and as JSON lines', async () => {
    for (const path of [`/ledger?${SPAN}`, `/usage?${SPAN}&step=hour&by=model`]) {
      const csv = await get(`${path}&format=csv`);
      expect(csv.headers).toMatchObject({
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': expect.stringContaining('.csv'),
      });
      const [head = [], ...rows] = csvRows(csv.text);
      const column = (name: string): string[] => rows.map((row) => row[head.indexOf(name)]!);
      expect(column('nano').reduce((total, nano) => total + BigInt(nano), 0n)).toBe(sum(ROWS));
      expect(column('cost_usd').every((usd) => /^\d+\.\d+$/.test(usd))).toBe(true);
      expect(new Set(column('model'))).toEqual(new Set(["'=cmd|calc", 'gemini']));
      const lines = (await get(`${path}&format=jsonl`)).text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as { nano: number });
      expect([lines.length, sum(lines)]).toEqual([rows.length, sum(ROWS)]);
    }
  });
});
