import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepOutput, TestFolder } from '../../../../core/commands/folder.testkit.ts';
import { checkPricesCommand } from './check.ts';
import { listPricesCommand } from './list.ts';
import type { PricesOptions } from './read.ts';
import { updatePricesCommand } from './update.ts';

const RULES = `prices:
  - { model: claude-opus-5, entry: "@two", usd: { input: 4.25 }, until: 2026-10-31 }
  - { model: llama-local, usd: { input: 0.1, output: 0.2 } }
`;

let folder: TestFolder;
beforeEach(() => {
  folder = new TestFolder();
  folder.write(
    'catalog.yaml',
    'providers:\n  - { slug: two, provider: anthropic, api_key: "${env:KEY}", models: [claude-opus-5, llama-local, "claude-*"] }\n',
  );
  folder.write('keys.yaml', 'keys: [{ id: a, key: "${env:NOT_SET_HERE}" }]\n');
  folder.write('prices.yaml', RULES);
});
afterEach(() => folder.remove());

async function run(command: (options: PricesOptions) => Promise<number>) {
  const made = { ...keepOutput(), dir: folder.path, env: {}, day: '2026-11-23' };
  const code = await command(made);
  return { code, out: made.printed.out, err: made.printed.err };
}

describe('prices list', () => {
  it('shows the rules in their order, then the shipped prices of a day', async () => {
    const { code, out } = await run((made) => listPricesCommand({ ...made, format: 'table', model: 'claude-opus-5' }));
    expect([code, out]).toEqual([
      0,
      `prices.yaml, the first rule that fits is in force:
  claude-opus-5, entry @two, until 2026-10-31: input 4.25

shipped, as of 2026-11-22, USD per million tokens on 2026-11-23, not warranted:
PROVIDER   MODEL          INPUT  CACHED  OUTPUT  LONG  NEXT
vertex-ai  claude-opus-5  5      0.5     25      -     -
anthropic  claude-opus-5  5      0.5     25      -     -
`,
    ]);
  });

  it('shows the next step of a price', async () => {
    const { out } = await run((made) => listPricesCommand({ ...made, format: 'json', model: 'gemini-3.8-flash' }));
    expect(JSON.parse(out)).toMatchObject({ shipped: [{ input: 0.75, next: '2027-01-01' }, { output: 3.75 }] });
  });
});

describe('prices update', () => {
  const table = (models: readonly object[], more: object = {}): string =>
    JSON.stringify(
      { as_of: '2026-12-05', currency: 'USD', sources: {}, rules: [], tools: [], models, ...more },
      null,
      1,
    );
  const row = (id: string, prices: object): object => ({
    id,
    on: ['anthropic'],
    kind: 'chat',
    src: 'V',
    ok: 1,
    p: [prices],
  });
  const update = (text: string, dryRun = false) => {
    folder.write('newer.json', text);
    return run((made) => updatePricesCommand({ ...made, file: join(folder.path, 'newer.json'), dryRun }));
  };
  const opus = row('claude-opus-5', { in: 7, out: 30 });

  it('shows what changes, and writes the rows that differ before the shipped ones', async () => {
    const { code, out } = await update(table([opus, row('claude-opus-6', { in: 4.5, out: 20 })]));
    expect([code, out.split('\n').slice(0, 3)]).toEqual([
      0,
      [
        '~ anthropic/claude-opus-5: 5/25, us x1.1, batch x0.5, fast x2 -> 7/30',
        '+ anthropic/claude-opus-6: 4.5/20',
        '2 of the prices of 2026-12-05 are new or differ from those in force (2026-11-22)',
      ],
    ]);
    const listed = await run((made) => listPricesCommand({ ...made, format: 'json', model: 'claude-opus-*' }));
    const shipped = JSON.parse(listed.out).shipped.filter((one: { provider: string }) => one.provider === 'anthropic');
    expect(shipped).toContainEqual(expect.objectContaining({ model: 'claude-opus-5', input: 7 }));
    expect(shipped).toContainEqual(expect.objectContaining({ model: 'claude-opus-6', input: 4.5 }));
    expect(shipped).toContainEqual(expect.objectContaining({ model: 'claude-opus-4-5', input: 5 }));
  });

  it('keeps the rows of an earlier update that the table does not have', async () => {
    await update(table([opus]));
    const { out } = await update(table([row('claude-opus-6', { in: 4, out: 20 })], { as_of: '2026-12-06' }));
    expect(out).toContain('1 of the prices');
    expect((await update(table([opus], { as_of: '2026-12-07' }))).out).toContain('0 of the prices');
  });

  it('writes nothing with --dry-run', async () => {
    const { code } = await update(table([opus]), true);
    expect([code, existsSync(join(folder.path, 'price-table.json'))]).toEqual([0, false]);
  });

  it.each([
    [
      'no row of the form',
      table([{ id: 'a', on: ['anthropic'], kind: 'chat', src: 'V', ok: 1, p: [{ in: 'x' }] }]),
      /newer\.json:\d+:\d+: `in` must be a number/,
    ],
    [
      'a price that is no integer of pico-USD',
      table([row('a', { in: 0.0000001 })]),
      /newer\.json:\d+:\d+: 1e-7 is no integer/,
    ],
    [
      'a model twice',
      table([row('a', { in: 1 }), row('a', { in: 2 })]),
      /newer\.json:\d+:\d+: anthropic\/a is in the table twice/,
    ],
    [
      'steps out of order',
      table([
        {
          ...row('a', {}),
          p: [
            { from: '2026-12-01', in: 1 },
            { from: '2026-11-01', in: 2 },
          ],
        },
      ]),
      /newer\.json:\d+:\d+: steps are ordered/,
    ],
    ['an older table', table([opus], { as_of: '2026-01-01' }), /older|of 2026-01-01/],
    ['text that is no JSON', '{"models": [', /newer\.json:\d+:\d+/],
  ])('refuses %s, and leaves the prices as they are', async (_, text, message) => {
    const { code, err } = await update(text);
    expect([code, existsSync(join(folder.path, 'price-table.json'))]).toEqual([1, false]);
    expect(err).toMatch(message);
  });

  it('is checked again with the settings: a table that was edited by hand fails them', async () => {
    folder.write('price-table.json', table([row('a', { in: -1 })]));
    const { code, err } = await run(checkPricesCommand);
    expect([code, err.includes('price-table.json:')]).toEqual([1, true]);
  });
});

describe('prices check', () => {
  it('names rules that have ended', async () => {
    const { code, out } = await run(checkPricesCommand);
    expect([code, out.split('\n')[0]]).toEqual([0, 'prices.yaml: the rule of claude-opus-5 ended on 2026-10-31']);
  });

  it('fails for a model without a price', async () => {
    folder.write('prices.yaml', 'prices: []\n');
    const { code, out } = await run(checkPricesCommand);
    expect([code, out]).toEqual([1, '@two/llama-local: no price is known\n']);
  });

  it('fails for a mistake in prices.yaml', async () => {
    folder.write('prices.yaml', 'prices: [{ model: a, usd: { input: 1 }, from: 2026-13-01 }]\n');
    const { code, err } = await run(checkPricesCommand);
    expect([code, err.includes('prices.yaml:1:')]).toEqual([1, true]);
  });
});
