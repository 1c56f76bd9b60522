import type { CatalogEntry } from '../../../../schemas/types.generated.ts';
import type { Conditional, Route, Target } from '../../../core/kernel/index.ts';
import type { PriceTable } from '../prices/price-table.ts';
import { priceFilesOf } from './price-files.ts';
import type { Check } from '../../../core/settings/checks/check.ts';
import { entryOfTarget } from '../../../core/settings/checks/entries.ts';
import { mayOverlap } from '../../../core/settings/checks/model-overlap.ts';

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
