import { expect, it } from 'vitest';
import { toMiddleware } from '../../src/core/kernel/define.ts';
import type { Exchange, GatewayContext, Recorder } from '../../src/core/kernel/index.ts';
import telemetry from './index.ts';

type ReplyEnd = Parameters<ReturnType<Recorder['open']>['close']>[0];

function createBench(): { steps: string[]; run(next: () => Promise<void>): Promise<void>; end(): void } {
  const steps: string[] = [];
  const listeners: ((end: ReplyEnd) => void)[] = [];
  const recorder: Recorder = {
    open: (exchange) => {
      steps.push(`open ${exchange.id}`);
      return { close: (end) => void steps.push(`close ${end.state}`) };
    },
  };
  const exchange = { id: 'req-1', onEnd: (listener) => void listeners.push(listener) } as Partial<Exchange>;
  return {
    steps,
    async run(next) {
      // The plugin's host has only the capabilities that it needs.
      const middleware = toMiddleware(
        await telemetry.create({
          options: {},
          host: { recorder } as unknown as Parameters<typeof telemetry.create>[0]['host'],
        }),
      );
      await middleware({ exchange } as unknown as GatewayContext, next);
    },
    end() {
      for (const listener of listeners) listener({ state: 'complete', status: 200, bytes: 1, error: undefined });
    },
  };
}

it('opens the record first and closes it when the reply has been sent, not when the chain is done', async () => {
  const { steps, run, end } = createBench();
  await run(async () => void steps.push('next'));
  steps.push('chain done');
  end();
  expect(steps).toEqual(['open req-1', 'next', 'chain done', 'close complete']);
});

it('closes the record of a chain that throws, too', async () => {
  const { steps, run, end } = createBench();
  await expect(run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  end();
  expect(steps).toEqual(['open req-1', 'close complete']);
});

it('needs only the recorder and takes no options', () => {
  expect(telemetry).toMatchObject({
    name: 'telemetry',
    level: 'entry',
    needs: ['recorder'],
    provides: ['telemetry'],
    options: { additionalProperties: false, properties: {} },
  });
});
