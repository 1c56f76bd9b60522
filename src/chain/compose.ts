import { started, type Chain, type Instance } from './instance.ts';
import { watchedLink } from './watched-link.ts';

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
