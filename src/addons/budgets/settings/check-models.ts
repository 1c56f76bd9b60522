import type { CatalogEntry, GatewayKey, PriceRule } from '../../../../schemas/types.generated.ts';
import { Access } from '../../../core/catalog/access.ts';
import { Globs } from '../../../core/catalog/globs.ts';
import type { Check, CheckedSettings } from '../../../core/settings/checks/check.ts';
import { withoutVersion } from '../../../core/kernel/model-ids.ts';
import { entryOfTarget } from '../../../core/settings/checks/entries.ts';
import { slugOf } from '../../../core/settings/checks/names.ts';
import type { Conditional, Route, Target } from '../../../core/kernel/index.ts';
import type { PriceTable } from '../prices/price-table.ts';
import { priceFilesOf } from './price-files.ts';

/** Warns of a key with a budget in USD that may only use models without a price: each of its requests would be refused. */
export const checkUnpriced: Check = (settings) => {
  const { server, catalog, gateway } = settings;
  // The store may have the rule, and the plugin `budget` may serve such requests.
  const mayBeServed =
    settings.inline !== undefined ||
    !catalog ||
    !priceFilesOf(settings).rules ||
    server?.state?.owns?.includes('prices') ||
    JSON.stringify([server?.chains, [...gateway.values()]]).includes('"unknown_price"');
  if (mayBeServed) return {};
  const isPriced = pricedModels(settings);
  // Most keys have the permissions of others.
  const known = new Map<string, string | undefined>();
  const textFor = (key: GatewayKey): string | undefined => {
    const permissions = JSON.stringify([key.providers, key.models]);
    if (!known.has(permissions)) {
      const models = modelsOf(key, catalog.providers, catalog.aliases ?? {});
      const isServed = !models || models.length === 0 || models.some(isPriced);
      known.set(permissions, isServed ? undefined : unpricedText(models));
    }
    return known.get(permissions);
  };
  return {
    key(key, report) {
      const place = budgetInUsd(key, settings);
      if (place === undefined || key.custom_hosts) return;
      const message = textFor(key);
      if (message !== undefined) report({ path: [place], on: 'key', severity: 'warning', message });
    },
  };
};

function unpricedText(models: readonly UsableModel[]): string {
  const listed = models.filter(({ entry }) => entry.models);
  const named = listed.length > 0 ? listed : models;
  const names = named.slice(0, 3).map(({ entry, model }) => `@${entry.slug}/${model}`);
  const { entry, model } = named[0]!;
  const rule = `{ model: "${model}", entry: "@${entry.slug}", usd: { input: 1, output: 2 } }`;
  return `no price is known of ${names.join(', ')}${named.length > 3 ? ', …' : ''}, so the budget in USD refuses every request of this key (403 \`model_unpriced\`): give prices.yaml a rule, such as \`${rule}\``;
}

/** The setting by which a budget in USD counts each request of the key. */
function budgetInUsd(key: GatewayKey, { teams }: CheckedSettings): 'budgets' | 'team' | undefined {
  const counts = ({ budgets }: Pick<GatewayKey, 'budgets'> = {}): boolean =>
    budgets?.some(({ cap, models }) => cap.endsWith('USD') && models === undefined) ?? false;
  if (counts(key)) return 'budgets';
  const team = key.team === undefined ? undefined : teams?.teams?.[key.team];
  const around = team?.organization === undefined ? undefined : teams?.organizations?.[team.organization];
  return counts(team) || counts(around) ? 'team' : undefined;
}

interface UsableModel {
  readonly entry: CatalogEntry;
  readonly model: string;
}

/** Undefined: an alias of a config is among them. */
function modelsOf(
  { providers, models: listed = ['*'] }: GatewayKey,
  entries: readonly CatalogEntry[],
  aliases: Readonly<Record<string, { readonly target?: string; readonly config?: string }>>,
): readonly UsableModel[] | undefined {
  const access = new Access({ providers, models: undefined, fields: undefined });
  const allowed = entries.filter(({ slug }) => access.allowsProvider(`@${slug}`));
  const used = listed.map((name) => (Object.hasOwn(aliases, name) ? aliases[name]!.target : name));
  if (used.includes(undefined)) return undefined;
  return used.flatMap((name = '') => {
    const slug = slugOf({ model: name });
    const model = slug === undefined ? name : name.slice(slug.length + 1);
    return allowed
      .filter((entry) => slug === undefined || new Globs([slug]).matches(`@${entry.slug}`))
      .flatMap((entry) => servedOf(entry, model).map((one) => ({ entry, model: one })));
  });
}

function servedOf({ models }: CatalogEntry, name: string): readonly string[] {
  if (!models) return [name];
  return models.flatMap((one) =>
    mayOverlap(one, name) ? [one.includes('*') && !name.includes('*') ? name : one] : [],
  );
}

function pricedModels(settings: CheckedSettings): (used: UsableModel) => boolean {
  const { rules: file, table } = priceFilesOf(settings);
  const rules = (file?.prices ?? []).filter(({ usd, host }) => usd && host === undefined);
  return ({ entry, model }) => {
    const onGoogle = entry.provider === 'vertex-ai';
    // The price of an endpoint has the name that Google has for it; Google's names may have a publisher before them.
    if (onGoogle && model.startsWith('endpoints.')) return true;
    const names = onGoogle ? [model, model.slice(model.lastIndexOf('/') + 1)] : [model];
    const isNamed = (pattern: string): boolean => names.some((name) => mayOverlap(pattern, name));
    return (
      rules.some((rule) => isOf(rule, entry) && isNamed(rule.model)) || table.modelsOf(entry.provider).some(isNamed)
    );
  };
}

const isOf = ({ entry, provider }: PriceRule, { slug, provider: own }: CatalogEntry): boolean =>
  (entry === undefined || entry === `@${slug}`) && (provider === undefined || provider === own);

/** Warns where the model that a request names would go to vendors that have no model of one name. */
export const checkVendors: Check = (settings) => ({
  config({ nodes, targets }, report) {
    for (const together of setsOf(nodes[0]!.route)) {
      const open = together.flatMap((target) => {
        const entry = namesNoModel(target) ? entryOfTarget(target, settings.catalog?.providers) : undefined;
        return entry ? [{ target, entry, models: modelsAt(entry, priceFilesOf(settings).table) }] : [];
      });
      const [first] = open;
      const misfit = open.find(({ models }) => !haveCommon(models, first?.models));
      const node = targets.find(({ route }) => route === misfit?.target);
      if (!first || !misfit || !node) continue;
      const example = misfit.models?.find((name) => !name.includes('*')) ?? 'MODEL';
      const message = `the model of a request goes to @${misfit.entry.slug} by the name that it has at @${first.entry.slug}, and @${misfit.entry.slug} has none of that name: give this target its model, as in \`override_params: { model: ${example} }\``;
      report({
        path: [...node.path, ...(node.file.provider === undefined ? [] : ['provider'])],
        severity: 'warning',
        message,
      });
    }
  },
});

const namesNoModel = ({ overrideParams, defaultParams }: Target): boolean =>
  overrideParams?.['model'] === undefined && defaultParams?.['model'] === undefined;

/** Targets that replace each other. A condition may choose by the model, so what it leads to stands apart. */
const replacing = (route: Route): readonly Target[] =>
  route.kind === 'target' ? [route] : route.kind === 'group' ? route.members.flatMap(replacing) : [];

function setsOf(route: Route): readonly (readonly Target[])[] {
  if (route.kind === 'target') return [];
  return [replacing(route), ...conditionalsIn(route).flatMap(({ members }) => members.flatMap(setsOf))];
}

const conditionalsIn = (route: Route): readonly Conditional[] =>
  route.kind === 'conditional' ? [route] : route.kind === 'group' ? route.members.flatMap(conditionalsIn) : [];

/** Names and patterns. Undefined: a server at an address of its own may have any model. */
function modelsAt({ models, provider, ...entry }: CatalogEntry, table: PriceTable): readonly string[] | undefined {
  if (models) return models;
  const hasOwnAddress = provider !== 'azure-openai' && 'base_url' in entry && entry.base_url !== undefined;
  const known = hasOwnAddress ? [] : table.modelsOf(provider);
  return known.length > 0 ? known : undefined;
}

const haveCommon = (some: readonly string[] | undefined, others: readonly string[] | undefined): boolean =>
  !some || !others || some.some((one) => others.some((other) => mayOverlap(one, other)));

/** False where no model has both names; `*` is any text. Of two patterns only the beginnings are compared. */
function mayOverlap(one: string, other: string): boolean {
  if (!other.includes('*')) return fits(one, other);
  if (!one.includes('*')) return fits(other, one);
  const [start = '', begin = ''] = [one, other].map((pattern) => pattern.slice(0, pattern.indexOf('*')));
  return start.startsWith(begin) || begin.startsWith(start);
}

/** Prices and vendors name a model with or without its version. */
function fits(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name || withoutVersion(pattern) === withoutVersion(name);
  const globs = new Globs([pattern]);
  return globs.matches(name) || globs.matches(withoutVersion(name));
}
