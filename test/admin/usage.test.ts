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
  }),
);

let admin: AdminGateway;
let token: string;
beforeAll(async () => {
  admin = await startAdmin();
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

  it('refuses times and dimensions that it cannot sum', async () => {
    for (const query of [
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
