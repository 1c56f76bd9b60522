import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { packageFile } from '../../src/core/kernel/package-root.ts';
import { json, openaiReply, type Script } from '../support/upstream.ts';
import { startLedger, usageOf, type LedgerGateway } from './ledger.testkit.ts';

/** Costs that differ, and whose binary fractions would not sum exactly. */
const answers: Script = (_, res, index) => json(res, openaiReply('ok', usageOf(101 + index, 7)));

async function run({ configs }: LedgerGateway, line: string): Promise<string[]> {
  let out = '';
  let err = '';
  const world = {
    env: {},
    terminal: undefined,
    input: async () => Buffer.alloc(0),
    out: (more: string) => void (out += more),
    err: (more: string) => void (err += more),
  };
  const args = line.split(' ');
  const code = await commands.get('ledger export')!.run([...args, '--configs', configs], world);
  expect([code, err]).toEqual([0, '']);
  return out.split(/\r?\n/).slice(0, -1);
}

const fenced = [
  ...readFileSync(packageFile('docs/operate/ledger.md'), 'utf8').matchAll(
    /^npx gatehouse ledger export ([^#>\n]*?)(?: *[#>].*)?$/gm,
  ),
].map(([, args = '']) => args);

const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
/** The days of the page are those of its month. */
const around = (line: string): string =>
  line.replace(/--from \S+/, `--from ${dayIn(-1)}`).replace(/--to \S+/, `--to ${dayIn(2)}`);

it('Each export of docs/operate/ledger.md has the same sum as the ledger, to the nano-USD, while the gateway runs', async () => {
  const ledger = await startLedger(answers, {
    teams: { teams: { search: {} } },
    keys: { keys: [{ id: 'ci', key: '${env:NONE:-gatehouse-test-key-0123456789}', team: 'search', owner: '=cmd()' }] },
  });
  for (let sent = 0; sent < 30; sent += 1)
    await ledger.post({ model: `@openai/m${sent % 3}` }).then((reply) => reply.text());
  const rows = await ledger.rows(30);
  const nano = rows.reduce((sum, row) => sum + row.nano, 0);
  expect(fenced.length).toBeGreaterThanOrEqual(3);
  for (const line of fenced) {
    const printed = await run(ledger, around(line.trim()));
    const lines = line.includes('jsonl')
      ? printed.map((text) => JSON.parse(text) as Record<string, unknown>)
      : readCsv(printed);
    expect(lines.length, line).toBeGreaterThan(0);
    expect(
      lines.reduce((sum, { cost_nano_usd: cost }) => sum + Number(cost), 0),
      line,
    ).toBe(nano);
    expect(printed.join('\n')).not.toMatch(/(?:^|,)=cmd/m);
  }
});

it('An export without a day, or by a name that the ledger does not have, is refused', async () => {
  const world = { env: {}, terminal: undefined, input: async () => Buffer.alloc(0), out() {}, err() {} };
  const exported = commands.get('ledger export')!;
  await expect(async () => exported.run([], world)).rejects.toThrow('needs --from');
  await expect(async () => exported.run(['--from', 'yesterday'], world)).rejects.toThrow('a day such as 2026-11-01');
  await expect(async () => exported.run(['--from', '2026-11-01', '--by', 'tem'], world)).rejects.toThrow(
    '--by must be',
  );
  const missing = join('/nowhere', 'configs');
  expect(await exported.run(['--from', '2026-11-01', '--configs', missing], world)).toBe(2);
});

/** No cell of this test has a comma. */
function readCsv([head = '', ...lines]: readonly string[]): Record<string, unknown>[] {
  const names = head.split(',');
  return lines.map((line) => Object.fromEntries(line.split(',').map((cell, index) => [names[index], cell])));
}
