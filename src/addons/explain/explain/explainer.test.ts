import { describe, expect, it, vi } from 'vitest';
import { createFakeClock } from '../../../plugin/testing/index.ts';
import { ExplainHangs } from './explain-hangs.ts';
import { createExplainer, questionOf, withPlugin } from './explain.testkit.ts';

const catalog = {
  providers: [
    { slug: 'own', provider: 'openai', base_url: 'https://own.example/v1', api_key: 'vendor-key-0123456789' },
  ],
};
const targets = ['a', 'b', 'c'].map((model) => ({ provider: '@own', override_params: { model } }));
const gateway = { it: { strategy: { mode: 'loadbalance' }, targets } };

/** A plugin that hangs for requests with `x-hang`, until the test releases it. */
function waiting() {
  const [reached, freed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { seen, registry } = withPlugin('waits', async (ctx, next) => {
    if (ctx.headers['x-hang'] !== undefined) {
      reached.resolve();
      await freed.promise;
    }
    await next();
  });
  const clock = createFakeClock();
  const server = { chains: { request: ['metadata', { plugin: 'waits', name: 'our waiter' }, 'route'] } };
  const explainer = createExplainer({ server, catalog, gateway }, { registry, clock });
  return { clock, explainer, seen, reached: reached.promise, free: freed.resolve };
}

const asking = (draw: number, headers = {}) =>
  questionOf({ config: 'it', json: { model: 'm' }, draws: [draw], headers });

describe('the explainer', () => {
  it('aborts a plugin that does not end, names it, and answers the next question', async () => {
    const { clock, explainer, seen, reached, free } = waiting();
    const hanging = explainer.explain(asking(0, { 'x-hang': '1' }));
    const refused = expect(hanging).rejects.toThrow(
      new ExplainHangs('The plugin "our waiter" did not end within 5 s.'),
    );
    const next = explainer.explain(asking(0.99));
    await reached;
    await clock.advance(5000);
    await refused;
    // Its further actions do not affect another question.
    free();
    expect((await next).targets[0]?.target).toBe('config.targets[2]');
    expect((await explainer.explain(asking(0.5))).targets[0]?.target).toBe('config.targets[1]');
    expect(seen).toEqual({ made: 2, open: 1 });
    await explainer.close();
    expect(seen.open).toBe(0);
  });

  it('does not keep the process alive for a hanging plugin', async () => {
    const { clock, explainer, reached } = waiting();
    await explainer.explain(asking(0));
    const slept = vi.spyOn(clock, 'sleep');
    const hanging = expect(explainer.explain(asking(0, { 'x-hang': '1' }))).rejects.toBeInstanceOf(ExplainHangs);
    await reached;
    await clock.advance(5000);
    await hanging;
    expect(slept).not.toHaveBeenCalled();
  });
});
