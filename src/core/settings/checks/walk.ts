import type { CatalogFile, GatewayFile, KeysFile, TeamsFile } from '../../../../schemas/types.generated.ts';
import type { Report } from '../../kernel/report.ts';
import { aliasedModels, type AliasedModels } from '../compile/aliased-models.ts';
import { compileGatewayConfig } from '../compile/gateway-config.ts';
import {
  within,
  type CheckedConfig,
  type CheckedSettings,
  type ConfigNode,
  type Reports,
  type Visits,
} from './check.ts';

/** Shows every node of the settings to every check. */
export function walkSettings(
  { server, catalog, keys, teams, gateway }: CheckedSettings,
  checks: readonly Visits[],
  { reporter, add }: Reports,
): void {
  if (server) for (const check of checks) check.server?.(server, reporter('server.yaml'));
  if (catalog) walkCatalog(catalog, checks, reporter('catalog.yaml'));
  if (keys) walkKeys(keys, checks, reporter('keys.yaml'));
  if (teams) walkTeams(teams, checks, reporter('teams.yaml'));
  const aliases = catalog && aliasedModels(catalog);
  for (const [id, file] of gateway) walkConfig(file, checks, reporter(`gateway/${id}.yaml`), aliases);
  for (const check of checks) check.others?.({ reporter, add });
}

function walkCatalog(catalog: CatalogFile, checks: readonly Visits[], report: Report): void {
  for (const check of checks) {
    check.catalog?.(catalog, report);
    for (const [index, entry] of catalog.providers.entries()) check.entry?.(entry, within(report, 'providers', index));
  }
}

function walkKeys(keys: KeysFile, checks: readonly Visits[], report: Report): void {
  for (const check of checks) {
    check.keys?.(keys, report);
    for (const [index, key] of keys.keys.entries()) check.key?.(key, within(report, 'keys', index));
  }
}

function walkTeams({ organizations = {}, teams = {} }: TeamsFile, checks: readonly Visits[], report: Report): void {
  for (const check of checks) {
    for (const [id, organization] of Object.entries(organizations))
      check.organization?.(organization, within(report, 'organizations', id));
    for (const [id, team] of Object.entries(teams)) check.team?.(team, within(report, 'teams', id));
  }
}

/** Shows a gateway config and every target inside it to every check. */
export function walkConfig(
  file: GatewayFile,
  checks: readonly Visits[],
  report: Report,
  aliases: AliasedModels | undefined,
): void {
  const nodes = nodesOf({ file, route: compileGatewayConfig('', file, { aliases }).route, path: [] });
  const targets = nodes.flatMap(({ route, ...node }) => (route.kind === 'target' ? [{ ...node, route }] : []));
  const config: CheckedConfig = { file, nodes, targets, report };
  for (const check of checks) {
    check.config?.(config, report);
    for (const node of nodes) check.node?.(node, within(report, ...node.path), config);
    for (const target of targets) check.target?.(target, within(report, ...target.path), config);
  }
}

function nodesOf(node: ConfigNode): ConfigNode[] {
  const { file, route, path } = node;
  if (!file.targets || route.kind === 'target') return [node];
  const members = file.targets.map((target, index) => ({
    file: target,
    route: route.members[index]!,
    path: [...path, 'targets', index],
  }));
  return [node, ...members.flatMap(nodesOf)];
}
