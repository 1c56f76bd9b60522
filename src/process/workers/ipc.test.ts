import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { answer, Channel, NoAnswer, type WorkerAnswers, type ToPrimary, type ToWorker } from './ipc.ts';

const unasked = () => Promise.reject(new Error('not asked here'));
const ANSWERS: WorkerAnswers = {
  start: unasked,
  reload: unasked,
  record: async ({ id }) => ({ id }),
  records: async () => [],
  explain: unasked,
  keeps: unasked,
  explained: unasked,
  alive: async () => undefined,
  targets: unasked,
  metrics: async () => undefined,
  labels: async () => undefined,
  drain: async () => ({ cut: 2 }),
  drainStep: unasked,
};

function open() {
  const clock = createFakeClock();
  const sent: ToWorker[] = [];
  const channel = new Channel((message) => void sent.push(message), clock);
  const hear = (message: ToPrimary): void => {
    if (message.type === 'answer' || message.type === 'failed') channel.heard(message);
  };
  return { clock, sent, channel, hear };
}

describe('questions to a worker', () => {
  it('get each its own answer, in whatever order the answers come', async () => {
    const { sent, channel, hear } = open();
    const asked = [channel.ask('record', { id: 'a' }, 100), channel.ask('record', { id: 'b' }, 100)];
    for (const message of sent.toReversed()) await answer(message, ANSWERS, hear);
    expect(await Promise.all(asked)).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  it('are given up when their time is over, and an answer that comes later is dropped', async () => {
    const { clock, sent, channel, hear } = open();
    const late = channel.ask('record', { id: 'a' }, 100);
    const outcome = expect(late).rejects.toThrow(NoAnswer);
    await clock.advance(100);
    await outcome;
    await answer(sent[0]!, ANSWERS, hear);
    const next = channel.ask('drain', { delayMs: 0, timeoutMs: 0, lingerMs: 0 }, 100);
    await answer(sent[1]!, ANSWERS, hear);
    expect(await next).toEqual({ cut: 2 });
  });

  it('fail with what failed in the worker', async () => {
    const { sent, channel, hear } = open();
    const asked = channel.ask('targets', undefined, 100);
    await answer(sent[0]!, ANSWERS, hear);
    await expect(asked).rejects.toThrow('not asked here');
  });

  it('fail at once when the worker ends, those asked afterwards too', async () => {
    const { channel, sent } = open();
    const asked = channel.ask('metrics', undefined, 1_000);
    channel.end();
    await expect(asked).rejects.toThrow(NoAnswer);
    await expect(channel.ask('metrics', undefined, 1_000)).rejects.toThrow(NoAnswer);
    expect(sent).toHaveLength(1);
  });

  it('fail when the channel is closed', async () => {
    const channel = new Channel(() => {
      throw new Error('ERR_IPC_CHANNEL_CLOSED');
    }, createFakeClock());
    await expect(channel.ask('metrics', undefined, 1_000)).rejects.toThrow(NoAnswer);
  });
});
