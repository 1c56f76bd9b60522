import { expect, it } from 'vitest';
import { runForPlugin } from '../../kernel/outside/plugin-work.ts';
import { GatewayError } from '../../../plugin/index.ts';
import type { CancelListener } from '../../kernel/index.ts';
import { GuardedCancellation } from './plugin-listener.ts';

const gone = new GatewayError('client_closed', 'gone');

const broken: CancelListener = {
  onCancelled() {
    throw new Error('broken');
  },
};

function cancellationWith(...listeners: readonly ((cancellation: GuardedCancellation) => void)[]): unknown[] {
  const faults: unknown[] = [];
  const cancellation = new GuardedCancellation({ listenerFailed: (error) => void faults.push(error) });
  for (const listen of listeners) runForPlugin('own', () => listen(cancellation));
  cancellation.cancel(gone);
  return faults;
}

it('Errors of an object with which a plugin listens are reported and stop no other listener', () => {
  const heard: unknown[] = [];
  const faults = cancellationWith(
    (cancellation) => cancellation.listen(broken),
    (cancellation) => cancellation.listen({ onCancelled: (reason) => void heard.push(reason) }),
  );
  expect(heard).toEqual([gone]);
  expect(faults).toMatchObject([{ message: 'broken' }]);
});

it('An object that has been removed is not called', () => {
  const faults = cancellationWith(
    (cancellation) => cancellation.listen(broken),
    (cancellation) => cancellation.unlisten(broken),
  );
  expect(faults).toEqual([]);
});
