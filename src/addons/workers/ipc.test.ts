import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { answer, Channel, type WorkerAnswers, type ToPrimary, type Ask } from './ipc.ts';
import { NoAnswer } from './open-questions.ts';

const unused = () => Promise.reject(new Error('not used here'));
const ANSWERS: WorkerAnswers = {
  start: unused,
  reload: unused,
  record: async ({ id }) => ({ id }),
  records: async () => ({ lines: [], more: false, oldest: undefined, marks: { running: 0, ended: 0 } }),
  part: unused,
  explain: unused,
  keeps: unused,
  share: unused,
  explained: unused,
  alive: async () => undefined,
  targets: unused,
  metrics: async () => undefined,
  labels: async () => undefined,
  drain: async () => ({ cut: 2 }),
  drainStep: unused,
};

function open() {
  const clock = createFakeClock();
  const sent: Ask[] = [];
  const channel = new Channel((message) => void sent.push(message), clock);
  const hear = (message: ToPrimary): void => {
    if (message.type === 'answer' || message.type === 'failed') channel.receive(message);
  };
  return { clock, sent, channel, hear };
}

describe('questions to a worker', () => {
  it('each get their own answer, whatever the order of the answers', async () => {
    const { sent, channel, hear } = open();
    const pending = [channel.ask('record', { id: 'a' }, 100), channel.ask('record', { id: 'b' }, 100)];
    for (const message of sent.toReversed()) await answer(message, ANSWERS, hear);
    expect(await Promise.all(pending)).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  it('time out, and a late answer is dropped', async () => {
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

  it('fail with the error of the worker', async () => {
    const { sent, channel, hear } = open();
    const pending = channel.ask('targets', undefined, 100);
    await answer(sent[0]!, ANSWERS, hear);
    await expect(pending).rejects.toThrow('not used here');
  });

  it('fail at once when the worker exits, and so do later ones', async () => {
    const { channel, sent } = open();
    const pending = channel.ask('metrics', undefined, 1_000);
    channel.end();
    await expect(pending).rejects.toThrow(NoAnswer);
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
