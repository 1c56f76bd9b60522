import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/gateway.ts';
import { expectAgreement } from './kit/agree.ts';
import { PRIMARY } from './kit/deeds.ts';
import { DIALECT_NAMES } from './kit/dialects.ts';
import { startRig, type Rig } from './kit/rig.ts';
import type { Deed } from './kit/upstream.ts';
import { configFor } from './scenarios.ts';

/** Clients that read slower than their upstream writes: it waits for them, but never without a limit. */

/** Longer than a loaded machine keeps a process from running. */
const IDLE_MS = 3000;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig(
    Object.fromEntries(
      DIALECT_NAMES.flatMap((name) => [
        [name, configFor(name, 'both', { timeouts: { idle: IDLE_MS } })],
        [`${name}-bounded`, { ...configFor(name, 'both', {}), deadline: '300ms' }],
      ]),
    ),
  );
});
afterAll(() => rig.close());

/** More than all the buffers between an upstream and a client that does not read. */
const WORDS = 400;
const WORD = `${'x'.repeat(64 * 1024)} `;

interface Progress {
  written: number;
  waiting: boolean;
}

/** Writes as fast as it is read. */
const pour =
  (progress: Progress): Deed =>
  async (visit, res) => {
    const { head, words, finish, mark } = visit.dialect.stream({
      words: Array.from({ length: WORDS }, () => WORD),
      usage: PRIMARY.usage,
    });
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const closed = new Promise<void>((resolve) => void res.once('close', resolve));
    for (const event of [...head, ...words, ...finish, ...mark]) {
      if (res.destroyed) return;
      progress.written += 1;
      if (res.write(event)) continue;
      progress.waiting = true;
      await Promise.race([closed, new Promise<void>((resolve) => void res.once('drain', resolve))]);
      progress.waiting = false;
    }
    res.end();
  };

/** The upstream has stopped writing and does not go on: it is held back all the way. */
async function heldBack(progress: Progress): Promise<void> {
  let last = -1;
  let since = performance.now();
  await until(() => {
    if (progress.written !== last || !progress.waiting) [last, since] = [progress.written, performance.now()];
    // Meanwhile `idle` must not count.
    return performance.now() - since > 1.5 * IDLE_MS;
  }, 'the upstream is held back');
}

// The last events of a response repeat its whole text, which no event may have here.
describe.each(DIALECT_NAMES.filter((name) => name !== 'responses'))(
  'a client that does not read its %s stream',
  (name) => {
    it('holds its upstream back, is not taken for a stall, and gets everything when it reads', async () => {
      const progress = { written: 0, waiting: false };
      rig.primary.does(pour(progress));
      const seen = await rig.watch({ api: 'chat', stream: true, config: name }, async ({ response, done }) => {
        const res = await response;
        res.pause();
        await heldBack(progress);
        expect(progress.written).toBeLessThan(WORDS);
        res.resume();
        return done;
      });
      expectAgreement(seen);
      expect(seen.received?.text.length).toBe(WORDS * WORD.length);
      expect(seen.record.state).toBe('complete');
    });

    it('is let go by the deadline of its request, and its upstream with it', async () => {
      const progress = { written: 0, waiting: false };
      rig.primary.does(pour(progress));
      const seen = await rig.watch({ api: 'chat', stream: true, config: `${name}-bounded` }, async (open) => {
        const res = await open.response;
        res.pause();
        await until(() => rig.primary.visits[0]?.abortedAt !== undefined, 'the upstream was cancelled');
        res.resume();
        return open.done;
      });
      expectAgreement(seen);
      expect(progress.written).toBeLessThan(WORDS);
      expect([seen.received?.ends, seen.received?.error?.code]).toEqual([['error'], 'timeout_request']);
    });
  },
);
