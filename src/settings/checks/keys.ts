import type { GatewayKey, KeysFile } from '../../../schemas/types.generated.ts';
import type { Report } from '../../plugin/index.ts';
import { keyDigest } from '../key-digest.ts';
import { parseNetwork } from '../networks.ts';
import type { Path } from '../pointer.ts';
import { checkConfigId, checkProviderName, type Known } from './known.ts';

export function checkKeys({ keys }: KeysFile, known: Known, report: Report): void {
  const ids = new Map<string, number>();
  const digests = new Map<string, string>();
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

function checkKey(key: GatewayKey, known: Known, { path, report }: { path: Path; report: Report }): void {
  if (key.expires_at !== undefined && Date.parse(key.expires_at) <= known.now) {
    report({ path: [...path, 'expires_at'], severity: 'warning', message: `the key \`${key.id}\` has expired` });
  }
  for (const [index, network] of (key.networks ?? []).entries()) checkNetwork(network, { path: [...path, 'networks', index], report });
  for (const [index, name] of (key.providers ?? []).entries()) {
    checkProviderName(name, known, { path: [...path, 'providers', index], report });
  }
  for (const [index, id] of (key.configs ?? []).entries()) checkConfigId(id, known, { path: [...path, 'configs', index], report });
  const { default_config: defaultConfig } = key;
  if (defaultConfig === undefined) return;
  checkConfigId(defaultConfig, known, { path: [...path, 'default_config'], report });
  if (key.configs && !key.configs.includes(defaultConfig)) {
    report({ path: [...path, 'default_config'], message: `\`configs\` of this key does not allow \`${defaultConfig}\`` });
  }
}

function checkNetwork(network: string, { path, report }: { path: Path; report: Report }): void {
  if (parseNetwork(network)) return;
  const asHost = [`${network}/32`, `${network}/128`].find((cidr) => parseNetwork(cidr) !== undefined);
  const message = `${JSON.stringify(network.slice(0, 50))} is not a network in CIDR notation, such as "10.0.0.0/8"`;
  report({ path, message, ...(asHost === undefined ? {} : { suggestion: asHost }) });
}
