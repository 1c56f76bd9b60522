import type { GatewayFile, Target } from '../../../../schemas/types.generated.ts';
import { isObject } from '../../../core/kernel/index.ts';
import { headerPrefixes } from '../../../core/settings/compile/server-settings.ts';
import type { Settings } from '../../../core/settings/read/load.ts';
import { MAX_SAMPLES } from './effect.ts';
import { sampleOf } from './read-requests.ts';
import type { Sample } from './sample.ts';
import type { SettingsPair } from './settings-pair.ts';

/** Where neither settings name a model. */
const ANY_MODEL = 'any-model';

/**
 * A question for each config, key, and alias or model that either of two settings names. Without a config a request goes by the default of its key
 * or of the server, or names its target itself.
 */
export function generatedQuestions({ settings: { before, after } }: Pick<SettingsPair, 'settings'>): {
  readonly samples: readonly Sample[];
  readonly more: number;
} {
  const both = (namesOf: (settings: Settings) => Iterable<string>): readonly string[] => [
    ...new Set([...namesOf(before), ...namesOf(after)]),
  ];
  const keys = both(({ keys: { keys: all } }) => all.map(({ id }) => id));
  const configs: readonly (string | undefined)[] = [undefined, ...both(({ gateway }) => gateway.keys())];
  const models = both(modelsIn);
  const [prefix = ''] = headerPrefixes(before.server);
  const named = models.length === 0 ? [ANY_MODEL] : models;
  const samples: Sample[] = [];
  for (const config of configs)
    for (const key of keys.length === 0 ? [undefined] : keys)
      for (const model of named) {
        if (samples.length === MAX_SAMPLES) break;
        samples.push(questionOf({ config, key, model, prefix }));
      }
  return { samples, more: configs.length * Math.max(1, keys.length) * named.length - samples.length };
}

interface AskedModel {
  readonly config: string | undefined;
  readonly key: string | undefined;
  readonly model: string;
  readonly prefix: string;
}

function questionOf({ config, key, model, prefix }: AskedModel): Sample {
  const question = {
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json', ...(config !== undefined && { [`${prefix}config`]: config }) },
    body: Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: '[text]' }] })),
    as: key,
  };
  const by = [`key ${key ?? 'any'}`, config === undefined ? 'no config named' : `config ${config}`, `model ${model}`];
  return sampleOf(question, by.join(', '));
}

/** Aliases, models of catalog entries and of keys, and models that conditions compare. */
function modelsIn({ catalog, gateway, keys }: Settings): Iterable<string> {
  const aliases = Object.keys(catalog.aliases ?? {}).filter((name) => !name.includes('*'));
  const listed = catalog.providers.flatMap(({ slug, models = [] }) =>
    models.flatMap((model: unknown) => {
      const name = isObject(model) ? model['name'] : model;
      return typeof name === 'string' && !name.includes('*') ? [`@${slug}/${name}`] : [];
    }),
  );
  const ofKeys = keys.keys.flatMap(({ models = [] }) => models.filter((name) => !name.includes('*')));
  return [...aliases, ...listed, ...ofKeys, ...[...gateway.values()].flatMap(comparedModels)];
}

function comparedModels({ strategy, targets = [] }: GatewayFile | Target): readonly string[] {
  const own = (strategy?.conditions ?? []).flatMap(({ query }) => modelsInQuery(query));
  return [...own, ...targets.flatMap(comparedModels)];
}

/** The texts that `model` is compared with; a pattern names none. */
function modelsInQuery(query: unknown): readonly string[] {
  if (Array.isArray(query)) return query.flatMap(modelsInQuery);
  if (!isObject(query)) return [];
  return Object.entries(query).flatMap(([name, value]) => {
    if (name !== 'model' && name !== 'params.model') return name.startsWith('$') ? modelsInQuery(value) : [];
    const wanted = isObject(value)
      ? Object.entries(value).flatMap(([how, one]) => (how === '$regex' ? [] : one))
      : value;
    return [wanted].flat().filter((one): one is string => typeof one === 'string');
  });
}
