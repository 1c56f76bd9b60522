import type { GatewayFile, Target as TargetFile } from '../../../schemas/types.generated.ts';
import { readTimeouts, type Report, type Route, type TimeoutSettings } from '../../plugin/index.ts';
import { headerPrefixes } from '../compile/header-prefixes.ts';
import { compileGatewayConfig } from '../compile/gateway-config.ts';
import { valueAt, type JsonPath } from '../read/pointer.ts';
import { checkBreaker } from './breaker.ts';
import { checkForwardHeaders, credentialHeaders } from './forward-headers.ts';
import { checkProviderName, providerNames, slugOf, withSuggestion, type KnownNames } from './known.ts';
import { checkNeededPlugins } from './needed-plugins.ts';
import { checkHosts, checkRemoteMedia } from './media.ts';
import { checkParams } from './params.ts';
import { checkStrategy } from './strategy.ts';
import { checkTasks } from './tasks.ts';
import {
  checkAttempts,
  checkContextWindow,
  checkEntryUse,
  checkStatusCodes,
  checkTwins,
  checkWeights,
  entryOfTarget,
} from './targets.ts';
import { checkDeadline, checkDelays, checkRequestTimeout, checkTimeouts, serverTimeouts } from './times.ts';
import type { ReportPlace } from './report-place.ts';

const MAX_TARGETS = 20;
const MAX_DEPTH = 5;

/** A node of the config's tree: its part of the file, and its compiled route with inherited settings. */
interface Node {
  readonly file: GatewayFile | TargetFile;
  readonly route: Route;
  readonly path: JsonPath;
}

export function checkGatewayConfig(file: GatewayFile, known: KnownNames, report: Report): void {
  const nodes = nodesOf({ file, route: compileGatewayConfig('', file).route, path: [] });
  const forwarding = {
    prefixes: headerPrefixes(known.server),
    credentials: known.credentials ?? credentialHeaders(known.entries),
    fromCaller: known.fromCaller ?? false,
  };
  const tally = { operators: 0, patterns: 0 };
  const choice = nodes.some(({ route }) => route.kind === 'group' && route.members.length > 1);
  for (const node of nodes) {
    const place = { path: node.path, report };
    checkStrategy(node.file, { ...place, tally });
    checkBreaker(node.file.circuit_breaker, { path: [...node.path, 'circuit_breaker'], report, choice });
    checkContextWindow(node, place);
    checkProvider(node, known, place);
    checkModel(node, known, place);
    checkTimes(node, known, place);
    checkWeights(node.file, place);
    checkStatusCodes(node.file, place);
    checkForwardHeaders(node.file.forward_headers, { ...place, ...forwarding });
    checkParams(node.file, place);
    checkAttempts(node, place);
    checkTwins(node.route, place);
    if (node.route.kind !== 'target') continue;
    const entry = entryOfTarget(node.route, known);
    if (entry) checkEntryUse(node.route, entry, { ...place, placeOf: (param) => placeOf(param, node, nodes) });
  }
  checkTasks(
    nodes.flatMap(({ route, path }) => (route.kind === 'target' ? [{ route, path }] : [])),
    known,
    report,
  );
  checkNeededPlugins(file, known.server, report);
  checkReplyHeaders(file, known.server, report);
  checkDeadline(
    file.deadline,
    waitingTargets(nodes).map((node) => ({ name: node.route.path, timeouts: effectiveTimeouts(node, known) })),
    report,
  );
  const { hosts = [], allow_insecure: insecure = false } = file.custom_hosts ?? {};
  checkHosts(hosts, insecure, { path: ['custom_hosts', 'hosts'], report });
  checkBounds(nodes, report);
}

/** Warns that `explain_id` has no effect: replies carry no id while the admin listener keeps no explanations. */
function checkReplyHeaders(
  { reply_headers: names = [] }: GatewayFile,
  server: KnownNames['server'],
  report: Report,
): void {
  const index = names.indexOf('explain_id');
  const { enabled = true, explain } = server?.admin ?? {};
  if (index < 0 || (enabled && explain !== 'none')) return;
  const why = enabled ? '`admin.explain: none`' : '`admin.enabled: false`';
  const message = `server.yaml sets ${why}: no request is kept for \`explain\`, and no reply carries an \`explain_id\``;
  report({ path: ['reply_headers', index], severity: 'warning', message });
}

/** The node and all its descendants. */
function nodesOf(node: Node): Node[] {
  const { file, route, path } = node;
  if (!file.targets || route.kind === 'target') return [node];
  const members = file.targets.map((target, index) => ({
    file: target,
    route: route.members[index]!,
    path: [...path, 'targets', index],
  }));
  return [node, ...members.flatMap(nodesOf)];
}

/** The path at which a parameter of the node is written: in the node itself or in the nearest ancestor that sets it. */
function placeOf(param: JsonPath, { path }: Node, nodes: readonly Node[]): JsonPath {
  const around = nodes.filter((other) => other.path.every((segment, index) => path[index] === segment));
  const writer = around.findLast(({ file }) => valueAt(file.override_params, param) !== undefined);
  return [...(writer?.path ?? path), 'override_params', ...param];
}

function checkBounds(nodes: readonly Node[], report: Report): void {
  const place = { path: ['targets'], on: 'key' } as const;
  const depth = Math.max(...nodes.map(({ path }) => path.length / 2));
  const targets = nodes.filter(({ route }) => route.kind === 'target').length;
  if (depth > MAX_DEPTH)
    report({ ...place, message: `targets nest ${depth} levels deep; at most ${MAX_DEPTH} are allowed` });
  if (targets > MAX_TARGETS)
    report({ ...place, message: `there are ${targets} targets in all; at most ${MAX_TARGETS} are allowed` });
}

function checkProvider({ file, route }: Node, known: KnownNames, { path, report }: ReportPlace): void {
  if (file.provider === undefined) return;
  const at = { path: [...path, 'provider'], report };
  checkProviderName(file.provider, known, at);
  checkEntries(file.provider, known, at);
  if (route.kind !== 'target' && file.targets?.every(overridesProvider)) {
    const message = '`provider` is never used: every target names its own';
    report({ path: at.path, on: 'key', severity: 'warning', message });
  }
}

const overridesProvider = ({ provider, targets }: TargetFile): boolean =>
  provider !== undefined || (targets?.every(overridesProvider) ?? false);

/**
 * A provider name selects its catalog entry only while there is exactly one. `vertex-ai` needs no entry: a caller can
 * send everything it requires.
 */
function checkEntries(name: string, { entries }: KnownNames, { path, report }: ReportPlace): void {
  if (!entries) return;
  const slugs = entries.filter(({ provider }) => provider === name).map(({ slug }) => `@${slug}`);
  if (slugs.length === 0 && name !== 'vertex-ai' && providerNames().includes(name)) {
    report({ path, message: `no catalog entry has the provider \`${name}\`` });
  }
  if (slugs.length > 1)
    report({ path, message: `several catalog entries have the provider \`${name}\`; name one: ${slugs.join(', ')}` });
}

/** Checks the entry of a model written as `@slug/model`: it must exist and be the entry that the target uses. */
function checkModel({ file, route }: Node, known: KnownNames, { path, report }: ReportPlace): void {
  const slugs = known.entries?.map(({ slug }) => `@${slug}`);
  const own = slugOf(file.override_params);
  const at = [...path, 'override_params', 'model'];
  if (slugs && own !== undefined && !slugs.includes(own)) {
    report({ path: at, message: `there is no catalog entry ${own}`, ...withSuggestion(own, slugs) });
  } else if (route.kind === 'target') {
    const slug = slugOf(route.overrideParams);
    const { provider } = route;
    // An unknown provider is already reported; a message about the mismatch would be the second for one mistake.
    if (slug === undefined || provider === undefined || provider === slug || !slugs?.includes(provider)) return;
    const place = own === undefined && file.provider !== undefined ? [...path, 'provider'] : at;
    report({ path: place, message: `the model names ${slug}, but the provider of this target is ${provider}` });
  }
}

/** Targets with another target after them, to which a failure would fall through. */
function waitingTargets(nodes: readonly Node[]): readonly Node[] {
  const hasNext = ({ path }: Node): boolean =>
    nodes.some(({ route, path: around }) => {
      const index = path[around.length + 1];
      const inside = around.every((segment, depth) => path[depth] === segment);
      if (!inside || route.kind !== 'group' || typeof index !== 'number') return false;
      return route.mode === 'loadbalance' ? route.members.length > 1 : index < route.members.length - 1;
    });
  return nodes.filter((node) => node.route.kind === 'target' && hasNext(node));
}

function effectiveTimeouts({ file, route }: Node, known: KnownNames): TimeoutSettings {
  const target = route.kind === 'target' ? route : undefined;
  const entry = target && entryOfTarget(target, known);
  const { request_timeout, timeouts } = file;
  return {
    ...serverTimeouts(known.server),
    ...readTimeouts(entry?.timeouts ?? {}),
    ...(target?.timeouts ?? readTimeouts({ total: request_timeout, ...timeouts })),
  };
}

function checkTimes(node: Node, known: KnownNames, { path, report }: ReportPlace): void {
  const { file, route } = node;
  const { request_timeout, timeouts, retry } = file;
  checkRequestTimeout(request_timeout, { path, report });
  const effective = effectiveTimeouts(node, known);
  checkTimeouts(timeouts, effective, { path: [...path, 'timeouts'], report });
  checkRemoteMedia(file.remote_media, effective.total, { path: [...path, 'remote_media'], report });
  if (route.kind === 'target') checkDelays(retry, route.retry, { path, report });
  if (request_timeout === undefined || timeouts?.total === undefined) return;
  const message = '`request_timeout` and `timeouts.total` set the same time; keep one of them';
  report({ path: [...path, 'request_timeout'], on: 'key', message });
}
