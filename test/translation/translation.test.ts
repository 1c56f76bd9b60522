import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UPSTREAM_NAMES, UPSTREAMS } from './cases/case.ts';
import { CASES } from './cases/index.ts';
import { goldenPath, readGolden, translate } from './goldens.ts';
import { KNOWN_FAULTS, MISNAMED_LOSSES } from './known-faults.ts';
import { isRefused, send } from './outbound.ts';

describe('translated requests', () => {
  it.each(CASES.filter(({ id }) => !(id in KNOWN_FAULTS)).map((one) => [one.id, one.title, one] as const))(
    'leave as their golden says: %s, %s',
    async (_, __, one) => {
      // Anew with `node test/translation/write-goldens.ts`, and to be read against wire.md then.
      expect(await translate(one)).toEqual(readGolden(one));
    },
  );

  it.each(Object.entries(KNOWN_FAULTS))('still differ from their golden: %s, %s', async (id) => {
    const one = CASES.find((candidate) => candidate.id === id)!;
    expect(await translate(one), 'mended: take it out of known-faults.ts').not.toEqual(readGolden(one));
  });

  it.each(Object.entries(MISNAMED_LOSSES))('are still told of losses at other places: %s', async (id, misnamed) => {
    const one = CASES.find((candidate) => candidate.id === id)!;
    const told = new Set<string>();
    for (const upstream of UPSTREAM_NAMES)
      for (const model of one.models[upstream]) {
        const sent = await send(UPSTREAMS[upstream], { model, ...one.request }, one);
        if (!isRefused(sent)) for (const { param } of sent.losses) told.add(param);
      }
    const mended = Object.keys(misnamed).filter((param) => !told.has(param));
    expect(mended, 'mended: take them out of known-faults.ts').toEqual([]);
  });

  it('of the Messages API are told of losses at places they have', async () => {
    const nowhere: string[] = [];
    for (const one of CASES.filter(({ client }) => client === 'messages'))
      for (const upstream of UPSTREAM_NAMES)
        for (const golden of Object.values((await translate(one))[upstream] ?? {}))
          for (const loss of 'losses' in golden ? (golden.losses ?? []) : [])
            if (!isPlaceOf(one.request, loss.replace(/^\w+ /, ''))) nowhere.push(`${one.id}: ${loss}`);
    expect(nowhere).toEqual([]);
  });

  it('have no goldens but those of the cases', () => {
    const files = globSync('goldens/**/*.json', { cwd: import.meta.dirname });
    expect(files.map((file) => join(import.meta.dirname, file)).sort()).toEqual(CASES.map(goldenPath).sort());
  });
});

/** `messages[2].content[0]` of a body. */
function isPlaceOf(body: unknown, place: string): boolean {
  let at = body;
  for (const key of place.split(/[.[\]]+/).filter((part) => part !== '')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    at = Object.getOwnPropertyDescriptor(at, key)?.value;
  }
  return true;
}
