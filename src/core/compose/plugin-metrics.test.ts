import { describe, expect, it } from 'vitest';
import { compose } from '../http/chain/compose.ts';
import { definePlugin, type CapabilityName, type Middleware } from '../kernel/index.ts';
import { GatewayError } from '../../plugin/index.ts';
import { toMiddleware, type CreatedPlugin } from '../kernel/define.ts';
import { createContext, createExchange, createFakeClock } from '../../plugin/testing/index.ts';
import { openFamilies } from '../record/metrics/metrics.ts';
import type { MetricSample } from '../record/metrics/series.ts';
import type { ListedPlugin } from './chain-builder.ts';
import { measuringPlugins, pluginReports, type MeasuredPlugins } from './plugin-metrics.ts';

function placed(instance: string, builtin: boolean, needs: readonly CapabilityName[] = []): ListedPlugin {
  const plugin = definePlugin({
    name: instance,
    level: 'attempt',
    needs,
    options: { type: 'object', properties: {} } as const,
    create: () => () => Promise.resolve(),
  });
  return { plugin, builtin, instance, options: {}, path: [], file: 'server.yaml' };
}

interface Placed {
  readonly name: string;
  readonly builtin?: boolean;
  readonly needs?: readonly CapabilityName[];
  readonly run: Middleware;
}

/** Runs a chain of nested plugins, and returns what is reported of them. */
async function measure(
  which: MeasuredPlugins,
  plugins: (clock: ReturnType<typeof createFakeClock>) => readonly Placed[],
): Promise<readonly string[]> {
  const clock = createFakeClock();
  const reported: string[] = [];
  const reports = pluginReports({
    pluginDuration: {
      add: ({ plugin }, seconds) => void reported.push(`${plugin} took ${Number(seconds) * 1000}`),
      held: () => undefined,
    },
    pluginErrors: { add: ({ plugin, code }) => void reported.push(`${plugin} threw ${code}`) },
  });
  const watch = measuringPlugins(undefined, which, { clock, pluginReports: reports });
  const guard = { clock, pluginMs: 1000, onFault: () => {}, reports: which === 'off' ? undefined : reports };
  const instances = await Promise.all(
    plugins(clock).map(async ({ name, builtin = false, needs, run }) => {
      const create = (): CreatedPlugin => run;
      const created = watch?.instantiate ? await watch.instantiate(placed(name, builtin, needs), create) : create();
      return { name, repeats: false, builtin, middleware: toMiddleware(created), ...(!builtin && { guard }) };
    }),
  );
  await compose(instances, 'entry')(createContext(createExchange())).catch(() => {});
  return reported;
}

const waiting =
  (clock: ReturnType<typeof createFakeClock>, ms: number): Middleware =>
  async (_, next) => {
    await clock.advance(ms);
    await next();
  };

describe('the metrics of plugins', () => {
  it.each([
    ['external', ['own took 3']],
    ['all', ['inner took 40', 'own took 3']],
    ['off', []],
  ] as const)('measure %s plugins, each without those after it', async (which, expected) => {
    const reported = await measure(which, (clock) => [
      { name: 'own', run: waiting(clock, 3) },
      { name: 'route', builtin: true, needs: ['attempts'], run: waiting(clock, 5) },
      { name: 'inner', builtin: true, run: waiting(clock, 40) },
    ]);
    // The time of `route`, which is not measured, is in the plugin's `next`.
    expect(reported).toEqual(expected);
  });

  it('count an error for the plugin that threw it, by the code that the client gets', async () => {
    const reported = await measure('external', (clock) => [
      { name: 'outer', run: waiting(clock, 1) },
      { name: 'guard', run: () => Promise.reject(new GatewayError('invalid_value', 'refused')) },
    ]);
    expect(reported).toEqual(['guard threw invalid_value', 'guard took 0', 'outer took 1']);
  });

  it('count what is no error of the gateway as internal_error', async () => {
    const reported = await measure('external', () => [
      {
        name: 'broken',
        run: async (_, next) => {
          await next();
          throw new TypeError('x is undefined');
        },
      },
    ]);
    expect(reported).toEqual(['broken threw internal_error', 'broken took 0']);
  });

  it('add to a series that was removed and opened again', async () => {
    const families = openFamilies();
    const { took } = pluginReports(families);
    const seconds = async (): Promise<unknown> => {
      const { values } = (await families.pluginDuration.get()) as { values: readonly MetricSample[] };
      return values.find(({ metricName }) => metricName?.endsWith('_sum'))?.value;
    };
    for (const ms of [250, 500]) took('mask', ms);
    expect(await seconds()).toBe(0.75);
    families.pluginDuration.reset();
    for (const ms of [1000, 125]) took('mask', ms);
    expect(await seconds()).toBe(1.125);
  });
});
