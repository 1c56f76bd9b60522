import type { Caller, ConfigDirectory, Route } from '../plugin/index.ts';
import { parseModelIdentifier } from './model-identifier.ts';

/** A model that the settings name in full, and its provider. */
export interface NamedModel {
  /** `@slug`, or the name of a provider. */
  readonly place: string;
  readonly model: string;
}

interface OfConfig extends NamedModel {
  readonly config: string;
}

/** The models that gateway configs name, each with the entry in the model's own name or else the provider of its target. */
export class NamedModels {
  readonly #all: readonly OfConfig[];

  constructor(configs: Pick<ConfigDirectory, 'ids' | 'get'>) {
    this.#all = configs.ids.flatMap((config) => {
      const route = configs.get(config)?.route;
      return route ? namedIn(route).map((named) => ({ ...named, config })) : [];
    });
  }

  /** Models of the configs that the caller may use, and models that its own key names. Other configs stay hidden. */
  of(caller: Caller | undefined): readonly NamedModel[] {
    const inConfigs = this.#all.filter(({ config }) => !caller?.configs || caller.configs.includes(config));
    const inKey = (caller?.models ?? []).filter((pattern) => pattern.startsWith('@') && !pattern.includes('*'));
    return [...inConfigs, ...inKey.flatMap((id) => toNamed(id, undefined))];
  }
}

function namedIn(route: Route): readonly NamedModel[] {
  if (route.kind !== 'target') return route.members.flatMap(namedIn);
  const model = route.overrideParams?.['model'] ?? route.defaultParams?.['model'];
  return typeof model === 'string' ? toNamed(model, route.provider) : [];
}

/** Empty where the provider is left to the request, and for an invalid name (a glob, a typo). */
function toNamed(text: string, place: string | undefined): readonly NamedModel[] {
  if (text.startsWith('@') && !/^@[^/]+\/./.test(text)) return [];
  const { slug, model } = parseModelIdentifier(text);
  const named = slug === undefined ? place : `@${slug}`;
  return named === undefined ? [] : [{ place: named, model }];
}
