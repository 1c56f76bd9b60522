import type { PluginFigures } from '../../../../core/process/console-port.ts';
import { instanceOf, pluginOf } from '../../../../core/http/chain/list-part.ts';
import { PLUGIN_LEVELS } from '../../../../core/kernel/define.ts';
import type { CallAnswer, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { moment } from './object-answers.ts';

/** Observations of this gateway by itself: its alerts, its plugins and who called. */

export const listFired: Handler = ({ sources: { alerts } }) => ({ body: { items: alerts?.fired() ?? [] } });

export const testAlert: Handler = async ({ sources: { alerts }, id }): Promise<CallAnswer> => {
  const tested = alerts?.test(id) ?? 'unknown';
  if (tested === 'unknown') throw new ApiProblem('not_found', 'There is no webhook with this id.');
  if (tested === 'too_many') throw new ApiProblem('too_many_tests', 'There were 5 tests within a minute.');
  return { body: await tested };
};

export const listPeople: Handler = ({ people }) => ({
  body: {
    items: people.list().map(({ actor, role, content, by, at }) => ({
      user: actor.id,
      role,
      content,
      by,
      address: actor.address ?? null,
      seen_at: moment(at),
    })),
  },
});

/** The chains of the settings in force, those that add-ons have added among their plugins. */
export const listPlugins: Handler = async ({ sources }) => {
  const { chains } = sources.settings();
  const answers = await sources.ask('console.plugins', undefined, 'all').catch(() => []);
  // The answers of the console's own parts.
  const figures = answers.map(({ answer }) => answer as PluginFigures);
  const items = PLUGIN_LEVELS.flatMap((level) =>
    chains[level].map((item) => {
      const [name, plugin] = [instanceOf(item), pluginOf(item)];
      return {
        name,
        plugin,
        level,
        external: figures.some(({ external }) => external.includes(plugin)),
        own: ownTime(figures.flatMap(({ durations }) => durations.filter((one) => one.plugin === name))),
        errors: errorsOf(figures.flatMap(({ errors }) => errors.filter((one) => one.plugin === name))),
      };
    }),
  );
  return { body: { items } };
};

function ownTime(durations: PluginFigures['durations']): object | null {
  const [first] = durations;
  const counts = first?.counts.map((_, index) => sum(durations.map((one) => one.counts[index] ?? 0))) ?? [];
  const runs = sum(counts);
  if (!first || runs === 0) return null;
  let below = 0;
  const bound = first.boundaries[counts.findIndex((count) => (below += count) >= 0.95 * runs)];
  return {
    runs,
    mean_ms: (1000 * sum(durations.map((one) => one.sum))) / runs,
    p95_ms: bound === undefined ? null : bound * 1000,
  };
}

const errorsOf = (errors: PluginFigures['errors']): readonly object[] =>
  [...Map.groupBy(errors, ({ what }) => what)].map(([what, all]) => ({
    what,
    count: sum(all.map(({ count }) => count)),
  }));

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);
