import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepOutput, TestFolder } from '../folder.testkit.ts';
import { checkPricesCommand } from './check.ts';
import { listPricesCommand } from './list.ts';
import type { PricesOptions } from './read.ts';

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
