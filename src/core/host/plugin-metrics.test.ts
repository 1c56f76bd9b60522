import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { createMetrics } from '../record/metrics/registry.ts';
import { OwnMetrics } from './plugin-metrics.ts';

const metricsOf = () => {
  const all = createMetrics({ clock: createFakeClock(), build: { version: '1', revision: 'r' }, process: false });
  const own = new OwnMetrics('Mask-Mail', all.open);
  const lines = async (name: string): Promise<readonly string[]> => {
    const { text } = await all.scrape(undefined);
    return text.split('\n').filter((line) => line.startsWith(name));
  };
  return { all, own, lines };
};

describe('the metrics of a plugin', () => {
  it('have its name as their beginning, and the labels that it declares', async () => {
    const { own, lines } = metricsOf();
    own.counter('masked', { help: 'Masked texts.', labels: ['kind'] }).add({ kind: 'mail' }, 2);
    own.gauge('open').set({}, 3);
    own.histogram('wait_seconds', { buckets: [1, 2] }).observe({}, 1.5);
    expect(await lines('plugin_mask_mail_')).toEqual([
      'plugin_mask_mail_masked_total{kind="mail"} 2',
      'plugin_mask_mail_open 3',
      'plugin_mask_mail_wait_seconds_bucket{le="1"} 0',
      'plugin_mask_mail_wait_seconds_bucket{le="2"} 1',
      'plugin_mask_mail_wait_seconds_bucket{le="+Inf"} 1',
      'plugin_mask_mail_wait_seconds_sum 1.5',
      'plugin_mask_mail_wait_seconds_count 1',
    ]);
  });

  it('are the same after a reload, and refused with another shape', async () => {
    const { all, own, lines } = metricsOf();
    own.counter('seen', { labels: ['a'] }).add({ a: 'x' });
    const again = new OwnMetrics('mask-mail', all.open);
    again.counter('seen', { labels: ['a'] }).add({ a: 'x' });
    expect(await lines('plugin_mask_mail_seen_total{')).toEqual(['plugin_mask_mail_seen_total{a="x"} 2']);
    expect(() => again.counter('seen', { labels: ['b'] })).toThrow('exists with another type, other labels');
  });

  it('have 100 series, the last one for all that is beyond', async () => {
    const { own, lines } = metricsOf();
    const counter = own.counter('seen', { labels: ['id'] });
    for (let index = 0; index < 150; index += 1) counter.add({ id: String(index) });
    const found = await lines('plugin_mask_mail_seen_total{');
    expect([found.length, found.at(-1)]).toEqual([100, 'plugin_mask_mail_seen_total{id="__other__"} 51']);
    expect(await lines('gatehouse_metric_label_overflow_total{metric="plugin_mask_mail')).toHaveLength(1);
  });

  it('refuse names, labels and buckets that break the rules', () => {
    const { own } = metricsOf();
    expect(() => own.counter('Seen')).toThrow('is no name of a metric');
    expect(() => own.counter('seen', { labels: ['le'] })).toThrow('at most 8 names');
    expect(() => own.histogram('h', { buckets: [2, 1] })).toThrow('numbers, ascending');
    const { add } = own.counter('seen', { labels: ['a'] });
    expect(() => add({ b: 'x' })).toThrow('has the labels [a], and was given [b]');
    expect(() => {
      for (let index = 0; index < 60; index += 1) own.gauge(`g${index}`);
    }).toThrow('at most 50 metrics');
  });
});
