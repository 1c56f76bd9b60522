import type { CatalogEntry } from '../../../../schemas/types.generated.ts';
import { Access } from '../../catalog/access.ts';
import type { Target } from '../../kernel/index.ts';
import { aliasedModels, aliasNamesOf } from '../compile/aliased-models.ts';
import { compileGatewayConfig } from '../compile/gateway-config.ts';
import { targetsIn } from './aliases.ts';
import type { Check } from './check.ts';
import { entryOfTarget } from './entries.ts';

/** Warns of a key that may use no target of the config that its requests have without `x-gateway-config`. */
export const checkDefaultConfigs: Check = ({ catalog, server, gateway }) => {
  if (!catalog) return {};
  const aliases = aliasNamesOf(catalog);
  const models = aliasedModels(catalog);
  const known = new Map<string, readonly Target[]>();
  const targetsOf = (id: string): readonly Target[] => {
    const file = gateway.get(id);
    const found = known.get(id) ?? (file ? targetsIn(compileGatewayConfig(id, file, { aliases: models }).route) : []);
    known.set(id, found);
    return found;
  };
  return {
    key({ models: listed, providers, default_config: own }, report) {
      const id = own ?? server?.default_config;
      // Requests for an alias of a config have that config.
      if (id === undefined || (!listed && !providers)) return;
      if (listed?.some((name) => aliases.find(name)?.alias.config !== undefined)) return;
      const names = Object.entries({ models: listed, providers }).flatMap(([name, list]) => (list ? [name] : []));
      const access = new Access({ models: listed, providers, fields: undefined }, aliases);
      const targets = targetsOf(id);
      if (targets.length === 0 || targets.some((target) => mayUse(target, access, catalog.providers))) return;
      const of = own === undefined ? 'the default config of server.yaml' : 'its default config';
      const message = `${names.map((name) => `\`${name}\``).join(' and ')} of this key allow no target of \`${id}\`, ${of}: every request without \`x-gateway-config\` is refused`;
      report({ path: [own === undefined ? names[0]! : 'default_config'], on: 'key', severity: 'warning', message });
    },
  };
};

/** True where the request decides. */
function mayUse(target: Target, access: Access, entries: readonly CatalogEntry[]): boolean {
  const entry = entryOfTarget(target, entries);
  if (!entry) return true;
  const place = `@${entry.slug}`;
  if (!access.allowsProvider(place)) return false;
  const model = target.overrideParams?.['model'];
  return (
    typeof model !== 'string' ||
    access.allowsModel(place, model.replace(/^@[^/]*\//, '')) ||
    [...(target.aliases?.values() ?? [])].some((alias) => access.allowsAlias(alias))
  );
}
