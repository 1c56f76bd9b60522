import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../plugin/index.ts';
import { createContext, createExchange, createFakeClock } from '../../plugin/testing/index.ts';
import { hooked } from './hooked.ts';

/** The error that leaves a plugin which replaces a name in errors. */
async function through(error: UpstreamError): Promise<unknown> {
  const plugin = { level: 'request', reads: { reply: 'texts', kinds: ['error'] } } as const;
  const hooks = { reply: () => (text: string) => text.replaceAll('alice', '[R]') };
  const tools = { instance: 'mask', clock: createFakeClock(), maxBytes: 1024, onFault: () => {} };
  const failing = async (): Promise<void> => {
    throw error;
  };
  try {
    return await hooked(plugin, hooks, tools)(createContext(createExchange()), failing);
  } catch (thrown) {
    return thrown;
  }
}

describe('the error of an upstream', () => {
  it('loses its details where a text in them is changed', async () => {
    const details = { upstreamDetails: [{ detail: 'of alice' }] };
    const left = await through(new UpstreamError('upstream_error', 'no luck', details));
    expect(left).toMatchObject({ code: 'upstream_error', message: 'no luck', upstreamDetails: undefined });
  });

  it('keeps them where nothing changes', async () => {
    const error = new UpstreamError('upstream_error', 'no luck', { upstreamDetails: [{ detail: 'of bob' }] });
    expect(await through(error)).toBe(error);
  });
});
