import type { GatewayContext } from '../../kernel/index.ts';
import type { PluginLevel } from '../../../plugin/index.ts';
import type { Step } from '../../kernel/define.ts';
import type { Chain, ChainContext, Instance } from './instance.ts';
import { watchedLink } from './watched-link.ts';

const ended = Promise.resolve();
const end: Chain = () => ended;

/** Subjects for which a chain of this level has plans. */
export const subjectOf: Readonly<Record<PluginLevel, (ctx: ChainContext) => object | undefined>> = {
  entry: ({ exchange }) => exchange.operation,
  request: ({ exchange }) => exchange.config,
  attempt: ({ attempt }) => attempt?.target,
};

/**
 * Compiles plugins to one function: for each operation, config or target a plan without idle plugins. It throws where a step throws
 * before any has waited.
 */
export function compose(instances: readonly Instance[], level: PluginLevel): Chain {
  const whole = fold(instances);
  if (instances.every(({ isIdleFor }) => !isIdleFor)) return whole;
  const plans = new WeakMap<object, Chain>();
  const compilePlan = (subject: object): Chain => {
    const plan = fold(instances.filter(({ isIdleFor }) => !isIdleFor?.(subject)));
    plans.set(subject, plan);
    return plan;
  };
  const subject = subjectOf[level];
  return (ctx) => {
    const one = subject(ctx);
    const plan = one ? (plans.get(one) ?? compilePlan(one)) : whole;
    return plan(ctx);
  };
}

/** Folds plugins from the right. Unlike koa-compose 4, it lets a plugin that `repeats` call `next` again. */
function fold(instances: readonly Instance[]): Chain {
  let downstream = end;
  let steps: readonly Step[] = [];
  for (const instance of instances.toReversed()) {
    if (instance.step) {
      steps = [instance.step, ...steps];
      continue;
    }
    downstream = (instance.builtin ? plainLink : watchedLink)(instance, stepsLink(steps, downstream));
    steps = [];
  }
  return stepsLink(steps, downstream);
}

const plainLink =
  ({ middleware }: Instance, downstream: Chain): Chain =>
  (ctx) =>
    // See `Scope`: a built-in plugin reads no field that the scope of its level lacks.
    middleware(ctx as GatewayContext, () => downstream(ctx));

/** Runs steps one after another. Only a step that waits makes a promise. */
function stepsLink(steps: readonly Step[], downstream: Chain): Chain {
  if (steps.length === 0) return downstream;
  const run = (ctx: ChainContext, first = 0): Promise<void> => {
    for (let at = first; at < steps.length; at += 1) {
      const waiting = steps[at]!.step(ctx as GatewayContext);
      if (!waiting) continue;
      const isLast = at + 1 === steps.length && downstream === end;
      return isLast ? waiting : resume(waiting, at + 1, ctx);
    }
    return downstream(ctx);
  };
  // A closure in the loop would put a variable `at` on the heap for each step (measured: 0.7 KB per request).
  const resume = (waiting: Promise<void>, next: number, ctx: ChainContext): Promise<void> =>
    waiting.then(() => run(ctx, next));
  return run;
}
