import { describe, expect, it } from 'vitest';
import { createStillClock, endOf, streamedExchange, WALL } from '../exchange.testkit.ts';
import { recordOf } from '../make-record.ts';
import { aggregate } from './aggregate.ts';
import { CallersAsLabels } from './caller-labels.ts';
import { createMetrics } from './registry.ts';
import { RequestMetrics } from './request-metrics.ts';

const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0';

function countOne(traced: { readonly spanId?: string; readonly isSampled?: boolean }, endedAt = 1305) {
  const clock = createStillClock();
  const metrics = createMetrics({ clock, build: { version: '', revision: '' }, process: false });
  const counted = new RequestMetrics(metrics.families, {
    models: { answered: (model) => model },
    callers: new CallersAsLabels(),
  });
  counted.count(recordOf(streamedExchange(), endOf(), { endedAt, receivedAt: WALL }, traced));
  return metrics;
}

const linesWith = (text: string): string[] => text.split('\n').filter((line) => line.includes(' # {'));

describe('exemplars', () => {
  it('name the sampled trace of a request in its buckets, to scrapers of OpenMetrics', async () => {
    const metrics = countOne({ spanId: 'b7ad6b7169203331', isSampled: true });
    const { text } = await metrics.scrape(OPEN_METRICS);
    const { traceId } = recordOf(streamedExchange(), endOf(), { endedAt: 1305, receivedAt: WALL });
    const at = (WALL + 1305) / 1000;
    expect(linesWith(text).map((line) => line.replace(/\{[^#]*\} /, ' '))).toEqual([
      `gatehouse_request_duration_seconds_bucket 1 # {trace_id="${traceId}",span_id="b7ad6b7169203331"} 1.305 ${at}`,
      `gatehouse_upstream_request_duration_seconds_bucket 1 # {trace_id="${traceId}",span_id="b7ad6b7169203331"} 1.295 ${at}`,
      `gatehouse_upstream_time_to_first_chunk_seconds_bucket 1 # {trace_id="${traceId}",span_id="b7ad6b7169203331"} 0.3 ${at}`,
    ]);
    expect(linesWith((await metrics.scrape(undefined)).text)).toEqual([]);
  });

  it.each([{}, { spanId: 'b7ad6b7169203331', isSampled: false }])(
    'are missing where the trace is not exported: %j',
    async (traced) => {
      expect(linesWith((await countOne(traced).scrape(OPEN_METRICS)).text)).toEqual([]);
    },
  );

  it('of several processes are the latest of each bucket', async () => {
    const older = countOne({ spanId: 'a'.repeat(16), isSampled: true }, 1305);
    const newer = countOne({ spanId: 'b'.repeat(16), isSampled: true }, 1310);
    const snapshots = await Promise.all([newer, older].map((metrics) => metrics.snapshot('cumulative')));
    const merged = aggregate(snapshots).find(({ name }) => name === 'gatehouse_request_duration_seconds');
    const spans = merged?.values.flatMap(({ exemplar, value }) =>
      exemplar ? [[exemplar.labelSet.span_id, value]] : [],
    );
    expect(spans).toEqual([['b'.repeat(16), 2]]);
  });
});
