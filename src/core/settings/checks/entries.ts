import type { CatalogEntry, Target as TargetFile } from '../../../../schemas/types.generated.ts';
import { Globs } from '../../catalog/globs.ts';
import { MODEL_TASKS, TASKS } from '../../operations/tasks.ts';
import type { ModelTask } from '../../../plugin/index.ts';
import type { Report } from '../../kernel/report.ts';
import type { Target } from '../../kernel/index.ts';
import { providerOf } from '../../providers/index.ts';
import { aliasedModels, NO_ALIASES, type AliasedModels } from '../compile/aliased-models.ts';
import { showValue } from '../values/show.ts';
import { valueAt, type JsonPath } from '../schema/pointer.ts';
import { isInside, within, type Check, type CheckedConfig, type CheckedSettings, type ConfigNode } from './check.ts';
import { checkProviderName, providerNames, slugOf, slugsOf, withSuggestion } from './names.ts';

/** A target needs an entry that serves its model. The catalog itself reports duplicate slugs, and credentials. */
export const checkEntries: Check = (settings) => {
  const entries = settings.catalog?.providers;
  const aliases = settings.catalog ? aliasedModels(settings.catalog) : NO_ALIASES;
  return {
    entry: checkModels,
    node(node, report) {
      checkProvider(node, settings, report);
      const slugs = entries && slugsOf(entries);
      for (const key of PARAMS) {
        const own = slugOf(node.file[key]);
        if (!slugs || own === undefined || slugs.includes(own)) continue;
        const message = `there is no catalog entry ${own}`;
        report({ path: [key, 'model'], message, ...withSuggestion(own, slugs) });
      }
    },
    target(target, report, config) {
      for (const key of PARAMS) {
        if (entries) checkMismatch(target, key, slugsOf(entries), report);
        const entry = entryOfTarget(routeWith(target.route, key), entries);
        if (entry) checkParamsAt(target, { key, entry, aliases }, config);
      }
      const entry = entryOfTarget(target.route, entries);
      if (entry) warnOfCallerToken(target, entry, config);
    },
    config: ({ targets }, report) => checkTasks(targets, entries, report),
  };
};

const MODEL = ['override_params', 'model'] as const;
export const PARAMS = ['override_params', 'default_params'] as const;
export type ParamsKey = (typeof PARAMS)[number];

export const paramsOf = ({ overrideParams, defaultParams }: Target, key: ParamsKey): Target['overrideParams'] =>
  key === 'override_params' ? overrideParams : defaultParams;

/** The target as requests have it that get its parameters of one kind: a model by default counts where none is set. */
export function routeWith(route: Target, key: ParamsKey): Target {
  if (key === 'override_params' || route.overrideParams?.['model'] !== undefined) return route;
  return { ...route, overrideParams: route.defaultParams };
}

function checkProvider({ file, route }: ConfigNode, settings: CheckedSettings, atNode: Report): void {
  if (file.provider === undefined) return;
  const report = within(atNode, 'provider');
  checkProviderName(file.provider, settings, report);
  checkProviderEntries(file.provider, settings.catalog?.providers, report);
  if (route.kind !== 'target' && file.targets?.every(overridesProvider)) {
    const message = '`provider` is never used: every target names its own';
    report({ path: [], on: 'key', severity: 'warning', message });
  }
}

const overridesProvider = ({ provider, targets }: TargetFile): boolean =>
  provider !== undefined || (targets?.every(overridesProvider) ?? false);

/** A provider name selects its only entry. `vertex-ai` needs none: a caller can send all that it requires. */
function checkProviderEntries(name: string, entries: readonly CatalogEntry[] | undefined, report: Report): void {
  if (!entries) return;
  const slugs = slugsOf(entries.filter(({ provider }) => provider === name));
  if (slugs.length === 0 && name !== 'vertex-ai' && providerNames().includes(name))
    report({ path: [], message: `no catalog entry has the provider \`${name}\`` });
  const message = `several catalog entries have the provider \`${name}\`; name one: ${slugs.join(', ')}`;
  if (slugs.length > 1) report({ path: [], message });
}

/** Reports a model written as `@slug/model` whose entry is not the one that the target uses. */
function checkMismatch(
  { file, route }: ConfigNode<Target>,
  key: ParamsKey,
  slugs: readonly string[],
  report: Report,
): void {
  const own = slugOf(file[key]);
  const slug = slugOf(paramsOf(route, key));
  const { provider } = route;
  // An unknown entry or provider is already reported; a message about the mismatch would be the second for one mistake.
  if (own !== undefined && !slugs.includes(own)) return;
  if (slug === undefined || provider === undefined || provider === slug || !slugs.includes(provider)) return;
  const path = own === undefined && file.provider !== undefined ? ['provider'] : [key, 'model'];
  report({ path, message: `the model names ${slug}, but the provider of this target is ${provider}` });
}

/** The catalog entry of a target, where the files determine it. */
export function entryOfTarget(target: Target, entries: readonly CatalogEntry[] | undefined): CatalogEntry | undefined {
  const entry = entryOf(target, entries ?? []);
  // A model that names another entry than its target is already reported.
  return target.provider?.startsWith('@') && target.provider !== `@${entry?.slug}` ? undefined : entry;
}

function entryOf({ provider, overrideParams }: Target, entries: readonly CatalogEntry[]): CatalogEntry | undefined {
  const name = slugOf(overrideParams) ?? provider;
  const bySlug = entries.find(({ slug }) => `@${slug}` === name);
  if (bySlug || provider === undefined || provider.startsWith('@')) return bySlug;
  const ofProvider = entries.filter((entry) => entry.provider === provider);
  return ofProvider.length === 1 ? ofProvider[0] : undefined;
}

/** Checks the parameters of a target against its catalog entry, which must serve the model. */
function checkParamsAt(
  target: ConfigNode<Target>,
  { key, entry, aliases }: { key: ParamsKey; entry: CatalogEntry; aliases: AliasedModels },
  { nodes, report }: CheckedConfig,
): void {
  const { provider } = target.route;
  const { model, ...params } = paramsOf(target.route, key) ?? {};
  const name = typeof model === 'string' && model !== '' ? model.replace(/^@[^/]*\//, '') : undefined;
  providerOf(entry).checkParams(entry, { ...params, model: name }, (problem) => {
    report({ ...problem, path: placeOf(key, problem.path, target, nodes) });
  });
  if (name !== undefined && entry.models && !new Globs(entry.models).matches(name)) {
    const alias = provider === undefined ? undefined : aliases.get(name);
    const hint = alias === undefined ? '' : `; without \`provider\`, the alias of this name stands for ${alias}`;
    // A request that names a model itself is answered.
    const isDefault = key === 'default_params';
    const effect = isDefault ? 'no request gets an answer by it' : 'this target can never answer';
    const message = `@${entry.slug} does not serve the model ${showValue(name, undefined)}: ${effect}${hint}`;
    const path = placeOf(key, ['model'], target, nodes);
    report({ path, message, ...(isDefault && { severity: 'warning' }) });
  }
}

function warnOfCallerToken(target: ConfigNode<Target>, entry: CatalogEntry, { report }: CheckedConfig): void {
  const { provider } = target.route;
  if (!providerOf(entry).needsCallerToken(entry)) return;
  const message = `@${entry.slug} has no credentials of its own: every request to this target must bring a Google OAuth token in \`Authorization\`, and its gateway key in \`x-gateway-api-key\``;
  report({ path: [...target.path, ...(provider === undefined ? MODEL : ['provider'])], severity: 'warning', message });
}

/** The path at which a parameter of the node is written: in the node itself or in the nearest ancestor that sets it. */
export function placeOf(key: ParamsKey, param: JsonPath, { path }: ConfigNode, nodes: readonly ConfigNode[]): JsonPath {
  const around = nodes.filter((other) => isInside(path, other.path));
  const writer = around.findLast(({ file }) => valueAt(file[key], param) !== undefined);
  return [...(writer?.path ?? path), key, ...param];
}

/** Targets of one config replace each other: warns of a model that serves no task of the first target's model. */
function checkTasks(
  targets: CheckedConfig['targets'],
  entries: readonly CatalogEntry[] | undefined,
  report: Report,
): void {
  const [first, ...others] = targets.flatMap(({ route, path }) => {
    const purposes = purposesOf(route, entryOfTarget(route, entries));
    return purposes.length > 0 ? [{ purposes, path, name: route.path.replace('config.', '') }] : [];
  });
  const misfit = others.find(({ purposes }) => !purposes.some((purpose) => first!.purposes.includes(purpose)));
  if (!first || !misfit) return;
  const message = `this model is for ${misfit.purposes.join(' and ')}, the model of \`${first.name}\` for ${first.purposes.join(' and ')}: no request can use both`;
  report({ path: [...misfit.path, ...MODEL], severity: 'warning', message });
}

/** The tasks of a target's model; empty where the settings do not determine it. */
function purposesOf(target: Target, entry: CatalogEntry | undefined): readonly string[] {
  const model = target.overrideParams?.['model'];
  if (!entry || typeof model !== 'string') return [];
  const tasks: ReadonlySet<ModelTask> | undefined = providerOf(entry).tasksOf(entry, model.replace(/^@[^/]*\//, ''));
  return MODEL_TASKS.filter((task) => tasks?.has(task)).flatMap((task) => TASKS[task].purpose ?? []);
}

/** Reports names in `models` that no request would use, and endpoints of the entry that `models` does not list. */
function checkModels(entry: CatalogEntry, report: Report): void {
  const { models } = entry;
  if (!models) return;
  for (const [index, model] of models.entries()) {
    providerOf(entry).checkParams(entry, { model }, (problem) => {
      // An item of `models` is a pattern, not a name: the errors about characters in names do not apply to it.
      if (problem.severity === 'warning') report({ ...problem, path: ['models', index] });
    });
  }
  const served = new Globs(models);
  for (const name of Object.keys((entry.provider === 'vertex-ai' && entry.endpoints) || {})) {
    if (served.matches(`endpoints.${name}`)) continue;
    const message = `\`models\` of this entry does not list \`endpoints.${name}\`, so no request can name it`;
    report({ path: ['endpoints', name], on: 'key', severity: 'warning', message });
  }
}
