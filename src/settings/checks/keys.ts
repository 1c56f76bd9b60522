import type { GatewayKey, KeysFile } from '../../../schemas/types.generated.ts';
import { holdsKeyShape, type Report } from '../../plugin/index.ts';
import { Globs } from '../../catalog/globs.ts';
import { isWellFormedKey } from '../compile/api-keys.ts';
import { keyDigest } from '../compile/key-digest.ts';
import { checkFieldRules } from './fields.ts';
import { checkHosts } from './media.ts';
import { checkNetwork } from './network.ts';
import { checkConfigId, checkProviderName, providerNames, slugOf, type KnownNames } from './known.ts';
import type { ReportPlace } from './report-place.ts';

export function checkKeys({ keys }: KeysFile, known: KnownNames, report: Report): void {
  const ids = new Map<string, number>();
  const digests = new Map<string, string>();
  if (keys.length === 0)
    report({ path: ['keys'], severity: 'warning', message: 'there are no keys, so every request is refused' });
  for (const [index, key] of keys.entries()) {
    const path = ['keys', index];
    const digest = keyDigest(key);
    const twin = digests.get(digest);
    if (ids.has(key.id)) report({ path: [...path, 'id'], message: `there are two keys with the id \`${key.id}\`` });
    else if (twin !== undefined) report({ path, message: `\`${key.id}\` is the same key as \`${twin}\`` });
    ids.set(key.id, index);
    digests.set(digest, key.id);
    checkKey(key, known, { path, report });
  }
}

function checkKey(key: GatewayKey, known: KnownNames, { path, report }: ReportPlace): void {
  checkInline(key, { path: [...path, 'inline_configs'], report });
  checkExpiry(key, known, { path: [...path, 'expires_at'], report });
  checkForm(key, { path: [...path, 'key'], report });
  for (const [index, network] of (key.networks ?? []).entries())
    checkNetwork(network, { path: [...path, 'networks', index], report });
  for (const [index, name] of (key.providers ?? []).entries()) {
    checkAllowedProvider(name, known, { path: [...path, 'providers', index], report });
  }
  for (const [index, model] of (key.models ?? []).entries())
    checkAllowedModel(model, known, { path: [...path, 'models', index], report });
  for (const [index, id] of (key.configs ?? []).entries())
    checkConfigId(id, known, { path: [...path, 'configs', index], report });
  const { hosts = [], allow_insecure: insecure = false } = key.custom_hosts ?? {};
  checkFieldRules(key.fields, { path: [...path, 'fields'], report });
  checkHosts(hosts, insecure, { path: [...path, 'custom_hosts', 'hosts'], report });
  const { default_config: defaultConfig } = key;
  if (defaultConfig === undefined) return;
  checkConfigId(defaultConfig, known, { path: [...path, 'default_config'], report });
  if (key.configs && !key.configs.includes(defaultConfig)) {
    report({
      path: [...path, 'default_config'],
      message: `\`configs\` of this key does not allow \`${defaultConfig}\``,
    });
  }
}

function checkExpiry(
  { id, expires_at: expiresAt }: GatewayKey,
  { now }: KnownNames,
  { path, report }: ReportPlace,
): void {
  if (expiresAt === undefined) return;
  const moment = Date.parse(expiresAt);
  // RFC 3339 allows leap seconds, `Date.parse` does not: with NaN as expiry the key would never expire.
  if (Number.isNaN(moment))
    report({ path, message: `\`expires_at\` is not a valid date and time, such as "2027-01-01T00:00:00Z"` });
  else if (moment <= now) report({ path, severity: 'warning', message: `the key \`${id}\` has expired` });
}

/** Warns that a config sent with a request bypasses the plugins and metadata rules of stored configs. */
function checkInline(key: GatewayKey, { path, report }: ReportPlace): void {
  if (!key.inline_configs) return;
  const names = (['configs', 'default_config'] as const).filter((name) => key[name] !== undefined);
  if (names.length === 0) return;
  const stored = names.map((name) => `\`${name}\``).join(' and ');
  const message = `a config sent with a request replaces ${stored} of this key: the plugins and metadata rules of stored configs do not apply to it`;
  report({ path, on: 'key', severity: 'warning', message });
}

/** Any text may be a key. One in the form of a generated key was copied, and a copy can be truncated. */
function checkForm({ key }: GatewayKey, { path, report }: ReportPlace): void {
  const text = key?.reveal() ?? '';
  if (!holdsKeyShape(text) || isWellFormedKey(text)) return;
  const message =
    'this looks like a key from `gatehouse keys create`, but its checksum does not match: it may be truncated or mistyped';
  report({ path, severity: 'warning', message });
}

/** Checks a provider name, or a pattern with `*`, which must match at least one name. */
function checkAllowedProvider(name: string, known: KnownNames, { path, report }: ReportPlace): void {
  if (!name.includes('*')) return checkProviderName(name, known, { path, report });
  if (!known.entries) return;
  const pattern = new Globs([name]);
  const names = [...providerNames(), ...known.entries.map(({ slug }) => `@${slug}`)];
  if (!names.some((one) => pattern.matches(one)))
    report({ path, severity: 'warning', message: `nothing in the catalog matches ${name}` });
}

/** Checks the `@slug/` of a model: an entry's slug, or a pattern that matches one. */
function checkAllowedModel(model: string, known: KnownNames, { path, report }: ReportPlace): void {
  const slug = slugOf({ model });
  if (slug === undefined) return;
  checkAllowedProvider(slug, known, {
    path,
    report: ({ suggestion, ...problem }) =>
      report({ ...problem, ...(suggestion !== undefined && { suggestion: suggestion + model.slice(slug.length) }) }),
  });
}
