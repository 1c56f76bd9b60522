import { describe, expect, it } from 'vitest';
import type { GatewayContext, Middleware } from '../plugin/index.ts';
import { compose } from './compose.ts';
import type { Instance } from './instance.ts';

// The chain only passes the context on; these tests give it a list to write to.
const run = (instances: readonly Instance[], log: string[] = []) =>
  compose(instances)({ log } as unknown as GatewayContext).then(() => log);
const logOf = (ctx: GatewayContext): string[] => (ctx as unknown as { log: string[] }).log;
const plugin = (name: string, middleware: Middleware, repeats = false): Instance => ({ name, middleware, repeats });
const around = (name: string): Instance =>
  plugin(name, async (ctx, next) => {
    logOf(ctx).push(`${name} down`);
    await next();
    logOf(ctx).push(`${name} up`);
  });

describe('a composed chain', () => {
  it('runs plugins in order on the way down and in reverse on the way up', async () => {
    expect(await run([around('a'), around('b')])).toEqual(['a down', 'b down', 'b up', 'a up']);
  });

  it('does nothing when it is empty', async () => {
    expect(await run([])).toEqual([]);
  });

  it('runs the rest of the chain again for a plugin that declares repeats', async () => {
    const twice = plugin(
      'twice',
      async (_, next) => {
        await next();
        await next();
      },
      true,
    );
    expect(await run([twice, around('a')])).toEqual(['a down', 'a up', 'a down', 'a up']);
  });

  it('refuses a second next() of a plugin that does not, and names the plugin', async () => {
    const twice = plugin('twice', async (_, next) => {
      await next();
      await next();
    });
    await expect(run([twice, around('a')])).rejects.toThrow(
      'plugin "twice" called next() twice without declaring repeats',
    );
  });

  it('allows a retry after a failure if the plugin declares repeats', async () => {
    const answers = [new Error('not yet'), new Error('not yet')];
    const flaky = plugin('flaky', async () => {
      const failure = answers.pop();
      if (failure) throw failure;
    });
    const retry = plugin(
      'retry',
      async (_, next) => {
        for (let tries = 0; tries < 3; tries += 1) {
          try {
            return await next();
          } catch {}
        }
      },
      true,
    );
    await expect(run([retry, flaky])).resolves.toEqual([]);
    expect(answers).toEqual([]);
  });

  it('names a plugin that forgets to await next()', async () => {
    const slow = plugin('slow', () => new Promise((resolve) => setImmediate(resolve)));
    const hasty = plugin('hasty', async (_, next) => void next());
    await expect(run([hasty, slow])).rejects.toThrow('plugin "hasty" did not await next()');
  });

  it('names a plugin that calls next() after it has finished', async () => {
    let late: Promise<void> | undefined;
    const tardy = plugin('tardy', async (_, next) => {
      setImmediate(() => {
        late = next();
        late.catch(() => {});
      });
    });
    await run([tardy, around('a')]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(late).rejects.toThrow('plugin "tardy" called next() after it had finished');
  });

  it('keeps a failure that was not awaited from ending the process', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const failing = plugin('failing', async () => {
      await new Promise(setImmediate);
      throw new Error('nobody hears this');
    });
    const hasty = plugin('hasty', async (_, next) => void next());
    await expect(run([hasty, failing])).rejects.toThrow('plugin "hasty" did not await next()');
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('returns a promise from next() even if the next plugin throws synchronously', async () => {
    const log: string[] = [];
    const catcher = plugin('catcher', (ctx, next) =>
      next().catch((error: Error) => void logOf(ctx).push(error.message)),
    );
    const thrower = plugin('thrower', () => {
      throw new Error('broken at once');
    });
    const between = plugin('between', (_, next) => next());
    const own = [between, thrower].map((instance) => ({ ...instance, builtin: true }));
    expect(await run([catcher, ...own], log)).toEqual(['broken at once']);
    await expect(run(own)).rejects.toThrow('broken at once');
  });

  it('passes an error up through every plugin', async () => {
    const log: string[] = [];
    const catcher = plugin('catcher', async (ctx, next) =>
      next().catch((error: Error) => void logOf(ctx).push(error.message)),
    );
    const thrower = plugin('thrower', async () => {
      throw new Error('broken');
    });
    expect(await run([catcher, thrower], log)).toEqual(['broken']);
  });
});
