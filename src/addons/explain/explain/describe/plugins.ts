import type { AnswerExplanation, PluginExplanation } from '../../explanation/explanation.ts';
import type { Attempt, NamedChain } from '../../../../core/kernel/index.ts';
import type { GatewayError, PluginLevel } from '../../../../plugin/index.ts';
import { subjectOf } from '../../../../core/http/chain/compose.ts';
import type { ListedPlugin } from '../../../../core/compose/chain-builder.ts';
import { pluginsOf } from '../../../../core/compose/plugin-lists.ts';
import type { Observation, PluginStep } from '../observation.ts';
import { keptIn, listedAt } from './places.ts';
import { describeError } from './request.ts';

/** The chains of this request in order, including plugins that it did not reach; the attempt chain once per target. */
export function describePlugins(seen: Observation): readonly PluginExplanation[] {
  const { attempts, exchange } = seen;
  const ofConfig = exchange.config ? chainOf(seen, 'request', exchange.config.chain) : [];
  const outer = [...chainOf(seen, 'entry', undefined), ...ofConfig];
  return [
    ...outer.map((place) => describePlugin(seen, place, undefined)),
    ...attempts.flatMap(({ attempt }, target) =>
      chainOf(seen, 'attempt', attempt.target.chain).map((place) => ({
        ...describePlugin(seen, place, attempt),
        target,
      })),
    ),
  ];
}

/** The plugins of a chain: those that `plugins` of the config or target names, else the server's. */
const chainOf = ({ listed }: Observation, level: PluginLevel, named: NamedChain | undefined): readonly ListedPlugin[] =>
  named ? pluginsOf(named) : listed.filter(({ path }) => path[1] === level);

function describePlugin(seen: Observation, place: ListedPlugin, attempt: Attempt | undefined): PluginExplanation {
  const step = seen.steps.findLast((each) => each.place === place && each.attempt === attempt);
  return {
    chain: place.plugin.level,
    target: undefined,
    name: place.instance,
    plugin: place.plugin.name,
    on: listedAt(seen, place),
    keptIn: keptIn(seen, place),
    state: step ? (step.run ? 'run' : 'not run') : isLeftOut(seen, place, attempt) ? 'left out' : 'not reached',
    does: step?.words?.does,
    details: step?.words?.details,
    refused: step && refusalOf(seen, step),
  };
}

/** True if the chain's plan for this operation, config or target does not contain the plugin. */
function isLeftOut(
  { exchange }: Observation,
  { plugin, builtin, options }: ListedPlugin,
  attempt: Attempt | undefined,
) {
  const subject = subjectOf[plugin.level]({ exchange, attempt });
  return builtin && subject !== undefined && plugin.idleFor?.(subject, options) === true;
}

/** The error by which this plugin itself rejected the request: none of its chain, no assumed failure. */
function refusalOf({ steps, attempts }: Observation, step: PluginStep): AnswerExplanation | undefined {
  const { refused, attempt } = step;
  if (!refused) return undefined;
  const supposed = attempts.flatMap((seen) => seen.supposed ?? []);
  if (attempt ? supposed.includes(refused) : supposed.length > 0) return undefined;
  const behind = steps.slice(steps.indexOf(step) + 1);
  const passedOn = behind.some((later) => later.refused && originOf(later.refused) === originOf(refused));
  return passedOn ? undefined : describeError(refused);
}

/** Other errors are wrapped again wherever they are seen, so their cause identifies them. */
const originOf = (error: GatewayError): unknown => error.cause ?? error;
