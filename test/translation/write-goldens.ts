/** Writes every golden anew. Compare the changes with the facts in docs/protocols/README.md before the commit. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { CASES } from './cases/index.ts';
import { goldenPath, translate } from './goldens.ts';

for (const one of CASES) {
  mkdirSync(dirname(goldenPath(one)), { recursive: true });
  writeFileSync(goldenPath(one), `${JSON.stringify(await translate(one), null, 2)}\n`);
}
