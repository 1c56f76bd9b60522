/** Writes every golden anew. What changed is to be read against wire.md before it is committed. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CASES } from './cases/index.ts';
import { goldenPath, translate } from './goldens.ts';
import { KNOWN_FAULTS } from './known-faults.ts';

for (const one of CASES) {
  if (one.id in KNOWN_FAULTS) continue;
  mkdirSync(dirname(goldenPath(one)), { recursive: true });
  writeFileSync(goldenPath(one), `${JSON.stringify(await translate(one), null, 2)}\n`);
}
