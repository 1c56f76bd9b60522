import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { packageFile } from '../../src/core/kernel/package-root.ts';

it('The code of access lines, stored records, spans and metrics is what their tables make', () => {
  // Anew with `node build/record-code/main.ts`. Node itself runs it, because it reads the text of functions.
  const check = () =>
    execFileSync(process.execPath, [packageFile('build/record-code/main.ts'), '--check'], { stdio: 'pipe' });
  expect(check).not.toThrow();
});
