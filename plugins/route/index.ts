import { definePlugin } from '../../src/core/kernel/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';
import { TargetSelector } from './target-selector.ts';

/** Walks the config's strategy tree and runs the attempt chain for one target after another until one answers. */
export default definePlugin({
  name: 'route',
  level: 'request',
  needs: ['attempts', 'health'],
  provides: ['reply'],
  explain({ exchange: { attempts, skipped } }) {
    const tried = attempts.map(({ target, choice }) => ({ target: target.path, why: choice.reason }));
    const leftOut = skipped.map(({ target, reason }) => ({ target: target.path, why: reason }));
    const parts = [tried.map(nameOf).join(', then '), ...leftOut.map((one) => `skips ${nameOf(one)}`)];
    const does = parts.filter((part) => part !== '').join('; ');
    return does === '' ? undefined : { does, details: { asked: tried, leftOut } };
  },
  create({ host }) {
    return {
      step(ctx) {
        const { config } = ctx.exchange;
        if (!config) throw new GatewayError('internal_error', 'The route plugin ran before a config was chosen.');
        return new TargetSelector(ctx, config, host).run();
      },
    };
  },
});

const nameOf = ({ target, why }: { readonly target: string; readonly why: string }): string => `${target} (${why})`;
