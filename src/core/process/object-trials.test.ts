import { describe, expect, it } from 'vitest';
import { aboutFile } from '../settings/source/diagnostic.ts';
import { ObjectReplica, type StoredObject } from '../settings/source/stored-objects.ts';
import { ObjectTrials } from './object-trials.ts';
import type { ReloadResult } from './reload.ts';

const CHANGED = { outcome: 'changed', hash: '', warnings: [], files: [] } as const;

function setUp(...results: readonly ReloadResult[]) {
  const objects = new ObjectReplica();
  const seen: string[][] = [];
  const left = [...results];
  const trials = new ObjectTrials({
    configs: '/etc/gatehouse',
    env: {},
    objects,
    inForce: () => {
      throw new Error('not asked for');
    },
    compile: async () => undefined,
    reload: async () => {
      seen.push([...objects.now.objects.values()].map(({ id, by }) => `${id} by ${by}`));
      return left.shift() ?? CHANGED;
    },
  });
  return { objects, trials, seen };
}

const entry = (by: string, doc: Readonly<Record<string, unknown>> = {}): StoredObject => ({
  kind: 'providers',
  id: 'a',
  value: { doc, secrets: {} },
  by,
  at: 0,
  version: 1,
});
const trial = (by: string) => ({ kind: 'providers', id: 'a', object: entry(by) }) as const;
const never = async (): Promise<never> => {
  throw new Error('must not be written');
};

describe('a trial of an object', () => {
  it('writes it once all processes serve with it', async () => {
    const { trials, seen, objects } = setUp();
    const written: number[] = [];
    expect(await trials.run(trial('ann'), async () => written.push(seen.length))).toEqual([]);
    expect([written, seen, objects.now.objects.size]).toEqual([[1], [['a by ann']], 1]);
  });

  it('takes it back, without a write, where this process or a worker refuses it', async () => {
    const mistake = { ...aboutFile('/etc/gatehouse/gateway/default.yaml', 'no'), line: 2 };
    for (const result of [
      { outcome: 'refused', hash: '', diagnostics: [mistake, { ...mistake, severity: 'warning' }] } as const,
      { ...CHANGED, workers: [mistake] },
    ]) {
      const { trials, seen } = setUp(CHANGED, result);
      await trials.run(trial('ann'), async () => {});
      expect(await trials.run(trial('bob'), never)).toEqual([{ ...mistake, file: 'gateway/default.yaml' }]);
      expect(seen).toEqual([['a by ann'], ['a by bob'], ['a by ann']]);
    }
  });

  it('takes it back where the store refuses the write, and a new one is gone', async () => {
    const { trials, seen } = setUp();
    await expect(trials.run(trial('ann'), never)).rejects.toThrow('must not be written');
    expect(seen).toEqual([['a by ann'], []]);
  });

  it('leaves what another gateway has written meanwhile, which is why the store refuses the write', async () => {
    const { trials, seen, objects } = setUp();
    const write = async (): Promise<never> => {
      objects.apply({ known: true, changed: [entry('eve', { model: 'm' })], gone: [] });
      return never();
    };
    await expect(trials.run(trial('ann'), write)).rejects.toThrow('must not be written');
    expect(seen).toEqual([['a by ann'], ['a by eve']]);
  });

  it('is not reloaded again when the store has it with a version, and when it is gone', async () => {
    const { trials, seen, objects } = setUp();
    const stored = { ...entry('ann'), version: 7, at: 5 };
    await trials.run(trial('ann'), async () => objects.apply({ known: true, changed: [stored], gone: [] }));
    await trials.run({ ...trial('ann'), object: undefined }, async () =>
      objects.apply({ known: true, changed: [], gone: ['providers/a'] }),
    );
    expect(seen).toEqual([['a by ann'], []]);
    // A later write of another process is news.
    objects.apply({ known: true, changed: [stored], gone: [] });
    expect(seen.length).toBe(3);
  });

  it('reloads the settings when another process has written an entry, and for no other kind', async () => {
    const { objects, seen } = setUp();
    objects.apply({ known: true, changed: [entry('ann')], gone: [] });
    objects.apply({ known: true, changed: [], gone: ['providers/a'] });
    objects.apply({ known: true, changed: [], gone: ['keys/a'] });
    expect(seen).toEqual([['a by ann'], []]);
  });
});
