import { writeSync } from 'node:fs';
import { Engine } from '../../src/addons/budgets/store/sqlite/engine.ts';
import { ANN, KEYS, NOON, rowOf } from '../../src/addons/budgets/store/contract/opened-store.testkit.ts';

// The writer that store-kills.test.ts kills: it writes without an end and reports each commit after it has happened.

const [folder = '', round = '0'] = process.argv.slice(2);
const { calls } = new Engine({
  folder,
  owner: { pid: process.pid, boot: 'a'.repeat(32), host: 'test' },
  keys: KEYS,
  now: NOON,
});
const boot = {
  id: round.padStart(32, '0'),
  host: 'test',
  role: 'single',
  version: '1',
  configHash: '',
  startedAt: NOON,
} as const;
const path = [{ node: 'team/search', period: 0 }];
const { grants } = calls.take(NOON, [{ path, caps: [undefined], need: 1_000_000, want: 1_000_000 }], boot, 1);
const { lease } = grants[0]!.leases[0]!;

writeSync(1, `lease ${lease}\n`);
for (let step = 1; ; step += 1) {
  calls.append(
    NOON,
    [0, 1, 2].map((att) =>
      rowOf(Number(round) * 1_000_000 + step, { att, nano: 3, at: NOON + (step % 3) * 86_400_000 }),
    ),
  );
  writeSync(1, `rows ${step}\n`);
  calls.report(NOON, [{ lease, usedTotal: step * 9 }], boot);
  writeSync(1, `used ${step}\n`);
  calls.write(
    NOON,
    [{ op: 'put', kind: 'teams', id: `r${round}-${step}`, doc: { step }, secrets: { webhook: `s${step}` } }],
    ANN,
  );
  writeSync(1, `team ${step}\n`);
}
