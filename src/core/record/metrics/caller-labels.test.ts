import { describe, expect, it } from 'vitest';
import { CallersAsLabels, MAX_VALUES } from './caller-labels.ts';
import { CounterFamily, MAX_CALLER_LABEL_SETS } from './families.ts';
import { NO_CALLER, OTHER, type CallerLabels, type MetricSpec } from './metric-spec.ts';

const team = { key: 'team', name: 'metadata_team', known: new Set(['search']) };
const labelsOf = (callers: CallersAsLabels, keyId: string | undefined, metadata?: Record<string, string>) =>
  callers.labelsOf({ keyId, metadata }).labels;

describe('the labels of a caller', () => {
  it('are the id of its key, and the chosen metadata that it has', () => {
    const callers = new CallersAsLabels();
    const metadata = { team: 'search', user: 'ana' };
    expect(labelsOf(callers, 'a', metadata)).toEqual({ key_id: 'a' });
    callers.apply([team]);
    expect(labelsOf(callers, 'a', metadata)).toEqual({ key_id: 'a', metadata_team: 'search' });
    expect(labelsOf(callers, 'a', { user: 'ana' })).toEqual({ key_id: 'a' });
    expect(labelsOf(callers, 'a', { team: '' })).toEqual({ key_id: 'a' });
    expect(callers.labelsOf({ keyId: undefined, metadata: undefined })).toBe(NO_CALLER);
  });

  it('have a bounded number of values of callers, and every value of keys.yaml', () => {
    const callers = new CallersAsLabels();
    callers.apply([team]);
    const values = new Set<string | undefined>();
    for (let index = 0; index < 1000; index += 1)
      values.add(labelsOf(callers, 'a', { team: `t${index}` })['metadata_team']);
    expect(values.size).toBe(MAX_VALUES + 1);
    expect(labelsOf(callers, 'a', { team: 't5000' })['metadata_team']).toBe(OTHER);
    expect(labelsOf(callers, 'a', { team: 't5' })['metadata_team']).toBe('t5');
    expect(labelsOf(callers, 'a', { team: 'search' })['metadata_team']).toBe('search');
    callers.apply([{ ...team, known: new Set(['t5000']) }]);
    expect(labelsOf(callers, 'a', { team: 't5000' })['metadata_team']).toBe('t5000');
  });
});

describe('a counter of callers', () => {
  const spec: MetricSpec = {
    type: 'counter',
    name: 'gatehouse_x_total',
    help: 'x',
    labels: ['model'],
    byCaller: true,
  };
  const count = (family: CounterFamily<'model'>, model: string, caller: CallerLabels): void =>
    family.add({ model }, 1, caller);
  const valuesOf = async (family: CounterFamily<'model'>) =>
    ((await family.get()) as { values: { labels: Record<string, string>; value: number }[] }).values;

  it('gives up the label of the key before the other labels, so that sums by model stay exact', async () => {
    let overflows = 0;
    const family = new CounterFamily<'model'>(spec, () => (overflows += 1));
    const callers = new CallersAsLabels();
    const sent = MAX_CALLER_LABEL_SETS;
    for (let index = 0; index < sent; index += 1)
      for (const model of ['m', 'n'])
        count(family, model, callers.labelsOf({ keyId: `k${index}`, metadata: undefined }));
    const values = await valuesOf(family);
    expect(values.length).toBeLessThanOrEqual(MAX_CALLER_LABEL_SETS);
    for (const model of ['m', 'n']) {
      const ofModel = values.filter(({ labels }) => labels['model'] === model);
      expect(ofModel.reduce((sum, { value }) => sum + value, 0)).toBe(sent);
      expect(ofModel.at(-1)?.labels).toEqual({ model, key_id: OTHER });
    }
    expect(overflows).toBeGreaterThan(0);
  });

  it('gives one key at most a tenth of the series', async () => {
    const family = new CounterFamily<'model'>(spec, () => {});
    const callers = new CallersAsLabels();
    const caller = callers.labelsOf({ keyId: 'greedy', metadata: undefined });
    for (let index = 0; index < MAX_CALLER_LABEL_SETS; index += 1) count(family, `m${index}`, caller);
    count(family, 'm', callers.labelsOf({ keyId: 'other', metadata: undefined }));
    const values = await valuesOf(family);
    const ofKey = (id: string) => values.filter(({ labels }) => labels['key_id'] === id).length;
    expect([ofKey('greedy'), ofKey('other')]).toEqual([MAX_CALLER_LABEL_SETS / 10, 1]);
    expect(values.reduce((sum, { value }) => sum + value, 0)).toBe(MAX_CALLER_LABEL_SETS + 1);
  });

  it('has no series of keys before their first request', async () => {
    const family = new CounterFamily<'model'>({ ...spec, zero: [{ model: 'm' }] }, () => {});
    family.declare({ model: 'm' });
    expect(await valuesOf(family)).toEqual([{ labels: { model: 'm', key_id: '' }, value: 0 }]);
  });
});

describe('the team of a key', () => {
  it('is a label of its own, also beside metadata, and a key that moves has a series of its new team', () => {
    const callers = new CallersAsLabels();
    const search = callers.labelsOf({ keyId: 'k', team: 'search', metadata: undefined });
    const ads = callers.labelsOf({ keyId: 'k', team: 'ads', metadata: undefined });
    const none = callers.labelsOf({ keyId: 'k', metadata: undefined });
    expect([search, ads, none].map(({ labels }) => labels)).toEqual([
      { key_id: 'k', team: 'search' },
      { key_id: 'k', team: 'ads' },
      { key_id: 'k' },
    ]);
    expect(new Set([search, ads, none].map(({ key }) => key)).size).toBe(3);
    callers.apply([{ key: 'env', name: 'metadata_env', known: new Set() }]);
    const request = { keyId: 'k', team: 'ads', metadata: { env: 'prod' } };
    expect(callers.labelsOf(request).labels).toEqual({ key_id: 'k', team: 'ads', metadata_env: 'prod' });
  });
});
