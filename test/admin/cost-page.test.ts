import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { rowOf } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';
import { fences, readPage } from '../docs/pages.ts';
import { startAdmin } from './kit.ts';

const run = promisify(execFile);

it('docs/operate/cost.md has lines that work as they stand', async () => {
  const admin = await startAdmin({
    state: { ledger_labels: ['cost_center'], records: { days: 7 } },
    server: { telemetry: { prefix_hashes: true } },
    admin: { role: 'operator' },
  });
  try {
    const labels = '{"cost_center":"42"}';
    // 23:30 UTC of the last day of October is November in Berlin.
    const at = Date.UTC(2026, 9, 31, 23, 30);
    await admin.gateway.state!.store!.ledger.append([
      rowOf(1, { at, team: 'search', nano: 7, asked: '@sim/m', model: 'm', labels }),
      rowOf(2, {
        at: at + 3_600_000,
        team: 'search',
        nano: 0,
        src: 'none',
        asked: '@sim/sim-steady',
        model: 'sim-steady',
      }),
    ]);
    const { url } = admin.gateway.admin!;
    const lines = fences(readPage('docs/operate/cost.md'), 'sh').flatMap((code) =>
      code.split('\n').filter((line) => line.startsWith('curl ')),
    );
    const outputs: string[] = [];
    for (const line of lines) {
      const here = line.replace('http://127.0.0.1:8788', url).replace('curl', 'curl -sS --fail');
      outputs.push((await run('bash', ['-c', here])).stdout);
    }
    const [days, centers, unpriced, focus, draft, cache] = outputs;
    expect(JSON.parse(days!).items).toMatchObject([{ date: '2026-11-01', team: 'search', nano: 7, day: 'zone' }]);
    expect(JSON.parse(centers!).items).toMatchObject([{ provider: 'sim', labels: { cost_center: '' }, nano: 0 }]);
    expect(JSON.parse(unpriced!).items).toMatchObject([{ provider: 'sim', model: 'sim-steady', attempts: 1 }]);
    expect(focus).toMatch(/^BilledCost,BillingAccountId,[^]*,Tags,x_CostSource,x_Requests,x_Unpriced\r\n0,/);
    expect(JSON.parse(draft!).patch).toContain('+  - id: sim-steady\n');
    expect(JSON.parse(cache!)).toMatchObject({ prefix_hashes: true, items: [] });
  } finally {
    await admin.close();
  }
});
