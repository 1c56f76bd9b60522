import { diag, DiagLogLevel } from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import type { BatchSettings } from './otel-settings.ts';
import { SpanBatches, type SpanBatch } from './span-batches.ts';

type Done = Parameters<ConstructorParameters<typeof SpanBatches>[0]['export']>[1];

/** A sender that answers when the test says so. */
function open(settings: BatchSettings) {
  const sent: { batch: SpanBatch; done: Done }[] = [];
  const clock = createFakeClock();
  let isShut = false;
  const sender = {
    export: (batch: SpanBatch, done: Done) => void sent.push({ batch, done }),
    shutdown() {
      isShut = true;
      return Promise.resolve();
    },
  };
  const batches = new SpanBatches(sender, settings, clock);
  return {
    batches,
    clock,
    sent,
    isShut: () => isShut,
    add: (...spans: string[]) => spans.forEach(batches.add),
    texts: () => sent.map(({ batch }) => `${batch.count}:${batch.spans.toString('latin1')}`),
    async answer(index: number, error?: Error) {
      sent[index]!.done(error ? { code: 1, error } : { code: 0 });
      await new Promise(setImmediate);
    },
  };
}

const SMALL = { scheduledDelayMillis: 100, exportTimeoutMillis: 1000, maxQueueSize: 6, maxExportBatchSize: 3 };

function reports(): string[] {
  const lines: string[] = [];
  const note = (...parts: unknown[]): void => void lines.push(parts.map(String).join(': '));
  const logger = { error: note, warn: note, info: note, debug: note, verbose: note };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  return lines;
}
afterEach(() => diag.disable());

describe('batches of spans', () => {
  it('leave when they are full, one at a time', async () => {
    const { add, texts, answer } = open(SMALL);
    add('a', 'b');
    expect(texts()).toEqual([]);
    add('c', 'd', 'e', 'f', 'g');
    expect(texts()).toEqual(['3:abc']);
    await answer(0);
    expect(texts()).toEqual(['3:abc', '3:def']);
  });

  it('leave after the delay if they are not full', async () => {
    const { add, texts, answer, clock } = open(SMALL);
    add('a');
    await clock.advance(99);
    expect(texts()).toEqual([]);
    await clock.advance(1);
    expect(texts()).toEqual(['1:a']);
    add('b');
    await answer(0);
    await clock.advance(100);
    expect(texts()).toEqual(['1:a', '1:b']);
  });

  it('hold no more spans than the queue, and the number of dropped ones is reported', async () => {
    const lines = reports();
    const { add, texts, answer } = open(SMALL);
    add('a', 'b', 'c', ...'defghi', 'dropped', 'dropped');
    expect(lines).toEqual([]);
    await answer(0);
    add('j');
    expect(lines).toEqual(['Dropped 2 spans because maxQueueSize reached']);
    await answer(1);
    expect(texts()).toEqual(['3:abc', '3:def', '3:ghi']);
  });

  it('that the collector refuses, or that it does not answer in time, are reported, and the next ones leave', async () => {
    const lines = reports();
    const { add, texts, answer, clock } = open(SMALL);
    add(...'abcdef');
    await answer(0, new Error('refused'));
    expect(lines).toEqual(['a batch of spans was not exported: Error: refused']);
    await clock.advance(1000);
    expect(lines.slice(1)).toEqual(['a batch of spans was not exported: Error: Timeout']);
    add(...'ghi');
    expect(texts()).toEqual(['3:abc', '3:def', '3:ghi']);
  });

  it('leave all at once when they are flushed, which waits for them', async () => {
    const { add, batches, texts, answer } = open(SMALL);
    add(...'abcdefg');
    const flushed = expect(batches.forceFlush()).rejects.toThrow('refused');
    expect(texts()).toEqual(['3:abc', '3:def', '1:g']);
    await answer(0);
    await answer(1);
    await answer(2, new Error('refused'));
    await flushed;
  });

  it('take no span after the shutdown, which sends the rest and ends the sender', async () => {
    const { add, batches, texts, answer, isShut } = open(SMALL);
    add('a');
    const shut = batches.shutdown();
    add('b');
    expect([texts(), isShut()]).toEqual([['1:a'], false]);
    await answer(0);
    await shut;
    expect([texts(), isShut()]).toEqual([['1:a'], true]);
  });

  it('have room for spans of any size', async () => {
    const { add, batches, sent } = open({});
    const [small, large] = ['\xff'.repeat(60_000), '\x80'.repeat(200_000)];
    add(small, large, small);
    void batches.forceFlush();
    expect(sent[0]?.batch.spans.equals(Buffer.from(small + large + small, 'latin1'))).toBe(true);
  });
});
