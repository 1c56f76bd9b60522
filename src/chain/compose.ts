import type { GatewayContext, Middleware } from '../plugin/index.ts';

/** One plugin at its place in a chain. */
export interface Instance {
  /** Name in logs and errors. */
  readonly name: string;
  readonly repeats: boolean;
  /** It is known to keep the rules of a chain: not watched, it costs a request 0.7 KB less. */
  readonly builtin?: boolean;
  readonly middleware: Middleware;
}

export type Chain = (ctx: GatewayContext) => Promise<void>;

/** A plugin that breaks the rules of a chain: a fault of the plugin's author, told with the plugin's name. */
export class ChainFault extends Error {
  override readonly name = 'ChainFault';
}

const end: Chain = () => Promise.resolve();

/**
 * Folds plugins from the right into one function. Unlike koa-compose, `next` may run again where the plugin declares
 * `repeats` (retry, fallback and hedging need just that); koa-compose 4 refuses it always, and notices a forgotten `await` never.
 */
export function compose(instances: readonly Instance[]): Chain {
  const whole = instances.reduceRight<Chain>(
    (downstream, instance) => (instance.builtin ? plainLink : watchedLink)(instance, downstream),
    end,
  );
  return (ctx) => started(whole, ctx);
}

const plainLink =
  ({ middleware }: Instance, downstream: Chain): Chain =>
  (ctx) =>
    middleware(ctx, () => downstream(ctx));

function watchedLink({ name, repeats, middleware }: Instance, downstream: Chain): Chain {
  return async (ctx) => {
    let calls = 0;
    let running = 0;
    let finished = false;
    const settled = (): void => {
      running -= 1;
    };
    const next = (): Promise<void> => {
      if (finished) return refuse(`plugin "${name}" called next() after it had finished`);
      calls += 1;
      if (calls > 1 && !repeats) return refuse(`plugin "${name}" called next() twice without declaring repeats`);
      running += 1;
      const done = started(downstream, ctx);
      // Hears the failure of what follows, too: where a plugin forgets its `await`, it would be unhandled, the end of the process.
      done.then(settled, settled);
      return done;
    };
    try {
      await middleware(ctx, next);
    } finally {
      finished = true;
    }
    if (running > 0) throw new ChainFault(`plugin "${name}" did not await next()`);
  };
}

/** A plugin may throw before it makes a promise; who calls `next()` is promised one. */
function started(chain: Chain, ctx: GatewayContext): Promise<void> {
  try {
    return chain(ctx);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** A rejection that is not the end of the process when nobody awaits it. */
function refuse(fault: string): Promise<void> {
  const refused = Promise.reject<void>(new ChainFault(fault));
  refused.catch(() => {});
  return refused;
}
