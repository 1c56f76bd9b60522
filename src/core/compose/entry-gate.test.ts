import { describe, expect, it } from 'vitest';
import { GatewayError, NotMine } from '../../plugin/index.ts';
import { createContext, createExchange } from '../../plugin/testing/index.ts';
import type { Middleware } from '../kernel/index.ts';
import { toMiddleware } from '../kernel/define.ts';
import type { ListedPlugin } from './chain-builder.ts';
import { admitting } from './entry-gate.ts';

/** Two methods, one behind the other, and how often an address was counted. */
async function twoMethods(first: Middleware, second: Middleware) {
  let counted = 0;
  const { instantiate } = admitting({
    tree: { pathOf: () => [] },
    inFlight: { admit: () => undefined },
    methods: [2, 3],
    answers: new Map(),
    refuseAddress: () => void (counted += 1),
  });
  const made = [first, second].map(async (method, index) => {
    const place = { plugin: { provides: ['caller'] }, path: ['chains', 'entry', 2 + index], instance: `m${index}` };
    return toMiddleware(await instantiate!(place as unknown as ListedPlugin, () => method));
  });
  const [outer, inner] = await Promise.all(made);
  const ctx = createContext(createExchange({ caller: undefined }));
  const failure: unknown = await outer!(ctx, () => inner!(ctx, () => Promise.resolve())).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { counted, failure };
}

const unknown: Middleware = () => Promise.reject(new NotMine('It is not mine.'));

describe('a request without a valid credential', () => {
  it('counts once for its address, however many methods have tried', async () => {
    expect(await twoMethods(unknown, unknown)).toMatchObject({
      counted: 1,
      failure: { code: 'invalid_api_key', message: expect.stringContaining('m0: It is not mine. m1:') as string },
    });
  });

  it('counts where the first method refuses it', async () => {
    const refuses: Middleware = () => Promise.reject(new GatewayError('expired_api_key', 'old'));
    const { counted, failure } = await twoMethods(refuses, unknown);
    expect([counted, failure]).toEqual([1, expect.objectContaining({ code: 'expired_api_key' })]);
  });
});
