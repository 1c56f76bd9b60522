import type { AnswerExplanation, PluginExplanation } from '../../explanation/explanation.ts';
import type { Attempt, NamedChain, Plugin } from '../../../../core/kernel/index.ts';
import type { GatewayError, PluginLevel } from '../../../../plugin/index.ts';
import { idleTest } from '../../../../core/http/chain/compile.ts';
import { subjectOf } from '../../../../core/http/chain/compose.ts';
import type { ListedPlugin } from '../../../../core/compose/chain-builder.ts';
import { pluginsOf } from '../../../../core/compose/plugin-lists.ts';
import { storeSettings } from '../../../../core/settings/source/stored-objects.ts';
import type { Observation, PluginStep } from '../observation.ts';
import { changedAt, keptIn, listedAt } from './places.ts';
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
export const chainOf = (
  { listed }: Observation,
  level: PluginLevel,
  named: NamedChain | undefined,
): readonly ListedPlugin[] => (named ? pluginsOf(named) : listed.filter(({ path }) => path[1] === level));

function describePlugin(seen: Observation, place: ListedPlugin, attempt: Attempt | undefined): PluginExplanation {
  const step = seen.steps.findLast((each) => each.place === place && each.attempt === attempt);
  return {
    chain: place.plugin.level,
    target: undefined,
    name: place.instance,
    plugin: place.plugin.name,
    on: listedAt(seen, place),
    keptIn: keptIn(seen, place),
    optionsFrom: changedAt(seen, place),
    state: step ? (step.run ? 'run' : 'not run') : isLeftOut(seen, place, attempt) ? 'left out' : 'not reached',
    does: step?.words?.does ?? declaredInWords(place.plugin, seen),
    details: step?.words?.details,
    refused: step && refusalOf(seen, step),
  };
}

/**
 * The form in which the reply of a target passes the plugins on its way to the client, if a plugin has hooks: `bytes`, `texts of 2 plugins:
 * a, b`, or `events, asked for by a`.
 */
export function replyInWords(seen: Observation, { target }: Attempt): string | undefined {
  const ofConfig = seen.exchange.config ? chainOf(seen, 'request', seen.exchange.config.chain) : [];
  const hooks = [...ofConfig, ...chainOf(seen, 'attempt', target.chain)].filter(({ plugin }) => plugin.reads);
  if (hooks.length === 0) return undefined;
  const reading = (level: string) =>
    hooks.filter(({ plugin }) => plugin.reads?.reply === level).map((one) => one.instance);
  const [events, texts, observers] = [reading('events'), reading('texts'), reading('observe')];
  const changed = events.length > 0 ? `events, asked for by ${events.join(', ')}` : textsOf(texts);
  return observers.length > 0 ? `${changed}; observed by ${observers.join(', ')}` : changed;
}

const textsOf = (plugins: readonly string[]): string =>
  plugins.length === 0
    ? 'bytes'
    : `texts of ${plugins.length === 1 ? '1 plugin' : `${plugins.length} plugins`}: ${plugins.join(', ')}`;

/** The texts that the hooks of a plugin read, and the place where it keeps values, if it does not say that itself. */
function declaredInWords({ reads = {}, state }: Plugin, { settings }: Observation): string | undefined {
  const { request = 'none', reply = 'none', kinds = ['text'], hold } = reads;
  const place = storeSettings(settings.server) ? 'the state store' : 'the memory of the process';
  const words = [
    ...(request === 'none' ? [] : [`${request === 'texts' ? 'may change' : 'observes'} texts of the request`]),
    ...(reply === 'texts' ? [`may change texts of the reply: ${kinds.join(', ')}`] : []),
    ...(reply === 'observe' ? [`observes texts of the reply: ${kinds.join(', ')}`] : []),
    ...(reply === 'events' ? ['reads the events of the reply, which is written anew'] : []),
    ...(hold?.mode === 'all' ? ['holds back the whole reply'] : []),
    ...(state ? [`keeps values in ${place}`] : []),
  ];
  return words.length === 0 ? undefined : words.join('; ');
}

/** True if the chain's plan for this operation, config or target does not contain the plugin. */
function isLeftOut({ exchange }: Observation, place: ListedPlugin, attempt: Attempt | undefined) {
  const subject = subjectOf[place.plugin.level]({ exchange, attempt });
  return subject !== undefined && idleTest(place, place)(subject);
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
