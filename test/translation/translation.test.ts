import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UPSTREAM_NAMES } from './cases/case.ts';
import { CASES } from './cases/index.ts';
import { goldenPath, readGolden, translate } from './goldens.ts';

describe('translated requests', () => {
  it.each(CASES.map((one) => [one.id, one.title, one] as const))(
    'leave as their golden says: %s, %s',
    async (_, __, one) => {
      // After a change: `node test/translation/write-goldens.ts`, then compare the goldens with docs/protocols/README.md.
      expect(await translate(one)).toEqual(readGolden(one));
    },
  );

  it('name losses at places of the request', async () => {
    const nowhere: string[] = [];
    for (const one of CASES)
      for (const upstream of UPSTREAM_NAMES)
        for (const golden of Object.values((await translate(one))[upstream] ?? {}))
          for (const loss of 'losses' in golden ? (golden.losses ?? []) : [])
            if (loss !== OF_THE_REPLY && !isPlaceOf(one.request, loss.replace(/^\w+ /, '')))
              nowhere.push(`${one.id}: ${loss}`);
    expect(nowhere).toEqual([]);
  });

  it('have no goldens but those of the cases', () => {
    const files = globSync('goldens/**/*.json', { cwd: import.meta.dirname });
    expect(files.map((file) => join(import.meta.dirname, file)).sort()).toEqual(CASES.map(goldenPath).sort());
  });
});

/** Strict clients lose a field of the reply with computer use. */
const OF_THE_REPLY = 'downgraded thought_signature';

/** `messages[2].content[0]` of a body. */
function isPlaceOf(body: unknown, place: string): boolean {
  let at = body;
  for (const key of place.split(/[.[\]]+/).filter((part) => part !== '')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    at = Object.getOwnPropertyDescriptor(at, key)?.value;
  }
  return true;
}
