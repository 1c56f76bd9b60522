import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../plugin/testing/index.ts';
import { DrainSteps } from './drain.ts';

function start() {
  const calls: string[] = [];
  const clock = createFakeClock();
  const pipelines = { hold: () => void calls.push('hold'), release: () => void calls.push('release') };
  return { calls, clock, steps: new DrainSteps(pipelines, clock) };
}

describe('a worker that follows the steps of its primary', () => {
  it('holds requests back, serves them, and stops listening at the last step', async () => {
    const { calls, steps } = start();
    const over = steps.follow(1000).then(() => calls.push('over'));
    for (const step of ['hold', 'serve', 'stop'] as const) steps.take(step);
    await over;
    expect(calls).toEqual(['hold', 'release', 'release', 'over']);
  });

  it('stops by itself if the last step does not come', async () => {
    const { calls, clock, steps } = start();
    const over = steps.follow(1000).then(() => calls.push('over'));
    steps.take('hold');
    await clock.advance(999);
    expect(calls).toEqual(['hold']);
    await clock.advance(1);
    await over;
    expect(calls).toEqual(['hold', 'over']);
  });

  it('ignores steps before and after its drain', async () => {
    const { calls, steps } = start();
    steps.take('hold');
    const over = steps.follow(1000);
    steps.take('stop');
    await over;
    steps.take('hold');
    expect(calls).toEqual(['release']);
  });
});
