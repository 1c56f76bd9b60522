import { describe, expect, it } from 'vitest';
import { GatewayError, NotMine } from '../../plugin/index.ts';
import { createContext, createExchange } from '../../plugin/testing/index.ts';
import type { Middleware } from '../kernel/index.ts';
import { toMiddleware } from '../kernel/define.ts';
import type { ListedPlugin } from './chain-builder.ts';
import { admitting, methodAt } from './entry-gate.ts';

type Path = readonly (string | number)[];
const LISTED: readonly [Path, Path] = [
  ['chains', 'entry', 2],
  ['chains', 'entry', 3],
];

/** Two methods, one behind the other, and how often an address was counted. */
async function twoMethods(first: Middleware, second: Middleware, places: readonly [Path, Path] = LISTED) {
  let counted = 0;
  const { instantiate } = admitting({
    tree: { pathOf: () => [] },
    inFlight: { admit: () => undefined },
    methods: places.map(methodAt),
    answers: new Map(),
    refuseAddress: () => void (counted += 1),
  });
  const made = [first, second].map(async (method, index) => {
    const place = { plugin: { provides: ['caller'] }, path: places[index], instance: `m${index}` };
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

  it.each<readonly [Path, Path]>([
    [LISTED[0], ['chains', 'entry', 'add', 0]],
    [['chains', 'entry', 'add', 0], LISTED[0]],
    [
      ['chains', 'entry', 'add', 1],
      ['chains', 'entry', 'add', 0],
    ],
  ])('is refused once by methods at %j and %j', async (...places) => {
    expect(await twoMethods(unknown, unknown, places)).toMatchObject({
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

it('A method that goes on without a caller refuses the request, and is named', async () => {
  const silent: Middleware = (_, next) => next();
  for (const methods of [[silent, unknown] as const, [unknown, silent] as const]) {
    const { failure } = await twoMethods(...methods);
    expect(failure).toMatchObject({ message: `plugin "m${methods.indexOf(silent)}" has set no caller` });
  }
});
