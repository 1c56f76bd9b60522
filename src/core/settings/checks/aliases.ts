import type { Aliases, CatalogEntry, GatewayFile, ModelAlias } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import type { Route, Target } from '../../kernel/index.ts';
import { isWildcard } from '../../catalog/aliases.ts';
import { Globs } from '../../catalog/globs.ts';
import { providerOf } from '../../providers/index.ts';
import { aliasedModels } from '../compile/aliased-models.ts';
import { compileGatewayConfig } from '../compile/gateway-config.ts';
import { showValue } from '../values/show.ts';
import { within, type Check, type CheckedSettings } from './check.ts';
import { checkConfigId, slugOf, slugsOf, withSuggestion } from './names.ts';

/** Checks that each alias leads to one model or config, and that no request could mean something else by its name. */
export const checkAliases: Check = (settings) => ({
  catalog({ aliases, providers }, report) {
    if (!aliases) return;
    for (const [name, alias] of Object.entries(aliases)) {
      const atAlias = within(report, 'aliases', name);
      checkClash(name, alias, providers, report);
      checkStars(name, alias, atAlias);
      if (alias.target !== undefined) checkTarget(alias.target, aliases, providers, within(atAlias, 'target'));
      if (alias.config !== undefined) checkConfig(alias.config, settings, within(atAlias, 'config'));
    }
  },
  node({ file, route }, report) {
    for (const key of ['override_params', 'default_params'] as const) {
      const model = file[key]?.['model'];
      const alias = typeof model === 'string' ? settings.catalog?.aliases?.[model] : undefined;
      if (alias?.config !== undefined && targetsIn(route).some(({ provider }) => provider === undefined))
        report({ path: [key, 'model'], message: OF_CONFIG(String(model), alias.config) });
    }
  },
});

const OF_CONFIG = (name: string, config: string): string =>
  `\`${name}\` is an alias of the config \`${config}\`, and a target cannot be a config: write \`@slug/model\`, or the alias of a model`;

/** An entry's own model of that name could not be named without its slug. Patterns name no model. */
function checkClash(name: string, { target }: ModelAlias, entries: readonly CatalogEntry[], report: Report): void {
  if (isWildcard(name)) return;
  const clash = entries.find(({ slug, models }) => models?.includes(name) && target !== `@${slug}/${name}`);
  if (!clash) return;
  const message = `the catalog entry @${clash.slug} lists a model of the same name`;
  report({ path: ['aliases', name], on: 'key', message });
}

/** A wildcard and its target have one star each, at the end. */
function checkStars(name: string, { target, config, display_name: shown }: ModelAlias, report: Report): void {
  if (isWildcard(name) && config !== undefined)
    report({ path: ['config'], on: 'key', message: 'a wildcard stands for the models of an entry: write `target`' });
  if (isWildcard(name) && shown !== undefined)
    report({ path: ['display_name'], on: 'key', message: 'a wildcard has many names, and each shows itself' });
  const stars = target?.split('*').length ?? 1;
  if (target === undefined || (isWildcard(name) ? stars === 2 && isWildcard(target) : stars === 1)) return;
  const message = isWildcard(name)
    ? 'the target of a wildcard has one `*`, at its end: `@slug/*`'
    : 'an exact name has a target without `*`';
  report({ path: ['target'], message });
}

function checkTarget(target: string, aliases: Aliases, entries: readonly CatalogEntry[], report: Report): void {
  const slug = slugOf({ model: target }) ?? '';
  const model = target.slice(slug.length + 1);
  const entry = entries.find((each) => `@${each.slug}` === slug);
  if (!entry) {
    const slugs = slugsOf(entries);
    return report({ path: [], message: `there is no catalog entry ${slug}`, ...withSuggestion(slug, slugs) });
  }
  if (isWildcard(model)) {
    const served = new Globs([model]);
    if (!entry.models || entry.models.some((one) => one.includes('*') || served.matches(one))) return;
  } else providerOf(entry).checkParams(entry, { model }, report);
  if (!entry.models || new Globs(entry.models).matches(model)) return;
  const why = Object.hasOwn(aliases, model) ? ': it is an alias, and an alias cannot stand for another one' : '';
  report({ path: [], message: `${slug} does not serve the model ${showValue(model, undefined)}${why}` });
}

/** The alias stays in the body, so each target of the config must put its own model in its place. */
function checkConfig(id: string, settings: CheckedSettings, report: Report): void {
  checkConfigId(id, settings, report);
  const file = settings.gateway.get(id);
  if (file && !namesAllModels(file, settings))
    report({
      path: [],
      message: `a target of the config \`${id}\` does not name its entry and its model (\`override_params.model\`): it would send the alias`,
    });
}

export const targetsIn = (route: Route): readonly Target[] =>
  route.kind === 'target' ? [route] : route.members.flatMap(targetsIn);

const namesAllModels = (file: GatewayFile, { catalog = { providers: [] } }: CheckedSettings): boolean =>
  targetsIn(compileGatewayConfig('', file, { aliases: aliasedModels(catalog) }).route).every(
    ({ provider, overrideParams }) => {
      const model = overrideParams?.['model'];
      return typeof model === 'string' && (provider !== undefined || slugOf({ model }) !== undefined);
    },
  );
