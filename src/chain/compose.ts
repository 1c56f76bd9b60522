import { started, type Chain, type Instance } from './instance.ts';
import { watchedLink } from './watched-link.ts';

const end: Chain = () => Promise.resolve();

/**
 * Folds plugins from the right into one function. Unlike in koa-compose, a plugin that declares `repeats` may call
 * `next` again (retry, fallback and hedging need that). koa-compose 4 always refuses a second call, and never detects a
 * missing `await`.
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
