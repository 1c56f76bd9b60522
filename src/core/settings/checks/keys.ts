import type { GatewayKey, KeysFile, CatalogEntry } from '../../../../schemas/types.generated.ts';
import { holdsKeyShape, type Target } from '../../kernel/index.ts';
import type { Report } from '../../kernel/report.ts';
import { Globs } from '../../catalog/globs.ts';
import { aliasNamesOf, aliasedModels } from '../compile/aliased-models.ts';
import { digestsOf, isWellFormedKey } from '../compile/api-keys.ts';
import { storeSettings } from '../source/stored-objects.ts';
import type { JsonPath } from '../schema/pointer.ts';
import { itemsOf, within, type Check, type CheckedSettings } from './check.ts';
import { checkConfigId, checkProviderName, providerNames, slugOf, slugsOf, withSuggestion } from './names.ts';
import { Access } from '../../catalog/access.ts';
import { compileGatewayConfig } from '../compile/gateway-config.ts';
import { targetsIn } from './aliases.ts';
import { entryOfTarget } from './entries.ts';

export const checkKeys: Check = (settings) => ({
  keys(file, report) {
    checkUnique(file, report);
    if (file.keys.length === 0 && !isOwned(settings, 'keys'))
      report({ path: ['keys'], severity: 'warning', message: 'there are no keys, so every request is refused' });
  },
  key(key, report) {
    checkInline(key, report);
    checkExpiry(key, settings.now, report);
    checkBound(key, within(report, 'bound'));
    checkForm(key, within(report, 'key'));
    checkCertificate(key, settings, within(report, 'client_certificate'));
    for (const [name, at] of itemsOf(key.providers, report, 'providers')) checkAllowedProvider(name, settings, at);
    for (const [model, at] of itemsOf(key.models, report, 'models')) checkAllowedModel(model, settings, at);
    for (const [id, at] of itemsOf(key.configs, report, 'configs')) checkConfigId(id, settings, at);
    const { default_config: id } = key;
    if (id === undefined) return;
    checkConfigId(id, settings, within(report, 'default_config'));
    if (key.configs && !key.configs.includes(id))
      report({ path: ['default_config'], message: `\`configs\` of this key does not allow \`${id}\`` });
  },
});

function checkUnique({ keys }: KeysFile, report: Report): void {
  const ids = new Set<string>();
  const digests = new Map<string, string>();
  for (const [index, key] of keys.entries()) {
    const path = ['keys', index];
    const all = digestsOf(key);
    const twin = all.map((digest) => digests.get(digest)).find((id) => id !== undefined);
    if (ids.has(key.id)) report({ path: [...path, 'id'], message: `there are two keys with the id \`${key.id}\`` });
    else if (twin !== undefined) report({ path, message: `\`${key.id}\` is the same key as \`${twin}\`` });
    else if (all.length > 1 && all[0] === all[1])
      report({ path: [...path, 'previous', 'digest'], message: 'this is the digest of the key itself' });
    ids.add(key.id);
    for (const digest of all) digests.set(digest, key.id);
  }
}

/** `bound` applies to values that differ from `metadata`, so without `metadata` it has no effect. */
function checkBound({ bound, metadata }: GatewayKey, report: Report): void {
  if (bound === undefined || metadata) return;
  report({ path: [], on: 'key', severity: 'warning', message: 'without `metadata`, `bound` has no effect' });
}

/** A previous key ends at its own time, or with the key. */
function checkExpiry({ id, expires_at: end, previous }: GatewayKey, now: number, report: Report): void {
  const ofKey = end === undefined ? undefined : momentOf(end, within(report, 'expires_at'));
  const warn = (message: string, ...path: JsonPath): void => report({ path, severity: 'warning', message });
  if (ofKey !== undefined && ofKey <= now) warn(`the key \`${id}\` has expired`, 'expires_at');
  const place = ['previous', 'expires_at'];
  const ofPrevious = previous && momentOf(previous.expires_at, within(report, ...place));
  if (ofPrevious === undefined) return;
  if (ofPrevious <= now) warn(`the previous key of \`${id}\` has expired: remove \`previous\``, ...place);
  else if (ofKey !== undefined && ofPrevious > ofKey)
    warn(`the previous key ends with the key itself, at ${end}`, ...place);
}

/** RFC 3339 allows leap seconds, `Date.parse` does not: with NaN as expiry the key would never expire. */
function momentOf(text: string, report: Report): number | undefined {
  const moment = Date.parse(text);
  if (!Number.isNaN(moment)) return moment;
  report({ path: [], message: '`expires_at` is not a valid date and time, such as "2027-01-01T00:00:00Z"' });
  return undefined;
}

/** Warns that a config sent with a request bypasses the plugins and metadata rules of stored configs. */
function checkInline(key: GatewayKey, report: Report): void {
  if (!key.inline_configs) {
    const message = '`inline_plugins` has no effect without `inline_configs: true`';
    if (key.inline_plugins) report({ path: ['inline_plugins'], on: 'key', severity: 'warning', message });
    return;
  }
  const names = (['configs', 'default_config'] as const).filter((name) => key[name] !== undefined);
  if (names.length === 0) return;
  const stored = names.map((name) => `\`${name}\``).join(' and ');
  const message = `a config sent with a request replaces ${stored} of this key: the plugins and metadata rules of stored configs do not apply to it`;
  report({ path: ['inline_configs'], on: 'key', severity: 'warning', message });
}

/** Any text may be a key. One in the form of a generated key was copied, and a copy can be truncated. */
function checkForm({ key }: GatewayKey, report: Report): void {
  const text = key?.reveal() ?? '';
  if (!holdsKeyShape(text) || isWellFormedKey(text)) return;
  const message =
    'this looks like a key from `gatehouse keys create`, but its checksum does not match: it may be truncated or mistyped';
  report({ path: [], severity: 'warning', message });
}

/** Without `client_ca` no client has a certificate, and the key would be refused always or, worse, be accepted without one. */
function checkCertificate(key: GatewayKey, { server }: CheckedSettings, report: Report): void {
  if (!key.client_certificate || !server || server.tls?.client_ca !== undefined) return;
  const message = 'the gateway asks clients for no certificates: server.yaml needs `tls` with `client_ca`';
  report({ path: [], on: 'key', message });
}

/** Checks a provider name, or a pattern with `*`, which must match at least one name. */
function checkAllowedProvider(name: string, settings: CheckedSettings, report: Report): void {
  if (!name.includes('*')) return checkProviderName(name, settings, report);
  if (!settings.catalog) return;
  const pattern = new Globs([name]);
  const names = [...providerNames(), ...slugsOf(settings.catalog.providers)];
  if (!names.some((one) => pattern.matches(one)))
    report({ path: [], severity: 'warning', message: `nothing in the catalog matches ${name}` });
}

/** Checks the `@slug/` of a model: an entry's slug, or a pattern that matches one. */
function checkAllowedModel(model: string, settings: CheckedSettings, report: Report): void {
  const slug = slugOf({ model });
  checkServed(model, slug, settings, report);
  if (slug === undefined) return;
  checkAllowedProvider(slug, settings, ({ suggestion, ...problem }) =>
    report({ ...problem, ...(suggestion !== undefined && { suggestion: suggestion + model.slice(slug.length) }) }),
  );
}

/** Warns of a model that no entry serves. An entry without `models` serves all. */
function checkServed(model: string, slug: string | undefined, { catalog }: CheckedSettings, report: Report): void {
  if (!catalog || aliasNamesOf(catalog).find(model)) return;
  const slugs = new Globs([slug ?? '*']);
  const entries = catalog.providers.filter((entry) => slugs.matches(`@${entry.slug}`));
  const name = slug === undefined ? model : model.slice(slug.length + 1);
  const wanted = new Globs([name]);
  const aliases = slug === undefined ? Object.keys(catalog.aliases ?? {}) : [];
  const isServed =
    aliases.some((alias) => wanted.matches(alias)) ||
    entries.some(
      ({ models }) =>
        models === undefined ||
        new Globs(models).matches(name) ||
        models.some((one) => wanted.matches(one)) ||
        bothOpen(name, models),
    );
  if (isServed || entries.length === 0) return;
  report({ path: [], severity: 'warning', message: `no entry of the catalog serves ${model}: see its \`models\`` });
}

/** Whether two patterns have common names is not decided. */
const bothOpen = (name: string, models: readonly string[]): boolean =>
  name.includes('*') && models.some((one) => one.includes('*'));

export const checkTeams: Check = (settings) => ({
  team({ organization }, report) {
    const known = Object.keys(settings.teams?.organizations ?? {});
    // Objects of the store come and go: a key whose team or organization is missing is refused then.
    if (organization === undefined || isOwned(settings, 'organizations') || known.includes(organization)) return;
    const message = `there is no organization \`${organization}\` in this file`;
    report({ path: ['organization'], message, ...withSuggestion(organization, known) });
  },
  key({ team }, report) {
    const known = Object.keys(settings.teams?.teams ?? {});
    if (team === undefined || !settings.teams || isOwned(settings, 'teams') || known.includes(team)) return;
    report({ path: ['team'], message: `there is no team \`${team}\` in teams.yaml`, ...withSuggestion(team, known) });
  },
});

const isOwned = ({ server }: CheckedSettings, kind: 'keys' | 'teams' | 'organizations'): boolean =>
  (server && storeSettings(server))?.owns.includes(kind) ?? false;

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
