import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { generateTypes } from '../../../../schemas/types.ts';

test('schemas/types.generated.ts is what `node schemas/generate.ts` writes today', { timeout: 120_000 }, async () => {
  const written = await readFile(new URL('../../../../schemas/types.generated.ts', import.meta.url), 'utf8');
  expect(await generateTypes()).toBe(written);
});
